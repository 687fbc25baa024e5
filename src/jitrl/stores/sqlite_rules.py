"""What a memory in an SQLite file keeps of rules: the methods of ``ports.rules.RuleStore``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from jitrl.stores import reads, rulebook, rulebook_reads
from jitrl.stores.connection import Connection
from jitrl.stores.records import RuleRecord
from jitrl.types import (
    Contrast,
    Rule,
    RuleChange,
    RuleCounts,
    RuleNews,
    RuleStatus,
    RuleUse,
    ScoredUse,
)


class SQLiteRules:
    """The rules of one memory. A store is one object, so ``SQLiteStore`` has these by inheritance.

    What is said of rules is in ``ports.rules.RuleStore``.
    """

    _db: Connection
    _id: int

    @property
    def undone(self) -> int:
        """Writes and batches that failed after something was read in them."""
        return self._db.undone

    def add_rules(
        self,
        rules: Sequence[Rule],
        contrasts: Sequence[Contrast] = (),
        *,
        reason: str = "",
        principal: str = "",
    ) -> tuple[str, ...]:
        """The ids of those that were new."""
        with self._db.writing() as db:
            return rulebook.add(db, self._id, rules, contrasts, reason, principal)

    def commit_rule(self, record: RuleRecord) -> bool:
        """Add a rule from elsewhere with its history, unless it is there; whether it was new."""
        with self._db.writing() as db:
            return rulebook.put_record(db, self._id, record)

    def set_rule_status(
        self, status: RuleStatus, ids: Collection[str], *, reason: str = "", principal: str = ""
    ) -> int:
        """Returns how many changed."""
        with self._db.writing() as db:
            return rulebook.set_status(db, self._id, status, ids, reason, principal)

    def rules(
        self,
        *,
        scope: str | None = None,
        status: RuleStatus | None = None,
        until: int | None = None,
    ) -> tuple[Rule, ...]:
        """In the order they came."""
        with self._db.reading() as db:
            return rulebook_reads.rules(db, self._id, scope=scope, status=status, until=until)

    def rule(self, id: str) -> Rule:
        """One rule."""
        with self._db.reading() as db:
            return rulebook_reads.must_find(db, self._id, id).rule

    def rule_history(self, id: str) -> tuple[RuleChange, ...]:
        """Oldest first."""
        with self._db.reading() as db:
            return rulebook_reads.must_find(db, self._id, id).changes

    def rule_records(
        self, *, scope: str | None = None, ids: Iterable[str] | None = None
    ) -> list[RuleRecord]:
        """Rules with their history, in the order they came; unknown ids are left out."""
        with self._db.reading() as db:
            return rulebook_reads.records(db, self._id, scope=scope, ids=ids)

    def contrasts(
        self, *, scope: str | None = None, task: str | None = None, ids: Iterable[str] | None = None
    ) -> tuple[Contrast, ...]:
        """In the order they came; unknown ids are left out."""
        with self._db.reading() as db:
            return rulebook_reads.contrasts(db, self._id, scope=scope, task=task, ids=ids)

    def rule_uses(
        self, ids: Collection[str] | None = None, *, until: int | None = None
    ) -> dict[str, tuple[ScoredUse, ...]]:
        """The uses of each rule that have a score, oldest first."""
        with self._db.reading() as db:
            return rulebook_reads.uses(db, self._id, ids, until)

    def episode_uses(self, key: str) -> tuple[RuleUse, ...]:
        """The rules that could be told in an episode."""
        with self._db.reading() as db:
            row, *_ = reads.must_find(db, self._id, key)
            return rulebook_reads.episode_uses(db, row, key)

    def rule_news(self, after: int, *, until: int | None = None) -> RuleNews:
        """What became of uses since version ``after``."""
        with self._db.reading() as db:
            return rulebook_reads.news(db, self._id, after, until)

    def rule_counts(
        self, success: float, ids: Collection[str] | None = None, *, until: int | None = None
    ) -> dict[str, RuleCounts]:
        """How each rule, or each of ``ids``, has fared."""
        with self._db.reading() as db:
            return rulebook_reads.counts(db, self._id, success, ids, until)

    def tainted(self, *, scope: str | None = None) -> dict[str, tuple[str, ...]]:
        """Rules that rest on episodes in quarantine, and which."""
        with self._db.reading() as db:
            return rulebook_reads.tainted(db, self._id, scope)
