"""JSON lines: an episode, run, rule or contrast a line, all or nothing when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from jitrl.errors import StoreError
from jitrl.stores import jsonl_rules, line, line_rules, line_run
from jitrl.stores.lines import Skipped, each_line
from jitrl.stores.records import Derive, EpisodeRecord, OutcomeEntry
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode, Judgment, Scored, Unscored

Judge = Callable[[Episode], Judgment]
"""Scores a finished episode."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    Attributes:
        episodes: Episodes that were added.
        duplicates: Lines whose key was in the memory already; nothing was written for them.
        rows: Rows that were derived from the added episodes.
        quarantined: Those of them that are in quarantine.
        skipped: Lines that were left out.
        rules, contrasts: Those that were added.
        unscored: Recorded runs among the episodes that nothing is learned from, for lack of a
            reward or an outcome.
    """

    episodes: int
    duplicates: int
    rows: int
    quarantined: int
    skipped: tuple[Skipped, ...] = ()
    rules: int = 0
    contrasts: int = 0
    unscored: int = 0


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


def unjudged(episode: Episode) -> Judgment:
    """Nobody scores recorded runs."""
    return Unscored("nobody was there to judge a recorded run")


def read(
    store: SQLiteStore,
    lines: Iterable[bytes],
    derive: Derive,
    *,
    judge: Judge = unjudged,
    name: str = "line",
    trust: bool = False,
    skip_bad: bool = False,
    principal: str = "import",
    by: str = "",
) -> Imported:
    """Add the episodes, runs, rules and contrasts of ``lines``: all or none, or all but bad ones.

    What comes from elsewhere counts as basis ``import`` of ``principal`` and starts in quarantine;
    what an episode said of itself stays in ``info["import"]``, the status that a rule had in the
    reason of its quarantine. Keys that are there already are left alone, so doing it twice is
    harmless.

    Args:
        derive: Makes the rows of an episode.
        judge: Scores a recorded run; episodes of an export bring their judgment.
        name: Of the file, for messages.
        trust: Keep basis, principals, quarantine and the history of rules as the file has them.
        skip_bad: Leave bad lines out and report them.
        principal: Who is answerable for what comes in, unless it is trusted.
        by: Who imports, for the version stream; the principal if empty.

    Raises:
        RecordError: With the line number, if a line is bad; nothing is added then.
    """
    episodes = duplicates = rows = quarantined = rules = contrasts = unscored = 0

    renamed = jsonl_rules.Renamed(store)

    def add(text: bytes) -> None:
        nonlocal episodes, duplicates, rows, quarantined, rules, contrasts, unscored
        schema = line_rules.schema_of(text)
        if schema == line_rules.RULE:
            is_new = jsonl_rules.read_rule(store, text, renamed, trust=trust, principal=principal)
            rules, duplicates = rules + is_new, duplicates + (not is_new)
            return
        if schema == line_rules.CONTRAST:
            is_new = jsonl_rules.read_contrast(store, text, trust, principal)
            contrasts, duplicates = contrasts + is_new, duplicates + (not is_new)
            return
        is_run = schema == line_run.SCHEMA
        if is_run:
            lived = line_run.parse(text)
            with suppress(StoreError):  # there is none of that key yet
                store.outline(lived.key)
                duplicates += 1
                return
            record = _record(lived, judge(lived))
        else:
            record = line.parse(text)
            record = replace(record, uses=renamed.uses(record.uses))
        if not trust:
            record = _distrusted(record, principal)
        record = replace(record, by=by or principal)
        derived = derive(record.episode, record.judgment)
        receipt = store.commit_record(record, derived)
        rows += receipt.rows
        if receipt.duplicate:
            duplicates += 1
            return
        episodes += 1
        unscored += is_run and isinstance(record.judgment, Unscored)
        held = record.quarantined
        quarantined += (
            len(derived) if record.is_quarantined else sum(row.step in held for row in derived)
        )

    with store.batch():
        skipped = each_line(lines, add, name=name, skip_bad=skip_bad)
    return Imported(episodes, duplicates, rows, quarantined, skipped, rules, contrasts, unscored)


def _record(lived: Episode, judgment: Judgment) -> EpisodeRecord:
    history = () if lived.outcome is None else (OutcomeEntry(lived.outcome, lived.finished),)
    return EpisodeRecord(lived, judgment, history)


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
