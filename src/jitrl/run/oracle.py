"""The oracle: the right action, from an environment that knows it, for agents that may be told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from jitrl.errors import ConfigError
from jitrl.ports import Environment, Hint
from jitrl.types import Task


class Oracle:
    """Makes the environments of a run, and asks the one that the calling thread plays in.

    Args:
        name: The environment's, for messages.
        make: Makes one.
    """

    def __init__(self, name: str, make: Callable[[], Environment]) -> None:
        self._name, self._make = name, make
        self._mine = threading.local()
        self._paths: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def environment(self) -> Environment:
        """A new environment; from now on it is the one of this thread."""
        self._mine.environment = made = self._make()
        return made

    def hint(self) -> Hint:
        """What may be lent to an agent.

        An environment with ``oracle_action()`` is asked where it stands; ``None`` says that it
        knows no way on from there. One with ``gold(task)`` is asked once for each task, in an
        instance of its own, and has nothing to say once an episode has left that path.

        Raises:
            ConfigError: If the environment has neither.
        """
        with closing(self._make()) as one:
            if hasattr(one, "oracle_action"):
                return self._standing
            if hasattr(one, "gold"):
                return self._along
        raise ConfigError(
            f"environment {self._name!r} does not know the right action (it has neither "
            "oracle_action() nor gold(task)); run the agent in one that does, such as 'backoffice'"
        )

    def _standing(self, task: Task, history: Sequence[str]) -> str | None:
        environment: Any = self._mine.environment
        right = environment.oracle_action()
        return None if right is None else str(right)

    def _along(self, task: Task, history: Sequence[str]) -> str | None:
        path = self._path(task)
        taken = tuple(history)
        if len(taken) < len(path) and path[: len(taken)] == taken:
            return path[len(taken)]
        return None

    def _path(self, task: Task) -> tuple[str, ...]:
        with self._lock:
            if task.id not in self._paths:
                with closing(self._make()) as one:
                    knowing: Any = one
                    self._paths[task.id] = tuple(knowing.gold(task))
            return self._paths[task.id]
