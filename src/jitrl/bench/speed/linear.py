"""Retrieval as the released research code does it: a loop over all rows, each compared by sets.

It is the baseline of the benchmark, made as fast as that design allows: rows come tokenised, other
scopes are skipped at the cost of one comparison, and the union is computed from the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class LinearRow(NamedTuple):
    """A row as the scan needs it; ``state`` is only carried along."""

    scope: str
    features: frozenset[str]
    state: int


def scan(
    rows: Sequence[LinearRow], scope: str, features: set[str], floor: float
) -> list[tuple[float, int]]:
    """Similarity and position of all rows of ``scope`` with at least ``floor``, best first."""
    found = []
    size = len(features)
    for position, (row_scope, row_features, _) in enumerate(rows):
        if row_scope != scope:
            continue
        common = len(features & row_features)
        union = size + len(row_features) - common
        if union and common / union >= floor:
            found.append((common / union, position))
    found.sort(reverse=True)
    return found
