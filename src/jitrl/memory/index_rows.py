"""Arrays that grow by a row at a time, each append at the same small cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Rows:
    """A growing array; no append copies more than a few rows.

    A list of arrays would cost a search one numpy call for each of them, and doubling costs one
    append a copy of everything. So the next, twice as long array is filled along the way: from the
    half on, each append also copies two old rows, and by the time the array is full its successor
    holds all of it.

    One thread appends; any number may read. A reader takes ``len`` first and ``data`` second: the
    rows below that length never change, in this array or in its successors.
    """

    __slots__ = ("_count", "_half", "_next", "data")

    def __init__(self, shape: tuple[int, ...], dtype: type, capacity: int = 8) -> None:
        self.data: np.ndarray = np.empty((capacity, *shape), dtype)
        self._half = capacity // 2
        self._next: np.ndarray | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, row: int | Sequence[int] | np.ndarray) -> None:
        """Add one row; a shorter row is filled up with zeros."""
        data, n = self.data, self._count
        if data.ndim == 1:
            data[n] = row
        else:
            data[n, : len(row)] = row  # type: ignore[arg-type]
            data[n, len(row) :] = 0  # type: ignore[arg-type]
        start = 2 * (n - self._half)
        if start >= 0:
            following = self._next
            if following is None:
                self._next = following = np.empty((2 * len(data), *data.shape[1:]), data.dtype)
            stop = min(start + 2, n + 1)
            following[start:stop] = data[start:stop]
            if stop == len(data):
                self.data, self._next, self._half = following, None, stop
        self._count = n + 1

    @property
    def nbytes(self) -> int:
        """Bytes written, in this array and in its successor; what was never written costs none."""
        copied = 0 if self._next is None else 2 * (self._count - self._half)
        return (self._count + copied) * self.data[:1].nbytes
