"""The queries that bring episodes and decisions back from a memory file."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from jitrl.errors import StoreError, brief
from jitrl.ports import DecisionRecord
from jitrl.stores import packing, rulebook_reads
from jitrl.stores.records import EpisodeRecord, OutcomeEntry, decision_id
from jitrl.stores.stream import RowReader, in_chunks
from jitrl.types import Episode, Judgment, Outcome, Scored, Transition, Unscored

_EPISODE = """SELECT e.id, e.key, e.task, e.scope, e.status, e.agent, e.config, e.principal,
    e.holdout, e.started, e.finished, e.info, e.quarantined FROM episode e """


def find_episode(db: sqlite3.Connection, memory_id: int, key: str) -> tuple[Any, ...] | None:
    """The raw record of an episode, for ``read_episode``."""
    found: tuple[Any, ...] | None = db.execute(
        _EPISODE + "WHERE e.memory_id = ? AND e.key = ?", (memory_id, key)
    ).fetchone()
    return found


def must_find(db: sqlite3.Connection, memory_id: int, key: str) -> tuple[Any, ...]:
    """As ``find_episode``.

    Raises:
        StoreError: If there is none.
    """
    raw = find_episode(db, memory_id, key)
    if raw is None:
        (name,) = db.execute("SELECT name FROM memory WHERE id = ?", (memory_id,)).fetchone()
        *_, file = db.execute("PRAGMA database_list").fetchone()
        raise StoreError(f"memory {name!r} has no episode {brief(key)}{_where_to_look(file, name)}")
    return raw


def _where_to_look(file: str, memory: str) -> str:
    if not file:  # a memory that has none
        return ""
    here, path = Path.cwd(), Path(file)
    file = str(path.relative_to(here)) if path.is_relative_to(here) else file
    named = "" if memory == "default" else f" --memory {shlex.quote(memory)}"
    return f" in {file}; `jitrl memory ls {shlex.quote(file)}{named}` lists them"


def page_of_episodes(
    db: sqlite3.Connection,
    memory_id: int,
    after: int,
    scope: str | None,
    task: str | None,
    limit: int,
) -> list[tuple[Any, ...]]:
    """Raw records of the next episodes in commit order."""
    return db.execute(
        _EPISODE
        + """WHERE e.memory_id = ? AND e.id > ? AND (? IS NULL OR e.scope = ?)
            AND (? IS NULL OR e.task = ?) ORDER BY e.id LIMIT ?""",
        (memory_id, after, scope, scope, task, task, limit),
    ).fetchall()


def version_of(db: sqlite3.Connection, raw: tuple[Any, ...]) -> int:
    """Version that brought the present judgment of a raw episode record."""
    (version,) = db.execute(
        "SELECT max(version) FROM judgment WHERE episode_id = ?", (raw[0],)
    ).fetchone()
    return int(version)


def read_record(
    db: sqlite3.Connection,
    reader: RowReader,
    raw: tuple[Any, ...],
    *,
    decisions: bool = True,
    decided: bool = False,
) -> EpisodeRecord:
    """Everything about one episode, or all but its decisions, or but the steps without one."""
    (i, key, task, scope, status, agent, config, principal, holdout, started, finished) = raw[:11]
    info, quarantined = raw[11:]
    outcomes = _outcomes(db, i)
    judgment, version, held = _judgment(db, i)
    episode = Episode(
        key,
        task,
        scope,
        _steps(db, reader, i, key, decisions, decided),
        status,
        outcomes[-1].outcome if outcomes else None,
        agent,
        config,
        principal,
        holdout == 1,
        started,
        finished,
        msgspec.json.decode(info),
    )
    uses = rulebook_reads.episode_uses(db, i, key)
    return EpisodeRecord(episode, judgment, outcomes, quarantined == 1, held, version, uses)


def read_decisions(db: sqlite3.Connection, episode_id: int, key: str) -> list[Any]:
    """The packed decision of each step; empty if none was journaled."""
    found = db.execute(
        "SELECT body, crc FROM decision WHERE episode_id = ?", (episode_id,)
    ).fetchone()
    return packing.unpack(packing.checked(found[0], found[1], key)) if found else []


def page_of_decisions(
    db: sqlite3.Connection,
    memory_id: int,
    after: tuple[int, int, int],
    scope: str | None,
    limit: int,
) -> list[tuple[int, int, int]]:
    """The next (version read, episode id, step) of journaled decisions, in that order."""
    return db.execute(
        """SELECT s.read, s.episode_id, s.step
        FROM step s JOIN episode e ON e.id = s.episode_id
        WHERE s.read IS NOT NULL AND (s.read, s.episode_id, s.step) > (?, ?, ?)
            AND e.memory_id = ? AND (? IS NULL OR e.scope = ?)
        ORDER BY s.read, s.episode_id, s.step LIMIT ?""",
        (*after, memory_id, scope, scope, limit),
    ).fetchall()


def read_decision_records(
    db: sqlite3.Connection, places: Sequence[tuple[int, int]]
) -> list[DecisionRecord]:
    """The decisions at these (episode id, step); places without one are left out."""
    reader = RowReader()
    episodes = {
        i: (key, task, scope, read_decisions(db, i, key))
        for i, key, task, scope in in_chunks(
            db, "SELECT id, key, task, scope FROM episode WHERE id", {e for e, _ in places}
        )
    }
    out = []
    for episode, step in places:
        key, task, scope, packed = episodes[episode]
        body = packed[step] if step < len(packed) else None
        if body is None:
            continue
        state, action = db.execute(
            "SELECT state_id, action FROM step WHERE episode_id = ? AND step = ?", (episode, step)
        ).fetchone()
        reader.states(db, [state])
        decision = packing.build(body)
        at = reader.state(state)
        out.append(
            DecisionRecord(decision_id(key, step), key, step, task, scope, at, action, decision)  # type: ignore[arg-type]
        )
    return out


def must_find_decision(
    db: sqlite3.Connection, memory_id: int, key: str, step: int
) -> DecisionRecord:
    """One decision.

    Raises:
        StoreError: If there is no such episode or step, or it was decided elsewhere.
    """
    raw = must_find(db, memory_id, key)
    found = read_decision_records(db, [(raw[0], step)])
    if not found:
        known = read_decisions(db, raw[0], key)
        last = f"; its last one is {key}#{len(known) - 1}" if known else "; it has none"
        raise StoreError(f"episode {key!r} has no decision at step {step}{last}")
    return found[0]


def _steps(
    db: sqlite3.Connection,
    reader: RowReader,
    episode_id: int,
    key: str,
    with_decisions: bool,
    only_decided: bool,
) -> tuple[Transition, ...]:
    packed = read_decisions(db, episode_id, key) if with_decisions else []
    if only_decided and not any(packed):
        return ()
    found = db.execute(
        """SELECT state_id, action, reward, next_state_id, novelty FROM step
        WHERE episode_id = ? ORDER BY step""",
        (episode_id,),
    ).fetchall()
    if only_decided:
        found = [step for step, p in zip(found, packed, strict=True) if p]
        packed = [p for p in packed if p]
    reader.states(db, [i for s in found for i in (s[0], s[3])])
    decisions = [p and packing.build(p) for p in packed] or [None] * len(found)
    return tuple(
        Transition(reader.state(state), action, decision, reward, reader.state(after), novelty)  # type: ignore[arg-type]
        for (state, action, reward, after, novelty), decision in zip(found, decisions, strict=True)
    )


def _outcomes(db: sqlite3.Connection, episode_id: int) -> tuple[OutcomeEntry, ...]:
    found = db.execute(
        """SELECT value, basis, evaluator, told, principal, at FROM outcome
        WHERE episode_id = ? ORDER BY id""",
        (episode_id,),
    )
    return tuple(
        OutcomeEntry(
            None if value is None else Outcome(value, basis, evaluator, told == 1, principal), at
        )
        for value, basis, evaluator, told, principal, at in found
    )


def _judgment(db: sqlite3.Connection, episode_id: int) -> tuple[Judgment, int, tuple[int, ...]]:
    version, evaluator, told, basis, rewards, reason, first, count, said = db.execute(
        """SELECT version, evaluator, told, basis, rewards, reason, first_row, rows, info
        FROM judgment WHERE episode_id = ? ORDER BY id DESC LIMIT 1""",
        (episode_id,),
    ).fetchone()
    info = msgspec.json.decode(said)
    if rewards is None:
        return Unscored(reason, evaluator, info), version, ()
    held = db.execute(
        "SELECT step FROM row WHERE id BETWEEN ? AND ? AND status = 1 ORDER BY step",
        (first, first + count - 1),
    )
    scored = Scored(tuple(msgspec.json.decode(rewards)), evaluator, basis, told == 1, info)
    return scored, version, tuple(step for (step,) in held)
