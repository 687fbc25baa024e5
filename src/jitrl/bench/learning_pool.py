"""Jobs in processes: results in the order of the jobs, whoever is ready first."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Protocol, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
Item = TypeVar("Item")


class Arm(Protocol):
    """What is compared."""

    @property
    def name(self) -> str: ...


class OfArm(Protocol):
    """A job of one arm."""

    @property
    def arm(self) -> Arm: ...


Tell = Callable[[float], None]
"""Called with the share of the jobs that is done."""


def each(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, tell: Tell
) -> list[Result]:
    """``work`` done on every job; with one worker in this process.

    Args:
        work: A function of a module, so that a fresh process can import it.
    """
    if workers == 1:
        done = []
        for job in jobs:
            done.append(work(job))
            tell(len(done) / len(jobs))
        return done
    results: dict[int, Result] = {}
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        places = {pool.submit(work, job): place for place, job in enumerate(jobs)}
        for future in as_completed(places):
            results[places[future]] = future.result()
            tell(len(results) / len(jobs))
    return [results[place] for place in range(len(jobs))]


def parts(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """``items`` in parts of ``size``, each for one process; the last may be smaller."""
    return [items[first : first + size] for first in range(0, len(items), size)]


def by_arm(
    arms: Sequence[Arm], jobs: Sequence[OfArm], played: Sequence[Result]
) -> dict[str, list[Result]]:
    """What came of the jobs of each arm, by its name."""
    return {
        arm.name: [one for job, one in zip(jobs, played, strict=True) if job.arm is arm]
        for arm in arms
    }
