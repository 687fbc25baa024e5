"""Whether runs can be played, asked of each before the first of them is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from jitrl import registry
from jitrl.config import Budget, Model, Settings
from jitrl.models.calls import Meter
from jitrl.run import folder as folders
from jitrl.run.experiment import Parts
from jitrl.run.schedule import seeds_of, select
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Task


class Readiness:
    """Makes the parts of runs for a trial; what many of them share is made once.

    Nothing is played, no model is asked and no folder of a run is written to.
    """

    def __init__(self) -> None:
        self._listed: list[tuple[Settings, Sequence[Task]]] = []
        self._models: list[Model] = []

    def check(self, settings: Settings, parts: Parts, folder: Path) -> int:
        """Refuse a run that could not begin; returns how many tasks it plays.

        Raises:
            ConfigError: If a part cannot be made or does not go with another, no task is selected,
                or the folder holds a run of other settings.
            MissingExtra: If a part needs a package that is not there.
            InputError: If the folder holds something else.
        """
        tasks = select(self._tasks(settings, parts), settings.run)
        if parts.book is not None:
            parts.book.check(tasks)
        folders.check(folder, settings, parts.made_of(tasks, seeds_of(settings.run)))
        with closing(folders.ledger(None, Budget())) as ledger:
            self._model(settings.model, ledger.meter("act"))
        require_agent(settings, parts)
        return len(tasks)

    def _tasks(self, settings: Settings, parts: Parts) -> Sequence[Task]:
        for before, tasks in self._listed:
            if before.environment == settings.environment:
                return tasks
        with closing(parts.environment()) as environment:
            tasks = tuple(environment.tasks())
        self._listed.append((settings, tasks))
        return tasks

    def _model(self, model: Model, meter: Meter) -> None:
        """Make the model, once for all runs that have the same; it is not probed, which costs."""
        if model not in self._models:
            registry.create("models", model.name, model.options, meter=meter)
            self._models.append(model)


def require_agent(settings: Settings, parts: Parts) -> None:
    """Refuse a run whose agent cannot be made, or cannot play its protocol.

    Raises:
        ConfigError: If it does not go with the model, the memory or the environment.
        MissingExtra: If it needs a package that is not there.
    """
    with (
        closing(folders.ledger(None, Budget())) as ledger,
        closing(SQLiteStore(":memory:")) as store,
    ):
        evaluator = parts.evaluator(ledger.meter("judge"))
        agent = parts.agent(store, evaluator, settings.memory, ledger.meter("learn"))
        # Not every agent can leave tasks out.
        some = frozenset() if settings.run.protocol == "repeat" else frozenset({"a task"})
        until = store.head() if settings.run.schedule == "rounds" else None
        agent.episode(exclude=some, until=until)
