"""What happens to the book once an episode is stored: gates, and new rules after a round."""

from __future__ import annotations

import logging
from collections.abc import Collection

from jitrl.agents.past import Journal
from jitrl.agents.rulebook.distilling import Distiller
from jitrl.core.effect import Effect
from jitrl.core.gates import Gates, admitted, drawn, given_up, measure, outdone, surplus
from jitrl.ports.rules import RuleStore
from jitrl.types import Task

_log = logging.getLogger(__name__)


class Learning:
    """Keeps a book.

    Args:
        gates: ``None`` lets every rule in and none go.
        attempts: Scored attempts at a task that make a round.
    """

    def __init__(
        self, store: RuleStore, distiller: Distiller, gates: Gates | None, attempts: int
    ) -> None:
        self.store, self.distiller = store, distiller
        self.gates, self.attempts = gates, attempts
        self._journal = Journal(store)

    def after(self, task: Task, used: Collection[str]) -> None:
        """An attempt at a task was stored.

        Args:
            used: Rules that could be told in it.
        """
        if self.gates is not None:
            self.judge(used, self.gates)
        attempts = self._journal.past(task.scope, task=task.id).episodes
        if attempts and len(attempts) % self.attempts == 0:
            number = len(attempts) // self.attempts
            found = self.distiller.round(task, attempts[-self.attempts :], number)
            if isinstance(found, str):
                _log.info("no rule of round=%d at task=%s: %s", number, task.id, found)
            elif not self.distiller.enter(found, self._journal.past(task.scope)):
                _log.info("no rule of round=%d at task=%s: none was found", number, task.id)
            if self.gates is not None:
                self.thin(task.scope, self.gates)

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
