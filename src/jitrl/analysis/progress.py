"""Learning curves of what there is so far: unfinished runs, and memories with a held-out share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jitrl.analysis.doctor.finding import Unit, beside, is_known
from jitrl.core.stats import (
    FEWEST_CLUSTERS,
    Difference,
    Interval,
    NoInterval,
    bootstrap,
    mean_interval,
)
from jitrl.stores.paging import EpisodeLine

STRETCHES = 10
"""Most stretches that the episodes of a memory are cut into."""


@dataclass(frozen=True, slots=True)
class Point:
    """Mean score of some episodes.

    Attributes:
        interval: Of a run, tasks are resampled, and there is none where they are too few. Of a
            memory, it then goes by episodes, which are taken as independent of each other: it is
            too narrow where a task repeats.
        n: Episodes; ``clusters`` are the tasks among them.
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
class Effect:
    """Mean score with the memory minus that of what was held out.

    Attributes:
        difference: Within each task that has both; where less than six have, of all episodes, which
            are taken as independent of each other: its interval is too narrow where a task repeats.
        by: Which of the two.
        tasks: Those with both.
        ours, held: Episodes with the memory, and held out.
        means: Mean score of both; of nothing, 0.
    """

    difference: Difference
    by: Unit
    tasks: int
    ours: int
    held: int
    means: tuple[float, float]

    @property
    def is_known(self) -> bool:
        """Whether there is enough for a verdict."""
        return is_known(self.difference)


@dataclass(frozen=True, slots=True)
class Progress:
    """A curve and what it comes to.

    Attributes:
        effect: ``None`` where nothing was held out.
        stretch: Episodes of a point; 0 where a point is an attempt. A side that has less than six
            of its own in a stretch goes on over several.
    """

    arms: tuple[Arm, ...]
    effect: Effect | None
    stretch: int


Scores = Sequence[tuple[str, float]]
"""Task and score of each episode."""


def point(x: float, scores: Scores, *, by_episode: bool = False) -> Point:
    """The mean of ``scores``; tasks are resampled for its interval.

    Args:
        by_episode: Whether the interval is that of the episodes where there are too few tasks.
    """
    by_task: dict[str, list[float]] = {}
    for task, score in scores:
        by_task.setdefault(task, []).append(score)
    means = np.array([[np.mean(values)] for values in by_task.values()])
    mean = float(np.mean([score for _, score in scores]))
    if by_episode and len(by_task) < FEWEST_CLUSTERS:
        interval = mean_interval(np.array([score for _, score in scores]))
    else:
        interval = bootstrap(means, draws=2_000)
    return Point(x, mean, interval, len(scores), len(by_task))


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
    arms = tuple(
        Arm(name, points)
        for name, is_held in zip(names, (False, True), strict=True)
        if (points := _points(scored, is_held, stretch))
    )
    return Progress(arms, _effect(scored), stretch)


def _points(scored: Sequence[EpisodeLine], is_held: bool, stretch: int) -> tuple[Point, ...]:
    """The points of one side; what is left over at the end belongs to the last one."""
    parts: list[tuple[float, list[tuple[str, float]]]] = []
    waiting: list[tuple[str, float]] = []
    for start in range(0, len(scored), stretch):
        part = scored[start : start + stretch]
        waiting += [(_task(one), float(one.score or 0.0)) for one in part if one.is_held == is_held]
        if len(waiting) >= FEWEST_CLUSTERS:
            parts.append((float(start + len(part)), waiting))
            waiting = []
    if waiting:
        before = parts.pop()[1] if parts else []
        parts.append((float(len(scored)), before + waiting))
    return tuple(point(x, scores, by_episode=True) for x, scores in parts)


def _task(one: EpisodeLine) -> str:
    return f"{one.scope}\x1f{one.task}"


def _effect(scored: Sequence[EpisodeLine]) -> Effect | None:
    """With the memory minus held out: by tasks with both where there are six, else by episodes."""
    tasks: dict[tuple[str, int], tuple[list[float], list[float]]] = {}
    for one in scored:
        tasks.setdefault((_task(one), 0), ([], []))[one.is_held].append(float(one.score or 0.0))
    ours, held = (np.array([v for both in tasks.values() for v in both[side]]) for side in (0, 1))
    if not len(held):
        return None
    found = beside(tasks)
    return Effect(
        found.difference,
        found.by,
        found.tasks,
        len(ours),
        len(held),
        (float(ours.mean()) if len(ours) else 0.0, float(held.mean())),
    )
