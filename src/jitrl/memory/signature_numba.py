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
    """See ``index_bags.Kernel``."""
    count = len(words[0])
    rows = np.empty(count, np.int64)
    common = np.empty(count, np.int64)
    found = 0
    for row in range(count):
        differing = np.int64(0)
        for word in range(len(words)):
            differing += np.int64(_popcount(words[word][row] ^ signature[word]))
        if differing <= limit:
            total = np.int64(0)
            for column in range(features.shape[1]):
                feature = features[row, column]
                if feature < len(mark):
                    total += mark[feature]
            rows[found] = row
            common[found] = total
            found += 1
    return rows[:found], common[:found]
