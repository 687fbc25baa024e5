"""The statements that put episodes, outcomes, rows and changes into a memory file."""

from __future__ import annotations

import hashlib
import math
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Sequence

import msgspec

from jitrl.ports import ChangeKind
from jitrl.stores.records import EpisodeRecord, OutcomeEntry
from jitrl.types import Judgment, Row, RowStatus, Scored, State

STATUS: dict[RowStatus, int] = {"active": 0, "quarantined": 1, "retired": 2}

_NULL = math.nan
"""SQLite stores it as NULL. Binding None (or a bool, or bytes) looks for an adapter first, which
costs more than inserting the row; so what is bound often is int, float, str or bytearray."""

_WITHDRAWN = (None, "", "", False, "")

_json = msgspec.json.Encoder()


def scope_key(memory_id: int, scope: str) -> bytes:
    """The part of ``state_digest`` that the states of a scope share."""
    return _json.encode((memory_id, scope))


def state_digest(scope: bytes, state: State) -> bytes:
    """What makes a state distinct in a file: memory, scope (as ``scope_key``) and three texts.

    It begins with four bytes of the scope alone, so that the states of a scope are neighbors in
    the index and an episode touches few of its pages.
    """
    text = scope + _json.encode((state.text, state.context, state.place))
    return zlib.crc32(scope).to_bytes(4, "big") + hashlib.blake2b(text, digest_size=16).digest()


def put_states(
    db: sqlite3.Connection, memory_id: int, scope: str, states: Iterable[State | None]
) -> dict[int, float]:
    """Store the states that are new; returns ``id(state)`` → id in the file (or ``_NULL``)."""
    objects = {id(state): state for state in states if state is not None}
    of = scope_key(memory_id, scope)
    digests = {key: state_digest(of, state) for key, state in objects.items()}
    known: dict[bytes, int] = {}
    fresh: list[tuple[int, int, str, bytearray, str, str, str]] = []
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM state").fetchone()
    for key, state in objects.items():
        digest = digests[key]
        if digest in known:
            continue
        blob = bytearray(digest)
        found = db.execute("SELECT id FROM state WHERE digest = ?", (blob,)).fetchone()
        if found:
            known[digest] = found[0]
            continue
        known[digest] = last = last + 1
        fresh.append((last, memory_id, scope, blob, state.text, state.context, state.place))
    db.executemany("INSERT INTO state VALUES (?, ?, ?, ?, ?, ?, ?)", fresh)
    ids: dict[int, float] = {key: known[digest] for key, digest in digests.items()}
    ids[id(None)] = _NULL
    return ids


def put_episode(
    db: sqlite3.Connection,
    memory_id: int,
    record: EpisodeRecord,
    body: bytes,
    ids: dict[int, float],
) -> int:
    """Journal an episode with its steps and packed decisions; returns its id."""
    e = record.episode
    decisions = [step.decision for step in e.steps]
    scorers = sorted({d.scorer for d in decisions if d is not None})
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM episode").fetchone()
    episode_id = int(last) + 1
    db.execute(
        "INSERT INTO episode VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            episode_id,
            memory_id,
            e.key,
            e.task,
            e.scope,
            e.status,
            e.agent,
            e.config,
            e.principal,
            e.holdout,
            float(e.started),
            float(e.finished),
            _json.encode(e.info).decode(),
            _json.encode(scorers).decode(),
            record.is_quarantined,
        ),
    )
    db.executemany(
        "INSERT INTO step VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                episode_id,
                t,
                ids[id(s.state)],
                s.action,
                _NULL if s.reward is None else float(s.reward),
                ids[id(s.next_state)],
                float(s.novelty),
                s.decision.version if s.decision else _NULL,
            )
            for t, s in enumerate(e.steps)
        ],
    )
    if scorers:
        db.execute("INSERT INTO decision VALUES (?, ?, ?)", (episode_id, body, zlib.crc32(body)))
    return episode_id


def put_outcomes(db: sqlite3.Connection, episode_id: int, entries: Sequence[OutcomeEntry]) -> None:
    """Append to the episode's outcome history; the last entry becomes the present one."""
    (current,) = db.execute(
        "SELECT max(id) FROM outcome WHERE episode_id = ?", (episode_id,)
    ).fetchone()
    for entry in entries:
        o = entry.outcome
        said = (float(o.value), o.basis, o.evaluator, o.told, o.principal) if o else _WITHDRAWN
        current = db.execute(
            "INSERT INTO outcome VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
            (episode_id, *said, entry.at, current),
        ).lastrowid


def put_rows(
    db: sqlite3.Connection,
    memory_id: int,
    episode_id: int,
    judgment: Judgment,
    rows: Sequence[Row],
    ids: dict[int, float],
    *,
    held: Collection[int] | None,
    reason: str,
    principal: str,
    at: float,
) -> int:
    """Append a judgment and its rows as one entry of the version stream; returns the version.

    Rows of the steps in ``held`` start in quarantine; ``None`` holds them all.
    """
    version = next_version(db, memory_id)
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM row").fetchone()
    scored = judgment if isinstance(judgment, Scored) else None
    judgment_id = db.execute(
        "INSERT INTO judgment VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            episode_id,
            version,
            judgment.evaluator,
            scored and scored.told,
            scored and scored.basis,
            scored and _json.encode([float(r) for r in scored.rewards]).decode(),
            "" if isinstance(judgment, Scored) else judgment.reason,
            rows[0].principal if rows else "",
            rows[0].source if rows else "",
            rows[0].digest if rows else "",
            last + 1,
            len(rows),
            _json.encode(judgment.info).decode(),
        ),
    ).lastrowid
    records = []
    for i, row in enumerate(rows, last + 1):
        is_held = int(held is None or row.step in held or row.status == "quarantined")
        records.append(
            (
                i,
                judgment_id,
                row.step,
                ids[id(row.state)],
                row.action,
                float(row.reward),
                float(row.ret),
                ids[id(row.next_state)],
                int(row.terminal),
                float(row.novelty),
                is_held,
                is_held,
            )
        )
    db.executemany("INSERT INTO row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", records)
    put_change(db, memory_id, version, "append", episode_id, judgment_id, reason, principal, at)
    return version


def put_status(
    db: sqlite3.Connection,
    memory_id: int,
    kind: ChangeKind,
    row_ids: Sequence[int],
    *,
    episode_id: int | None,
    reason: str,
    principal: str,
    at: float,
) -> int:
    """Give rows a new status as one entry of the version stream; returns the version."""
    version = next_version(db, memory_id)
    put_change(db, memory_id, version, kind, episode_id, None, reason, principal, at)
    db.executemany(
        "INSERT INTO change_row VALUES (?, ?, ?)", [(memory_id, version, i) for i in row_ids]
    )
    status = STATUS[STATUS_OF[kind]]
    db.executemany("UPDATE row SET status = ? WHERE id = ?", [(status, i) for i in row_ids])
    return version


STATUS_OF: dict[ChangeKind, RowStatus] = {
    "quarantine": "quarantined",
    "restore": "active",
    "retire": "retired",
}


def next_version(db: sqlite3.Connection, memory_id: int) -> int:
    """Take the next version of the memory."""
    db.execute("UPDATE memory SET head = head + 1 WHERE id = ?", (memory_id,))
    (version,) = db.execute("SELECT head FROM memory WHERE id = ?", (memory_id,)).fetchone()
    return int(version)


def put_change(
    db: sqlite3.Connection,
    memory_id: int,
    version: int,
    kind: ChangeKind,
    episode_id: int | None,
    judgment_id: int | None,
    reason: str,
    principal: str,
    at: float,
) -> None:
    """Write an entry of the version stream."""
    db.execute(
        "INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (memory_id, version, kind, episode_id, judgment_id, reason, principal, at),
    )
