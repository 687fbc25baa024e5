"""Which tasks and seeds a run has, their order, and which episodes act on one memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from jitrl.config import Run
from jitrl.errors import ConfigError
from jitrl.ports import Store
from jitrl.run.loop import Trial
from jitrl.types import Task


def select(tasks: Sequence[Task], settings: Run) -> list[Task]:
    """The first ``settings.tasks``, or those whose id matches one of its patterns.

    Raises:
        ConfigError: If a pattern matches nothing, there are fewer tasks, or two have one id.
    """
    for id, times in Counter(task.id for task in tasks).items():
        if times > 1:
            raise ConfigError(
                f"the environment has {times} tasks {id!r}, which no journal could tell apart; "
                "name nothing twice in environment.options"
            )
    if isinstance(settings.tasks, int):
        if settings.tasks > len(tasks):
            raise ConfigError(
                f"run.tasks is {settings.tasks}, the environment has {len(tasks)}; ask for no more "
                "(--tasks), or have it make more by an option of its own (--env-options, as "
                "tasks=20 for toy)"
            )
        return list(tasks[: settings.tasks])
    for pattern in settings.tasks:
        if not any(fnmatchcase(task.id, pattern) for task in tasks):
            some = ", ".join(task.id for task in tasks[:8])
            raise ConfigError(f"run.tasks: no task matches {pattern!r}; there are {some} …")
    return [t for t in tasks if any(fnmatchcase(t.id, pattern) for pattern in settings.tasks)]


def seeds_of(settings: Run) -> tuple[int, ...]:
    """The seeds written out.

    Raises:
        ConfigError: If one is named twice, which would be one run counted as two.
    """
    if isinstance(settings.seeds, int):
        return tuple(range(settings.seeds))
    if len(set(settings.seeds)) < len(settings.seeds):
        raise ConfigError(f"run.seeds is {list(settings.seeds)}; name each seed once")
    return settings.seeds


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
