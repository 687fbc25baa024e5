"""Neighbors of a state as columns: what a decision sums over, hundreds at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

ROWS = 8
"""Row ids that a neighbor names, the newest."""


class Neighbor(NamedTuple):
    """What the memory holds of one action in one similar state (a cell), or a single row of it.

    Attributes:
        action: Canonical action text.
        similarity: In [0, 1]; 1.0 only for the same state.
        ret: Mean return-to-go, centred where the memory centres rewards.
        visits: Rows it stands for.
        sources: Distinct sources (episodes of trusted bases, principals of others).
        value: Q of this (state, action) backed up through the memory's graph; ``None`` where no
            graph is kept, and then ``ret`` stands alone.
        reward: Mean immediate reward, centred.
        terminal: Share of the rows that ended their task.
        onward: Best novelty that lies behind this action, in [0, 1].
        taken: How often the present episode took this action in this very state.
        trusted: Whether the rows rest on a trusted basis.
        rows: Newest row ids, at most ``ROWS``, newest last; empty for steps of the present episode.
        state: The memory's id of the state; -1 if it has none.
    """

    action: str
    similarity: float
    ret: float
    visits: float = 1.0
    sources: float = 1.0
    value: float | None = None
    reward: float = 0.0
    terminal: float = 0.0
    onward: float = 0.0
    taken: int = 0
    trusted: bool = True
    rows: tuple[int, ...] = ()
    state: int = -1


_ROWS = Neighbor._fields.index("rows")
_NUMBERS = tuple(name for name in Neighbor._fields if name not in ("action", "rows"))
_VALUE, _TAKEN, _TRUSTED, _STATE = map(_NUMBERS.index, ("value", "taken", "trusted", "state"))


def _column(name: str) -> property:
    """One row of ``numbers`` by the name of its field."""
    at = _NUMBERS.index(name)
    return property(lambda neighbors: neighbors.numbers[at])


class Neighbors(Sequence[Neighbor]):
    """Columns of K neighbors. Reads like a tuple of ``Neighbor``.

    Attributes:
        action: Shape [K].
        numbers: Float64, shape [11, K]: the fields that are numbers or truth values, in their order
            in ``Neighbor``; a missing ``value`` is NaN. Each is an attribute of its name, too.
        rows: Int64, shape [R, K], R at least ``ROWS``: newest last, filled up with 0 in front.
    """

    __slots__ = ("action", "numbers", "rows")

    def __init__(self, action: list[str], numbers: np.ndarray, rows: np.ndarray) -> None:
        self.action, self.numbers, self.rows = action, numbers, rows

    @classmethod
    def of(cls, neighbors: Iterable[Neighbor]) -> Neighbors:
        """The columns of ``neighbors``."""
        if isinstance(neighbors, Neighbors):
            return neighbors
        given = list(neighbors)
        depth = max([ROWS, *(len(n.rows) for n in given)])
        rows = [(0,) * (depth - len(n.rows)) + tuple(n.rows) for n in given]
        numbers = [(*n[1:_ROWS], *n[_ROWS + 1 :]) for n in given]  # None becomes NaN
        return cls(
            [n.action for n in given],
            np.array(numbers, float).reshape(-1, len(_NUMBERS)).T,
            np.array(rows, np.int64).reshape(-1, depth).T,
        )

    @classmethod
    def columns(
        cls, action: list[str], rows: np.ndarray, **numbers: np.ndarray | float
    ) -> Neighbors:
        """Neighbors of columns by their names in ``Neighbor``, all of them; a number is for all."""
        block = np.empty((len(_NUMBERS), len(action)))
        for name, column in numbers.items():
            block[_NUMBERS.index(name)] = column
        return cls(action, block, rows)

    similarity, ret, visits, sources = map(_column, ("similarity", "ret", "visits", "sources"))
    value, reward, terminal, onward = map(_column, ("value", "reward", "terminal", "onward"))
    taken, state = map(_column, ("taken", "state"))

    @property
    def trusted(self) -> np.ndarray:
        """Truth values, shape [K]."""
        return np.asarray(self.numbers[_TRUSTED] != 0.0)

    def only(self, places: np.ndarray) -> Neighbors:
        """Those at ``places`` (an array of indices), in that order."""
        return Neighbors(
            [self.action[i] for i in places.tolist()],
            self.numbers.take(places, axis=1),
            self.rows.take(places, axis=1),
        )

    def joined(self, others: Neighbors, most: int) -> Neighbors:
        """``others`` and these, most similar first; among equals, ``others`` first.

        Args:
            most: So many of them, or all of the same state where these are more.
        """
        numbers = np.concatenate((others.numbers, self.numbers), axis=1)
        rows = np.zeros((max(len(others.rows), len(self.rows)), numbers.shape[1]), np.int64)
        rows[-len(others.rows) :, : len(others)] = others.rows
        rows[-len(self.rows) :, len(others) :] = self.rows
        both = Neighbors(others.action + self.action, numbers, rows)
        order = (-both.similarity).argsort(kind="stable")
        return both.only(order[: max(most, np.count_nonzero(both.similarity == 1.0))])

    def records(self) -> Iterator[tuple[Any, ...]]:
        """The fields of each neighbor as a plain tuple."""
        columns: list[list[Any]] = self.numbers.tolist()
        columns[_VALUE] = [None if x != x else x for x in columns[_VALUE]]
        for whole in (_TAKEN, _STATE):
            columns[whole] = list(map(int, columns[whole]))
        columns[_TRUSTED] = list(map(bool, columns[_TRUSTED]))
        empty = np.count_nonzero(self.rows == 0, axis=0).tolist()
        rows = [tuple(ids[n:]) for ids, n in zip(self.rows.T.tolist(), empty, strict=True)]
        before, after = columns[: _ROWS - 1], columns[_ROWS - 1 :]
        return zip(self.action, *before, rows, *after, strict=True)

    def __len__(self) -> int:
        return len(self.action)

    def __iter__(self) -> Iterator[Neighbor]:
        return map(Neighbor._make, self.records())

    @overload
    def __getitem__(self, place: int) -> Neighbor: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Neighbor, ...]: ...
    def __getitem__(self, place: int | slice) -> Neighbor | tuple[Neighbor, ...]:
        return tuple(self)[place]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))
