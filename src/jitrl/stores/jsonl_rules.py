"""A rulebook as JSON lines: rules with their history, each after the contrasts it rests on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from jitrl.core.faults import described, faults
from jitrl.core.sentences import is_id_of, rule_id, scoped_id
from jitrl.errors import RecordError
from jitrl.stores import line_rules
from jitrl.stores.lines import Skipped, each_line
from jitrl.stores.records import RuleRecord
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Rule, RuleStatus, RuleUse


@dataclass(frozen=True, slots=True)
class ImportedRules:
    """What an import of a rulebook did.

    Attributes:
        rules, contrasts: Those that were added.
        duplicates: Lines of what was in the memory already; nothing was written for them.
    """

    rules: int
    contrasts: int
    duplicates: int
    skipped: tuple[Skipped, ...] = ()


class Book:
    """Writes rules and contrasts as lines (with their line end), none twice.

    Attributes:
        written: Ids of the rules that were.
    """

    def __init__(self, store: SQLiteStore) -> None:
        self.written = set[str]()
        self._store, self._contrasts = store, set[str]()

    def contrasts(
        self, scope: str | None = None, ids: Iterable[str] | None = None
    ) -> Iterator[bytes]:
        """The contrasts of a scope, or those of these ids."""
        for contrast in self._store.contrasts(scope=scope, ids=ids):
            self._contrasts.add(contrast.id)
            yield line_rules.dump_contrast(contrast)

    def rules(self, records: Iterable[RuleRecord]) -> Iterator[bytes]:
        """Rules with their history, each after what it rests on."""
        for record in records:
            missing = set(record.rule.evidence) - self._contrasts
            if missing:
                yield from self.contrasts(ids=missing)
            self.written.add(record.rule.id)
            yield line_rules.dump_rule(record)


@dataclass(slots=True)
class Renamed:
    """The ids that rules of a file have in the memory that they come to.

    A text is one rule in each scope. The first scope that says it has the plain id of the text,
    and that may be another scope in the memory than in the file.
    """

    store: SQLiteStore
    _known: dict[str, str] = field(default_factory=dict)

    def rule(self, rule: Rule) -> Rule:
        """The rule of a line with the ids that it and its parents have in the memory."""
        own, plain = scoped_id(rule.text, rule.scope), rule_id(rule.text)
        if not is_id_of(rule.id, rule.text, rule.scope):
            return rule  # the store refuses it
        ids = {own, plain, rule.id}
        there = {r.rule.id: r.rule.scope for r in self.store.rule_records(ids=ids)}
        if rule.id not in (own, plain) and there.get(rule.id) == rule.scope:
            id = rule.id
        elif own in there or there.get(plain, rule.scope) != rule.scope:
            id = own
        else:
            id = own if rule.id == own and plain not in there else plain
        self._known[rule.id] = id
        parents = tuple(self._parent(parent, rule.scope) for parent in rule.parents)
        return replace(rule, id=id, parents=parents)

    def uses(self, uses: Iterable[RuleUse]) -> tuple[RuleUse, ...]:
        """What an episode of the file used, by the ids of the memory."""
        return tuple(replace(use, rule=self._known.get(use.rule, use.rule)) for use in uses)

    def _parent(self, id: str, scope: str) -> str:
        """A rule stands for others of its scope; their lines may come later."""
        if id in self._known:
            return self._known[id]
        there = (record.rule for record in self.store.rule_records(ids=[id]))
        return next((scoped_id(r.text, scope) for r in there if r.scope != scope), id)


def export(
    store: SQLiteStore, *, scope: str | None = None, status: RuleStatus | None = None
) -> Iterator[bytes]:
    """The rules of a scope, those with a status, as lines, in the order they came."""
    chosen = (
        record for record in store.rule_records(scope=scope) if status in (None, record.rule.status)
    )
    yield from Book(store).rules(chosen)


def read(
    store: SQLiteStore,
    lines: Iterable[bytes],
    *,
    name: str = "line",
    skip_bad: bool = False,
    principal: str = "import",
) -> ImportedRules:
    """Add the rules and contrasts of ``lines``: all or none, or all but the bad ones.

    All rules start in quarantine under the name of ``principal``, whatever they say of themselves;
    the reason names the status they had. What is there already is left alone.

    Args:
        name: Of the file, for messages.
        skip_bad: Leave bad lines out and report them.

    Raises:
        RecordError: With the line number, if a line is bad, is an episode, or holds a sentence
            that is no rule; nothing is added then.
    """
    rules = contrasts = duplicates = 0
    renamed = Renamed(store)

    def add(text: bytes) -> None:
        nonlocal rules, contrasts, duplicates
        if line_rules.schema_of(text) == line_rules.CONTRAST:
            is_new = read_contrast(store, text, trust=False, principal=principal)
            contrasts += is_new
        else:
            _check(text)
            is_new = read_rule(store, text, renamed, trust=False, principal=principal)
            rules += is_new
        duplicates += not is_new

    with store.batch():
        skipped = each_line(lines, add, name=name, skip_bad=skip_bad)
    return ImportedRules(rules, contrasts, duplicates, skipped)


def read_rule(
    store: SQLiteStore, text: bytes, renamed: Renamed, *, trust: bool, principal: str
) -> bool:
    """Add the rule of a line, unless it is there; whether it was new.

    Args:
        renamed: Of the file; it learns the id that the rule has here.
        trust: Keep its history and status; else it is quarantined under ``principal``.

    Raises:
        RecordError, InputError: If the line is bad.
    """
    record = line_rules.parse_rule(text)
    record = RuleRecord(renamed.rule(record.rule), record.changes)
    if not trust:
        last, evidence = record.changes[-1], tuple(e for c in record.changes for e in c.evidence)
        change = replace(
            last,
            status="quarantined",
            reason=f"imported; it was {last.status}: {record.reason}",
            principal=principal,
            at=time.time(),
            evidence=tuple(dict.fromkeys(evidence)),
        )
        record = RuleRecord(record.rule, (change,))
    return store.commit_rule(record)


def read_contrast(store: SQLiteStore, text: bytes, trust: bool, principal: str) -> bool:
    """Add the contrast of a line, unless it is there; whether it was new.

    Raises:
        RecordError, InputError: If the line is bad.
    """
    contrast = line_rules.parse_contrast(text)
    is_new = not store.contrasts(ids=[contrast.id])
    by = contrast.principal if trust else principal
    store.add_rules((), (contrast,), reason="import", principal=by)
    return is_new


def _check(text: bytes) -> None:
    """Refuse what is no line of a rulebook, or no rule."""
    schema = line_rules.schema_of(text)
    if schema == "jitrl.episode":
        raise RecordError("it is an episode; `jitrl memory import` reads those")
    if schema != line_rules.RULE:
        raise RecordError(
            f"schema is {schema!r}; a line of a rulebook is {line_rules.RULE!r} or "
            f"{line_rules.CONTRAST!r}"
        )
    sentence = line_rules.parse_rule(text).rule.text
    if wrong := faults(sentence):
        raise RecordError(described(sentence, wrong))
