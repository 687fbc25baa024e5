"""A store that writes no secret: what comes is redacted before the store gets it.

It inherits from the store it guards, because who holds a store asks what kind it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from jitrl.errors import ConfigError
from jitrl.ports import DecisionRecord, Outline, Receipt
from jitrl.ports.redaction import Redaction
from jitrl.stores.records import EpisodeRecord, RuleRecord, parse_decision_id
from jitrl.stores.sqlite import SQLiteStore
from jitrl.stores.versions import Versions
from jitrl.types import (
    Contrast,
    Episode,
    Judgment,
    Outcome,
    Row,
    Rule,
    RuleStatus,
    RuleUse,
)


def redacting(opened: Callable[..., Any], redaction: Redaction) -> Callable[..., Any]:
    """Opens what ``opened`` does, behind ``redaction``.

    Raises:
        ConfigError: If a store of another package is made by no class.
    """
    if opened is SQLiteStore:
        return partial(RedactingStore, redaction=redaction)
    if not isinstance(opened, type):
        raise ConfigError(
            f"store {opened!r} is no class, so nothing can be put before what it writes; make it "
            "one, or set memory.redact = []"
        )
    return type(opened.__name__, (_Redacting, opened), {"redaction": redaction})


class _Redacting:
    """The calls of ``ports.Store`` that write, and the one by key, behind a redaction."""

    redaction: Redaction

    def commit(self, *given: Any, **named: Any) -> Any:
        return self._of("commit", given, named)

    def rederive(self, *given: Any, **named: Any) -> Any:
        return self._of("rederive", given, named)

    def set_status(self, *given: Any, **named: Any) -> Any:
        return self._of("set_status", given, named)

    def episode(self, *given: Any, **named: Any) -> Any:
        return self._of("episode", given, named)

    def _of(self, call: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        clean = self.redaction.record
        return getattr(super(), call)(*clean(given), **clean(named))


class RedactingStore(SQLiteStore):
    """``SQLiteStore`` behind a redaction. Keys that are asked for are redacted like stored ones.

    With ``readonly=True``, what is read as a whole is redacted, too: exports of an older file.

    Args:
        redaction: What is written goes through it, every text of it.
        known: As ``SQLiteStore`` takes them.
    """

    def __init__(self, path: Any, *, redaction: Redaction, **known: Any) -> None:
        self.redaction, self._is_read = redaction, bool(known.get("readonly"))
        self._rule_ids: dict[str, str] = {}  # of rules that came with a secret
        super().__init__(path, **known)

    def commit_record(self, record: EpisodeRecord, rows: Sequence[Row]) -> Receipt:
        """As ``SQLiteStore.commit_record``; ``commit`` comes here, too."""
        return super().commit_record(self._record(record), self.redaction.record(list(rows)))

    def rederive(
        self,
        key: str,
        outcome: Outcome | None,
        judgment: Judgment,
        rows: Sequence[Row],
        *,
        principal: str = "",
    ) -> Receipt:
        """As ``SQLiteStore.rederive``."""
        clean = self.redaction.record
        return super().rederive(
            self.redaction.text(key),
            clean(outcome),
            clean(judgment),
            clean(list(rows)),
            principal=self.redaction.text(principal),
        )

    def replace(
        self, key: str, judgment: Judgment, rows: Sequence[Row], reason: str, principal: str = ""
    ) -> Receipt:
        """As ``SQLiteStore.replace``."""
        clean = self.redaction
        return super().replace(
            clean.text(key),
            clean.record(judgment),
            clean.record(list(rows)),
            clean.text(reason),
            clean.text(principal),
        )

    def set_status(
        self,
        status: Literal["active", "quarantined"],
        *,
        rows: Collection[int] = (),
        episodes: Collection[str] = (),
        reason: str = "",
        principal: str = "",
    ) -> int:
        """As ``SQLiteStore.set_status``."""
        text = self.redaction.text
        return super().set_status(
            status,
            rows=rows,
            episodes=[text(key) for key in episodes],
            reason=text(reason),
            principal=text(principal),
        )

    def add_rules(
        self,
        rules: Sequence[Rule],
        contrasts: Sequence[Contrast] = (),
        *,
        reason: str = "",
        principal: str = "",
    ) -> tuple[str, ...]:
        """As ``SQLiteStore.add_rules``; a rule with a secret gets the id of its redacted text."""
        clean = [self._rule(rule) for rule in rules]
        text = self.redaction.text
        return super().add_rules(
            clean,
            self.redaction.record(list(contrasts)),
            reason=text(reason),
            principal=text(principal),
        )

    def commit_rule(self, record: RuleRecord) -> bool:
        """As ``SQLiteStore.commit_rule``."""
        return super().commit_rule(self._rule_record(record))

    def set_rule_status(
        self, status: RuleStatus, ids: Collection[str], *, reason: str = "", principal: str = ""
    ) -> int:
        """As ``SQLiteStore.set_rule_status``."""
        text = self.redaction.text
        named = [self._rule_ids.get(id, id) for id in ids]
        return super().set_rule_status(
            status, named, reason=text(reason), principal=text(principal)
        )

    @property
    def versions(self) -> Versions:
        """As ``SQLiteStore.versions``."""
        return Versions(self._db.reading, self._db.writing, self._id, self.redaction.text)

    def configure(self, settings: Mapping[str, Any]) -> None:
        """As ``SQLiteStore.configure``."""
        super().configure(self.redaction.record(settings))

    def episode(self, key: str) -> Episode:
        """As ``SQLiteStore.episode``."""
        return super().episode(self.redaction.text(key))

    def outline(self, key: str) -> Outline:
        """As ``SQLiteStore.outline``."""
        return super().outline(self.redaction.text(key))

    def record(self, key: str) -> EpisodeRecord:
        """As ``SQLiteStore.record``."""
        return super().record(self.redaction.text(key))

    def rows(self, key: str) -> tuple[Row, ...]:
        """As ``SQLiteStore.rows``."""
        return super().rows(self.redaction.text(key))

    def decision(self, id: str) -> DecisionRecord:
        """As ``SQLiteStore.decision``."""
        key, step = parse_decision_id(id)
        return super().decision(f"{self.redaction.text(key)}#{step}")

    def rule(self, id: str) -> Rule:
        """As ``SQLiteStore.rule``."""
        return super().rule(self._rule_ids.get(id, id))

    def records(
        self, *, scope: str | None = None, task: str | None = None, decided: bool = False
    ) -> Iterator[EpisodeRecord]:
        """As ``SQLiteStore.records``."""
        found = super().records(scope=scope, task=task, decided=decided)
        return map(self._record, found) if self._is_read else found

    def rule_records(
        self, *, scope: str | None = None, ids: Iterable[str] | None = None
    ) -> list[RuleRecord]:
        """As ``SQLiteStore.rule_records``."""
        found = super().rule_records(scope=scope, ids=ids)
        return list(map(self._rule_record, found)) if self._is_read else found

    def contrasts(
        self, *, scope: str | None = None, task: str | None = None, ids: Iterable[str] | None = None
    ) -> tuple[Contrast, ...]:
        """As ``SQLiteStore.contrasts``."""
        found = super().contrasts(scope=scope, task=task, ids=ids)
        return self.redaction.record(found) if self._is_read else found

    def _record(self, record: EpisodeRecord) -> EpisodeRecord:
        clean = self.redaction.record(record)
        return replace(clean, uses=tuple(self._use(use) for use in clean.uses))

    def _rule_record(self, record: RuleRecord) -> RuleRecord:
        rule = self._rule(record.rule)
        changes = tuple(
            replace(self.redaction.record(change), rule=rule.id) for change in record.changes
        )
        return RuleRecord(rule, changes)

    def _rule(self, rule: Rule) -> Rule:
        clean = self.redaction.record(rule)
        if clean.id != rule.id:
            self._rule_ids[rule.id] = clean.id
        parents = tuple(self._rule_ids.get(id, id) for id in clean.parents)
        return replace(clean, parents=parents)

    def _use(self, use: RuleUse) -> RuleUse:
        return replace(use, rule=self._rule_ids.get(use.rule, use.rule))
