"""What a table of scores says: averages, learning curves and paired differences with intervals.

Scores have shape [T, S, K]: tasks, seeds, attempts. The unit that is resampled is the task (its
mean over seeds), because attempts and seeds of one task are not independent of each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

Verdict = Literal["better", "worse", "no evidence"]
Cluster = Literal["task", "seed"]

FEWEST_CLUSTERS = 6
"""Below six clusters even [smallest, largest] covers the mean in less than 95 % of samples:
it misses when all fall on one side, which has the chance 2^(1-n)."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the mean lies with a chance of 95 %, in the units of the scores."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class NoInterval:
    """There is too little to say where the mean lies.

    Attributes:
        is_constant: There are enough clusters, but all score alike: there is nothing to resample,
            and an interval of no width would claim certainty.
    """

    reason: str
    is_constant: bool = False


ALIKE = NoInterval("all clusters score alike, so there is nothing to resample", is_constant=True)


def too_few(n: int) -> NoInterval:
    """``n`` clusters, which are not enough."""
    return NoInterval(f"{n} cluster{'s' if n != 1 else ''}; {FEWEST_CLUSTERS} are needed")


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean paired difference, ours minus base; positive is better."""

    mean: float
    interval: Interval | NoInterval
    clusters: int

    @property
    def verdict(self) -> Verdict:
        """``better`` or ``worse`` when the interval leaves out 0, else ``no evidence``.

        Where all clusters differ by the same, the sign test speaks in the interval's place: that
        all n fall on one side by chance has the chance 2^(1-n), below 5 % from six on. So 1 against
        0 at every task is evidence, though how large the difference is elsewhere stays open.
        """
        match self.interval:
            case Interval(low, high):
                pass
            case NoInterval(is_constant=True):
                low = high = self.mean
            case _:
                return "no evidence"
        return "better" if low > 0 else "worse" if high < 0 else "no evidence"


@dataclass(frozen=True, slots=True)
class Summary:
    """The usual numbers of one arm, each a mean over tasks and seeds.

    Attributes:
        avg: Over all attempts.
        final: The last attempt.
        first: The first five attempts (all, if there are fewer).
        last: The last five attempts (all, if there are fewer).
        best: The best attempt of each task and seed: pass@k where scores are 0 or 1.
    """

    avg: float
    final: float
    first: float
    last: float
    best: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Mean score per attempt, shape [K], and its interval where there is one."""

    mean: tuple[float, ...]
    band: tuple[Interval | NoInterval, ...]


def summary(scores: np.ndarray) -> Summary:
    """Avg, Final, first five, last five and best-of-k of ``scores`` [T, S, K]."""
    _check(scores)
    return Summary(
        avg=float(scores.mean()),
        final=float(scores[:, :, -1].mean()),
        first=float(scores[:, :, :5].mean()),
        last=float(scores[:, :, -5:].mean()),
        best=float(scores.max(axis=2).mean()),
    )


def curve(scores: np.ndarray, *, by: Cluster = "task") -> Curve:
    """Mean of ``scores`` [T, S, K] at each attempt with its interval."""
    _check(scores)
    cells = _clusters(scores, by)
    return Curve(
        mean=tuple(float(m) for m in cells.mean(axis=(0, 1))),
        band=tuple(bootstrap(cells[:, :, k], draws=2_000) for k in range(cells.shape[2])),
    )


def paired_difference(ours: np.ndarray, base: np.ndarray, *, by: Cluster = "task") -> Difference:
    """Mean of ``ours - base``, both [T, S, K] on the same tasks and seeds, over attempts.

    Args:
        by: What is resampled. ``task`` speaks about tasks like these; ``seed`` speaks about
            these very tasks, and is the only choice where there are few.

    Raises:
        ValueError: If shapes differ or a score is not finite.
    """
    if ours.shape != base.shape:
        raise ValueError(f"paired scores need one shape, got {ours.shape} and {base.shape}")
    _check(ours)
    _check(base)
    cells = _clusters(ours.mean(axis=2) - base.mean(axis=2), by)
    mean, interval = float(cells.mean()), bootstrap(cells)
    if interval is ALIKE and abs(mean) <= 1e-12:  # rounding, and no side to fall on
        mean = 0.0
    return Difference(mean, interval, len(cells))


def unpaired_difference(ours: np.ndarray, base: np.ndarray) -> Difference:
    """Difference of the means of two groups of scores, [N] and [M], that share no tasks.

    Newcombe's interval from two Wilson intervals (Statistics in Medicine 17, 873, method 10) where
    every score is 0 or 1, which holds at shares of 0 and 1, too; else Welch's.

    Returns:
        ``NoInterval`` where a group has less than six scores, or where all of each are alike but
        are not 0 or 1; ``clusters`` is the size of the smaller group.
    """
    n, m = len(ours), len(base)
    few = min(n, m)
    mean = float(np.mean(ours) - np.mean(base)) if few else 0.0
    if few < FEWEST_CLUSTERS:
        return Difference(mean, too_few(few), few)
    if np.isin(ours, (0.0, 1.0)).all() and np.isin(base, (0.0, 1.0)).all():
        (p, low, high), (q, bottom, top) = _wilson(ours), _wilson(base)
        down, up = math.hypot(p - low, top - q), math.hypot(high - p, q - bottom)
        return Difference(mean, Interval(mean - down, mean + up), few)
    a, b = float(np.var(ours, ddof=1)) / n, float(np.var(base, ddof=1)) / m
    if math.sqrt(a + b) <= 1e-12 * max(1.0, abs(mean)):
        return Difference(0.0 if abs(mean) <= 1e-12 else mean, ALIKE, few)
    freedom = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
    reach = student_quantile(0.975, freedom) * math.sqrt(a + b)
    return Difference(mean, Interval(mean - reach, mean + reach), few)


def mean_interval(scores: np.ndarray) -> Interval | NoInterval:
    """Interval of the mean of ``scores`` [N], each of them by itself.

    Wilson's where every score is 0 or 1, which holds at shares of 0 and 1, too; else Student's.

    Returns:
        ``NoInterval`` of less than six, and ``ALIKE`` where all are alike but are not 0 or 1.
    """
    n = len(scores)
    if n < FEWEST_CLUSTERS:
        return too_few(n)
    if np.isin(scores, (0.0, 1.0)).all():
        return Interval(*_wilson(scores)[1:])
    mean, error = float(np.mean(scores)), float(np.std(scores, ddof=1)) / math.sqrt(n)
    if error <= 1e-12 * max(1.0, abs(mean)):
        return ALIKE
    reach = student_quantile(0.975, n - 1) * error
    return Interval(mean - reach, mean + reach)


def _wilson(scores: np.ndarray) -> tuple[float, float, float]:
    """Share of ones and its 95 % interval."""
    n, p, z = len(scores), float(scores.mean()), _NORMAL.inv_cdf(0.975)
    middle, scale = (p + z**2 / (2 * n)), 1 + z**2 / n
    reach = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return p, max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def bootstrap(cells: np.ndarray, *, draws: int = 10_000, seed: int = 0) -> Interval | NoInterval:
    """BCa bootstrap interval of the mean of ``cells`` [clusters, members], widened for few.

    Clusters are drawn with replacement and keep their members together. BCa corrects the skew of
    success rates near 0 and 1. Any bootstrap of a mean is too narrow for few clusters (its
    variance is (n-1)/n of the unbiased one, and a normal quantile is used where Student's is
    due), so the normal quantile z is replaced by ``sqrt(n/(n-1)) t``; with this 95 % intervals
    cover 93–97 % from six clusters on, without it 85 % (normal data, n = 6).

    Returns:
        ``NoInterval`` below six clusters, and ``ALIKE`` where all have the same mean.
    """
    n = len(cells)
    if n < FEWEST_CLUSTERS:
        return too_few(n)
    values = cells.mean(axis=1)
    mean = float(values.mean())
    centred = values - mean
    squares = float((centred**2).sum())
    if math.sqrt(squares / n) <= 1e-12 * max(1.0, abs(mean)):  # rounding apart, all are equal
        return ALIKE
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, n, (draws, n))].mean(axis=1)
    tie = 1e-12 * max(1.0, abs(mean))
    below = float((means < mean - tie).mean() + 0.5 * (np.abs(means - mean) <= tie).mean())
    shift = _NORMAL.inv_cdf(min(max(below, 0.5 / draws), 1 - 0.5 / draws))
    skew = float((centred**3).sum()) / (6 * squares**1.5)
    reach = math.sqrt(n / (n - 1)) * student_quantile(0.975, n - 1)
    tails = [_NORMAL.cdf(shift + (shift + z) / (1 - skew * (shift + z))) for z in (-reach, reach)]
    low, high = (0.0 if abs(end) <= tie else float(end) for end in np.quantile(means, tails))
    return Interval(low, high)


def _clusters(cells: np.ndarray, by: Cluster) -> np.ndarray:
    return cells if by == "task" else cells.swapaxes(0, 1)


def student_quantile(p: float, df: float) -> float:
    """Student's t by its expansion in the normal quantile; good to 1 % from df = 5 on."""
    z = _NORMAL.inv_cdf(p)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / df + second / df**2 + third / df**3


def _check(scores: np.ndarray) -> None:
    if scores.ndim != 3 or 0 in scores.shape:
        raise ValueError(f"scores need the shape [tasks, seeds, attempts], got {scores.shape}")
    if not np.isfinite(scores).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(scores))[0])
        raise ValueError(f"scores{list(where)} is {scores[where]}; a missing score has no mean")
