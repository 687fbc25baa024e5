"""Which attempts are worth a lesson: the best of a round against its worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jitrl.agents.past import PastEpisode

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
