"""Means with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jitrl.core.stats import Interval, NoInterval, bootstrap


@dataclass(frozen=True, slots=True)
class Number:
    """A mean with its interval, clusters (games, tasks, templates) resampled."""

    mean: float
    interval: Interval | NoInterval


def mean_of(cells: np.ndarray) -> Number:
    """Mean of ``cells``, shape [clusters, seeds or tests]."""
    return Number(float(cells.mean()), bootstrap(cells))
