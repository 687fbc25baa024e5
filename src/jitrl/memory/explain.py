"""Explanations: a journaled decision made again, as it was and without each of its reasons."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from jitrl.core.update import decide
from jitrl.errors import ConfigError
from jitrl.memory.session import Session
from jitrl.memory.view import Lens, View
from jitrl.ports import DecisionRecord, Store
from jitrl.types import Candidate, Decision, Episode, Neighborhood, State


class Sight(Protocol):
    """Who decided: how it looks at a memory."""

    def lens(
        self, exclude: frozenset[str] = frozenset(), without: frozenset[int] = frozenset()
    ) -> Lens:
        """The lens it decides through."""
        ...


class Journal(Store, Protocol):
    """A store that can list its decisions."""

    def decision(self, id: str) -> DecisionRecord:
        """The decision of that id."""
        ...

    def decisions(self) -> Iterator[DecisionRecord]:
        """All decisions, by the version they read."""
        ...


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The same decision without the rows of one episode.

    Attributes:
        episode: Whose rows were left out.
        rows: Those of them that were near.
        action: What would have been chosen.
        probability: Of the action that was chosen.
    """

    episode: str
    rows: tuple[int, ...]
    action: str
    probability: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a decision fell as it did.

    Attributes:
        decision: As it was journaled.
        alone: The frozen model's own choice in its place, with the same draw.
        exact: Whether the journal gives the very same numbers again (a memory that another
            version or other settings wrote may not).
        without: One entry for each episode among the neighbors, those that turn it first.
    """

    id: str
    episode: str
    step: int
    state: State
    decision: Decision
    alone: Decision
    exact: bool
    without: tuple[Counterfactual, ...]


class Draws:
    """A generator that gives stored draws again; past their end nothing is explored."""

    def __init__(self, draws: Sequence[float]) -> None:
        self._left = list(draws)

    def random(self) -> float:
        """The next stored draw."""
        return self._left.pop(0) if self._left else 1.0


class _Rerun:
    """An episode gone through again, up to one of its decisions."""

    def __init__(self, view: View, episode: Episode) -> None:
        self._session, self._episode = Session(view), episode
        self._done = 0

    def near(self, record: DecisionRecord) -> Neighborhood:
        """What the decision was given: the memory of then, and its episode so far."""
        for last in self._episode.steps[self._done : record.step]:
            if last.decision is not None:
                self._session.until = last.decision.version
                self._session.advance()
                shown = last.reward if self._episode.info.get("shown") else None
                self._session.step(last.state, last.decision, last.next_state, shown)
        self._done = record.step
        self._session.until = record.decision.version
        return self._session.neighborhood(record.state)

    @property
    def is_over(self) -> bool:
        """Whether its last decision was reached."""
        return self._done == len(self._episode.steps) - 1


def explain(sight: Sight, store: Journal, id: str) -> Explanation:
    """Make the decision ``id`` again, without the memory and without each episode near it.

    Raises:
        StoreError: If there is no such decision.
        ConfigError: If it was made under another rule than ``sight``'s.
    """
    record = store.decision(id)
    decision = record.decision
    _same_rule(sight, decision, id)
    episode = store.episode(record.episode)

    def made(without: Collection[int]) -> Decision:
        lens = sight.lens(_excluded(episode), frozenset(without))
        rerun = _Rerun(View(store, record.scope, lens), episode)
        return again(decision, rerun.near(record), sight)

    found = []
    near = {row for n in decision.neighbors for row in n.rows}
    for name, rows in _episodes(store, record.scope, decision.version).items():
        if not near.isdisjoint(rows):
            other = made(rows)
            share = sum(c.probability for c in other.candidates if c.action == decision.action)
            found.append(Counterfactual(name, tuple(sorted(near & rows)), other.action, share))
    found.sort(key=lambda c: (c.action == decision.action, c.probability))
    alone = again(decision, Neighborhood(), sight)
    exact = _same(made(()) if _is_corrected(decision) else alone, decision)
    return Explanation(
        id, record.episode, record.step, record.state, decision, alone, exact, tuple(found)
    )


def replay(sight: Sight, store: Journal, without: Collection[int]) -> list[str]:
    """Ids of stored decisions whose choice differs without these rows, in the order read."""
    gone = frozenset(without)
    views: dict[frozenset[str], dict[str, View]] = {}
    running: dict[str, _Rerun] = {}
    turned = []
    for record in store.decisions():
        decision = record.decision
        if decision.mode != "act" or not _is_corrected(decision):
            continue
        _same_rule(sight, decision, record.id)
        if record.episode not in running:
            episode = store.episode(record.episode)
            excluded = _excluded(episode)
            scopes = views.setdefault(excluded, {})
            if record.scope not in scopes:
                scopes[record.scope] = View(store, record.scope, sight.lens(excluded, gone))
            running[record.episode] = _Rerun(scopes[record.scope], episode)
        rerun = running[record.episode]
        if again(decision, rerun.near(record), sight).action != decision.action:
            turned.append(record.id)
        if rerun.is_over:
            del running[record.episode]
    return turned


def again(decision: Decision, near: Neighborhood, sight: Sight) -> Decision:
    """The decision with other neighbors: same candidates, same draws, no model."""
    proposed = [
        Candidate(c.action, c.logit, c.source) for c in decision.candidates if c.source != "memory"
    ]
    allowed = {c.action for c in decision.candidates}
    rng = Draws(decision.draws)
    return decide(proposed, near, sight.lens().rule, rng, allowed=allowed)  # type: ignore[arg-type]


def _is_corrected(decision: Decision) -> bool:
    """Whether the memory was asked."""
    return not decision.holdout and decision.reason not in ("off", "static")


def _same(made: Decision, decision: Decision) -> bool:
    """Whether all numbers agree; a decision that was only computed took the model's choice."""
    if decision.mode == "shadow":
        return made.neighbors == decision.neighbors and made.kl == decision.kl
    return (made.action, made.candidates, made.neighbors) == (
        decision.action,
        decision.candidates,
        decision.neighbors,
    )


def _excluded(episode: Episode) -> frozenset[str]:
    return frozenset(episode.info.get("exclude", ()))


def _episodes(store: Store, scope: str, version: int) -> dict[str, set[int]]:
    """Episode → ids of all rows it brought up to ``version``."""
    found: dict[str, set[int]] = {}
    for change in store.changes(0, scope=scope):
        if change.version > version:
            break
        if change.kind == "append":
            found.setdefault(change.episode, set()).update(row.id for row in change.rows)
    return found


def _same_rule(sight: Sight, decision: Decision, id: str) -> None:
    mine = sight.lens().rule.digest
    if decision.rule != mine:
        raise ConfigError(
            f"decision {id} was made under rule {decision.rule}, this memory was opened with "
            f"{mine}; open it with the preset and settings of that time"
        )
