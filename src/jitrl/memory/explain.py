"""Explanations: a journaled decision made again, as it was and without each of its reasons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, cast

from jitrl.core.evidence import nearness
from jitrl.core.rule import UpdateRule
from jitrl.errors import ConfigError, InputError, StoreError
from jitrl.memory.explain_lessons import Taught, taught
from jitrl.memory.rerun import (
    Past,
    Rerun,
    Sight,
    again,
    excluded,
    is_corrected,
    lessons_of,
    snapshot_of,
)
from jitrl.memory.view import View
from jitrl.ports import DecisionRecord, Store
from jitrl.types import Decision, Neighborhood, Row, State

_TAUGHT = 2.0  # what all that taught weighs, where the rows of one action weigh up to 2


class Journal(Store, Protocol):
    """A store that can list its decisions."""

    def decision(self, id: str) -> DecisionRecord:
        """The decision of that id."""
        ...

    def decisions(self) -> Iterator[DecisionRecord]:
        """All decisions, by the version they read."""
        ...

    def settings(self) -> dict[str, Any]:
        """What rows are derived with; empty if nothing is remembered."""
        ...


def journal_of(store: Any) -> Journal:
    """The store, if it gives back the decisions that it keeps.

    Raises:
        StoreError: If it does not.
    """
    for name in ("decision", "decisions", "settings"):
        if not hasattr(store, name):
            raise StoreError(
                f"store {type(store).__name__} has no {name}(), so its decisions cannot "
                "be explained; add what jitrl.memory.explain.Journal names, or keep the memory "
                "in the store 'sqlite'"
            )
    return cast(Journal, store)


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The same decision without the rows of one episode.

    Attributes:
        episode: Whose rows were left out.
        rows: Those of them that were near.
        action: What would have been chosen; in shadow, what the memory would have.
        probability: Of the action that was taken.
        exact: Whether a memory that never held those rows gives these very numbers; False where the
            explanation is not exact, or an older version journaled too little (draws, or which
            actions could have joined).
        has_taught: Whether its path taught something that told the choice apart.
    """

    episode: str
    rows: tuple[int, ...]
    action: str
    probability: float
    exact: bool = True
    has_taught: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a decision fell as it did.

    Attributes:
        decision: As it was journaled.
        alone: The frozen model's own choice in its place, with the same draw.
        exact: Whether the journal gives the very same numbers again (a memory that another
            version or other settings wrote may not).
        without: One entry for each episode that was looked at, of those among the neighbors and
            those that taught; the ones that change it first.
        others: Such episodes that were not looked at; none weighs more.
        owners: Row id → episode, of all rows among the neighbors.
        taught: What other tasks taught about the choice; ``None`` where nothing.
    """

    id: str
    episode: str
    step: int
    state: State
    decision: Decision
    alone: Decision
    exact: bool
    without: tuple[Counterfactual, ...]
    others: int = 0
    owners: Mapping[int, str] = field(default_factory=dict)
    taught: Taught | None = None


def explain(
    sight: Sight,
    store: Journal,
    id: str,
    *,
    most: int = 20,
    progress: Callable[[int, int], None] | None = None,
) -> Explanation:
    """Make the decision ``id`` again, without the memory and without each episode that counted.

    An entry is what a memory that never held the episode's rows gives for the same steps: none of
    them is near, and what other tasks teach is learned anew. Rows that other episodes learned from
    it since stay as they are.

    Args:
        most: Episodes to look at, those that weigh most; each takes as long as reading the scope
            and learning from it.
        progress: Told how many of how many were looked at.

    Raises:
        InputError: If ``most`` is no whole number of at least 0.
        StoreError: If there is no such decision.
        ConfigError: If it was made under another rule than ``sight``'s, or if the memory remembers
            other trusted bases.
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise InputError(f"most is {most!r}; it must be a whole number, at least 0")
    record = store.decision(id)
    decision = record.decision
    same_rule(sight, decision, id)
    same_trust(sight, store)
    episode = store.episode(record.episode)
    exclude, snapshot = excluded(episode), snapshot_of(episode)
    alone = again(decision, Neighborhood(), sight)
    plain = Explanation(
        id, record.episode, record.step, record.state, decision, alone, _same(alone, decision), ()
    )
    if not is_corrected(decision):
        return plain
    past = Past(store, record.scope, decision.version)
    rows = _rows(past)
    full = past.view(sight.lens(exclude, snapshot=snapshot))
    first = Rerun(full, episode, sight)
    whole = first.made(record)
    exact = _same(whole, decision)
    last = decision.version if snapshot is None else snapshot
    heard = [row for row, is_active in rows.values() if is_active and row.version <= last]
    near = _near(whole, full, heard)
    rule = sight.lens().rule
    weights, lesson = _weights(near, rule), None
    fit = None if full.lessons is None else full.lessons.fit(lessons_of(decision))
    if fit is not None:
        here, declared = first.situation(record.state, whole), episode.info.get("features")
        lesson = taught(whole, fit, here, declared, rule.transfer, store.outline)
    shares = {} if lesson is None else lesson.shares()
    for key, part in shares.items():
        weights[key] = weights.get(key, 0.0) + _TAUGHT * part
    ranked = sorted(weights, key=lambda key: -weights[key])
    found = []
    for number, key in enumerate(ranked[:most]):
        if progress is not None:
            progress(number, min(most, len(ranked)))
        gone = frozenset(n for n, (row, _) in rows.items() if row.episode == key)
        rerun = Rerun(past.view(sight.lens(exclude, gone, snapshot)), episode, sight)
        other = rerun.made(record)
        share = sum(c.probability for c in other.candidates if c.action == decision.action)
        ids = tuple(sorted(row.id for row, _ in near if row.episode == key))
        is_exact = exact and rerun.is_sure
        found.append(Counterfactual(key, ids, other.action, share, is_exact, key in shares))
    mine = whole.action if decision.mode == "shadow" else decision.action
    found.sort(key=lambda c: (c.action == mine, c.probability))
    owners = {row.id: row.episode for row, _ in near}
    others = len(ranked) - len(found)
    return replace(
        plain, exact=exact, without=tuple(found), others=others, owners=owners, taught=lesson
    )


def without_rows(sight: Sight, store: Journal, id: str, rows: Collection[int]) -> Decision:
    """The decision ``id`` as a memory makes it that never held ``rows``; no model call.

    Raises:
        StoreError: If there is no such decision.
        ConfigError: As ``explain``.
    """
    record = store.decision(id)
    same_rule(sight, record.decision, id)
    same_trust(sight, store)
    if not is_corrected(record.decision):
        return record.decision
    episode = store.episode(record.episode)
    past = Past(store, record.scope, record.decision.version)
    view = past.view(sight.lens(excluded(episode), frozenset(rows), snapshot_of(episode)))
    return Rerun(view, episode, sight).made(record)


class _Near(NamedTuple):
    """A row among the neighbors, and how similar its state is."""

    row: Row
    similarity: float


def _rows(past: Past) -> dict[int, tuple[Row, bool]]:
    """Id → each row that the past brought, and whether it was active in the end."""
    found: dict[int, tuple[Row, bool]] = {}
    for change in past.stream:
        for row in change.rows:
            born = found[row.id][0] if row.id in found else row
            found[row.id] = born, row.status == "active"
    return found


def _near(decision: Decision, view: View, rows: Collection[Row]) -> list[_Near]:
    """The rows that the neighbors of ``decision`` stand for."""
    rule, trusted, exclude = view.lens.rule, view.lens.trusted, view.lens.exclude
    neighbors = [n for n in decision.neighbors if n.rows]
    if rule.unit == "rows":
        alike = {n.rows[0]: n.similarity for n in neighbors}
        return [_Near(row, alike[row.id]) for row in rows if row.id in alike]
    cells: dict[tuple[int | None, str, bool], float] = {
        (n.state, n.action, n.trusted): n.similarity for n in neighbors
    }
    places: dict[State, int | None] = {}
    found = []
    for row in rows:
        if row.task in exclude:
            continue
        if row.state not in places:
            places[row.state] = view.index.find(row.state)
        similarity = cells.get((places[row.state], row.action, row.basis in trusted))
        if similarity is not None:
            found.append(_Near(row, similarity))
    return found


def _weights(near: Collection[_Near], rule: UpdateRule) -> dict[str, float]:
    """Episode → what its rows weigh among those of their actions, the newest first.

    A row's share of its action's tries, by the kernel, counts up to twice: once as a try, and once
    by how far its return is from the action's mean, as a part of the largest such distance.
    """
    weight = [nearness(s, rule.kernel) for _, s in near]
    mass: dict[str, float] = {}
    total: dict[str, float] = {}
    for (row, _), w in zip(near, weight, strict=True):
        mass[row.action] = mass.get(row.action, 0.0) + w
        total[row.action] = total.get(row.action, 0.0) + w * row.ret
    far = [abs(row.ret - total[row.action] / (mass[row.action] or 1.0)) for row, _ in near]
    most = max(far, default=0.0) or 1.0
    found: dict[str, float] = {}
    for (row, _), w, distance in reversed(list(zip(near, weight, far, strict=True))):
        share = w / (mass[row.action] or 1.0) * (1.0 + distance / most)
        found[row.episode] = found.get(row.episode, 0.0) + share
    return found


def _same(made: Decision, decision: Decision) -> bool:
    """Whether all numbers agree; a decision that was only computed took the model's choice."""
    if decision.mode == "shadow":
        return made.neighbors == decision.neighbors and made.kl == decision.kl
    return (made.action, made.candidates, made.neighbors) == (
        decision.action,
        decision.candidates,
        decision.neighbors,
    )


def same_trust(sight: Sight, store: Journal) -> None:
    """Rows of other bases weigh otherwise, so nothing would come out as it was."""
    known, mine = store.settings().get("trusted"), sorted(sight.lens().trusted)
    if known is not None and sorted(known) != mine:
        raise ConfigError(
            f"the memory's decisions trust {sorted(known)}, it was opened with {mine}; open it "
            f"with trusted={sorted(known)} to explain or replay them"
        )


def same_rule(sight: Sight, decision: Decision, id: str) -> None:
    mine = sight.lens().rule.digest
    if decision.rule != mine:
        raise ConfigError(
            f"decision {id} was made under rule {decision.rule}, this memory was opened with "
            f"{mine}; open it with the preset and settings of that time"
        )
