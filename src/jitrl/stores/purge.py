"""Removing a subject for good: from every table, from what others noted of it, and from the file.

The version stream keeps its numbers: what an entry said is taken out of it, and a new entry of the
kind ``purge`` has every reader forget what it holds and read again. It is stored as a ``retire``
without an episode and without rows, which older versions pass over.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from jitrl.errors import InputError
from jitrl.stores import packing, reads, writes
from jitrl.stores.purge_find import Found, Wanted, find
from jitrl.stores.purge_traces import Gone, cleaned, told, unknown_actions
from jitrl.stores.sqlite import SQLiteStore
from jitrl.stores.stream import in_chunks


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed from one memory, in rows of its tables.

    Attributes:
        decisions: Of the episodes that went.
        entries: Entries of the version stream that say nothing any more.
        rewritten: Decisions of other episodes that named rows or actions of these.
        version: Of the entry that tells readers; 0 where nothing was found.
        keys: Of the episodes that would go. A dry run alone names them: what is kept of a purge
            says nothing of whom it was about, and keys may hold names.
    """

    memory: str
    episodes: int = 0
    steps: int = 0
    decisions: int = 0
    outcomes: int = 0
    judgments: int = 0
    rows: int = 0
    states: int = 0
    contrasts: int = 0
    rules: int = 0
    uses: int = 0
    entries: int = 0
    rewritten: int = 0
    version: int = 0
    keys: tuple[str, ...] = field(default=(), repr=False)


def purge(
    store: SQLiteStore, wanted: Wanted, *, principal: str = "", dry_run: bool = False
) -> list[Removed]:
    """Remove ``wanted`` from every memory of the file, in one transaction; ``scrub`` comes next.

    Args:
        principal: Who had it done; kept in the version stream.
        dry_run: Only count.

    Raises:
        StoreError: If the file cannot be written; nothing changed then.
    """
    if wanted.says(principal) or principal in wanted.principals:
        raise InputError(
            f"principal {principal!r} is, or holds, what is to go; name another who has it done"
        )
    connection = store._db
    with connection.reading() if dry_run else connection.writing() as db:
        if not dry_run:
            db.execute("PRAGMA secure_delete = ON")
        memories = db.execute("SELECT id, name FROM memory ORDER BY id").fetchall()
        out = []
        for memory, name in memories:
            found = find(db, memory, name, wanted)
            if found.is_empty:
                out.append(Removed(name))
            elif dry_run:
                out.append(_counted(db, found))
            else:
                out.append(_removed(db, found, principal))
        return out


def scrub(store: SQLiteStore) -> bool:
    """Write the file anew without its free pages, and empty its log.

    Returns:
        Whether the log is empty; it is not while another process reads an older view.
    """
    connection = store._db
    if connection.is_volatile:
        return True
    with connection.alone() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        db.execute("VACUUM")
        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy


_OF_EPISODE = ("step", "decision", "outcome", "judgment", "rule_use")


def _counted(db: sqlite3.Connection, found: Found) -> Removed:
    def count(what: str, rows: Iterable[Any]) -> int:
        return sum(n for (n,) in in_chunks(db, what, rows))

    ids = list(found.episodes)
    tables = [count(f"SELECT count(*) FROM {t} WHERE episode_id", ids) for t in _OF_EPISODE]
    steps, _, outcomes, judgments, uses = tables
    decisions = count("SELECT count(read) FROM step WHERE episode_id", ids)
    rows = count("SELECT coalesce(sum(rows), 0) FROM judgment WHERE episode_id", ids)
    return Removed(
        found.name,
        episodes=len(ids),
        steps=steps,
        decisions=decisions,
        outcomes=outcomes,
        judgments=judgments,
        rows=rows,
        contrasts=len(found.contrasts),
        rules=len(found.rules),
        uses=uses,
        keys=tuple(found.episodes.values()),
    )


def _removed(db: sqlite3.Connection, found: Found, principal: str) -> Removed:
    counted = _counted(db, found)
    judgments = [
        i for (i,) in in_chunks(db, "SELECT id FROM judgment WHERE episode_id", found.episodes)
    ]
    rows = [i for (i,) in in_chunks(db, "SELECT id FROM row WHERE judgment_id", judgments)]
    actions = {
        action for (action,) in in_chunks(db, "SELECT action FROM row WHERE judgment_id", judgments)
    }
    entries = _emptied(db, found, rows)
    _delete(db, "DELETE FROM row WHERE judgment_id", judgments)
    for table in _OF_EPISODE:
        _delete(db, f"DELETE FROM {table} WHERE episode_id", found.episodes)
    _delete(db, "DELETE FROM episode WHERE id", found.episodes)
    _unshow(db, found)
    uses = _forget_rules(db, found)
    for number, named in enumerate(found.snapshots):  # the version stays, under another name
        db.execute(
            """UPDATE snapshot SET name = ?, reason = '', principal = ''
            WHERE memory_id = ? AND name = ?""",
            (f"purged {time.time():.0f}/{number}", found.memory, named),
        )
    lost = unknown_actions(db, found.memory, actions)
    gone = Gone(frozenset(rows), frozenset(lost), frozenset(found.rules.values()))
    rewritten = _rewritten(db, found.memory, gone)
    states = db.execute(
        """DELETE FROM state WHERE memory_id = ?
        AND id NOT IN (SELECT state_id FROM step)
        AND id NOT IN (SELECT next_state_id FROM step WHERE next_state_id IS NOT NULL)
        AND id NOT IN (SELECT state_id FROM row)
        AND id NOT IN (SELECT next_state_id FROM row WHERE next_state_id IS NOT NULL)""",
        (found.memory,),
    ).rowcount
    version = writes.next_version(db, found.memory)
    writes.put_change(
        db, found.memory, version, "retire", None, None, "purge", principal, time.time()
    )
    return replace(
        counted,
        keys=(),
        states=states,
        uses=counted.uses + uses,
        entries=entries,
        rewritten=rewritten,
        version=version,
    )


def _delete(db: sqlite3.Connection, query: str, ids: Iterable[int]) -> None:
    for _ in in_chunks(db, query, ids):
        pass


def _emptied(db: sqlite3.Connection, found: Found, rows: Collection[int]) -> int:
    """Take out of the stream what it says of the subjects; its numbers stay."""
    touched = {
        version
        for (version,) in in_chunks(
            db,
            f"SELECT version FROM change WHERE memory_id = {found.memory} AND episode_id",
            found.episodes,
        )
    }
    through = {
        version
        for (version,) in in_chunks(
            db,
            f"SELECT version FROM change_row WHERE memory_id = {found.memory} AND row_id",
            rows,
        )
    }
    _delete(db, f"DELETE FROM change_row WHERE memory_id = {found.memory} AND row_id", rows)
    for version in touched:
        db.execute(
            """UPDATE change SET kind = 'retire', episode_id = NULL, judgment_id = NULL
            WHERE memory_id = ? AND version = ?""",
            (found.memory, version),
        )
    said = touched | found.blamed
    for version in through - touched:  # of several episodes: whose rows are all gone, says nothing
        (left,) = db.execute(
            "SELECT count(*) FROM change_row WHERE memory_id = ? AND version = ?",
            (found.memory, version),
        ).fetchone()
        if not left:
            said.add(version)
            db.execute(
                "UPDATE change SET kind = 'retire' WHERE memory_id = ? AND version = ?",
                (found.memory, version),
            )
    for version in said:
        db.execute(
            "UPDATE change SET reason = '', principal = '' WHERE memory_id = ? AND version = ?",
            (found.memory, version),
        )
    return len(said)


def _forget_rules(db: sqlite3.Connection, found: Found) -> int:
    """Remove rules and contrasts, and that they were evidence; returns how many uses went."""
    before = db.total_changes
    _delete(db, "DELETE FROM rule_use WHERE rule_id", found.rules)
    uses = db.total_changes - before
    _delete(db, "DELETE FROM change_rule WHERE rule_id", found.rules)
    _delete(db, "DELETE FROM rule WHERE id", found.rules)
    _delete(db, "DELETE FROM contrast WHERE id", found.contrasts)
    gone = set(found.contrasts.values())
    for version, rule, evidence in db.execute(
        "SELECT version, rule_id, evidence FROM change_rule WHERE memory_id = ?", (found.memory,)
    ).fetchall():
        named = msgspec.json.decode(evidence)
        kept = [key for key in named if key not in gone]
        if kept != named:
            db.execute(
                """UPDATE change_rule SET evidence = ?
                WHERE memory_id = ? AND version = ? AND rule_id = ?""",
                (msgspec.json.encode(kept).decode(), found.memory, version, rule),
            )
    return uses


def _unshow(db: sqlite3.Connection, found: Found) -> None:
    """Take what prompts said out of the infos of other episodes that were told one of the rules.

    It is kept by step, and not as the rules have it. What was said after the last step left no
    other trace, so it may have been one of them.
    """
    gone = set(found.rules.values())
    query = "SELECT episode_id FROM rule_use WHERE rule_id"
    users = {episode for (episode,) in in_chunks(db, query, found.rules)}
    for episode, key, info in db.execute(
        "SELECT id, key, info FROM episode WHERE memory_id = ? AND info LIKE '%\"notes\"%'",
        (found.memory if gone else None,),
    ).fetchall():
        said = msgspec.json.decode(info)
        decisions = reads.read_decisions(db, episode, key)
        notes = said.get("notes")
        if not (isinstance(notes, list) and all(isinstance(at, list) and at for at in notes)):
            continue  # no agent's, as it came with an import
        last = max((at[0] for at in notes if isinstance(at[0], int)), default=-1)
        spoke = set[str]().union(*map(told, decisions))
        if episode in users or gone & spoke or last >= len(decisions):
            del said["notes"]
            db.execute(
                "UPDATE episode SET info = ? WHERE id = ?",
                (msgspec.json.encode(said).decode(), episode),
            )


def _rewritten(db: sqlite3.Connection, memory: int, gone: Gone) -> int:
    """Take it out of the decisions of other episodes; returns of how many."""
    count = 0
    for episode, key in db.execute(
        """SELECT e.id, e.key FROM episode e JOIN decision d ON d.episode_id = e.id
        WHERE e.memory_id = ?""",
        (memory,),
    ).fetchall():
        decisions = reads.read_decisions(db, episode, key)
        changed = sum([cleaned(d, gone) for d in decisions if d is not None])
        if changed:
            body = packing.encoded(decisions)
            db.execute(
                "UPDATE decision SET body = ?, crc = ? WHERE episode_id = ?",
                (body, zlib.crc32(body), episode),
            )
        count += changed
    return count
