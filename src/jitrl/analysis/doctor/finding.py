"""What a check says, and the paired differences that several of them rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from jitrl.analysis import plain
from jitrl.analysis.doctor.case import Attempt, Case
from jitrl.core.stats import (
    ALIKE,
    FEWEST_CLUSTERS,
    Difference,
    Interval,
    NoInterval,
    bootstrap,
    unpaired_difference,
)

Status = Literal["finding", "fine", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        n: What it rests on: episodes, decisions, states … as the check counts.
        numbers: Evidence in plain values.
        form: Which of several things that ail the same way; "" if there is one only.
    """

    status: Status
    n: int
    numbers: Mapping[str, Any] = field(default_factory=dict)
    form: str = ""


def found(is_finding: bool, n: int, form: str = "", **numbers: Any) -> Finding:
    """A check that had enough to look at."""
    return Finding("finding" if is_finding else "fine", n, numbers, form if is_finding else "")


def unknown(n: int, **numbers: Any) -> Finding:
    """A check that lacks data: no finding."""
    return Finding("unknown", n, numbers)


Unit = Literal["task", "seed", "episode"]
"""What is drawn again for an interval."""
Cells = Mapping[tuple[str, int], float]
"""A number for each task and seed."""
Sides = Mapping[tuple[str, int], tuple[Sequence[float], Sequence[float]]]
"""For each task and seed, the scores that something is asked about, and those beside it."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A difference and what it goes by.

    Attributes:
        by: The unit of its interval. Episodes are taken as independent of each other, so that the
            interval is too narrow where a task repeats.
        tasks: Those with both sides.
    """

    difference: Difference
    by: Unit
    tasks: int

    @property
    def is_known(self) -> bool:
        """Whether there is enough for a verdict."""
        return is_known(self.difference)


def difference(cells: Cells) -> Difference:
    """Mean of ``cells`` and its interval; tasks are resampled, or seeds where tasks are too few."""
    return compared(cells).difference


def compared(cells: Cells) -> Compared:
    """``difference`` of ``cells``, and which of tasks and seeds it goes by."""
    by_task: dict[str, list[float]] = {}
    by_seed: dict[str, list[float]] = {}
    for (task, seed), value in cells.items():
        by_task.setdefault(task, []).append(value)
        by_seed.setdefault(str(seed), []).append(value)
    is_by_seed = len(by_task) < FEWEST_CLUSTERS <= len(by_seed)
    unit: Unit = "seed" if is_by_seed else "task"
    clusters = by_seed if is_by_seed else by_task
    if not clusters:
        return Compared(Difference(0.0, NoInterval("nothing is paired"), 0), unit, 0)
    means = np.array([[np.mean(values)] for values in clusters.values()])
    interval = bootstrap(means)
    mean = float(means.mean())
    if interval is ALIKE and abs(mean) <= 1e-12:
        mean = 0.0
    return Compared(Difference(mean, interval, len(clusters)), unit, len(by_task))


def within(sides: Sides) -> dict[tuple[str, int], float]:
    """Mean score minus that beside it, where there are both."""
    return {
        place: float(np.mean(ours) - np.mean(others))
        for place, (ours, others) in sides.items()
        if ours and others
    }


def beside(sides: Sides) -> Compared:
    """The difference within tasks; of all episodes, where too few tasks have both."""
    paired = compared(within(sides))
    if paired.difference.clusters >= FEWEST_CLUSTERS:
        return paired
    ours, others = (np.array([v for both in sides.values() for v in both[i]]) for i in (0, 1))
    return Compared(unpaired_difference(ours, others), "episode", paired.tasks)


def is_known(of: Difference) -> bool:
    """Whether there were clusters enough for a verdict."""
    return isinstance(of.interval, Interval) or of.interval.is_constant


def said(of: Difference | Compared) -> dict[str, Any]:
    """A difference in plain values; its ``unit`` too, where that is known."""
    if isinstance(of, Compared):
        return {**said(of.difference), "unit": of.by}
    return {**plain.difference(of), "verdict": of.verdict}


def growth(attempts: Iterable[Attempt], most: int) -> tuple[dict[tuple[str, int], float], int]:
    """Mean of the last attempts minus that of the first, and the fewest that were compared.

    Args:
        most: Attempts at each end; fewer where a task has not twice as many.
    """
    scores: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for attempt in attempts:
        if attempt.score is not None:
            place = (f"{attempt.scope}\x1f{attempt.task}", attempt.seed)
            scores.setdefault(place, []).append((attempt.number, attempt.score))
    cells, ends = dict[tuple[str, int], float](), most
    for place, listed in scores.items():
        values = [score for _, score in sorted(listed)]
        size = min(most, len(values) // 2)
        if size:
            cells[place] = float(np.mean(values[-size:]) - np.mean(values[:size]))
            ends = min(ends, size)
    return cells, ends if cells else 0


def beyond(ours: Iterable[Attempt], base: Case) -> dict[tuple[str, int], float]:
    """Mean score beyond the base's, over the attempts that both have."""
    theirs = {(a.task, a.seed, a.number): a.score for a in base.attempts() if a.score is not None}
    pairs: dict[tuple[str, int], list[float]] = {}
    for attempt in ours:
        other = theirs.get((attempt.task, attempt.seed, attempt.number))
        if attempt.score is not None and other is not None:
            pairs.setdefault((attempt.task, attempt.seed), []).append(attempt.score - other)
    return {place: float(np.mean(values)) for place, values in pairs.items()}
