"""Loops: coming back to a place takes back what led away from it."""

from __future__ import annotations

from collections.abc import Sequence


def straight(places: Sequence[object]) -> list[int]:
    """Which steps are left of a way when its loops are taken out, in order.

    Args:
        places: Where each step was taken, shape [T]; equal ones are one place.
    """
    kept = list[int]()
    for i, place in enumerate(places):
        first = next((k for k, j in enumerate(kept) if places[j] == place), len(kept))
        del kept[first:]
        kept.append(i)
    return kept
