"""The gates of a book, tried after each episode and each round: who comes in, and who goes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from jitrl.core.effect import Effect
from jitrl.core.gates import Gates, Trial, drawn, outdone, surplus
from jitrl.language import counted
from jitrl.ports.rules import RuleStore
from jitrl.types import ScoredUse


class Gating:
    """Tries the gates of a memory's rules. To be asked in a batch of the store alone.

    The trials of rules are kept and go on with what is new; one is read again from the start where
    its earlier uses count otherwise by now, and where the rule itself was changed.

    Args:
        success: Least score of a win.
    """

    def __init__(self, store: RuleStore, gates: Gates, *, success: float = 1.0) -> None:
        self.gates = gates
        self._store, self._success = store, success
        self._trials = dict[str, _Kept]()
        self._version, self._undone = 0, store.undone

    def judge(self, ids: Collection[str]) -> None:
        """Admit the candidates that have shown their effect, and drop what does harm."""
        for id, trial in self._tried(ids).items():
            is_now = self._store.rule(id).status
            found = trial.judged(is_now)
            if found.status != is_now:
                self._store.set_rule_status(found.status, [id], reason=found.reason)

    def thin(self, scope: str) -> None:
        """Retire active rules that showed least, and what is above the cap; none in its grace."""
        gates = self.gates
        active = [rule.id for rule in self._store.rules(scope=scope, status="active")]
        found = self.effects(active)
        for id in outdone(found, gates):
            reason = f"among the lowest {gates.bottom:.0%}: low bound {found[id].low:+.2f}"
            self._store.set_rule_status("retired", [id], reason=reason)
        rules = self._store.rules(scope=scope)
        told = [rule for rule in rules if rule.status in ("candidate", "active")]
        if len(told) <= gates.most:
            return
        found = self.effects([rule.id for rule in told])
        young = self._store.head() - gates.grace
        old = sorted((rule.version, rule.id) for rule in told if rule.version <= young)
        silent = [id for _, id in old if not found[id].given + found[id].held]
        for id in surplus(found, gates, silent):
            why = "its condition never held" if id in silent else f"low bound {found[id].low:+.2f}"
            reason = f"above the cap of {counted(gates.most, 'rule')}: {why}"
            self._store.set_rule_status("retired", [id], reason=reason)

    def effects(self, ids: Collection[str]) -> dict[str, Effect]:
        """The effect of each rule, by the bounds of the gates."""
        return {id: trial.effect for id, trial in self._tried(ids).items()}

    def _tried(self, ids: Collection[str]) -> dict[str, Trial]:
        """The trial of each rule since it last came back from retirement: it has another one."""
        try:
            self._follow()
            versions = {id: self._store.rule(id).version for id in ids}
            new = [
                id
                for id, version in versions.items()
                if id not in self._trials or self._trials[id].version != version
            ]
            for id, uses in self._store.rule_uses(new).items() if new else ():
                changes = self._store.rule_history(id)
                back = [now.version for was, now in pairwise(changes) if was.status == "retired"]
                trial = Trial(self.gates, success=self._success)
                self._trials[id] = _Kept(trial, versions[id], max(back, default=0))
                self._trials[id].take(uses)
        except BaseException:  # an interrupt, too: what is half counted must go
            self._trials.clear()
            raise
        return {id: self._trials[id].trial for id in ids}

    def _follow(self) -> None:
        """Take in what is new since the last look."""
        if self._undone != self._store.undone:  # it may have been read in a batch that failed
            self._trials.clear()
            self._undone = self._store.undone
        head = self._store.head()
        if self._trials and head != self._version:
            news = self._store.rule_news(self._version)
            for id in tuple(self._trials) if news.changed is None else news.changed:
                self._trials.pop(id, None)
            for id, uses in news.uses.items():
                if id in self._trials:
                    self._trials[id].take(uses)
        self._version = head


@dataclass(frozen=True, slots=True)
class _Kept:
    """A trial so far, of a rule as it was since ``version``, and back since ``back``."""

    trial: Trial
    version: int
    back: int

    def take(self, uses: Collection[ScoredUse]) -> None:
        """Take in the next uses, but for those of episodes that were before it came back."""
        for use in drawn([use for use in uses if use.version > self.back]):
            self.trial.add(use)
