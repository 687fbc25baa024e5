"""What happens to the book once an episode is stored: gates, and new rules after a round."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection

from jitrl.agents.past import Journal
from jitrl.agents.rulebook.distilling import Distiller, Round
from jitrl.core.effect import Effect
from jitrl.core.gates import Gates, admitted, drawn, given_up, measure, outdone, surplus
from jitrl.ports.rules import RuleStore
from jitrl.types import Task

_log = logging.getLogger(__name__)


class Learning:
    """Keeps a book.

    Args:
        gates: ``None`` lets every rule in and none go.
        attempts: Scored attempts at a task that make a round; 0 makes none.
        gap: Least difference between the best and the worst of a round that teaches.
        threshold: Least score of the best.
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
    ) -> None:
        self.store, self.distiller = store, distiller
        self.gates, self.attempts = gates, attempts
        self.gap, self.threshold = gap, threshold
        self._journal = Journal(store)
        self._resuming, self._is_resumed = threading.Lock(), False

    def after(self, task: Task, used: Collection[str]) -> None:
        """An attempt at a task was stored.

        All that is written of it is one transaction: a process that ends leaves all or nothing.

        Args:
            used: Rules that could be told in it.
        """
        attempts = self._journal.past(task.scope, task=task.id).episodes
        is_over = bool(attempts and self.attempts) and len(attempts) % self.attempts == 0
        number = len(attempts) // self.attempts if is_over else 0
        found: Round | str = ""
        if is_over:
            lived = attempts[-self.attempts :]
            found = self.distiller.round(
                task, lived, number, gap=self.gap, threshold=self.threshold
            )
        with self.store.batch():
            if self.gates is not None:
                self.judge(used, self.gates)
            if isinstance(found, Round):
                made = self.distiller.enter(found, self._journal.past(task.scope))
                found = "" if made else "none was found"
            if is_over and self.gates is not None:
                self.thin(task.scope, self.gates)
        if found:
            _log.info("no rule of round=%d at task=%s: %s", number, task.id, found)

    def resume(self) -> None:
        """Learn, once, of the newest episode if the process that stored it ended right there.

        Then nothing was written after it. Where there was nothing to write, there is none now. It
        may take minutes; other threads wait until it is done.

        Raises:
            ConfigError, BudgetExceeded, ModelError: As ``Distiller.round``; then it is still to do.
        """
        with self._resuming:
            if not self._is_resumed:
                self._resume()
            self._is_resumed = True

    def _resume(self) -> None:
        head = self.store.head()
        last = next(iter(self.store.changes(head - 1)), None) if head else None
        if last is None or last.kind != "append" or not last.rows:
            return
        lived = self.store.episode(last.episode)
        family = str(lived.info.get("family", ""))
        task = Task(lived.task, str(lived.info.get("goal", "")), lived.scope, family)
        used = [
            rule
            for rule, uses in self.store.rule_uses().items()
            if any(one.use.episode == lived.key for one in uses)
        ]
        self.after(task, used)

    def judge(self, ids: Collection[str], gates: Gates) -> None:
        """Admit the candidates that have shown their effect, and drop what does harm."""
        for id, uses in self.store.rule_uses(ids).items() if ids else ():
            rule, seen = self.store.rule(id), drawn(uses)
            found = measure(seen, gates)
            verdict = given_up(seen, gates, found)
            if rule.status in ("candidate", "active") and not verdict.keeps:
                self.store.set_rule_status("retired", [id], reason=verdict.reason)
            elif rule.status == "candidate":
                verdict = admitted(seen, gates, found)
                if verdict.keeps:
                    self.store.set_rule_status("active", [id], reason=verdict.reason)
                elif len(seen) >= gates.trial:
                    reason = f"not admitted in {len(seen)} uses: {verdict.reason}"
                    self.store.set_rule_status("retired", [id], reason=reason)

    def thin(self, scope: str, gates: Gates) -> None:
        """Retire active rules that showed least, and what is above the cap; none in its grace."""
        active = [rule.id for rule in self.store.rules(scope=scope, status="active")]
        found = self.effects(active, gates)
        for id in outdone(found, gates):
            reason = f"among the lowest {gates.bottom:.0%}: low bound {found[id].low:+.2f}"
            self.store.set_rule_status("retired", [id], reason=reason)
        rules = self.store.rules(scope=scope)
        told = [rule.id for rule in rules if rule.status in ("candidate", "active")]
        if len(told) <= gates.most:
            return
        found = self.effects(told, gates)
        for id in surplus(found, gates):
            reason = f"above the cap of {gates.most} rules: low bound {found[id].low:+.2f}"
            self.store.set_rule_status("retired", [id], reason=reason)

    def effects(self, ids: Collection[str], gates: Gates) -> dict[str, Effect]:
        """The effect of each rule, by the bounds of the gates."""
        known = self.store.rule_uses(ids) if ids else {}
        return {id: measure(drawn(uses), gates) for id, uses in known.items()}
