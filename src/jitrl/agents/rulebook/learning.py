"""What happens to the book once an episode is stored: gates, and new rules after a round."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

from jitrl.agents.past import Journal, PastEpisode
from jitrl.agents.rulebook.contrasts import contrast, present
from jitrl.agents.rulebook.distilling import DONE, Distiller, Round
from jitrl.core.effect import Effect
from jitrl.core.gates import Gates, drawn, judged, measure, outdone, surplus
from jitrl.errors import ModelError
from jitrl.language import counted
from jitrl.ports.rules import RuleStore
from jitrl.types import Episode, ScoredUse, Task

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
        self.gates, self.attempts = gates, attempts
        self.gap, self.threshold, self.success = gap, threshold, success
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
        for number in self._owed(task, attempts, over):
            with self._kept_owed(task, number):
                if number == over:
                    found = self._distilled(task, attempts, number)
                else:
                    self._catch_up(task, attempts, number)
        with self.store.batch():
            if self.gates is not None:
                self.judge(used, self.gates)
            found = self._enter(task, found)
            if is_over and self.gates is not None:
                self.thin(task.scope, self.gates)
        if found:
            _log.info("no rule of round=%d at task=%s: %s", over, task.id, found)

    def again(self, key: str) -> None:
        """A stored episode was judged, now or once more: gates, and rounds that are owed.

        Raises:
            ConfigError, BudgetExceeded, ModelError: As ``after``.
            StoreError: If there is no such episode.
        """
        known = self.store.rule_uses().items()
        used = [rule for rule, uses in known if _is_used(uses, key)]
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
        """Let a round be looked at again if the block fails."""
        try:
            yield
        except BaseException:
            self._owe(task, number)
            raise

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

    def judge(self, ids: Collection[str], gates: Gates) -> None:
        """Admit the candidates that have shown their effect, and drop what does harm."""
        for id, uses in self._tried(ids).items():
            is_now = self.store.rule(id).status
            found = judged(drawn(uses), is_now, gates, success=self.success)
            if found.status != is_now:
                self.store.set_rule_status(found.status, [id], reason=found.reason)

    def thin(self, scope: str, gates: Gates) -> None:
        """Retire active rules that showed least, and what is above the cap; none in its grace."""
        active = [rule.id for rule in self.store.rules(scope=scope, status="active")]
        found = self.effects(active, gates)
        for id in outdone(found, gates):
            reason = f"among the lowest {gates.bottom:.0%}: low bound {found[id].low:+.2f}"
            self.store.set_rule_status("retired", [id], reason=reason)
        rules = self.store.rules(scope=scope)
        told = [rule for rule in rules if rule.status in ("candidate", "active")]
        if len(told) <= gates.most:
            return
        found = self.effects([rule.id for rule in told], gates)
        young = self.store.head() - gates.grace
        old = sorted((rule.version, rule.id) for rule in told if rule.version <= young)
        silent = [id for _, id in old if not found[id].given + found[id].held]
        for id in surplus(found, gates, silent):
            why = "its condition never held" if id in silent else f"low bound {found[id].low:+.2f}"
            reason = f"above the cap of {counted(gates.most, 'rule')}: {why}"
            self.store.set_rule_status("retired", [id], reason=reason)

    def effects(self, ids: Collection[str], gates: Gates) -> dict[str, Effect]:
        """The effect of each rule, by the bounds of the gates."""
        return {id: measure(drawn(uses), gates) for id, uses in self._tried(ids).items()}

    def _tried(self, ids: Collection[str]) -> dict[str, list[ScoredUse]]:
        """The uses of each rule since it last came back from retirement: it has another trial."""
        found = {}
        for id, uses in self.store.rule_uses(ids).items() if ids else ():
            changes = self.store.rule_history(id)
            back = [now.version for was, now in pairwise(changes) if was.status == "retired"]
            found[id] = [use for use in uses if use.version > max(back, default=0)]
        return found


def _task_of(lived: Episode) -> Task:
    """The task of an episode, as far as rules look at it."""
    goal, family = (str(lived.info.get(what, "")) for what in ("goal", "family"))
    return Task(lived.task, goal, lived.scope, family)


def _is_used(uses: Sequence[ScoredUse], episode: str) -> bool:
    return any(one.use.episode == episode for one in uses)
