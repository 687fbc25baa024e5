"""The queries that bring rows and the version stream back from a memory file."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from jitrl.errors import StoreError
from jitrl.ports import Change, ChangeKind
from jitrl.stores import rulebook_reads
from jitrl.stores.writes import STATUS, STATUS_OF
from jitrl.types import Row, RowStatus, State

STATUS_NAME: tuple[RowStatus, ...] = tuple(STATUS)
_BORN = 10
"""Place of ``born`` in what ``_ROW`` selects."""
CHUNK = 500
"""Values in one ``IN`` list; SQLite allows at least 999."""

_ROW = """SELECT id, judgment_id, step, state_id, action, reward, ret, next_state_id, terminal,
    novelty, born, status FROM row WHERE id """


def in_chunks(
    db: sqlite3.Connection, query: str, ids: Iterable[int | str]
) -> Iterable[tuple[Any, ...]]:
    """Run ``query`` + ``IN (…)`` for any number of values."""
    values = list(ids)
    for start in range(0, len(values), CHUNK):
        part = values[start : start + CHUNK]
        yield from db.execute(f"{query} IN ({','.join('?' * len(part))})", part)


class RowReader:
    """Builds ``Row`` objects; equal states and texts are one object for its whole life."""

    def __init__(self) -> None:
        self._states: dict[int | None, State | None] = {None: None}
        self._texts: dict[str, str] = {}
        self._origins: dict[int, tuple[Any, ...]] = {}

    def states(self, db: sqlite3.Connection, ids: Iterable[int | None]) -> None:
        """Make sure that these states are at hand."""
        missing = set(ids).difference(self._states)
        if not missing:
            return
        low, high = min(missing), max(missing)  # type: ignore[type-var]
        columns = "SELECT id, text, context, place FROM state WHERE id"
        found: Iterable[tuple[Any, ...]]
        if high - low < 2 * len(missing):  # type: ignore[operator]
            found = db.execute(f"{columns} BETWEEN ? AND ?", (low, high))
        else:
            found = in_chunks(db, columns, missing)  # type: ignore[arg-type]
        for i, text, context, place in found:
            self._states[i] = State(text, context, place)

    def state(self, i: int | None) -> State | None:
        """A state that ``states`` has brought."""
        return self._states[i]

    def rows(
        self, db: sqlite3.Connection, records: Sequence[tuple[Any, ...]], status: int | None = None
    ) -> tuple[Row, ...]:
        """Rows of raw ``row`` records: with ``status``, or as they are now."""
        self.states(db, [i for r in records for i in (r[3], r[7])])
        states, texts, origins = self._states, self._texts, self._origins
        self._load_origins(db, {r[1] for r in records}.difference(origins))
        out = []
        for i, judgment, step, state, action, reward, ret, after, terminal, new, _, now in records:
            episode, task, scope, version, evaluator, told, basis, principal, source, digest = (
                origins[judgment]
            )
            out.append(
                Row(
                    episode,
                    step,
                    task,
                    scope,
                    states[state],  # type: ignore[arg-type]
                    texts.setdefault(action, action),
                    reward,
                    ret,
                    states[after],
                    terminal == 1,
                    evaluator,
                    told,
                    basis,
                    principal,
                    source,
                    digest,
                    new,
                    STATUS_NAME[now if status is None else status],
                    i,
                    version,
                    state,
                    after or 0,
                )
            )
        return tuple(out)

    def _load_origins(self, db: sqlite3.Connection, judgments: Iterable[int]) -> None:
        query = """SELECT j.id, e.key, e.task, e.scope, j.version, j.evaluator, j.told, j.basis,
            j.principal, j.source, j.digest
            FROM judgment j JOIN episode e ON e.id = j.episode_id WHERE j.id"""
        texts = self._texts
        for i, *columns in in_chunks(db, query, judgments):
            columns[5] = columns[5] == 1
            self._origins[i] = tuple(
                texts.setdefault(c, c) if isinstance(c, str) else c for c in columns
            )


def changes(
    db: sqlite3.Connection,
    reader: RowReader,
    memory_id: int,
    after: int,
    scope: str | None,
    limit: int,
) -> tuple[list[Change], int]:
    """Up to ``limit`` entries later than ``after``, and the last version looked at (0: none)."""
    query = """SELECT c.version, c.kind, c.reason, c.principal, c.at, coalesce(e.key, ''),
            coalesce(e.scope, ''), c.episode_id, j.first_row, j.rows
        FROM change c LEFT JOIN episode e ON e.id = c.episode_id
        LEFT JOIN judgment j ON j.id = c.judgment_id
        WHERE c.memory_id = ? AND c.version > ? ORDER BY c.version LIMIT ?"""
    out: list[Change] = []
    version = 0
    for version, kind, reason, principal, at, key, of, episode, first, count in db.execute(
        query, (memory_id, after, limit)
    ).fetchall():
        if scope is not None and episode is not None and of != scope:
            continue
        if kind == "rules":
            rules = rulebook_reads.changed(db, memory_id, version, scope)
            if rules or scope is None:
                out.append(Change(version, kind, "", (), reason, principal, at, rules))
            continue
        if kind == "append":
            records = db.execute(_ROW + "BETWEEN ? AND ?", (first, first + count - 1)).fetchall()
            rows = _as_born(reader, db, records)
        else:
            rows = _changed(reader, db, memory_id, version, kind, scope)
            if not rows and episode is None:
                if kind == "retire":  # see purge.py
                    out.append(Change(version, "purge", "", (), reason, principal, at))
                continue
        out.append(Change(version, kind, key, rows, reason, principal, at))
    return out, version


def _as_born(
    reader: RowReader, db: sqlite3.Connection, records: list[tuple[Any, ...]]
) -> tuple[Row, ...]:
    born = {r[_BORN] for r in records}
    if len(born) == 1:
        return reader.rows(db, records, born.pop())
    return tuple(row for r in records for row in reader.rows(db, [r], r[_BORN]))


def _changed(
    reader: RowReader,
    db: sqlite3.Connection,
    memory_id: int,
    version: int,
    kind: ChangeKind,
    scope: str | None,
) -> tuple[Row, ...]:
    ids = "IN (SELECT row_id FROM change_row WHERE memory_id = ? AND version = ?) ORDER BY id"
    records = db.execute(_ROW + ids, (memory_id, version)).fetchall()
    rows = reader.rows(db, records, STATUS[STATUS_OF[kind]])
    return rows if scope is None else tuple(row for row in rows if row.scope == scope)


def episode_rows(reader: RowReader, db: sqlite3.Connection, episode_id: int) -> tuple[Row, ...]:
    """All rows an episode ever had, oldest first, with their present status."""
    out: list[Row] = []
    for first, count in db.execute(
        "SELECT first_row, rows FROM judgment WHERE episode_id = ? AND rows ORDER BY id",
        (episode_id,),
    ).fetchall():
        records = db.execute(_ROW + "BETWEEN ? AND ?", (first, first + count - 1)).fetchall()
        out += reader.rows(db, records)
    return tuple(out)


def rows_by_id(
    db: sqlite3.Connection, memory_id: int, ids: Collection[int]
) -> dict[int, tuple[int, int]]:
    """Row id → (episode id, status number).

    Raises:
        StoreError: If the memory has no row of one of the ids.
    """
    query = """SELECT r.id, j.episode_id, r.status FROM row r JOIN judgment j
        ON j.id = r.judgment_id JOIN episode e ON e.id = j.episode_id
        WHERE e.memory_id = """
    found = {i: (e, s) for i, e, s in in_chunks(db, f"{query} {memory_id} AND r.id", ids)}
    if missing := sorted(set(ids).difference(found)):
        more = f", nor {len(missing) - 1} more of {len(ids)} named" if len(missing) > 1 else ""
        raise StoreError(f"this memory has no row {missing[0]}{more}")
    return found


def rows_of(db: sqlite3.Connection, episode_id: int) -> dict[int, tuple[int, int]]:
    """As ``rows_by_id``, for all rows an episode ever had."""
    found = db.execute(
        """SELECT r.id, r.status FROM judgment j JOIN row r
        ON r.id BETWEEN j.first_row AND j.first_row + j.rows - 1 WHERE j.episode_id = ?""",
        (episode_id,),
    )
    return {i: (episode_id, status) for i, status in found}


def restorable(db: sqlite3.Connection, ids: Collection[int]) -> list[int]:
    """Those of ``ids`` that may become active: a step has one row, of the newest judgment.

    It matters after a rollback only, which can make a row of an earlier judgment active.
    """
    found: dict[tuple[int, int], int] = {}
    query = """SELECT r.id, j.episode_id, r.step, EXISTS (SELECT 1 FROM judgment k JOIN row o
            ON o.id BETWEEN k.first_row AND k.first_row + k.rows - 1
            WHERE k.episode_id = j.episode_id AND o.step = r.step AND o.status = 0)
        FROM row r JOIN judgment j ON j.id = r.judgment_id WHERE r.id"""
    for row, episode, step, is_taken in in_chunks(db, query, ids):
        if not is_taken:
            found[episode, step] = max(row, found.get((episode, step), 0))
    return sorted(found.values())
