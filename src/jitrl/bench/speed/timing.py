"""Times of calls, and what is said about them: quantiles, each with its range over repeats."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")
_DRAWS = 2000


class Clock:
    """CPU time and wall time of every call, in microseconds.

    Args:
        cpu: Nanoseconds so far, of this thread unless given.
    """

    def __init__(self, cpu: Callable[[], int] = time.thread_time_ns) -> None:
        self._now = cpu
        self.cpu: list[float] = []
        self.wall: list[float] = []

    def time(self, call: Callable[[], Result]) -> Result:
        """Run ``call`` and note how long it took."""
        wall, cpu = time.perf_counter_ns(), self._now()
        result = call()
        self.cpu.append((self._now() - cpu) / 1e3)
        self.wall.append((time.perf_counter_ns() - wall) / 1e3)
        return result


@dataclass(frozen=True, slots=True)
class Spread:
    """A number measured in several repeats: their median, least and most."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Quantiles:
    """How long calls took, in microseconds; ``worst`` is the longest of all."""

    p50: Spread
    p99: Spread
    worst: float


def quantiles(times: list[float], repeats: int = 1) -> Quantiles:
    """Quantiles of each repeat of the same calls, in order, and their spread.

    Raises:
        ValueError: If the calls cannot be cut into ``repeats`` equal parts.
    """
    if not times or len(times) % repeats:
        raise ValueError(f"{len(times)} times cannot be cut into {repeats} repeats")
    of = np.reshape(times, (repeats, -1))
    p50, p99 = (_spread(np.percentile(of, percent, axis=1)) for percent in (50, 99))
    return Quantiles(p50, p99, float(of.max()))


def times_faster(slow: list[float], fast: list[float], percent: float) -> Spread:
    """How many times ``fast`` is faster than ``slow`` at a percentile, with a 95 % interval.

    Entries belong together in pairs (the same query); the bootstrap draws pairs.
    """
    a, b = np.array(slow), np.array(fast)
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(_DRAWS):
        drawn = rng.integers(0, len(a), len(a))
        ratios.append(np.percentile(a[drawn], percent) / np.percentile(b[drawn], percent))
    low, high = np.percentile(ratios, (2.5, 97.5))
    ratio = np.percentile(a, percent) / np.percentile(b, percent)
    return Spread(float(ratio), float(low), float(high))


def _spread(values: np.ndarray) -> Spread:
    """Median and range."""
    return Spread(float(np.median(values)), float(values.min()), float(values.max()))
