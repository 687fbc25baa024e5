"""When a run ends early: its last attempts are, for all one knows, no better than those before."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from jitrl.config import Run
from jitrl.core.stats import FEWEST_CLUSTERS, Interval, NoInterval, paired_difference
from jitrl.errors import ConfigError


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a run ended, and why.

    Attributes:
        attempts: At each task that were played.
        window: Attempts whose mean was compared with that of as many before.
        margin: Least gain that counts.
        gain: Mean difference of the two.
        low, high: Its interval; ``None`` where all tasks gained the same.
    """

    attempts: int
    window: int
    margin: float
    gain: float
    low: float | None
    high: float | None

    @property
    def said(self) -> str:
        """The gain with its interval."""
        ends = "" if self.low is None else f" [{self.low:+.2f}, {self.high:+.2f}]"
        return f"{self.gain:+.2f}{ends}"


def stages(run: Run) -> list[range]:
    """The attempts after each of which it is looked whether more is to come; all, if never."""
    if run.plateau is None:
        return [range(run.attempts)]
    ends = [*range(2 * run.plateau, run.attempts, run.plateau), run.attempts]
    return [range(first, last) for first, last in zip([0, *ends], ends, strict=False)]


def check(run: Run, tasks: int, seeds: int) -> None:
    """Refuse a run that could never tell.

    Raises:
        ConfigError: If there are too few attempts, or tasks and seeds, or tasks are played one
            after the other.
    """
    if run.plateau is None:
        return
    if run.attempts <= 2 * run.plateau:
        raise ConfigError(
            f"run.plateau is {run.plateau}: it compares the last {run.plateau} attempts with "
            f"{run.plateau} before, and ends a run of more than {2 * run.plateau}; this one has "
            f"{run.attempts}. Give --attempts {2 * run.plateau + 1} or more, or a smaller plateau"
        )
    if max(tasks, seeds) < FEWEST_CLUSTERS:
        raise ConfigError(
            f"run.plateau needs {FEWEST_CLUSTERS} tasks or seeds for an interval, this run has "
            f"{tasks} and {seeds}; play more, or leave it out"
        )
    if run.schedule == "sequential" and run.order == "task":
        raise ConfigError(
            "run.plateau looks at all tasks after an attempt, and run.order is 'task'; give "
            "--order attempt"
        )


def found(scores: np.ndarray, run: Run) -> Stop | None:
    """Whether the run ends here: the interval of the gain lies below the margin.

    Args:
        scores: Shape [T, S, K] of the K attempts so far; one that is missing decides nothing.
    """
    window, played = run.plateau, scores.shape[2]
    if window is None or played < 2 * window or played >= run.attempts:
        return None
    last, before = scores[:, :, -window:], scores[:, :, -2 * window : -window]
    if not np.isfinite(scores[:, :, -2 * window :]).all():
        return None
    by_task = len(scores) >= FEWEST_CLUSTERS
    gain = paired_difference(last, before, by="task" if by_task else "seed")
    match gain.interval:
        case Interval(low, high) if high < run.margin:
            return Stop(played, window, run.margin, gain.mean, low, high)
        case NoInterval(is_constant=True) if gain.mean < run.margin:
            return Stop(played, window, run.margin, gain.mean, None, None)
        case _:
            return None


def table(
    scores: dict[tuple[str, int, int], float], tasks: Sequence[str], seeds: Sequence[int], k: int
) -> np.ndarray:
    """Scores by task, seed and attempt as [T, S, K]; not a number where one is missing."""
    nothing = float("nan")
    return np.array(
        [[[scores.get((t, s, a), nothing) for a in range(k)] for s in seeds] for t in tasks]
    )
