"""Learning curves of what there is so far: unfinished runs, and memories with a held-out share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jitrl.analysis.doctor.finding import difference
from jitrl.core.stats import Difference, Interval, NoInterval, bootstrap
from jitrl.stores.paging import EpisodeLine

STRETCHES = 10
"""Most stretches that the episodes of a memory are cut into."""


@dataclass(frozen=True, slots=True)
class Point:
    """Mean score of some episodes.

    Attributes:
        n: Episodes; ``clusters`` are the tasks (and seeds) among them, which were resampled.
    """

    x: float
    mean: float
    interval: Interval | NoInterval
    n: int
    clusters: int


@dataclass(frozen=True, slots=True)
class Arm:
    """One line of a curve: episodes that acted ``with`` a memory, or were held out."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """A curve and what it comes to.

    Attributes:
        difference: With the memory minus held out, in each task that has both; ``None`` where
            nothing was held out.
        stretch: Episodes of a point; 0 where a point is an attempt.
    """

    arms: tuple[Arm, ...]
    difference: Difference | None
    stretch: int


Scores = Sequence[tuple[str, float]]
"""Task and score of each episode."""


def point(x: float, scores: Scores) -> Point:
    """The mean of ``scores``; tasks are resampled for its interval."""
    by_task: dict[str, list[float]] = {}
    for task, score in scores:
        by_task.setdefault(task, []).append(score)
    means = np.array([[np.mean(values)] for values in by_task.values()])
    mean = float(np.mean([score for _, score in scores]))
    return Point(x, mean, bootstrap(means, draws=2_000), len(scores), len(by_task))


def by_attempt(name: str, played: Mapping[int, Scores]) -> Arm:
    """The line of a run: a point for each attempt that was begun, from 1."""
    return Arm(name, tuple(point(k + 1, played[k]) for k in sorted(played) if played[k]))


def by_order(lines: Iterable[EpisodeLine], names: tuple[str, str]) -> Progress:
    """The lines of a memory: its scored episodes in equal stretches, in the order they came.

    Args:
        lines: Newest last.
        names: Of those that acted with the memory, and of those held out.
    """
    scored = [one for one in lines if one.score is not None and one.status != "aborted"]
    if not scored:
        return Progress((), None, 0)
    stretch = -(-len(scored) // STRETCHES)
    sides: tuple[list[Point], list[Point]] = ([], [])
    for start in range(0, len(scored), stretch):
        part = scored[start : start + stretch]
        for side, is_held in zip(sides, (False, True), strict=True):
            chosen = [
                (_task(one), float(one.score or 0.0)) for one in part if one.is_held == is_held
            ]
            if chosen:
                side.append(point(start + len(part), chosen))
    arms = tuple(
        Arm(name, tuple(points)) for name, points in zip(names, sides, strict=True) if points
    )
    return Progress(arms, _difference(scored), stretch)


def _task(one: EpisodeLine) -> str:
    return f"{one.scope}\x1f{one.task}"


def _difference(scored: Sequence[EpisodeLine]) -> Difference | None:
    """With the memory minus held out, in each task with both."""
    sides: dict[str, tuple[list[float], list[float]]] = {}
    for one in scored:
        sides.setdefault(_task(one), ([], []))[one.is_held].append(float(one.score or 0.0))
    if not any(held for _, held in sides.values()):
        return None
    cells = {
        (task, 0): float(np.mean(ours) - np.mean(held))
        for task, (ours, held) in sides.items()
        if ours and held
    }
    return difference(cells)
