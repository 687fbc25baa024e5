"""Telling rules: which are fetched for a task, which of them by a draw, and at which steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jitrl.agents.rulebook.partings import filled, speaks_of
from jitrl.agents.rulebook.words import words
from jitrl.core import similarity
from jitrl.core.rules import Signature, Standing, best, fits, signature, tokens
from jitrl.core.sentences import parts
from jitrl.ports.rules import RuleStore
from jitrl.types import Prompt, Rule, RuleCounts, RuleUse, State, Task

_TRIAL = 0.5  # chance that a candidate is told
_KNOWN = 50  # uses after which half as much is held out
_HOLDS = 0.5  # share of the words of a condition that must be seen
_OBEYED = 0.6  # share of the words of an action that the order must name


@dataclass(frozen=True, slots=True)
class Telling:
    """How rules are chosen; as the options of the agent."""

    told: int
    tokens: int
    overlap: float
    explore: float
    holdout: float
    success: float


class Line:
    """A rule that could be told in an episode.

    Attributes:
        text: With the values of the goal.
        told: Whether it is.
        chance: That it would be.
    """

    def __init__(self, rule: Rule, goal: str, told: bool, chance: float) -> None:
        self.rule, self.text = rule, filled(rule.text, goal)
        self.told, self.chance = told, chance
        split = parts(self.text)
        self._condition = frozenset(similarity.words(split.condition if split else ""))
        self._order = frozenset(similarity.words(split.order if split else self.text))
        self.occasions = self.obeyed = 0

    def holds(self, seen: frozenset[str]) -> float:
        """Share of the words of its condition that are seen; 1 without a condition."""
        if not self._condition:
            return 1.0
        return len(self._condition & seen) / len(self._condition)

    def took(self, action: str) -> None:
        """Count an occasion, and whether it was obeyed."""
        said = frozenset(similarity.words(action))
        self.occasions += 1
        self.obeyed += len(said & self._order) >= _OBEYED * len(said)


class Told:
    """The rules of one episode."""

    def __init__(self, lines: tuple[Line, ...], excluded: int = 0) -> None:
        self.lines, self.excluded = lines, excluded
        self._now: list[Line] = []

    def notes(self, state: State, prompt: Prompt) -> str:
        """The told rules whose condition is nearest to what is seen; "" if none is near.

        Those of other steps are left out: a small model takes any action that is named.
        """
        text = f"{prompt.goal}\n{state.place}\n{state.text}"
        seen = frozenset(similarity.words(text))
        near = [(line.holds(seen), line) for line in self.lines]
        most = max((share for share, _ in near), default=0.0)
        self._now = [line for share, line in near if share == most >= _HOLDS]
        said = words(prompt.goal)
        told = [said.line.format(rule=line.text) for line in self._now if line.told]
        return "\n".join([said.told, *told]) if told else ""

    def took(self, action: str) -> None:
        """What was done at the step that notes were last asked for."""
        for line in self._now:
            line.took(action)

    def uses(self, episode: str) -> tuple[RuleUse, ...]:
        """What is logged of it."""
        return tuple(
            RuleUse(line.rule.id, episode, line.told, line.chance, line.occasions, line.obeyed)
            for line in self.lines
        )


def fetched(
    store: RuleStore,
    task: Task,
    how: Telling,
    rng: np.random.Generator,
    *,
    exclude: frozenset[str],
    until: int | None,
) -> Told:
    """The rules that an episode may be told, each drawn; candidates of one contrast by one draw.

    Args:
        exclude: Tasks; what was distilled from attempts at one of them is left out.
        until: Newest version of the memory to look at.
    """
    known = store.rules(scope=task.scope, until=until)
    usable = [
        rule
        for rule in known
        if rule.status in ("candidate", "active") and speaks_of(rule.text, task.goal)
    ]
    about = signature(task.family, task.goal)
    fitting = {rule.id: rule for rule in usable if fits(_of(rule), about) >= how.overlap}
    allowed = _allowed(store, fitting, exclude)
    counts = store.rule_counts(how.success, until=until)
    left = how.tokens

    def room(id: str) -> bool:
        nonlocal left
        size = tokens(allowed[id].text)
        if size > left:
            return False
        left -= size
        return True

    standing = [(id, _standing(rule, counts)) for id, rule in allowed.items()]
    chosen = best(standing, c=how.explore, most=how.told, room=room)
    draws = rng.random(len(chosen)).tolist()
    drawn = dict[str, float]()
    lines = []
    for id, draw in zip(chosen, draws, strict=True):
        rule = allowed[id]
        if rule.status == "candidate":
            # Those of one contrast are one way, of which the half is worth nothing.
            chance, draw = _TRIAL, drawn.setdefault((*rule.evidence, id)[0], draw)
        else:
            chance = 1.0 - how.holdout / (1.0 + counts[id].uses / _KNOWN)
        lines.append(Line(rule, task.goal, draw < chance, chance))
    return Told(tuple(lines), len(fitting) - len(allowed))


def _of(rule: Rule) -> Signature:
    return Signature(rule.kind, frozenset(rule.entities))


def _standing(rule: Rule, counts: Mapping[str, RuleCounts]) -> Standing:
    known = counts.get(rule.id, RuleCounts())
    return Standing(rule.entry, known.uses, known.wins)


def _allowed(
    store: RuleStore, rules: Mapping[str, Rule], exclude: frozenset[str]
) -> dict[str, Rule]:
    """Those that rest on no attempt at an excluded task."""
    if not exclude:
        return dict(rules)
    rest = {id for rule in rules.values() for id in rule.evidence}
    banned = {c.id for c in store.contrasts(ids=rest) if c.task in exclude}
    return {id: rule for id, rule in rules.items() if banned.isdisjoint(rule.evidence)}
