"""What something that was given at random changed: an estimate, and bounds that hold at every look.

Whether a rule is told in an episode is drawn: told with a logged chance p, else held out. With the
episode's score y in [0, 1] and a baseline h that was settled before it,

    x = (y - h) / p  if it was told, and  -(y - h) / (1 - p)  if it was held out.

Given all that came before, the mean of x is the effect, whatever h is and however scores drift. It
is the effect of this alone, whatever is told beside it, as long as each is drawn by itself. The
bounds come from betting on x: the wealth of a bettor who bets against an effect that is the true
one grows beyond 1 / alpha with a chance of at most alpha, at any time. So they may be looked at
after every episode, and a rule may be dropped at any look.

They are bounds of one effect. Once none fits all uses, the effect has changed, and the estimate
begins anew: what is said from there on rests on later uses alone, and so does alpha. An effect that
stays what it is comes to that with a chance of at most alpha.

Sources: Robins, Rotnitzky, Zhao, *Estimation of regression coefficients when some regressors are
not always observed* (1994), for x; Waudby-Smith, Ramdas, *Estimating means of bounded random
variables by betting* (2024), for the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, sqrt

import numpy as np
from numpy.typing import NDArray

_EFFECTS = np.linspace(-1.0, 1.0, 401)
_MOST = 0.75  # share of the wealth that the worst outcome may take
_PRIOR = 2.0  # scores that what a mean is drawn to counts for
_DOUBT = 4.0  # sum of squares that each estimate begins with: four uses that differ by 1


@dataclass(frozen=True, slots=True)
class Use:
    """One episode in which something was to be told, by a draw.

    Attributes:
        given: Whether it was told.
        chance: That it would be, in (0, 1).
        score: Of the episode, in [0, 1].
        task: Whose scores are compared first: tasks differ in how hard they are.
    """

    given: bool
    chance: float
    score: float
    task: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """Mean score with minus without, in [-1, 1].

    Attributes:
        mean: Mean of x; not a number as long as there is no use. Of few uses it may leave [-1, 1]
            and, as bounds do not widen while one effect fits, the bounds too.
        low, high: The effect is between them at all looks together with a chance of 1 - alpha.
        uses: What mean and bounds rest on: uses since the effect last changed.
        given, held: Uses of each kind, all in all.
    """

    mean: float
    low: float
    high: float
    uses: int
    given: int
    held: int

    @property
    def shown(self) -> float:
        """The mean as people are shown it: the nearer bound, where the estimate is beyond it."""
        return float(np.clip(self.mean, self.low, self.high))

    def __str__(self) -> str:
        """Mean and bounds, as people are shown them."""
        return f"{self.shown:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"


def effect(uses: Sequence[Use], alpha: float = 0.05) -> Effect:
    """The effect that ``uses``, oldest first, show.

    Raises:
        ValueError: If a chance is not in (0, 1), a score not in [0, 1], or alpha not in (0, 1).
    """
    estimate = Estimate(alpha)
    for use in uses:
        estimate.add(use)
    return estimate.value


class Estimate:
    """The effect that uses show, kept up to date use by use.

    Raises:
        ValueError: If alpha is not in (0, 1).
    """

    def __init__(self, alpha: float) -> None:
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha is {alpha}; it must be in (0, 1)")
        self._limit = float(np.log(2.0 / alpha))
        self._given = self._held = 0
        self._means, self._bets = _Means(), _Bets(self._limit)

    def add(self, use: Use) -> None:
        """Take in the next use.

        Raises:
            ValueError: If its chance is not in (0, 1), or its score not in [0, 1].
        """
        signal = self._means.signal(use)
        self._given, self._held = self._given + use.given, self._held + (not use.given)
        self._bets.add(*signal)
        if not self._bets.left.size:
            self._bets = _Bets(self._limit)

    @property
    def value(self) -> Effect:
        """As of the last use."""
        bets = self._bets
        low, high = float(bets.left.min()), float(bets.left.max())
        return Effect(bets.mean, low, high, bets.count, self._given, self._held)


class _Bets:
    """Bets on x against each effect there may be.

    Args:
        limit: Logarithm of the wealth at which an effect is given up.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._above, self._below = np.zeros_like(_EFFECTS), np.zeros_like(_EFFECTS)
        self._fits = np.ones_like(_EFFECTS, dtype=bool)
        self._total, self._squares, self.count = 0.0, 1.0, 0

    @property
    def mean(self) -> float:
        """Of x; not a number as long as there is none."""
        return self._total / self.count if self.count else float("nan")

    @property
    def left(self) -> NDArray[np.float64]:
        """Effects that were never given up."""
        found: NDArray[np.float64] = _EFFECTS[self._fits]
        return found

    def add(self, x: float, least: float, most: float) -> None:
        """Bet on the next x, which could have been between these."""
        n = self.count + 1.0
        mean, spread = self._total / n, self._squares / n
        lead = mean - _EFFECTS
        bet = lead / (spread + lead * lead)
        up = np.clip(bet, 0.0, _MOST / np.maximum(_EFFECTS - least, 1e-9))
        down = np.clip(-bet, 0.0, _MOST / np.maximum(most - _EFFECTS, 1e-9))
        self._above += np.log1p(up * (x - _EFFECTS))
        self._below += np.log1p(-down * (x - _EFFECTS))
        self._fits &= (self._above < self._limit) & (self._below < self._limit)
        self._total, self._squares = self._total + x, self._squares + (x - mean) ** 2
        self.count += 1


class Promise:
    """About how likely the effect is above 0, kept up to date use by use; .5 where none is known.

    A normal approximation, for how often something on trial is given; no proof as the bounds are.
    """

    def __init__(self) -> None:
        self._means, self._count = _Means(), 0
        self._mean = self._squares = 0.0  # of x, and of its distance from its mean (Welford)

    def add(self, use: Use) -> None:
        """Take in the next use.

        Raises:
            ValueError: If its chance is not in (0, 1), or its score not in [0, 1].
        """
        x, _, _ = self._means.signal(use)
        self._count += 1
        lead = x - self._mean
        self._mean += lead / self._count
        self._squares += lead * (x - self._mean)

    @property
    def value(self) -> float:
        """In [0, 1]."""
        spread = sqrt(_DOUBT + self._squares)
        return 0.5 * (1.0 + erf(self._mean * self._count / spread / sqrt(2.0)))


class _Means:
    """Mean scores so far with and without, over all tasks and of each.

    Few scores say little, so each mean is drawn to what else is known: that of a kind over all to
    that of both kinds, and that of a kind in a task to that of both in it, with what the kinds
    differ by over all. A kind that was not seen yet is thus taken for no better or worse than the
    other one, and wins without something are no sign that it does harm.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, bool | None], list[float]] = {}  # None: of both kinds

    def signal(self, use: Use) -> tuple[float, float, float]:
        """Take in the next use: its x, with the least and the most that it could have been."""
        if not (0.0 < use.chance < 1.0 and 0.0 <= use.score <= 1.0):
            raise ValueError(f"{use} needs a chance in (0, 1) and a score in [0, 1]")
        h, p = self.baseline(use), use.chance
        least = -max(h / p, (1.0 - h) / (1.0 - p))
        most = max((1.0 - h) / p, h / (1.0 - p))
        self.add(use)
        return (use.score - h) / p if use.given else -(use.score - h) / (1.0 - p), least, most

    def baseline(self, use: Use) -> float:
        """The h with which x varies least: the mean of the kind that is rarer weighs more."""
        told, held = (self._mean(use.task, given) for given in (True, False))
        return (1.0 - use.chance) * told + use.chance * held

    def add(self, use: Use) -> None:
        """Take a score in."""
        for task in dict.fromkeys((use.task, "")):
            for given in (use.given, None):
                known = self._sums.setdefault((task, given), [0.0, 0.0])
                known[0] += use.score
                known[1] += 1.0

    def _mean(self, task: str, given: bool) -> float:
        both = self._drawn("", None, 0.5)
        of_kind = self._drawn("", given, both)
        if not task:
            return of_kind
        here = self._drawn(task, None, both)
        return self._drawn(task, given, min(1.0, max(0.0, here + of_kind - both)))

    def _drawn(self, task: str, given: bool | None, to: float) -> float:
        total, n = self._sums.get((task, given), (0.0, 0.0))
        return (total + to * _PRIOR) / (n + _PRIOR)
