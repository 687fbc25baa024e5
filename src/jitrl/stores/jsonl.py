"""A memory as JSON lines: one episode, rule or contrast a line, all or nothing when it is read."""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from jitrl.errors import RecordError
from jitrl.stores import line, line_rules
from jitrl.stores.records import Derive, EpisodeRecord, RuleRecord
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Scored


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that was left out, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        episodes: Episodes that were added.
        duplicates: Lines whose key was in the memory already; nothing was written for them.
        rows: Rows that were derived from the added episodes.
        quarantined: Those of them that are in quarantine.
        rules, contrasts: Those that were added.
    """

    episodes: int
    duplicates: int
    rows: int
    quarantined: int
    skipped: tuple[Skipped, ...] = ()
    rules: int = 0
    contrasts: int = 0


def export(store: SQLiteStore, *, scope: str | None = None) -> Iterator[bytes]:
    """The memory as lines (with their line end), in commit order.

    Episodes with decisions, outcome history, present judgment, quarantine and the rules they used;
    rows follow from them. Earlier judgments and retired rows are left out. Before them come the
    rules with their history, and before these what they rest on.
    """
    contrasts, rules = set[str](), set[str]()

    def with_evidence(records: Iterable[RuleRecord]) -> Iterator[bytes]:
        for record in records:
            missing = set(record.rule.evidence) - contrasts
            for contrast in store.contrasts(ids=missing) if missing else ():
                contrasts.add(contrast.id)
                yield line_rules.dump_contrast(contrast)
            rules.add(record.rule.id)
            yield line_rules.dump_rule(record)

    for contrast in store.contrasts(scope=scope):
        contrasts.add(contrast.id)
        yield line_rules.dump_contrast(contrast)
    yield from with_evidence(store.rule_records(scope=scope))
    for record in store.records(scope=scope):
        # Of another scope, or added since the rules were read.
        missing = {use.rule for use in record.uses} - rules
        if missing:
            yield from with_evidence(store.rule_records(ids=missing))
        yield line.dump(record)


def read(
    store: SQLiteStore,
    lines: Iterable[bytes],
    derive: Derive,
    *,
    name: str = "line",
    trust: bool = False,
    skip_bad: bool = False,
    principal: str = "import",
) -> Imported:
    """Add the episodes, rules and contrasts of ``lines``: all or none, or all but the bad ones.

    What comes from elsewhere counts as basis ``import`` of ``principal`` and starts in quarantine;
    what an episode said of itself stays in ``info["import"]``, the status that a rule had in the
    reason of its quarantine. Keys that are there already are left alone, so doing it twice is
    harmless.

    Args:
        derive: Makes the rows of an episode.
        name: Of the file, for messages.
        trust: Keep basis, principals, quarantine and the history of rules as the file has them.
        skip_bad: Leave bad lines out and report them.

    Raises:
        RecordError: With the line number, if a line is bad; nothing is added then.
    """
    episodes = duplicates = rows = quarantined = rules = contrasts = 0
    skipped: list[Skipped] = []
    with store.batch():
        for number, text in enumerate(lines, 1):
            if number == 1:
                text = text.removeprefix(codecs.BOM_UTF8)
            if not text.strip():
                continue
            try:
                schema = line_rules.schema_of(text)
                if schema == line_rules.RULE:
                    is_new = _read_rule(store, text, trust, principal)
                    rules, duplicates = rules + is_new, duplicates + (not is_new)
                    continue
                if schema == line_rules.CONTRAST:
                    is_new = _read_contrast(store, text, trust, principal)
                    contrasts, duplicates = contrasts + is_new, duplicates + (not is_new)
                    continue
                record = line.parse(text)
                if not trust:
                    record = _distrusted(record, principal)
                derived = derive(record.episode, record.judgment)
                receipt = store.commit_record(record, derived)
            except (RecordError, ValueError) as error:
                if not skip_bad:
                    raise RecordError(f"{name}:{number}: {error}") from error
                skipped.append(Skipped(number, str(error)))
                continue
            duplicates += receipt.duplicate
            episodes += not receipt.duplicate
            rows += receipt.rows
            if not receipt.duplicate:
                held = record.quarantined
                quarantined += (
                    len(derived)
                    if record.is_quarantined
                    else sum(row.step in held for row in derived)
                )
    return Imported(episodes, duplicates, rows, quarantined, tuple(skipped), rules, contrasts)


def _read_rule(store: SQLiteStore, text: bytes, trust: bool, principal: str) -> bool:
    """Whether it was new."""
    record = line_rules.parse_rule(text)
    if not trust:
        last, evidence = record.changes[-1], tuple(e for c in record.changes for e in c.evidence)
        change = replace(
            last,
            status="quarantined",
            reason=f"imported; it was {last.status}: {last.reason}",
            principal=principal,
            at=time.time(),
            evidence=tuple(dict.fromkeys(evidence)),
        )
        record = RuleRecord(record.rule, (change,))
    return store.commit_rule(record)


def _read_contrast(store: SQLiteStore, text: bytes, trust: bool, principal: str) -> bool:
    """Whether it was new."""
    contrast = line_rules.parse_contrast(text)
    is_new = not store.contrasts(ids=[contrast.id])
    by = contrast.principal if trust else principal
    store.add_rules((), (contrast,), reason="import", principal=by)
    return is_new


def _distrusted(record: EpisodeRecord, principal: str) -> EpisodeRecord:
    e, judgment = record.episode, record.judgment
    basis = judgment.basis if isinstance(judgment, Scored) else None
    info = {"import": {"principal": e.principal, "basis": basis}} | dict(e.info)
    outcomes = tuple(
        entry
        if entry.outcome is None
        else replace(entry, outcome=replace(entry.outcome, basis="import", principal=principal))
        for entry in record.outcomes
    )
    episode = replace(
        e,
        principal=principal,
        outcome=outcomes[-1].outcome if outcomes else None,
        info=info,
    )
    if isinstance(judgment, Scored):
        judgment = replace(judgment, basis="import")
    return replace(
        record, episode=episode, judgment=judgment, outcomes=outcomes, is_quarantined=True
    )
