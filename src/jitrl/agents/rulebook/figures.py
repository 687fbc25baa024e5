"""Figures of rules, kept up to date by what is new: how often each was told and won, its promise.

They are those that all uses give, read from the first to the last. What is read again from the
start is what changed behind: a use that was judged anew, and all uses once something was put in
quarantine, restored or purged.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from jitrl.core.effect import Promise
from jitrl.core.gates import drawn, is_win
from jitrl.errors import StoreError
from jitrl.ports.rules import RuleStore
from jitrl.types import ScoredUse

_KEPT = 2  # lines of figures for each set of tasks left out: one of the newest, one of a snapshot
_SETS = 32  # sets of tasks left out whose figures are kept: those that were asked for last


@dataclass(slots=True)
class Tally:
    """How often a rule was told, and with success."""

    uses: int = 0
    wins: int = 0


@dataclass(slots=True)
class _Of:
    """Figures of one rule; ``None``: not asked for yet."""

    tally: Tally | None = None
    promise: Promise | None = None


@dataclass(slots=True)
class _Line:
    """Figures as of a version of the memory; what is not here was not asked for yet.

    Attributes:
        head: Newest version there was when it was brought up to date: what is put in quarantine
            counts at once, also as of an earlier version.
    """

    version: int
    head: int
    rules: dict[str, _Of] = field(default_factory=dict)

    def of(self, rule: str) -> _Of:
        """Those of a rule, to be filled."""
        return self.rules.setdefault(rule, _Of())

    def forget(self, rules: Collection[str] | None) -> None:
        """Drop the figures of some rules; ``None``: of all."""
        for rule in tuple(self.rules) if rules is None else rules:
            self.rules.pop(rule, None)


class Figures:
    """Figures of the rules of a memory. Safe for threads.

    Args:
        success: Least score of an episode that is a win.
    """

    def __init__(self, store: RuleStore, success: float) -> None:
        self._store, self._success = store, success
        self._lines: dict[frozenset[str], list[_Line]] = {}
        self._undone = store.undone
        self._lock = threading.Lock()

    def told(
        self, ids: Collection[str], *, exclude: frozenset[str], until: int | None
    ) -> Mapping[str, tuple[int, int]]:
        """Episodes in which each rule was told, and those of them that were won.

        Args:
            exclude: Tasks whose episodes do not count.
            until: Newest version of the memory that counts; ``None``: all.
        """
        with self._lock:
            line = self._line(exclude, until)
            missing = [id for id in ids if id not in line.rules or not line.rules[id].tally]
            if missing and not exclude:
                counts = self._store.rule_counts(self._success, missing, until=line.version)
                for id, counted in counts.items():
                    line.of(id).tally = Tally(counted.uses, counted.wins)
            elif missing:
                for id, uses in self._uses(missing, line.version).items():
                    tally = Tally()
                    for one in uses:
                        self._count(tally, one, exclude)
                    line.of(id).tally = tally
            found = ((id, line.rules[id].tally if id in line.rules else None) for id in ids)
            return {id: (one.uses, one.wins) if one else (0, 0) for id, one in found}

    def promises(
        self, ids: Collection[str], *, exclude: frozenset[str], until: int | None
    ) -> Mapping[str, float]:
        """What each rule promises, but those that are not there; arguments as of ``told``."""
        with self._lock:
            line = self._line(exclude, until)
            missing = [id for id in ids if id not in line.rules or not line.rules[id].promise]
            for id, uses in self._uses(missing, line.version).items() if missing else ():
                promise = Promise()
                for one in uses:
                    _weigh(promise, one, exclude)
                line.of(id).promise = promise
            kept = ((id, line.rules[id].promise) for id in ids if id in line.rules)
            return {id: promise.value for id, promise in kept if promise}

    def _uses(self, ids: Collection[str], until: int) -> Mapping[str, Sequence[ScoredUse]]:
        """The uses of rules; those that were purged meanwhile are left out."""
        while True:
            try:
                return self._store.rule_uses(ids, until=until)
            except StoreError:
                known = {rule.id for rule in self._store.rules()}
                there = [id for id in ids if id in known]
                if len(there) == len(ids):
                    raise
                ids = there

    def _line(self, exclude: frozenset[str], until: int | None) -> _Line:
        """The figures as of ``until``, of the rules that were asked for so far."""
        if self._undone != self._store.undone:  # it may have been read in a batch that failed
            self._lines.clear()
            self._undone = self._store.undone
        head = self._store.head()
        until = head if until is None else min(until, head)
        lines = self._lines[exclude] = self._lines.pop(exclude, [])  # the last one asked for
        if len(self._lines) > _SETS:
            del self._lines[next(iter(self._lines))]
        near = [line for line in lines if line.version <= until]
        line = max(near, key=lambda line: line.version, default=_Line(until, head))
        if head < line.head:  # what another thread is still writing was seen
            line.forget(None)
        if (line.version, line.head) != (until, head) and line.rules:
            try:
                self._follow(line, exclude, until)
            except BaseException:  # an interrupt, too: what is half counted must go
                line.forget(None)
                raise
        line.version, line.head = until, head
        lines[:] = [line, *(one for one in lines if one is not line)][:_KEPT]
        return line

    def _follow(self, line: _Line, exclude: frozenset[str], until: int) -> None:
        news = self._store.rule_news(line.version, until=until)
        line.forget(news.changed)
        for id, uses in news.uses.items():
            known = line.rules.get(id, _Of())
            for one in uses:
                if known.tally:
                    self._count(known.tally, one, exclude)
                if known.promise:
                    _weigh(known.promise, one, exclude)

    def _count(self, tally: Tally, one: ScoredUse, exclude: frozenset[str]) -> None:
        if one.use.told and one.task not in exclude:
            tally.uses += 1
            tally.wins += is_win(one.score, self._success)


def _weigh(promise: Promise, one: ScoredUse, exclude: frozenset[str]) -> None:
    for use in drawn([one]) if one.task not in exclude else ():
        promise.add(use)
