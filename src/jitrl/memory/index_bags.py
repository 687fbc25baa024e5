"""Exact Jaccard search over bags of numbered features, by signatures and sizes.

Two sets whose sizes differ much cannot be alike, so bags are kept in buckets of nearly equal size
and a search looks at few of them. Each bag has a *signature*: feature f sets bit h(f). A bit in
which two signatures differ stands for at least one feature that only one of the bags has, so

    popcount(sig(x) ^ sig(q)) <= |x ^ q| = |x| + |q| - 2 |x & q|

and a Jaccard index of at least t needs ``|x ^ q| <= (|x| + |q|) (1 - t) / (1 + t)``. One pass over
the signatures of a bucket leaves a few dozen bags; their common features are then counted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import ceil
from typing import NamedTuple

import numpy as np

from jitrl.memory.index_rows import Rows

Scan = Callable[
    [tuple[np.ndarray, ...], np.ndarray, np.ndarray, int, np.ndarray], tuple[np.ndarray, np.ndarray]
]
"""(signatures [W] of [N], features [N, L], signature [W], limit, mark) -> (rows [K], common [K]).

``rows`` are those whose signature differs from the given one in at most ``limit`` bits; ``common``
counts the marked features of each. Features beyond the end of ``mark`` are not marked.
"""

_SLACK = 1e-9  # bounds are floats: let a bag pass rather than lose it; the last test is exact
_WORD = (1 << 64) - 1
_MOST_WORDS = 64
_STEPS = 4  # a power of two


class Alike(NamedTuple):
    """Bags found: their numbers (int32) and Jaccard indices, shape [K], in no order."""

    numbers: np.ndarray
    jaccard: np.ndarray


class BagIndex:
    """Bags of features in groups; only bags of the same group are compared.

    One thread adds; any number may search at the same time. A search finds every bag whose ``add``
    returned before the search began, and perhaps some that are being added.
    """

    def __init__(self, kernel: Scan) -> None:
        self._kernel = kernel
        self._groups: dict[str, dict[int, _Bucket]] = {}
        self._where = Rows((2,), np.int32)  # bucket and row of each bag of group ""
        self._scratch = _Scratch()
        self._count = 0

    def add(self, features: list[int], group: str = "", *, locate: bool = False) -> int:
        """Add a bag of distinct features > 0; returns its number, counted from 0.

        Bags that ``jaccard`` is asked about must all be added with ``locate``, in one group.
        """
        buckets = self._groups.setdefault(group, {})
        kind = _bucket_of(len(features))
        bucket = buckets.get(kind) or _Bucket(_largest_in(kind))
        if locate:
            self._where.append((kind, len(bucket.origins)))
        bucket.add(features, self._count)
        buckets[kind] = bucket
        self._count += 1
        return self._count - 1

    def search(self, features: list[int], size: int, floor: float, group: str = "") -> Alike:
        """All bags of ``group`` whose Jaccard index with the query is at least ``floor``.

        Args:
            features: Those of the query that the index knows.
            size: Number of all features of the query, known or not.
            floor: At most 1; at 0 or below nothing is left out.
        """
        buckets = self._groups.get(group, {})
        narrow = max(floor - _SLACK, 0.0)
        if narrow > 0.0:
            kinds = range(_bucket_of(ceil(narrow * size)), _bucket_of(int(size / narrow)) + 1)
            near = [buckets[kind] for kind in kinds if kind in buckets]
        else:
            near = list(buckets.values())
        share = (1.0 - narrow) / (1.0 + narrow)
        unknown = size - len(features)
        signatures: dict[int, np.ndarray] = {}
        commons, origins = [np.empty(0, np.int64)], [np.empty((0, 2), np.int32)]
        with self._scratch.marked(features) as mark:
            for bucket in near:
                count = len(bucket.origins)
                limit = int((size + bucket.largest) * share) - unknown
                if limit < 0:
                    continue
                words = len(bucket.words)
                if words not in signatures:
                    signatures[words] = np.array(signature(features, words), np.uint64)
                rows, common = self._kernel(
                    tuple([word.data[:count] for word in bucket.words]),
                    bucket.features.data,
                    signatures[words],
                    limit,
                    mark,
                )
                if len(rows):
                    commons.append(common)
                    origins.append(bucket.origins.data.take(rows, axis=0))
        found = np.concatenate(origins)
        jaccard = _ratio(np.concatenate(commons), found[:, 1], size)
        alike = (jaccard >= floor).nonzero()[0]
        return Alike(found[alike, 0], jaccard[alike])

    def jaccard(self, numbers: np.ndarray, features: list[int], size: int) -> np.ndarray:
        """Jaccard index of each of the bags ``numbers`` with the query, shape [K]."""
        where = self._where.data.take(numbers, axis=0)
        values = np.zeros(len(numbers))
        with self._scratch.marked(features) as mark:
            for kind, bucket in list(self._groups.get("", {}).items()):
                of = (where[:, 0] == kind).nonzero()[0]
                if len(of):
                    rows = where[of, 1]
                    common = _count_marked(bucket.features.data, rows, mark)
                    values[of] = _ratio(common, bucket.origins.data[rows, 1], size)
        return values

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        buckets = [b for group in list(self._groups.values()) for b in list(group.values())]
        return self._where.nbytes + sum(bucket.nbytes for bucket in buckets)


class _Bucket:
    """Bags of nearly equal size; ``origins`` holds the number and the size of each."""

    __slots__ = ("features", "largest", "origins", "words")

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self.words = tuple([Rows((), np.uint64) for _ in range(words_for(largest))])
        self.features = Rows((largest,), np.int32, capacity=8 if largest <= 64 else 1)
        self.origins = Rows((2,), np.int32)

    def add(self, features: list[int], number: int) -> None:
        """Add a bag; ``origins`` grows last, so readers that count it see whole bags."""
        for word, bits in zip(self.words, signature(features, len(self.words)), strict=True):
            word.append(bits)
        self.features.append(features)
        self.origins.append((number, len(features)))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(rows.nbytes for rows in (*self.words, self.features, self.origins))


class _Scratch(threading.local):
    """A byte for each feature, a thread's own: 1 for those of the query, else 0."""

    def __init__(self) -> None:
        self._mark = np.zeros(1024, np.uint8)
        self._features = np.empty(0, np.intp)

    def marked(self, features: list[int]) -> _Scratch:
        """Mark ``features`` for the time of a ``with`` block."""
        beyond = max(features, default=0) + 1
        if beyond >= len(self._mark):  # the last byte stays 0: see ``_count_marked``
            self._mark = np.zeros(2 * beyond, np.uint8)
        self._features = np.array(features, np.intp)
        return self

    def __enter__(self) -> np.ndarray:
        self._mark[self._features] = 1
        return self._mark

    def __exit__(self, *_: object) -> None:
        self._mark[self._features] = 0


def signature(features: list[int], words: int) -> list[int]:
    """Bits of a bag in 64-bit words, ``words`` of them, a power of two.

    Features are numbered as they first appear, so their last digits are as good as any hash.
    """
    mask, bits = 64 * words - 1, 0
    for feature in features:
        bits |= 1 << (feature & mask)
    return [bits >> shift & _WORD for shift in range(0, 64 * words, 64)]


def words_for(size: int) -> int:
    """64-bit words in the signature of a bag of ``size``: a power of two, one bit a feature.

    With less, too many bags pass the bound (20 times the time at two features a bit); with more,
    the pass over the signatures takes longer than it saves.
    """
    return min(1 << max(0, (size - 1) // 64).bit_length(), _MOST_WORDS)


def scan(
    words: tuple[np.ndarray, ...],
    features: np.ndarray,
    signature: np.ndarray,
    limit: int,
    mark: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The kernel in numpy."""
    differing = np.bitwise_count(words[0] ^ signature[0])
    if len(words) > 1:
        differing = differing.astype(np.uint16)
        for word, bits in zip(words[1:], signature[1:], strict=True):
            differing += np.bitwise_count(word ^ bits)
    rows = (differing <= limit).nonzero()[0]
    return rows, _count_marked(features, rows, mark) if len(rows) else rows


def _count_marked(features: np.ndarray, rows: np.ndarray, mark: np.ndarray) -> np.ndarray:
    """Marked features of each of ``rows``; those newer than ``mark`` are read as its last byte."""
    marks = mark.take(features.take(rows, axis=0), mode="clip")
    counts: np.ndarray = np.add.reduce(marks, axis=1, dtype=np.int64)
    return counts


def _ratio(common: np.ndarray, sizes: np.ndarray, size: int) -> np.ndarray:
    """Jaccard index from the counts; 0 where both bags are empty."""
    value: np.ndarray = common / np.maximum(sizes + (size - common), 1)
    return value


def _bucket_of(size: int) -> int:
    """Bucket of a size: one for each of the small ones, then ``_STEPS`` for each doubling."""
    shift = max(0, size.bit_length() - _STEPS.bit_length())
    return shift * _STEPS + (size >> shift)


def _largest_in(bucket: int) -> int:
    """Largest size in a bucket."""
    shift = max(0, bucket // _STEPS - 1)
    return ((bucket - shift * _STEPS + 1) << shift) - 1
