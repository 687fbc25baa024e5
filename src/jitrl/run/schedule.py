"""In which order the episodes of a seed are played, and which of them act on one memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jitrl.config import Run
from jitrl.ports import Store
from jitrl.run.loop import Trial
from jitrl.types import Task


def plan(
    run: Run, tasks: Sequence[Task], seed: int, place: Mapping[str, int], attempts: range
) -> Iterator[list[Trial]]:
    """The episodes of one seed, in batches that act on one state of the memory.

    Args:
        place: Index of each task in its environment, from which its chance is drawn.
        attempts: Which of them.
    """
    if run.schedule == "rounds":
        for attempt in attempts:
            yield [Trial(task, place[task.id], attempt, seed) for task in tasks]
    elif run.order == "attempt":
        for attempt in attempts:
            for task in tasks:
                yield [Trial(task, place[task.id], attempt, seed)]
    else:
        for task in tasks:
            for attempt in attempts:
                yield [Trial(task, place[task.id], attempt, seed)]


def before(store: Store, batch: Sequence[Trial], missing: Sequence[Trial]) -> int:
    """Version of the memory before the first episode of ``batch`` was learned."""
    if len(missing) < len(batch):
        keys = {trial.key for trial in batch}
        for change in store.changes(0):
            if change.episode in keys:
                return change.version - 1
    return store.head()
