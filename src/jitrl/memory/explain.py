"""Explanations: a journaled decision made again, as it was and without each of its reasons."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from jitrl.core.update import decide
from jitrl.errors import ConfigError
from jitrl.memory.session import Session
from jitrl.memory.view import Lens, View
from jitrl.ports import Store
from jitrl.types import Candidate, Decision, Episode, Neighborhood, State


class Sight(Protocol):
    """Who decided: how it looks at a memory."""

    def lens(
        self, exclude: frozenset[str] = frozenset(), without: frozenset[int] = frozenset()
    ) -> Lens:
        """The lens it decides through."""
        ...


class Record(Protocol):
    """A journaled decision, as the store gives it."""

    @property
    def id(self) -> str:
        """``EPISODE_KEY#STEP``."""
        ...

    @property
    def episode(self) -> str:
        """Key of its episode."""
        ...

    @property
    def step(self) -> int:
        """Index in the episode."""
        ...

    @property
    def scope(self) -> str:
        """Scope of its episode."""
        ...

    @property
    def state(self) -> State:
        """The state decided in."""
        ...

    @property
    def decision(self) -> Decision:
        """Every number that made it."""
        ...


class Journal(Store, Protocol):
    """A store that can list its decisions."""

    def decision(self, id: str) -> Record:
        """The decision of that id."""
        ...

    def decisions(self) -> Iterator[Record]:
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
        without: One entry for each episode among the neighbors, those that turn it first.
    """

    id: str
    episode: str
    step: int
    state: State
    decision: Decision
    alone: Decision
    without: tuple[Counterfactual, ...]


class Draws:
    """A generator that gives stored draws again; past their end nothing is explored."""

    def __init__(self, draws: Sequence[float]) -> None:
        self._left = list(draws)

    def random(self) -> float:
        """The next stored draw."""
        return self._left.pop(0) if self._left else 1.0


def explain(sight: Sight, store: Journal, id: str) -> Explanation:
    """Make the decision ``id`` again, without the memory and without each episode near it.

    Raises:
        StoreError: If there is no such decision.
        ConfigError: If it was made under another rule than ``sight``'s.
    """
    record = store.decision(id)
    _same_rule(sight, record.decision, id)
    episode = store.episode(record.episode)
    near = sorted({row for n in record.decision.neighbors for row in n.rows})
    owners = _owners(store, record.scope, near, record.decision.version)
    alone = again(record.decision, Neighborhood(), sight)
    found = []
    for name, rows in owners.items():
        lens = sight.lens(_excluded(episode), frozenset(_rows_of(store, record.scope, name)))
        view = View(store, record.scope, lens)
        other = again(record.decision, _seen(view, episode, record), sight)
        chosen = record.decision.action
        share = next((c.probability for c in other.candidates if c.action == chosen), 0.0)
        found.append(Counterfactual(name, tuple(rows), other.action, share))
    found.sort(key=lambda c: (c.action == record.decision.action, c.probability))
    return Explanation(
        id, record.episode, record.step, record.state, record.decision, alone, tuple(found)
    )


def replay(sight: Sight, store: Journal, without: Collection[int]) -> list[str]:
    """Ids of stored decisions whose choice differs without these rows, in the order read."""
    gone = frozenset(without)
    views: dict[tuple[str, frozenset[str]], View] = {}
    turned = []
    for record in store.decisions():
        decision = record.decision
        if decision.mode != "act" or decision.holdout or decision.reason in ("off", "static"):
            continue
        _same_rule(sight, decision, record.id)
        episode = store.episode(record.episode)
        key = (record.scope, _excluded(episode))
        if key not in views:
            views[key] = View(store, record.scope, sight.lens(key[1], gone))
        if again(decision, _seen(views[key], episode, record), sight).action != decision.action:
            turned.append(record.id)
    return turned


def again(decision: Decision, near: Neighborhood, sight: Sight) -> Decision:
    """The decision with other neighbors: same candidates, same draws, no model."""
    proposed = [
        Candidate(c.action, c.logit, c.source) for c in decision.candidates if c.source != "memory"
    ]
    allowed = None
    if sight.lens().rule.memory_only == "lowest":
        allowed = {c.action for c in decision.candidates}
    rng = Draws(decision.draws)
    return decide(proposed, near, sight.lens().rule, rng, allowed=allowed)  # type: ignore[arg-type]


def _seen(view: View, episode: Episode, record: Record) -> Neighborhood:
    """What the decision was given: the memory at its version, and its episode so far."""
    session = Session(view, record.decision.version)
    view.refresh(record.decision.version)
    for step in episode.steps[: record.step]:
        if step.decision is not None:
            session.step(step.state, step.decision, step.next_state)
    return replace(session.neighborhood(record.state), version=record.decision.version)


def _excluded(episode: Episode) -> frozenset[str]:
    return frozenset(episode.info.get("exclude", ()))


def _owners(store: Store, scope: str, rows: Collection[int], version: int) -> dict[str, list[int]]:
    """Episode → which of ``rows`` are its own."""
    wanted, found = set(rows), dict[str, list[int]]()
    for change in store.changes(0, scope=scope):
        if change.version > version or not wanted:
            break
        if change.kind == "append":
            for row in change.rows:
                if row.id in wanted:
                    wanted.discard(row.id)
                    found.setdefault(row.episode, []).append(row.id)
    return found


def _rows_of(store: Store, scope: str, episode: str) -> Iterator[int]:
    for change in store.changes(0, scope=scope):
        if change.kind == "append" and change.episode == episode:
            yield from (row.id for row in change.rows)


def _same_rule(sight: Sight, decision: Decision, id: str) -> None:
    mine = sight.lens().rule.digest
    if decision.rule != mine:
        raise ConfigError(
            f"decision {id} was made under rule {decision.rule}, this memory was opened with "
            f"{mine}; open it with the preset and settings of that time"
        )
