"""Steps that several tasks have in common: one rule, with the pattern of their goals.

Nothing is asked of a model. Values that the goal names become placeholders, and a pattern is as
wide as it can be without fitting a task at which something else was right.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from jitrl.agents.past import PastEpisode
from jitrl.agents.rulebook.cases import Case, case_of, seen, seen_closely
from jitrl.agents.rulebook.words import words
from jitrl.core.patterns import PLACEHOLDER, common, fits
from jitrl.core.sentences import folded
from jitrl.types import Contrast, State

_EVERYWHERE = 3  # tasks without a word in common that make a rule of any goal


@dataclass(frozen=True, slots=True)
class Way:
    """The way of the best attempt of a contrast, as far as rules look at it.

    Attributes:
        contrast: Id of the contrast.
        kind: Type of task.
        steps: State and action of each, without loops.
    """

    contrast: str
    task: str
    kind: str
    goal: str
    steps: tuple[tuple[State, str], ...]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A case, and the ways that teach it.

    Attributes:
        text: The sentence that says it.
        kind: Type of task that all of them are of; "" if they are of several.
        contrasts: Ids of their contrasts, oldest first.
    """

    case: Case
    text: str
    kind: str
    contrasts: tuple[str, ...]


def way_of(contrast: Contrast, attempt: PastEpisode) -> Way:
    """The way that an attempt of a contrast shows."""
    steps = tuple((row.state, row.action) for row in attempt.direct)
    return Way(contrast.id, contrast.task, contrast.kind, contrast.goal, steps)


def lesson(way: Way, state: State, action: str, others: Collection[Way]) -> Lesson | None:
    """What a step of ``way`` teaches, in view of ``others``, the ways of other contrasts.

    ``None`` if no sentence can say it: where a text has the form of a placeholder, say.

    Tasks that took the same action in the same place join one by one, the most alike first, as long
    as their goals have something in common that fits no task that did something else there.
    """
    said = words(way.goal)
    show = seen_closely if _is_ambiguous(way, state, action) else seen
    own = case_of(way.goal, show(state), action)
    text = own.written(said)
    if text is None or PLACEHOLDER.search(f"{way.goal} {show(state)} {action}"):
        return None
    alike, against = list[tuple[str, Way]](), list[str]()
    for other in others:
        if folded(other.goal) == folded(way.goal):
            alike += [(own.goal, other)] if _takes(other, state, action) else []
            continue
        cases = [case_of(other.goal, show(s), a) for s, a in other.steps]
        here = [case for case in cases if case.where == own.where]
        same = [case for case in here if case.action == own.action]
        if same:
            alike.append((same[0].goal, other))
        elif here:
            against.append(folded(other.goal))
    pattern, joined = own.goal, [way]
    needed = set(PLACEHOLDER.findall(own.action + own.where))
    order = sorted(alike, key=lambda one: (-len(common(own.goal, one[0])), one[1].contrast))
    for goal, other in order:
        wider = common(pattern, goal)
        if not wider or not needed <= set(PLACEHOLDER.findall(wider)):
            continue
        said_wider = Case(wider, own.where, own.action).written(said)
        if said_wider is not None and not any(fits(wider, one) for one in against):
            text = said_wider
            pattern, joined = wider, [*joined, other]
    if len({other.task for other in joined}) == 1 and not against and not needed:
        everywhere = {one.task for _, one in alike} | {way.task}
        if len(everywhere) >= _EVERYWHERE:
            anywhere = Case("", own.where, own.action)
            text, pattern = anywhere.sentence(said), ""
            joined = [way, *(one for _, one in alike)]
    known = [other.contrast for other in others]
    ids = sorted({one.contrast for one in joined} - {way.contrast}, key=known.index)
    kinds = {one.kind for one in joined}
    kind = way.kind if len(kinds) == 1 else ""
    return Lesson(Case(pattern, own.where, own.action), text, kind, (*ids, way.contrast))


def contradicts(way: Way, case: Case) -> bool:
    """Whether a way took something else where a case speaks of it."""
    there = [(state, action) for state, action in way.steps if case.where in _views(state)]
    if not there or not case.speaks_of(way.goal):
        return False
    return not any(case.at(way.goal, state, [action]) for state, action in there)


def _views(state: State) -> tuple[str, str]:
    return seen(state), seen_closely(state)


def _is_ambiguous(way: Way, state: State, action: str) -> bool:
    """Whether something else is done on the way where the same is seen."""
    return any(seen(s) == seen(state) and a != action for s, a in way.steps)


def _takes(way: Way, state: State, action: str) -> bool:
    return any(s == state and a == action for s, a in way.steps)
