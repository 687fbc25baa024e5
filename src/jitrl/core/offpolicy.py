"""What another policy would have got, from episodes that this one played and their propensities.

The weight of step t is ``rho[t] = prod(target[s] / logged[s] for s <= t)``: how much more often the
target policy would have come so far. Three estimates of its mean return:

    ips    mean over episodes of sum_t rho[t] r[t]                    (Precup et al. 2000, PDIS)
    snips  sum_t (sum_i rho[i, t] r[i, t]) / (sum_i rho[i, t])        (the same, self-normalised)
    dr     v[0] + sum_t rho[t] (r[t] + v[t + 1] - q[t])               (Jiang and Li, ICML 2016)

The first and the last are unbiased where the logged policy could have taken whatever the target
would; ``dr`` stays so however wrong its model q, v is, and is tight where the model is good.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jitrl.core.stats import (
    ALIKE,
    FEWEST_CLUSTERS,
    Interval,
    NoInterval,
    student_quantile,
    too_few,
)


@dataclass(frozen=True, slots=True)
class Weighted:
    """One logged episode as the target policy sees it; arrays have shape [T].

    Attributes:
        ratio: Propensity of the taken action under the target, over that under the logged policy.
        reward: What the steps brought.
        outside: Probability that the target takes what the logged policy could not have.
        q: What a model expects of the taken action, rewards of this step and later ones.
        v: What it expects of the state under the target.
        cluster: Whose episodes are not independent of each other, as the task.
    """

    ratio: np.ndarray
    reward: np.ndarray
    outside: np.ndarray
    q: np.ndarray
    v: np.ndarray
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean return under the target, and what it is more than the logged one's.

    Attributes:
        value, gain: In units of rewards.
        interval: Of the gain, 95 %.
    """

    value: float
    gain: float
    interval: Interval | NoInterval


@dataclass(frozen=True, slots=True)
class Overlap:
    """Whether the logged episodes can speak for the target at all.

    Attributes:
        episodes: How many there are.
        effective: ``(sum w)^2 / sum w^2`` of their weights: as good as so many of the target's own.
        weight: Their mean weight; 1 - ``outside``, but for chance.
        outside: Chance that an episode of the target does what the logged policy could not.
        largest: Share of the largest weight in all.
        error: Standard error of ``weight``.
    """

    episodes: int
    effective: float
    weight: float
    outside: float
    largest: float
    error: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is asked of an overlap before an estimate counts.

    Attributes:
        effective: Least effective sample size.
        outside: Most chance to do what was never possible; no weight can make up for that.
        largest: Most that one episode may count.
        missing: Most that the mean weight may fall short of what it should be, beyond three of its
            standard errors: ways that the log could have gone and hardly ever went.
    """

    effective: float = 30.0
    outside: float = 0.02
    largest: float = 0.1
    missing: float = 0.2


@dataclass(frozen=True, slots=True)
class Preview:
    """What the logged episodes say about the target.

    Attributes:
        logged: Mean return of the logged policy.
        refusal: Why nothing is to be concluded; "" where the overlap is good enough.
        slack: What the estimates may be off on top, because of ``overlap.outside``.
    """

    logged: float
    ips: Estimate
    snips: Estimate
    dr: Estimate
    overlap: Overlap
    refusal: str
    slack: float

    @property
    def verdict(self) -> str:
        """``better`` or ``worse`` where the interval of ``dr``, widened, leaves out 0."""
        if self.refusal:
            return "refused"
        if isinstance(self.dr.interval, NoInterval):
            return "no evidence"
        if self.dr.interval.low - self.slack > 0:
            return "better"
        return "worse" if self.dr.interval.high + self.slack < 0 else "no evidence"


def weights(ratio: np.ndarray) -> np.ndarray:
    """``rho``, shape [T]: products of the ratios so far."""
    return np.cumprod(ratio)


def ips(episode: Weighted) -> float:
    """Weighted return of one episode, reward by reward."""
    return float(weights(episode.ratio) @ episode.reward)


def doubly_robust(episode: Weighted) -> float:
    """The model's expectation, corrected by what the episode says it got wrong."""
    rho = weights(episode.ratio)
    before = np.concatenate(([1.0], rho[:-1])) if len(rho) else rho
    return float(rho @ (episode.reward - episode.q) + before @ episode.v)


def self_normalised(episodes: Sequence[Weighted]) -> tuple[float, np.ndarray]:
    """Estimate of the target's mean return, and each episode's influence on it, shape [N].

    An episode that is over keeps its last weight, at reward 0.
    """
    longest = max(len(e.reward) for e in episodes)
    rho, reward = np.ones((len(episodes), longest)), np.zeros((len(episodes), longest))
    for row, reward_row, e in zip(rho, reward, episodes, strict=True):
        known = weights(e.ratio)
        row[: len(known)] = known
        row[len(known) :] = known[-1] if len(known) else 1.0
        reward_row[: len(e.reward)] = e.reward
    total = rho.sum(axis=0)
    safe = np.where(total > 0, total, 1.0)
    mean = (rho * reward).sum(axis=0) / safe
    influence = (rho * (reward - mean) / (safe / len(episodes))).sum(axis=1)
    return float(mean.sum()), influence


def overlap(episodes: Sequence[Weighted]) -> Overlap:
    """How well the episodes cover what the target does."""
    final = np.array([float(np.prod(e.ratio)) for e in episodes])
    outside = [
        float(np.concatenate(([1.0], weights(e.ratio)[:-1])) @ e.outside) if len(e.ratio) else 0.0
        for e in episodes
    ]
    total, squares = float(final.sum()), float((final**2).sum())
    return Overlap(
        len(episodes),
        total**2 / squares if squares > 0 else 0.0,
        total / len(episodes),
        min(1.0, float(np.mean(outside))),
        float(final.max()) / total if total > 0 else 1.0,
        float(final.std()) / math.sqrt(len(episodes)),
    )


def preview(episodes: Sequence[Weighted], bounds: Bounds | None = None) -> Preview:
    """Estimate the target's mean return, or say why that cannot be done.

    Raises:
        ValueError: If there are no episodes, or an array is not finite or of another length.
    """
    if not episodes:
        raise ValueError("no episodes; a preview needs some that were logged and scored")
    for number, episode in enumerate(episodes):
        _check(episode, number)
    bounds = bounds or Bounds()
    clusters = [e.cluster for e in episodes]
    if len(set(clusters)) < FEWEST_CLUSTERS:
        clusters = [str(n) for n in range(len(episodes))]
    returns = np.array([float(e.reward.sum()) for e in episodes])
    logged = float(returns.mean())

    def estimate(value: float, influence: np.ndarray) -> Estimate:
        return Estimate(value, value - logged, _interval(value - logged, influence, clusters))

    found = {}
    for name, of in (("ips", ips), ("dr", doubly_robust)):
        each = np.array([of(e) for e in episodes])
        value = float(each.mean())
        found[name] = estimate(value, (each - value) - (returns - logged))
    value, influence = self_normalised(episodes)
    found["snips"] = estimate(value, influence - (returns - logged))
    covered = overlap(episodes)
    reach = float(returns.max() - returns.min())
    return Preview(
        logged=logged,
        overlap=covered,
        refusal=refusal(covered, bounds),
        slack=covered.outside * reach,
        **found,
    )


def refusal(covered: Overlap, bounds: Bounds) -> str:
    """Why nothing can be concluded from such an overlap; "" if something can."""
    if covered.outside > bounds.outside:
        return (
            f"in {covered.outside:.1%} of episodes it would do what the logged policy never could "
            f"(at most {bounds.outside:.1%})"
        )
    if covered.effective < bounds.effective:
        return (
            f"{covered.episodes} episodes count for {covered.effective:.1f} of its own "
            f"(at least {bounds.effective:g})"
        )
    short = 1.0 - covered.outside - covered.weight
    if short > max(bounds.missing, 3 * covered.error):
        return (
            f"the weights average {covered.weight:.2f}, so {short:.0%} of what it would do was "
            "hardly ever logged"
        )
    if covered.largest > bounds.largest:
        return (
            f"one episode makes {covered.largest:.0%} of all weight (at most {bounds.largest:.0%})"
        )
    return ""


def _interval(mean: float, influence: np.ndarray, clusters: Sequence[str]) -> Interval | NoInterval:
    """Student's interval around ``mean``; clusters count whole (linearised, no resampling)."""
    _, place = np.unique(clusters, return_inverse=True)
    sums = np.bincount(place, influence)
    count = len(sums)
    if count < FEWEST_CLUSTERS:
        return too_few(count)
    error = math.sqrt(float((sums**2).sum()) * count / (count - 1)) / len(influence)
    if error <= 1e-12 * max(1.0, abs(mean)):
        return ALIKE
    reach = student_quantile(0.975, count - 1) * error
    return Interval(mean - reach, mean + reach)


def _check(episode: Weighted, number: int) -> None:
    length = len(episode.reward)
    for name in ("ratio", "reward", "outside", "q", "v"):
        array = getattr(episode, name)
        if array.shape != (length,) or not np.isfinite(array).all():
            raise ValueError(
                f"episode {number}: {name} is {array}; it must be {length} finite numbers"
            )
    if (episode.ratio < 0).any():
        raise ValueError(f"episode {number}: ratio is {episode.ratio}; a chance is at least 0")
