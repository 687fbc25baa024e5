"""Turns of a text game: what may be done now, what a step was worth, and when all is over."""

from __future__ import annotations

from jitrl.errors import InputError
from jitrl.types import Observation, Task, TimeStep

_MANY = 30  # actions that a message lists; of more only the first ones
_FIRST = 8


class Turns:
    """Keeps count of one game at a time; a step's reward is the change of the game's score.

    The score is what observations say it is, in ``Observation.info["score"]``.

    Args:
        limit: Steps after which a game is cut off.
        shift: Constant added to every step's reward.

    Attributes:
        shown: What the game showed last.
    """

    def __init__(self, limit: int, shift: float = 0.0) -> None:
        self._limit, self._shift = limit, shift
        self._task: Task | None = None
        self.shown = Observation("", "")
        self._taken = 0

    def begin(self, task: Task, shown: Observation) -> TimeStep:
        """A game starts, and shows this."""
        self._task, self.shown, self._taken = task, shown, 0
        return TimeStep(shown)

    def check(self, action: str) -> Task:
        """The task of the game, if ``action`` may be taken in it now.

        Raises:
            InputError: If no game is under way or the action is not offered now.
        """
        if self._task is None:
            raise InputError(f"no episode is under way, so {action!r} cannot be taken; call reset")
        offered = self.shown.actions
        if action not in offered:
            many = len(offered) > _MANY
            listed = f"{len(offered)}, such as {offered[:_FIRST]}" if many else str(offered)
            raise InputError(f"game {self._task.id!r} has no {action!r} now; it has {listed}")
        return self._task

    def taken(self, shown: Observation, *, over: bool) -> TimeStep:
        """The step that led to what is shown now; whether the game is ``over`` by itself."""
        reward = float(shown.info["score"]) - float(self.shown.info["score"]) + self._shift
        self.shown = shown
        self._taken += 1
        truncated = not over and self._taken >= self._limit
        if over or truncated:
            self._task = None
        return TimeStep(shown, reward, over, truncated)

    def end(self) -> None:
        """Give up the game that is under way, if there is one."""
        self._task = None
