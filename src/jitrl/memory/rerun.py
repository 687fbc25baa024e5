"""Decisions made again: on a memory as it was, with rows left out of it, and without a model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol, cast

import numpy as np

from jitrl.core.features import Situation
from jitrl.core.readings import read_before, readings
from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.memory.precedents import goal_text
from jitrl.memory.session import Session
from jitrl.memory.stream import changes
from jitrl.memory.view import Lens, View
from jitrl.ports import Change, DecisionRecord, Store
from jitrl.types import DEGRADED, Candidate, Decision, Episode, Neighborhood, Risk, State


class Sight(Protocol):
    """Who decided: how it looks at a memory."""

    def lens(
        self,
        exclude: frozenset[str] = frozenset(),
        without: frozenset[int] = frozenset(),
        snapshot: int | None = None,
    ) -> Lens:
        """The lens it decides through."""
        ...


class Past:
    """One scope of a store up to a version, read once; a view can follow it like a store."""

    def __init__(self, store: Store, scope: str, version: int) -> None:
        self.scope, self.version = scope, version
        self.stream = list(changes(store, 0, version, scope))
        self._versions = [change.version for change in self.stream]
        self.outline = store.outline

    def head(self) -> int:
        """The version up to which it was read."""
        return self.version

    def changes(self, after: int, *, scope: str | None = None) -> Iterator[Change]:
        """Entries later than ``after``; all are of one scope."""
        return islice(self.stream, bisect_right(self._versions, after), None)

    def view(self, lens: Lens) -> View:
        """A view of it that has seen nothing yet."""
        return View(cast(Store, self), self.scope, lens)


class Rerun:
    """An episode gone through again on another memory, up to one of its decisions.

    Its steps are those that were taken. What its memory makes of them is found out anew: how new
    the candidates of an earlier step are depends on it.

    Args:
        until: Version of the memory that all its decisions see; ``None``: each the one it saw.

    Attributes:
        is_sure: False once a decision, journaled by an older version, did not say what it needs
            to be made again on another memory.
    """

    def __init__(
        self, view: View, episode: Episode, sight: Sight, until: int | None = None
    ) -> None:
        self.is_sure, self._until = True, until
        self._session = Session(view, task=episode.task)
        self._episode, self._sight = episode, sight
        self._done = 0
        self._last: tuple[int, Decision] | None = None

    def made(self, record: DecisionRecord) -> Decision:
        """The decision, as this memory and the episode so far make it."""
        for number in range(self._done, record.step):
            step = self._episode.steps[number]
            if step.decision is not None:
                shown = step.reward if self._episode.info.get("shown") else None
                made = replace(self._made(number, step.state, step.decision), action=step.action)
                self._session.step(step.state, made, step.next_state, shown)
        self._done = record.step
        return self._made(record.step, record.state, record.decision)

    def situation(self, state: State, made: Decision) -> Situation:
        """The step of a decision that was ``made`` just now, as transfer looks at it."""
        return self._session.situation(
            state,
            goal_text(self._episode.info, self._episode.task),
            [c.action for c in made.candidates if c.source != "memory"],
            [c.action for c in made.candidates if c.source == "memory"],
            self._read(self._done),
        )

    @property
    def is_over(self) -> bool:
        """Whether its last decision was reached."""
        return self._done == len(self._episode.steps) - 1

    def _read(self, number: int) -> str:
        """What was read before a step."""
        return read_before(readings(self._episode.info, len(self._episode.steps)), number)

    def _made(self, number: int, state: State, decision: Decision) -> Decision:
        if self._last is None or self._last[0] != number:
            self._session.until = decision.version if self._until is None else self._until
            near = self._session.neighborhood(
                state,
                goal=goal_text(self._episode.info, self._episode.task),
                features=str(self._episode.info.get("features", "")),
                read=self._read(number),
                actions=[c.action for c in decision.candidates if c.source != "memory"],
                allowed=_allowed(decision),
                lessons_of=lessons_of(decision) if self._until is None else 0,
            )
            made = again(decision, near, self._sight)
            self.is_sure = self.is_sure and _is_sure(decision, made, self._sight.lens().rule)
            self._last = number, made
        return self._last[1]


def again(decision: Decision, near: Neighborhood, sight: Sight) -> Decision:
    """The decision with other neighbors: same candidates, same draws, no model.

    In shadow, its action is what the memory would choose.
    """
    proposed = [
        Candidate(c.action, c.logit, c.source, c.risk)
        for c in decision.candidates
        if c.source != "memory"
    ]
    allowed, lens = _allowed(decision), sight.lens()
    rng = _Draws(decision.draws) if decision.seed is None else generator(decision.seed)
    return decide(
        proposed,
        near,
        lens.rule,
        rng,  # type: ignore[arg-type]
        allowed=allowed,
        admission=lens.admission,
    )


def lessons_of(decision: Decision) -> int:
    """Version of the memory that its lessons were learned from; 0: the newest it could see."""
    return 0 if decision.lesson is None else decision.lesson.version


def _allowed(decision: Decision) -> Collection[str] | None:
    """Which actions the memory could have brought; ``None``: all."""
    if decision.allowed == "any":
        return None
    names = {*(c.action for c in decision.candidates), *(decision.allowed or ())}
    marks: dict[str, Risk] = {c.action: c.risk for c in decision.candidates if c.risk != "read"}
    marks |= dict(decision.marked)
    return {name: marks.get(name, "read") for name in names} if marks else names


def seed_of(rng: np.random.PCG64) -> str:
    """The state of a generator, 64 hex digits; ``generator`` goes on from there."""
    place = rng.state["state"]
    return f"{place['state']:032x}{place['inc']:032x}"


def generator(seed: str) -> np.random.Generator:
    """A generator in the state that ``seed_of`` wrote."""
    rng = np.random.PCG64(0)
    state = rng.state
    state["state"] = {"state": int(seed[:32], 16), "inc": int(seed[32:], 16)}
    rng.state = state
    return np.random.Generator(rng)


class _Draws:
    """A generator that gives stored draws again; past their end nothing is explored."""

    def __init__(self, draws: Sequence[float]) -> None:
        self._left = list(draws)

    def random(self) -> float:
        """The next stored draw."""
        return self._left.pop(0) if self._left else 1.0


def _is_sure(decision: Decision, made: Decision, rule: UpdateRule) -> bool:
    """Whether the journal says enough for ``made``: all its draws, and who else could join."""
    if decision.seed is None and len(made.draws) > len(decision.draws):
        return False
    if decision.allowed is not None or rule.memory_only == "never":
        return True
    known = {c.action for c in decision.candidates}
    if rule.memory_only != "positive":  # what was near then and did not join was not allowed to
        known.update(n.action for n in decision.neighbors)
    return known.issuperset(n.action for n in made.neighbors)


def excluded(episode: Episode) -> frozenset[str]:
    """Tasks whose rows an episode was not to see."""
    return frozenset(episode.info.get("exclude", ()))


def snapshot_of(episode: Episode) -> int | None:
    """The snapshot that an episode read; ``None`` where it read all there was."""
    found = episode.info.get("snapshot")
    return found if isinstance(found, int) else None


def is_corrected(decision: Decision) -> bool:
    """Whether the memory was asked."""
    return not decision.holdout and decision.reason not in ("off", "static", DEGRADED)
