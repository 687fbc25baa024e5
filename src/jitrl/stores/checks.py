"""Whether a memory file is whole: SQLite's own check and what must always hold."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from jitrl.core import readings
from jitrl.errors import InputError, RecordError
from jitrl.stores import packing, rulebook, rulebook_reads
from jitrl.stores.writes import scope_key, state_digest
from jitrl.types import RULE_STATUSES, Rule, State

_SHOWN = 20
"""Findings of one kind that are listed; a count says how many more there are."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        rule: What should hold.
        found: Where it does not.
    """

    rule: str
    found: str


_QUERIES = (
    (
        "versions run from 1 to the head without a gap",
        """SELECT 'memory ' || m.name || ': head ' || m.head || ', ' || count(c.version)
            || ' entries up to ' || coalesce(max(c.version), 0)
        FROM memory m LEFT JOIN change c ON c.memory_id = m.id GROUP BY m.id
        HAVING count(c.version) <> m.head OR coalesce(max(c.version), 0) <> m.head""",
    ),
    (
        "every row was brought by exactly one judgment",
        """SELECT 'row ' || r.id FROM row r LEFT JOIN judgment j ON j.id = r.judgment_id
        WHERE j.id IS NULL OR r.id NOT BETWEEN j.first_row AND j.first_row + j.rows - 1""",
    ),
    (
        "a judgment has as many rows as it says",
        """SELECT 'judgment ' || j.id || ' of episode ' || j.episode_id FROM judgment j
        WHERE j.rows <> (SELECT count(*) FROM row r
            WHERE r.id BETWEEN j.first_row AND j.first_row + j.rows - 1)""",
    ),
    (
        "every row points to a step of its episode",
        """SELECT 'row ' || r.id || ', step ' || r.step FROM row r
        JOIN judgment j ON j.id = r.judgment_id
        LEFT JOIN step s ON s.episode_id = j.episode_id AND s.step = r.step
        WHERE s.step IS NULL""",
    ),
    (
        "no row of an unscored episode is in use",
        """SELECT 'row ' || r.id FROM row r JOIN judgment j ON j.id = r.judgment_id
        WHERE r.status <> 2 AND (j.rewards IS NULL
            OR j.id <> (SELECT max(id) FROM judgment WHERE episode_id = j.episode_id)
            AND NOT EXISTS (SELECT 1 FROM change_row w JOIN change c USING (memory_id, version)
                WHERE w.row_id = r.id AND c.kind <> 'retire' AND c.version >
                    (SELECT max(version) FROM judgment WHERE episode_id = j.episode_id)))""",
    ),
    (
        "no step has two rows that are active",
        """SELECT 'step ' || r.step || ' of episode ' || e.key FROM row r
        JOIN judgment j ON j.id = r.judgment_id JOIN episode e ON e.id = j.episode_id
        WHERE r.status = 0 GROUP BY e.id, r.step HAVING count(*) > 1""",
    ),
    (
        "a judgment has one reward per step, or a reason",
        """SELECT 'judgment ' || j.id FROM judgment j WHERE
            CASE WHEN j.rewards IS NULL THEN j.reason = ''
            ELSE json_array_length(j.rewards) <>
                (SELECT count(*) FROM step s WHERE s.episode_id = j.episode_id) END""",
    ),
    (
        "rows carry their evaluator and the digest of what derived them",
        """SELECT 'judgment ' || id FROM judgment
        WHERE rows > 0 AND (digest = '' OR source = '' OR evaluator = '')""",
    ),
    (
        "steps are numbered from 0",
        """SELECT 'episode ' || episode_id FROM step GROUP BY episode_id
        HAVING min(step) <> 0 OR max(step) <> count(*) - 1""",
    ),
    (
        "every episode has a judgment and an append entry for it",
        """SELECT 'episode ' || e.key FROM episode e WHERE NOT EXISTS (
            SELECT 1 FROM judgment j JOIN change c ON c.judgment_id = j.id
                AND c.version = j.version AND c.memory_id = e.memory_id
            WHERE j.episode_id = e.id)""",
    ),
    (
        "each outcome supersedes the one before it",
        """SELECT 'outcome ' || o.id FROM outcome o WHERE o.supersedes IS NOT
            (SELECT max(id) FROM outcome p WHERE p.episode_id = o.episode_id AND p.id < o.id)""",
    ),
    (
        "the status of a row is what the version stream says",
        """SELECT 'row ' || r.id || ': ' || r.status FROM row r
        LEFT JOIN (SELECT w.row_id, c.kind, max(w.version) FROM change_row w
            JOIN change c USING (memory_id, version) GROUP BY w.row_id) last
            ON last.row_id = r.id
        WHERE r.status <> CASE last.kind WHEN 'quarantine' THEN 1 WHEN 'restore' THEN 0
            WHEN 'retire' THEN 2 ELSE r.born END""",
    ),
    (
        "every rule was brought by an entry of the version stream, with a known status",
        f"""SELECT 'rule ' || r.key FROM rule r WHERE NOT EXISTS (
            SELECT 1 FROM change_rule h JOIN change c USING (memory_id, version)
            WHERE h.rule_id = r.id AND h.memory_id = r.memory_id AND c.kind = 'rules')
        UNION ALL SELECT 'rule ' || r.key || ', version ' || h.version || ': ' || h.status
        FROM change_rule h JOIN rule r ON r.id = h.rule_id
        WHERE h.status NOT IN {RULE_STATUSES}""",
    ),
    (
        "the contrasts that a rule rests on are there, and an entry brought them",
        """SELECT 'rule ' || r.key || ': ' || v.value FROM change_rule h
        JOIN rule r ON r.id = h.rule_id JOIN json_each(h.evidence) v
        WHERE NOT EXISTS (SELECT 1 FROM contrast c
            WHERE c.memory_id = r.memory_id AND c.key = v.value AND c.version <= h.version)
        UNION ALL SELECT 'contrast ' || k.key FROM contrast k WHERE NOT EXISTS (
            SELECT 1 FROM change c WHERE c.memory_id = k.memory_id AND c.version = k.version
                AND c.kind = 'rules')""",
    ),
    (
        "a use is of a rule and an episode of one memory, drawn by a chance",
        """SELECT 'episode ' || e.key || ': rule ' || r.key FROM rule_use u
        JOIN rule r ON r.id = u.rule_id JOIN episode e ON e.id = u.episode_id
        WHERE e.memory_id <> r.memory_id OR NOT (u.chance > 0.0 AND u.chance <= 1.0)
            OR (u.chance = 1.0 AND NOT u.told) OR u.unknown < 0
            OR u.obeyed NOT BETWEEN 0 AND u.occasions - u.unknown""",
    ),
)


def problems(db: sqlite3.Connection) -> Iterator[Problem]:
    """All that is wrong with the file, every memory in it; nothing if it is whole."""
    yield from _capped("SQLite's integrity check", _integrity(db))
    for rule, query in _QUERIES:
        yield from _capped(rule, _found(db, query))
    yield from _capped("the digest of a state fits its text", _states(db))
    yield from _capped("rules and contrasts can be read back, with ids that fit", _rules(db))
    yield from _capped("what was read is pairs of a step and a text", _readings(db))
    yield from _capped("decisions can be read back, one for each step that has one", _decisions(db))


def _capped(rule: str, found: Iterator[str]) -> Iterator[Problem]:
    shown = 0
    try:
        for shown, text in enumerate(found, 1):
            if shown <= _SHOWN:
                yield Problem(rule, text)
    except sqlite3.DatabaseError as error:
        # A damaged page stops the query; the other rules may still tell something.
        yield Problem(rule, f"cannot be checked: {error}")
    if shown > _SHOWN:
        yield Problem(rule, f"… and {shown - _SHOWN} more")


def _found(db: sqlite3.Connection, query: str) -> Iterator[str]:
    for (text,) in db.execute(query):
        yield text


def _integrity(db: sqlite3.Connection) -> Iterator[str]:
    for (text,) in db.execute("PRAGMA integrity_check"):
        if text != "ok":
            yield text
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
        yield f"{table} {row} points to a {parent} that is not there"


def _states(db: sqlite3.Connection) -> Iterator[str]:
    for i, memory, scope, digest, *texts in db.execute(
        "SELECT id, memory_id, scope, digest, text, context, place FROM state"
    ):
        if state_digest(scope_key(memory, scope), State(*texts)) != digest:
            yield f"state {i}"


def _rules(db: sqlite3.Connection) -> Iterator[str]:
    for (memory,) in db.execute("SELECT id FROM memory").fetchall():
        read = list[Rule]()
        for (key,) in db.execute("SELECT key FROM rule WHERE memory_id = ?", (memory,)):
            try:
                for record in rulebook_reads.records(db, memory, ids=[key]):
                    rulebook.check_rule(record.rule)
                    read.append(record.rule)
            except (InputError, RecordError) as error:
                yield str(error)
        try:
            rulebook.check_parents({rule.id: rule.parents for rule in read}, read)
        except InputError as error:
            yield str(error)
        for (key,) in db.execute("SELECT key FROM contrast WHERE memory_id = ?", (memory,)):
            try:
                rulebook_reads.contrasts(db, memory, ids=[key])
            except RecordError as error:
                yield str(error)


def _readings(db: sqlite3.Connection) -> Iterator[str]:
    for key, info, steps in db.execute(
        """SELECT e.key, e.info, (SELECT count(*) FROM step s WHERE s.episode_id = e.id)
        FROM episode e WHERE instr(e.info, '"readings"') > 0"""
    ):
        if wrong := readings.fault(json.loads(info), steps):
            yield f"episode {key}: {wrong}"


def _decisions(db: sqlite3.Connection) -> Iterator[str]:
    for key, body, crc, decided in db.execute(
        """SELECT e.key, d.body, d.crc,
            (SELECT count(read) FROM step s WHERE s.episode_id = e.id)
        FROM episode e LEFT JOIN decision d ON d.episode_id = e.id"""
    ):
        try:
            packed = packing.unpack(packing.checked(body, crc, key)) if body is not None else []
        except RecordError as error:
            yield str(error)
            continue
        if sum(p is not None for p in packed) != decided:
            yield f"episode {key}"
