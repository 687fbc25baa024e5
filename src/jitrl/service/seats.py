"""What a memory gives its callers, and what they are told of an episode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jitrl import given
from jitrl.service.errors import Conflict
from jitrl.stores.lookup import Stored
from jitrl.types import EpisodeStatus


@dataclass(frozen=True, slots=True)
class Limits:
    """What one memory gives its callers.

    Attributes:
        deadline: Seconds after which a decision is answered with the model's own choice.
        running: Episodes that may run at once.
        idle: Seconds after which an episode that nobody asks for is closed as truncated.
        workers: Threads that decide at once, at most; more than one only past a slow decision.
    """

    deadline: float = 0.25
    running: int = 10_000
    idle: float = 3600.0
    workers: int = 4


@dataclass(frozen=True, slots=True)
class Seat:
    """An episode, as whoever starts it is told.

    Attributes:
        status: ``running``, or how it ended.
        steps: Steps decided so far.
        principal: Who started it.
        is_new: Whether this call started it.
        said: Sum of what its agent said of its steps, to which its own outcome is added; 0.0 once
            it is over.
    """

    key: str
    task: str
    scope: str
    status: Literal["running"] | EpisodeStatus
    holdout: bool
    steps: int
    principal: str = ""
    is_new: bool = False
    said: float = 0.0

    @classmethod
    def of(cls, key: str, stored: Stored) -> Seat:
        """A stored episode."""
        status = given.status(stored.status)  # type: ignore[arg-type]
        about = stored.task, stored.scope, status, stored.holdout, stored.steps, stored.principal
        return cls(key, *about)

    def checked(self, task: str, scope: str) -> Seat:
        """The seat, if it is that of a run at this task.

        Raises:
            Conflict: If its key was given to another.
        """
        if (self.task, self.scope) != (task, scope):
            raise Conflict(
                f"key {self.key!r} was given to task {self.task!r} in scope {self.scope!r}; a key "
                "names one run"
            )
        return self
