"""A memory as JSON lines: one episode, rule or contrast a line, all or nothing when it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from jitrl.stores import jsonl_rules, line, line_rules
from jitrl.stores.lines import Skipped, each_line
from jitrl.stores.records import Derive, EpisodeRecord
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Scored


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
    book = jsonl_rules.Book(store)
    yield from book.contrasts(scope)
    yield from book.rules(store.rule_records(scope=scope))
    for record in store.records(scope=scope):
        # Of another scope, or added since the rules were read.
        missing = {use.rule for use in record.uses} - book.written
        if missing:
            yield from book.rules(store.rule_records(ids=missing))
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

    def add(text: bytes) -> None:
        nonlocal episodes, duplicates, rows, quarantined, rules, contrasts
        schema = line_rules.schema_of(text)
        if schema == line_rules.RULE:
            is_new = jsonl_rules.read_rule(store, text, trust, principal)
            rules, duplicates = rules + is_new, duplicates + (not is_new)
            return
        if schema == line_rules.CONTRAST:
            is_new = jsonl_rules.read_contrast(store, text, trust, principal)
            contrasts, duplicates = contrasts + is_new, duplicates + (not is_new)
            return
        record = line.parse(text)
        if not trust:
            record = _distrusted(record, principal)
        derived = derive(record.episode, record.judgment)
        receipt = store.commit_record(record, derived)
        rows += receipt.rows
        if receipt.duplicate:
            duplicates += 1
            return
        episodes += 1
        held = record.quarantined
        quarantined += (
            len(derived) if record.is_quarantined else sum(row.step in held for row in derived)
        )

    with store.batch():
        skipped = each_line(lines, add, name=name, skip_bad=skip_bad)
    return Imported(episodes, duplicates, rows, quarantined, skipped, rules, contrasts)


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
