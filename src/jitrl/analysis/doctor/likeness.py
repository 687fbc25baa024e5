"""How alike states are: those of one kind of task among themselves, and those of other kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from jitrl.analysis.doctor.case import Case, Journal
from jitrl.analysis.doctor.finding import Finding, found, unknown
from jitrl.core.similarity import Retrieval, alike, bags
from jitrl.types import State

MOST_KINDS, MOST_STATES = 12, 20
"""Kinds, and states of each, that are compared: 240 states are 28,680 pairs, about a second."""
FEWEST_STATES = 8
"""States of a kind below which its share of strange neighbors moves by more than an eighth."""
LOST = 0.5
"""Share of a kind's states whose nearest state is of another kind: it then votes with others."""
MOST_LOOKED_AT = 200
"""States that are compared to find the nearest one."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A state of a kind; one of several kinds has several places."""

    state: State
    kind: str
    scope: str


def kinds(case: Case) -> Finding:
    """Whether kinds of task have states of their own, or are lost among those of others.

    A state is lost if the state nearest to it is of another kind and similar enough to be its
    neighbor. Vectors are not at hand here, so states are compared by their words.
    """
    retrieval = _by_words(case)
    places = [place for journal in case.journals[:1] for place in _places(journal)]
    sizes = Counter(place.kind for place in places)
    if len(sizes) < 2:
        return unknown(len(sizes))
    table = _similar([p.state for p in places], retrieval)
    kind = np.array([p.kind for p in places])
    scope = np.array([p.scope for p in places])
    table[scope[:, None] != scope[None, :]] = 0.0
    np.fill_diagonal(table, 0.0)
    own = kind[:, None] == kind[None, :]
    within = np.where(own, table, 0.0).max(axis=1)
    between = np.where(own, 0.0, table)
    strange, to = between.max(axis=1), kind[between.argmax(axis=1)]
    is_lost = (strange >= within) & (strange >= retrieval.threshold)
    lost = {name: float(is_lost[kind == name].mean()) for name in sizes}
    worst = max(lost, key=lambda name: lost[name])
    of_worst = kind == worst
    return found(
        lost[worst] > LOST,
        len(places),
        kinds=len(sizes),
        worst=worst,
        lost=lost[worst],
        like=Counter(to[of_worst & is_lost].tolist()).most_common(1)[0][0] if lost[worst] else None,
        within=float(within[of_worst].mean()),
        between=float(strange[of_worst].mean()),
        purity=float(1.0 - is_lost.mean()),
    )


def nearest(these: Sequence[State], held: Sequence[State], case: Case) -> float:
    """Median similarity of ``these`` to the most similar other state that is held."""
    rng, retrieval = np.random.default_rng(0), replace(_by_words(case), match_place=False)
    some = [these[i] for i in _drawn(rng, len(these), MOST_STATES)]
    others = [held[i] for i in _drawn(rng, len(held), MOST_LOOKED_AT)]
    known = [bags(state, retrieval) for state in others]
    best = []
    for state in some:
        mine = bags(state, retrieval)
        values = [
            alike(state, other, mine, theirs, retrieval)
            for other, theirs in zip(others, known, strict=True)
            if other != state
        ]
        best.append(max(values, default=0.0))
    return float(np.median(best)) if best else 0.0


def _places(journal: Journal) -> list[_Place]:
    """A sample of the states of each kind, the largest kinds first."""
    kinds, keys = journal.kinds(), journal.rows.keys
    states: dict[tuple[str, str], dict[int, None]] = {}
    for state, episode in zip(
        journal.rows.state.tolist(), journal.rows.episode.tolist(), strict=True
    ):
        kind = kinds.get(keys[episode])
        if kind is not None:
            states.setdefault((journal.scopes[state], kind), {})[state] = None
    rng, out = np.random.default_rng(0), []
    largest = sorted(states.items(), key=lambda item: -len(item[1]))[:MOST_KINDS]
    for (scope, kind), ids in largest:
        if len(ids) >= FEWEST_STATES:
            listed = list(ids)
            out += [
                _Place(journal.states[listed[i]], kind, scope)
                for i in _drawn(rng, len(listed), MOST_STATES)
            ]
    return out


def _similar(states: Sequence[State], retrieval: Retrieval) -> np.ndarray:
    """Similarity of all pairs, [N, N]."""
    known = [bags(state, retrieval) for state in states]
    table = np.ones((len(states), len(states)))
    for i, state in enumerate(states):
        for j in range(i):
            table[i, j] = table[j, i] = alike(state, states[j], known[i], known[j], retrieval)
    return table


def _by_words(case: Case) -> Retrieval:
    retrieval = case.preset.retrieval
    return replace(retrieval, kind="set") if retrieval.kind == "embedding" else retrieval


def _drawn(rng: np.random.Generator, size: int, most: int) -> list[int]:
    return sorted(rng.permutation(size)[:most].tolist())
