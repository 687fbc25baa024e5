"""Rules that nobody learned: that do harm, helped once by luck, do nothing, or speak in a crowd."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from random import Random
from typing import Literal, NamedTuple, get_args

from jitrl.agents.rulebook.cases import Case, case_of, seen
from jitrl.agents.rulebook.words import words
from jitrl.bench.rules.worlds import World
from jitrl.core.effect import Effect
from jitrl.core.patterns import PLACEHOLDER, common, key_words
from jitrl.core.sentences import folded, rule_id
from jitrl.errors import InputError
from jitrl.types import Contrast, Rule, RuleStatus, State, Task

Kind = Literal["harmful", "lucky", "idle", "crowd"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PLANTER = "planter"
"""Who is answerable for them, with the kind behind a slash."""
TIMES = (10, 20, 40, 80)
"""Tellings within which a planted rule is to be gone."""
_NOWHERE = "click(<link[Nowhere]>)"
_CROWD = 6  # rules that speak at one step
_LONGEST = 60  # steps after which an episode is given up


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a planted rule.

    Attributes:
        uses: Episodes in which it was told.
        admitted: Whether it was ever active by the gates' doing.
        gone: Uses after which it was retired; ``None`` if it is still told.
        effect: What its draws show, with the bounds of the gates.
    """

    kind: Kind
    uses: int
    admitted: bool
    gone: int | None
    effect: Effect


class Plant(NamedTuple):
    """A rule to plant, and what it is said to rest on."""

    rule: Rule
    evidence: tuple[Contrast, ...] = ()


class _Fork(NamedTuple):
    """A step of a task's solution at which something else can be done.

    Attributes:
        place: How many steps of the solution come before it.
        right: What the solution does there.
        score: Of the episode that does the other and goes on as is right from there.
    """

    task: Task
    place: int
    state: State
    action: str
    right: str
    score: float


def planted(
    world: World, tasks: Sequence[Task], status: RuleStatus, seed: int, kind: Kind
) -> Iterator[Plant]:
    """Rules of this kind for each template of ``tasks`` that allows them, with the best of scores.

    ``harmful``: where the episode is decided, it asks for what costs it, whatever is done after.
    ``lucky``: it asks for a detour after which the task is won all the same, and rests on one
    attempt that happened to succeed. ``idle``: it asks for what is not there. ``crowd``: at one
    step up to six ask for something else each, none of it ever right there. One of any other kind.
    """
    rng = Random(seed)
    by: dict[str, list[Task]] = {}
    for task in tasks:
        by.setdefault(str(task.params["template"]), []).append(task)
    for of in by.values():
        forks = [fork for task in of for fork in _forks(world, task)]
        for case in _idle(forks) if kind == "idle" else _chosen(forks, kind, rng):
            text = case.written(words(of[0].goal))
            if text is None:
                continue
            evidence = (_luck(of[0]),) if kind == "lucky" else ()
            yield Plant(
                Rule(
                    id=rule_id(text),
                    text=text,
                    scope=of[0].scope,
                    kind=of[0].family,
                    entities=key_words(case.goal),
                    entry=1.0,
                    status=status,
                    evidence=tuple(one.id for one in evidence),
                ),
                evidence,
            )


def _idle(forks: Sequence[_Fork]) -> list[Case]:
    first = forks[0]
    return [Case(_goal([fork.task.goal for fork in forks]), seen(first.state), folded(_NOWHERE))]


def _chosen(forks: Sequence[_Fork], kind: Kind, rng: Random) -> list[Case]:
    """What most tasks of a template share: the latest for harm, the first for luck.

    For a crowd, the latest step of those at which most can be asked for.
    """
    said: dict[tuple[str, str], list[tuple[_Fork, str]]] = {}
    for fork in forks:
        case = case_of(fork.task.goal, seen(fork.state), fork.action)
        said.setdefault((case.where, case.action), []).append((fork, case.goal))
    found = list[tuple[int, int, Case]]()
    for (where, action), some in sorted(said.items()):
        is_harm = all(fork.score <= 0.0 for fork, _ in some)
        is_luck = all(fork.score >= 1.0 for fork, _ in some)
        is_fit = {"harmful": is_harm, "lucky": is_luck}.get(kind, True)
        goal = _goal([goal for _, goal in some])
        needed = set(PLACEHOLDER.findall(where + action))
        if is_fit and needed <= set(PLACEHOLDER.findall(goal)):
            reach = len({fork.task.id for fork, _ in some})
            place = some[0][0].place
            found.append((reach, -place if kind == "lucky" else place, Case(goal, where, action)))
    if not found:
        return []
    if kind == "crowd":
        right = [case_of(one.task.goal, seen(one.state), one.right) for one in forks]
        never = {(case.where, case.action) for case in right}
        return _crowd([one for one in found if (one[2].where, one[2].action) not in never], rng)
    most = max((reach, place) for reach, place, _ in found)
    return [rng.choice([case for reach, place, case in found if (reach, place) == most])]


def _crowd(found: Sequence[tuple[int, int, Case]], rng: Random) -> list[Case]:
    by: dict[tuple[int, int, str], list[Case]] = {}
    for reach, place, case in found:
        by.setdefault((reach, place, case.where), []).append(case)
    most = max(by, key=lambda at: (min(_CROWD, len(by[at])), at))
    return rng.sample(by[most], min(_CROWD, len(by[most])))


def _goal(goals: Sequence[str]) -> str:
    folded_goals = [folded(goal) for goal in goals]
    return reduce(common, folded_goals) or folded_goals[0]


def _luck(task: Task) -> Contrast:
    """One good attempt at one task, as if somebody else had lived it."""
    good, bad = f"{PLANTER}/{task.id}/good", f"{PLANTER}/{task.id}/bad"
    return Contrast(
        f"{PLANTER}/{task.id}",
        task.scope,
        task.id,
        task.family,
        goal=task.goal,
        good=(good,),
        bad=(bad,),
        scores=(1.0, 0.0),
    )


def _forks(world: World, task: Task) -> Iterator[_Fork]:
    """All that could be done instead, step by step of the solution, and what it comes to."""
    way = list[str]()
    while True:
        step = _played(world, task, way)
        if step.score is not None:
            return
        for action in step.actions:
            if action != step.right:
                score = _finished(world, task, [*way, action])
                yield _Fork(task, len(way), step.state, action, step.right, score)
        way.append(step.right)


class _Shown(NamedTuple):
    """Where some actions lead: what is there, or what the episode came to."""

    state: State
    actions: tuple[str, ...]
    right: str
    score: float | None = None


def _played(world: World, task: Task, actions: Sequence[str]) -> _Shown:
    """What is shown after these actions."""
    now = world.reset(task)
    for action in actions:
        now = world.step(world.codec.ground(action, now.observation))
    state = world.codec.state(now.observation, list(actions))
    if now.terminated or now.truncated:
        return _Shown(state, (), "", float(now.reward or 0.0))
    return _Shown(state, world.codec.actions(now.observation), world.oracle_action())


def _finished(world: World, task: Task, actions: Sequence[str]) -> float:
    """The score of an episode that goes on as is right after these actions; 0 where none is."""
    now = world.reset(task)
    for n in range(_LONGEST):
        try:
            action = actions[n] if n < len(actions) else world.oracle_action()
        except InputError:  # nothing leads on from here
            return 0.0
        now = world.step(world.codec.ground(action, now.observation))
        if now.terminated or now.truncated:
            return float(now.reward or 0.0)
    return 0.0


def shares(gone: Sequence[int | None]) -> Mapping[int, float]:
    """Share of rules that were retired after at most so many tellings, by ``TIMES``."""
    return {n: sum(g is not None and g <= n for g in gone) / len(gone) for n in TIMES}
