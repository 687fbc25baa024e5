"""What happens to the book once an episode is stored: gates, and new rules after a round."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from jitrl.agents.past import Journal, PastEpisode
from jitrl.agents.rulebook.contrasts import contrast, present
from jitrl.agents.rulebook.distilling import DONE, Distiller, Round
from jitrl.agents.rulebook.gating import Gating
from jitrl.core.gates import Gates
from jitrl.errors import ModelError, RecordError, StoreError
from jitrl.ports.rules import RuleStore
from jitrl.types import Episode, Task

_log = logging.getLogger(__name__)

ROUND = "round_of"
"""What an episode's info says it by: so many attempts of its task made a round when it was played.

An agent takes up the rounds that one like it left, and none of a memory that others filled.
"""


class Learning:
    """Keeps a book.

    Args:
        gates: ``None`` lets every rule in and none go.
        attempts: Scored attempts at a task that make a round; 0 makes none.
        gap: Least difference between the best and the worst of a round that teaches.
        threshold: Least score of the best.
        success: Least score of a win.
    """

    def __init__(
        self,
        store: RuleStore,
        distiller: Distiller,
        gates: Gates | None,
        attempts: int,
        *,
        gap: float,
        threshold: float,
        success: float = 1.0,
    ) -> None:
        self.store, self.distiller = store, distiller
        self.gating = None if gates is None else Gating(store, gates, success=success)
        self.attempts = attempts
        self.gap, self.threshold = gap, threshold
        self._journal = Journal(store)
        self._resuming, self._is_resumed = threading.Lock(), False
        self._claiming, self._looked = threading.Lock(), dict[tuple[str, str], int]()

    def after(self, task: Task, used: Collection[str]) -> None:
        """An attempt at a task was stored: gates, and every round of the task that is owed.

        All that is written of a round is one transaction: a process that ends leaves all or
        nothing. A round that could not be distilled stays owed, and is tried again after the next
        attempt at the task and in the next process.

        Args:
            used: Rules that could be told in it.

        Raises:
            ConfigError, BudgetExceeded: As ``Distiller.round``.
            ModelError: If a model could not be asked about the round that is over now; of an
                earlier one that is logged.
        """
        attempts = self._journal.past(task.scope, task=task.id).episodes
        is_over = bool(attempts and self.attempts) and len(attempts) % self.attempts == 0
        over = len(attempts) // self.attempts if is_over else 0
        found: Round | str = ""
        owed = self._owed(task, attempts, over)
        for number in owed:
            with self._kept_owed(task, number):
                if number == over:
                    found = self._distilled(task, attempts, number)
                else:
                    self._catch_up(task, attempts, number)
        with self._kept_owed(task, over), self.store.batch():
            if self.gating is not None:
                self.gating.judge([id for id in used if self._is_there(id)])
            found = self._enter(task, found)
            if over in owed and self.gating is not None:
                self.gating.thin(task.scope)
        if found:
            _log.info("no rule of round=%d at task=%s: %s", over, task.id, found)

    def again(self, key: str) -> None:
        """A stored episode was judged, now or once more: gates, and rounds that are owed.

        Raises:
            ConfigError, BudgetExceeded, ModelError: As ``after``.
            StoreError: If there is no such episode.
        """
        used = [use.rule for use in self.store.episode_uses(key)]
        self.after(_task_of(self.store.episode(key)), used)

    def resume(self) -> None:
        """Learn, once, what processes that ended left to be learned of their episodes.

        These are the gates for the newest episode, if nothing was written after it, and the rounds
        that are owed at any task. It may take minutes; other threads wait until it is done. Where a
        model cannot be asked, that is logged, and the round stays owed.

        Raises:
            ConfigError, BudgetExceeded: As ``after``; then it is still to do.
        """
        with self._resuming:
            if not self._is_resumed:
                self._resume()
            self._is_resumed = True

    def _resume(self) -> None:
        newest, last = dict[tuple[str, str], str](), ""
        for change in self.store.changes(0):
            is_lived = change.kind == "append" and bool(change.rows)
            last = change.episode if is_lived else ""
            if is_lived:
                newest[change.rows[0].scope, change.rows[0].task] = change.episode
        for key in newest.values():
            if key == last:
                try:
                    self.again(key)
                except ModelError as error:
                    _log.warning("what episode=%s teaches is still owed: %s", key, error)
                continue
            task = _task_of(self.store.episode(key))
            attempts = self._journal.past(task.scope, task=task.id).episodes
            for number in self._owed(task, attempts, 0):
                with self._kept_owed(task, number):
                    self._catch_up(task, attempts, number)

    def _owed(self, task: Task, attempts: Sequence[PastEpisode], over: int) -> list[int]:
        """Full rounds that this process has not looked at, and that agents like this played.

        Args:
            over: The round that is over now; 0 for none.
        """
        size, place = self.attempts, (task.scope, task.id)
        full = len(attempts) // size if size else 0
        with self._claiming:
            looked = min(self._looked.get(place, 0), full)
            self._looked[place] = full
        return [
            number
            for number in range(looked + 1, full + 1)
            if number == over or attempts[number * size - 1].info.get(ROUND) == size
        ]

    @contextmanager
    def _kept_owed(self, task: Task, number: int) -> Iterator[None]:
        """Let a round be looked at again if the block fails; 0 is none."""
        try:
            yield
        except BaseException:
            if number:
                self._owe(task, number)
            raise

    def _is_there(self, rule: str) -> bool:
        """Whether a rule was not purged meanwhile."""
        try:
            self.store.rule(rule)
        except RecordError:  # it is there, and damaged
            raise
        except StoreError:
            return False
        return True

    def _owe(self, task: Task, number: int) -> None:
        place = task.scope, task.id
        with self._claiming:
            self._looked[place] = min(self._looked[place], number - 1)

    def _distilled(self, task: Task, attempts: Sequence[PastEpisode], number: int) -> Round | str:
        lived = attempts[(number - 1) * self.attempts : number * self.attempts]
        return self.distiller.round(task, lived, number, gap=self.gap, threshold=self.threshold)

    def _catch_up(self, task: Task, attempts: Sequence[PastEpisode], number: int) -> None:
        """Learn of an earlier round; nothing is done of one that was learned or teaches nothing."""
        lived = attempts[(number - 1) * self.attempts : number * self.attempts]
        if isinstance(contrast(lived, gap=self.gap, threshold=self.threshold), str):
            return
        try:
            found = self._distilled(task, attempts, number)
        except ModelError as error:
            _log.warning("round=%d at task=%s is still owed: %s", number, task.id, error)
            self._owe(task, number)
            return
        with self.store.batch():
            self._enter(task, found)

    def _enter(self, task: Task, found: Round | str) -> str:
        """Put what a round teaches into the book; why it teaches nothing, or ""."""
        if isinstance(found, str):
            return found
        if self.distiller.is_done(found.kept):
            return DONE
        past = self._journal.past(task.scope)
        now = present(past, found.kept)  # distilling takes a while, and others write
        if isinstance(now, str):
            return now
        made = self.distiller.enter(replace(found, found=now), past)
        return "" if made else "none was found"


def _task_of(lived: Episode) -> Task:
    """The task of an episode, as far as rules look at it."""
    goal, family = (str(lived.info.get(what, "")) for what in ("goal", "family"))
    return Task(lived.task, goal, lived.scope, family)
