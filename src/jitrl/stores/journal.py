"""What storing, correcting and quarantining an episode does, each inside one transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jitrl.errors import InputError
from jitrl.ports import ChangeKind, Receipt
from jitrl.stores import packing, purge_traces, reads, rulebook, stream, writes
from jitrl.stores.records import (
    EpisodeRecord,
    OutcomeEntry,
    check_episode,
    check_outcome,
    check_rows,
    content,
)
from jitrl.types import Judgment, Outcome, Row, State


@dataclass(frozen=True, slots=True)
class Prepared:
    """An episode that was checked and packed before the lock is taken."""

    record: EpisodeRecord
    rows: Sequence[Row]
    body: bytes
    states: list[State | None]


def prepare(record: EpisodeRecord, rows: Sequence[Row]) -> Prepared:
    """Check an episode and pack its decisions.

    Raises:
        InputError: If a value cannot be stored, or rows do not belong to the episode.
    """
    e = record.episode
    check_episode(e)
    check_rows(e.key, e.task, e.scope, len(e.steps), record.judgment, rows)
    for entry in record.outcomes:
        if entry.outcome is not None:
            check_outcome(entry.outcome, e.key)
    rulebook.check_uses(record.uses, e.key)
    states = [s for t in e.steps for s in (t.state, t.next_state)]
    return Prepared(
        record, rows, packing.pack([t.decision for t in e.steps]), states + _states(rows)
    )


def commit(db: sqlite3.Connection, memory_id: int, new: Prepared) -> Receipt:
    """Journal an episode and append its rows, unless its key is already there."""
    record, rows = new.record, new.rows
    key = record.episode.key
    raw = reads.find_episode(db, memory_id, key)
    if raw is not None:
        return Receipt(key, reads.version_of(db, raw), 0, duplicate=True)
    ids = writes.put_states(db, memory_id, record.episode.scope, new.states)
    body = new.body
    if not record.by:  # lived here, maybe while others purged what its decisions rest on
        body = purge_traces.swept(db, memory_id, record.episode, body)
    episode_id = writes.put_episode(db, memory_id, record, body, ids)
    writes.put_outcomes(db, episode_id, record.outcomes)
    rulebook.put_uses(db, memory_id, episode_id, record.uses)
    version = writes.put_rows(
        db,
        memory_id,
        episode_id,
        record.judgment,
        rows,
        ids,
        held=None if record.is_quarantined else record.quarantined,
        reason=str(record.judgment.info.get("admission", "")),
        principal=record.by or (rows[0].principal if rows else record.episode.principal),
        at=time.time(),
    )
    return Receipt(key, version, len(rows))


def rederive(
    db: sqlite3.Connection,
    memory_id: int,
    key: str,
    outcome: Outcome | None,
    judgment: Judgment,
    rows: Sequence[Row],
    principal: str,
) -> Receipt:
    """Add an outcome entry and put ``rows`` in the place of the episode's rows."""
    if outcome is not None:
        check_outcome(outcome, key)
    raw = reads.must_find(db, memory_id, key)
    record, live = _present(db, raw)
    if (outcome, judgment) == (record.episode.outcome, record.judgment) and (
        [content(row) for row in live] == [content(row) for row in rows]
    ):
        return Receipt(key, record.version, 0, duplicate=True)
    writes.put_outcomes(db, raw[0], [OutcomeEntry(outcome, time.time())])
    reason = "outcome withdrawn" if outcome is None else "outcome changed"
    principal = outcome.principal if outcome else principal
    return _replace(db, memory_id, raw[0], record, live, judgment, rows, reason, principal)


def replace(
    db: sqlite3.Connection,
    memory_id: int,
    key: str,
    judgment: Judgment,
    rows: Sequence[Row],
    reason: str,
    principal: str,
) -> Receipt:
    """Put ``rows`` in the place of the episode's rows."""
    raw = reads.must_find(db, memory_id, key)
    record, live = _present(db, raw)
    return _replace(db, memory_id, raw[0], record, live, judgment, rows, reason, principal)


def _replace(
    db: sqlite3.Connection,
    memory_id: int,
    episode_id: int,
    record: EpisodeRecord,
    live: Sequence[Row],
    judgment: Judgment,
    rows: Sequence[Row],
    reason: str,
    principal: str,
) -> Receipt:
    e, now = record.episode, time.time()
    check_rows(e.key, e.task, e.scope, len(e.steps), judgment, rows)
    if live:
        writes.put_status(
            db,
            memory_id,
            "retire",
            [row.id for row in live],
            episode_id=episode_id,
            reason=reason,
            principal=principal,
            at=now,
        )
    version = writes.put_rows(
        db,
        memory_id,
        episode_id,
        judgment,
        rows,
        writes.put_states(db, memory_id, e.scope, _states(rows)),
        held=None if record.is_quarantined else record.quarantined,
        reason=reason,
        principal=principal,
        at=now,
    )
    return Receipt(e.key, version, len(rows))


def set_status(
    db: sqlite3.Connection,
    memory_id: int,
    status: Literal["active", "quarantined"],
    rows: Collection[int],
    episodes: Collection[str],
    reason: str,
    principal: str,
) -> int:
    """Quarantine or restore rows as one entry of the stream; returns how many changed."""
    if status not in ("active", "quarantined"):
        raise InputError(f"status {status!r} must be 'active' or 'quarantined'")
    kind: ChangeKind = "restore" if status == "active" else "quarantine"
    mark = status == "quarantined"
    touched = stream.rows_by_id(db, memory_id, rows)
    named: set[int] = set()
    is_marked = False
    for key in episodes:
        (episode_id, *_) = reads.must_find(db, memory_id, key)
        named.add(episode_id)
        touched.update(stream.rows_of(db, episode_id))
        done = db.execute(
            "UPDATE episode SET quarantined = ? WHERE id = ? AND quarantined <> ?",
            (mark, episode_id, mark),
        )
        is_marked = is_marked or done.rowcount > 0
    before = writes.STATUS["active" if mark else "quarantined"]
    changed = sorted(i for i, (_, now) in touched.items() if now == before)
    if not mark:
        changed = stream.restorable(db, changed)
    if changed or is_marked:
        named.update(touched[i][0] for i in changed)
        writes.put_status(
            db,
            memory_id,
            kind,
            changed,
            episode_id=named.pop() if len(named) == 1 else None,
            reason=reason,
            principal=principal,
            at=time.time(),
        )
    return len(changed)


def _present(db: sqlite3.Connection, raw: tuple[Any, ...]) -> tuple[EpisodeRecord, list[Row]]:
    """An episode without its decisions, and its rows that are not retired."""
    reader = stream.RowReader()
    record = reads.read_record(db, reader, raw, decisions=False)
    rows = stream.episode_rows(reader, db, raw[0])
    return record, [row for row in rows if row.status != "retired"]


def _states(rows: Sequence[Row]) -> list[State | None]:
    return [s for row in rows for s in (row.state, row.next_state)]
