"""The kernel of the state search compiled by numba: the same numbers, in less time."""

# mypy: disable-error-code="untyped-decorator,call-arg"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def _popcount(_context: Any, _value: Any) -> Any:
    """Bits set in a uint64, as one machine instruction."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@njit(nogil=True, cache=True)
def scan(
    words: tuple[np.ndarray, ...],
    features: np.ndarray,
    signature: np.ndarray,
    limit: int,
    mark: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """See ``index_bags.Scan``."""
    first, wanted = words[0], signature[0]
    bits, most = np.empty(len(first), np.uint8), 0
    for row in range(len(first)):  # two loops without branches: the compiler vectorises them
        bits[row] = _popcount(first[row] ^ wanted)
    for row in range(len(first)):
        most += bits[row] <= limit
    found, rows = 0, np.empty(most, np.int64)
    for row in range(len(first) if most else 0):
        if bits[row] <= limit:
            differing = np.int64(bits[row])
            for word in range(1, len(words)):
                differing += np.int64(_popcount(words[word][row] ^ signature[word]))
            if differing <= limit:
                rows[found] = row
                found += 1
    common = np.zeros(found, np.int64)
    for i in range(found):
        for feature in features[rows[i]]:
            if feature < len(mark):
                common[i] += mark[feature]
    return rows[:found], common
