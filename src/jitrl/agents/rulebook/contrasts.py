"""Which attempts are worth a lesson: the best of a round against its worst."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jitrl.agents.past import Past, PastEpisode
from jitrl.types import Contrast

_GOOD = 3  # of the best attempts, at most


@dataclass(frozen=True, slots=True)
class Compared:
    """Good and bad attempts at one task; what rules are distilled from.

    Attributes:
        good: Best first; at least one.
        bad: Worst first; at least one.
        gap: Best score minus worst.
    """

    goal: str
    good: tuple[PastEpisode, ...]
    bad: tuple[PastEpisode, ...]
    gap: float


def contrast(attempts: Sequence[PastEpisode], *, gap: float, threshold: float) -> Compared | str:
    """The contrast of a round of attempts at one task, or why there is none.

    Good are up to three that reach ``threshold`` and are nearer to the best than to the worst; bad
    are those that are nearer to the worst. Equal scores keep their order.

    Args:
        gap: Least difference between the best and the worst score.
        threshold: Least score of the best.
    """
    if not attempts:
        return "no attempt was scored"
    order = sorted(attempts, key=lambda attempt: -attempt.score)
    best, worst = order[0].score, order[-1].score
    if best - worst < gap:
        return f"gap<{gap:g}"
    if best < threshold:
        return f"best<{threshold:g}"
    middle = (best + worst) / 2.0
    good = [a for a in order if a.score >= max(threshold, middle)][:_GOOD]
    bad = [a for a in reversed(order) if a.score < middle]
    return Compared(attempts[0].goal, tuple(good), tuple(bad), best - worst)


def present(past: Past, kept: Contrast) -> Compared | str:
    """The attempts of a contrast by their present scores, or why they teach nothing."""
    known = {one.key: one for one in past.of(kept.task)}
    missing = [key for key in (*kept.good, *kept.bad) if key not in known]
    if missing:
        return f"in quarantine, or without a score: {', '.join(missing)}"
    good, bad = (tuple(known[key] for key in keys) for keys in (kept.good, kept.bad))
    if not good or not bad:
        return "it has no good or no bad attempt"
    if _least(good) <= max(one.score for one in bad):
        return "its scores were corrected: the good attempts are no better than the bad ones now"
    return Compared(kept.goal, good, bad, good[0].score - _least(bad))


def _least(attempts: Iterable[PastEpisode]) -> float:
    return min(one.score for one in attempts)
