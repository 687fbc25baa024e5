"""Evidence: a neighborhood's columns, weighed by similarity and summed for each action."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitrl.types import Neighbors


def nearness(similarity: float, width: float | None) -> float:
    """What one row counts: ``exp((similarity - 1) / width)``; 1 where ``width`` is ``None``."""
    return 1.0 if width is None else float(np.exp((similarity - 1.0) / width))


class Evidence:
    """Neighbors whose rows count, and sums of them for each action.

    Attributes:
        place: Action → its place: the candidates, then actions of the memory that are none, [A'].
        value: Backed-up Q of each neighbor, its mean return where no graph is kept; shape [K].
    """

    def __init__(self, neighbors: Neighbors, candidates: Sequence[str]) -> None:
        self.neighbors = neighbors
        self.place = place = {action: i for i, action in enumerate(candidates)}
        at = [place.setdefault(action, len(place)) for action in neighbors.action]
        self.value = neighbors.value
        if np.isnan(self.value).any():
            self.value = np.where(np.isnan(self.value), neighbors.ret, self.value)
        self._at = np.array(at, np.intp)
        self._distance = neighbors.similarity - 1.0

    def near(self, width: float | None) -> np.ndarray:
        """Visits of each neighbor, weighed by ``exp((similarity - 1) / width)``, shape [K]."""
        if width is None:
            return np.asarray(self.neighbors.visits)
        return np.asarray(np.exp(self._distance / width) * self.neighbors.visits)

    def total(self, column: np.ndarray) -> np.ndarray:
        """Sum of ``column`` for each action, left to right, shape [A']."""
        sums: np.ndarray = np.bincount(self._at, column, len(self.place))
        return sums


def returns_by_action(neighbors: Neighbors) -> dict[str, list[float]]:
    """Returns of the neighbors of each action, nearest first."""
    returns: dict[str, list[float]] = {}
    for action, ret in zip(neighbors.action, neighbors.ret.tolist(), strict=True):
        returns.setdefault(action, []).append(ret)
    return returns
