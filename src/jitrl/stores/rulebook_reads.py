"""The queries that bring rules, their evidence and what came of them back from a memory file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

from jitrl.errors import RecordError, StoreError
from jitrl.stores.records import RuleRecord, since
from jitrl.types import (
    Contrast,
    Rule,
    RuleChange,
    RuleCounts,
    RuleNews,
    RuleStatus,
    RuleUse,
    ScoredUse,
)

E = TypeVar("E")
T = TypeVar("T")

_ALL = 2**63 - 1  # later than any version
_ROUNDING = 1e-9

_RECORDS = """SELECT r.id, r.key, r.text, r.scope, r.kind, r.entities, r.entry, r.author, r.parents,
        h.version, h.status, c.reason, c.principal, c.at, h.evidence
    FROM rule r JOIN change_rule h ON h.rule_id = r.id
    JOIN change c ON c.memory_id = h.memory_id AND c.version = h.version
    WHERE r.memory_id = :memory AND h.memory_id = :memory AND h.version <= :until
        AND (:scope IS NULL OR r.scope = :scope)"""

_IN = "IN (SELECT value FROM json_each(:ids))"
# CROSS keeps SQLite from going through the history of all rules: it begins with these.
_RECORDS_OF_SOME = f"{_RECORDS.replace('JOIN', 'CROSS JOIN')} AND r.key {_IN}"

_CONTRASTS = """SELECT k.key, scope, task, k.kind, round, goal, good, bad, scores, created, version,
        principal
    FROM contrast k JOIN change USING (memory_id, version)
    WHERE memory_id = :memory AND (:scope IS NULL OR scope = :scope)
        AND (:task IS NULL OR task = :task)"""

# The present judgment as of a version; without steps an outcome has nowhere to go.
_SCORED = """SELECT u.rule_id, u.told, u.chance, u.occasions, u.obeyed, u.unknown, u.episode_id,
        e.key, e.task,
        (SELECT min(1.0, max(0.0, sum(value))) FROM json_each(j.rewards)) AS score
    FROM rule_use u JOIN episode e ON e.id = u.episode_id
    JOIN judgment j ON j.id = (SELECT max(id) FROM judgment
        WHERE episode_id = e.id AND version <= :until)
    WHERE e.memory_id = :memory AND e.status <> 'aborted' AND NOT e.quarantined
        AND json_array_length(j.rewards) > 0"""

_BROUGHT = "(SELECT min(version) FROM judgment WHERE episode_id = u.episode_id)"

_OF_SOME = f"AND u.rule_id IN (SELECT id FROM rule WHERE memory_id = :memory AND key {_IN})"
# CROSS keeps SQLite from going through all episodes: it begins with the uses of these rules.
_FROM_USES = _SCORED.replace("JOIN", "CROSS JOIN")
_SCORED_OF_SOME = f"{_FROM_USES} {_OF_SOME}"
_SCORED_IN = f"{_FROM_USES} AND u.episode_id {_IN}"

_HAD_SCORE = """EXISTS (SELECT 1 FROM judgment j WHERE j.episode_id = {}.episode_id
    AND version <= :after AND json_array_length(rewards) > 0)"""
_SINCE = f"""SELECT kind, episode_id, {_HAD_SCORE.format("change")}, version <= :until
    FROM change WHERE memory_id = :memory AND version > :after ORDER BY version"""
_USED_IN = f"""SELECT DISTINCT r.key FROM rule_use u JOIN rule r ON r.id = u.rule_id
    WHERE u.episode_id {_IN}"""
_OVERTAKEN = f"""{_USED_IN} AND EXISTS (SELECT 1 FROM rule_use v
    WHERE v.rule_id = u.rule_id AND v.episode_id > u.episode_id AND {_HAD_SCORE.format("v")})"""


def records(
    db: sqlite3.Connection,
    memory_id: int,
    *,
    scope: str | None = None,
    ids: Iterable[str] | None = None,
    until: int | None = None,
) -> list[RuleRecord]:
    """Rules as of version ``until`` with their history, in the order they came."""
    query = _RECORDS if ids is None else _RECORDS_OF_SOME
    found = db.execute(f"{query} ORDER BY r.id, h.version", _values(memory_id, scope, ids, until))
    return [_record(list(entries)) for _, entries in groupby(found, itemgetter(0))]


def rules(
    db: sqlite3.Connection,
    memory_id: int,
    *,
    scope: str | None = None,
    status: RuleStatus | None = None,
    until: int | None = None,
) -> tuple[Rule, ...]:
    """Rules of a scope, or those with a status."""
    found = (r.rule for r in records(db, memory_id, scope=scope, until=until))
    return tuple(rule for rule in found if status in (None, rule.status))


def must_find(db: sqlite3.Connection, memory_id: int, id: str) -> RuleRecord:
    """One rule.

    Raises:
        StoreError: If there is none of that id.
    """
    row_ids(db, memory_id, [id])
    return records(db, memory_id, ids=[id])[0]


def known_ids(db: sqlite3.Connection, memory_id: int, ids: Iterable[str]) -> dict[str, int]:
    """Id of a rule → its number in the file; unknown ones are left out."""
    query = f"SELECT key, id FROM rule WHERE memory_id = :memory AND key {_IN}"
    return dict(db.execute(query, {"memory": memory_id, "ids": _json(ids)}))


def row_ids(db: sqlite3.Connection, memory_id: int, ids: Iterable[str]) -> dict[str, int]:
    """As ``known_ids``.

    Raises:
        StoreError: If one is not known.
    """
    ids = list(ids)
    found = known_ids(db, memory_id, ids)
    if unknown := sorted(set(ids).difference(found)):
        more = f" (of {len(set(ids))} named)" if len(set(ids)) > 1 else ""
        raise StoreError(f"this memory has no rule {', '.join(unknown)}{more}")
    return found


def parents(
    db: sqlite3.Connection, memory_id: int, ids: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Id of a rule → the rules that it was made of; unknown ones are left out."""
    query = f"SELECT key, parents FROM rule WHERE memory_id = :memory AND key {_IN}"
    found = db.execute(query, {"memory": memory_id, "ids": _json(ids)})
    return {key: _texts(some) for key, some in found}


def contrasts(
    db: sqlite3.Connection,
    memory_id: int,
    *,
    scope: str | None = None,
    task: str | None = None,
    ids: Iterable[str] | None = None,
) -> tuple[Contrast, ...]:
    """Contrasts in the order they came."""
    named = "" if ids is None else f"AND k.key {_IN}"
    values = _values(memory_id, scope, ids) | {"task": task}
    found = db.execute(f"{_CONTRASTS} {named} ORDER BY k.id", values)
    return tuple(map(_contrast, found))


def changed(
    db: sqlite3.Connection, memory_id: int, version: int, scope: str | None
) -> tuple[RuleChange, ...]:
    """What an entry of the version stream did to the rules of a scope."""
    found = db.execute(
        f"{_RECORDS} AND h.version = :until ORDER BY r.id",
        _values(memory_id, scope, None, version),
    )
    return tuple(_read(entry[1], _change, entry) for entry in found)


def episode_uses(db: sqlite3.Connection, episode_id: int, key: str) -> tuple[RuleUse, ...]:
    """The rules that could be told in an episode, by their ids."""
    found = db.execute(
        """SELECT r.key, u.told, u.chance, u.occasions, u.obeyed, u.unknown
        FROM rule_use u JOIN rule r ON r.id = u.rule_id WHERE u.episode_id = ? ORDER BY r.key""",
        (episode_id,),
    )
    return tuple(_use(rule, key, *rest) for rule, *rest in found)


def uses(
    db: sqlite3.Connection,
    memory_id: int,
    ids: Collection[str] | None,
    until: int | None,
) -> dict[str, tuple[ScoredUse, ...]]:
    """The uses of each rule that have a score, oldest first."""
    out: dict[str, list[ScoredUse]] = {}
    if ids is not None:
        out = {key: [] for key in row_ids(db, memory_id, ids)}
    scored = _SCORED if ids is None else _SCORED_OF_SOME
    for rule, use in _uses(db, scored, _values(memory_id, None, ids, until)):
        out.setdefault(rule, []).append(use)
    return {rule: tuple(some) for rule, some in out.items()}


def news(db: sqlite3.Connection, memory_id: int, after: int, until: int | None) -> RuleNews:
    """What became of uses since version ``after``."""
    values = _values(memory_id, None, None, until)
    fresh, again = list[int](), list[int]()
    for kind, episode, had_score, is_seen in db.execute(_SINCE, {**values, "after": after}):
        if kind == "append":
            if is_seen:
                (again if had_score else fresh).append(episode)
        elif kind != "rules" and not (kind == "retire" and episode):  # which an append follows
            return RuleNews({}, None)
    changed = set[str]()
    for query, ids in ((_USED_IN, again), (_OVERTAKEN, fresh)):
        if ids:
            changed.update(r for (r,) in db.execute(query, {"ids": _json(ids), "after": after}))
    out: dict[str, list[ScoredUse]] = {}
    for rule, use in _uses(db, _SCORED_IN, {**values, "ids": _json(fresh)}) if fresh else ():
        if rule not in changed:
            out.setdefault(rule, []).append(use)
    return RuleNews({rule: tuple(some) for rule, some in out.items()}, frozenset(changed))


def _uses(
    db: sqlite3.Connection, scored: str, values: Mapping[str, Any]
) -> Iterator[tuple[str, ScoredUse]]:
    """The uses that a query of scored ones finds, each with the id of its rule, oldest first."""
    found = db.execute(
        f"""SELECT r.key, u.key, u.told, u.chance, u.occasions, u.obeyed, u.unknown, u.score,
            u.task, {_BROUGHT} FROM ({scored}) u JOIN rule r ON r.id = u.rule_id
        ORDER BY u.episode_id""",
        values,
    )
    for rule, episode, told, chance, occasions, obeyed, unknown, score, task, version in found:
        use = _use(rule, episode, told, chance, occasions, obeyed, unknown)
        yield rule, ScoredUse(use, score, task, version)


def counts(
    db: sqlite3.Connection,
    memory_id: int,
    success: float,
    ids: Collection[str] | None,
    until: int | None,
) -> dict[str, RuleCounts]:
    """How each rule of the memory, or each of ``ids``, has fared, in the order they came."""
    scored, some = (_SCORED, "") if ids is None else (_SCORED_OF_SOME, _OF_SOME)
    named = "" if ids is None else f"AND r.key {_IN}"
    found = db.execute(
        f"""SELECT r.key, coalesce(s.uses, 0), coalesce(s.wins, 0), coalesce(s.held, 0),
            coalesce(s.held_wins, 0), coalesce(t.version, 0),
            coalesce((SELECT at FROM change WHERE memory_id = :memory AND version = t.version), 0.0)
        FROM rule r
        LEFT JOIN (SELECT rule_id, sum(told) AS uses, sum(told AND score >= :success) AS wins,
            sum(NOT told) AS held, sum(NOT told AND score >= :success) AS held_wins
            FROM ({scored}) GROUP BY rule_id) s ON s.rule_id = r.id
        LEFT JOIN (SELECT rule_id, max({_BROUGHT}) AS version FROM rule_use u
            WHERE told AND {_BROUGHT} <= :until {some} GROUP BY rule_id) t ON t.rule_id = r.id
        WHERE r.memory_id = :memory {named} AND EXISTS (SELECT 1 FROM change_rule
            WHERE rule_id = r.id AND version <= :until)
        ORDER BY r.id""",
        _values(memory_id, None, ids, until) | {"success": success - _ROUNDING},
    )
    return {rule: RuleCounts(*numbers) for rule, *numbers in found}


def tainted(
    db: sqlite3.Connection, memory_id: int, scope: str | None, also: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Rules that rest on episodes in quarantine, by themselves or by their parents.

    An episode is, too, if a single row of it is.

    Args:
        also: Episodes that count as if they were.
    """
    known_contrasts = contrasts(db, memory_id)
    named = {key for c in known_contrasts for key in (*c.good, *c.bad)}
    query = f"""SELECT key FROM episode e WHERE memory_id = :memory AND key {_IN}
        AND (quarantined OR EXISTS (SELECT 1 FROM judgment j JOIN row r
            ON r.id BETWEEN j.first_row AND j.first_row + j.rows - 1
            WHERE j.episode_id = e.id AND r.status = 1))"""
    bad = {key for (key,) in db.execute(query, {"memory": memory_id, "ids": _json(named)})}
    bad |= named.intersection(also)
    if not bad:
        return {}
    on = {c.id: bad.intersection((*c.good, *c.bad)) for c in known_contrasts}
    known = {record.rule.id: record.rule for record in records(db, memory_id)}
    out: dict[str, tuple[str, ...]] = {}
    for rule in known.values():
        if scope not in (None, rule.scope):
            continue
        line = [rule.id]
        for ancestor in line:  # grows
            parents = known[ancestor].parents
            line += [p for p in dict.fromkeys(parents) if p in known and p not in line]
        rests = set[str]().union(*(on[e] for r in line for e in known[r].evidence))
        if rests:
            out[rule.id] = tuple(sorted(rests))
    return out


def _values(
    memory_id: int, scope: str | None, ids: Iterable[str] | None, until: int | None = None
) -> dict[str, Any]:
    named: Mapping[str, Any] = {} if ids is None else {"ids": _json(ids)}
    return {"memory": memory_id, "scope": scope, "until": _ALL if until is None else until, **named}


def _record(entries: list[tuple[Any, ...]]) -> RuleRecord:
    """A rule with its history.

    Raises:
        RecordError: If it cannot be read.
    """
    return _read(entries[0][1], _decoded, entries)


def _read(rule: str, decode: Callable[[E], T], said: E) -> T:
    try:
        return decode(said)
    except (TypeError, ValueError) as error:  # of msgspec, too
        raise RecordError(
            f"rule {rule!r} cannot be read: {error}; see: jitrl memory check"
        ) from error


def _decoded(entries: list[tuple[Any, ...]]) -> RuleRecord:
    changes = tuple(_change(entry) for entry in entries)
    last = changes[-1]
    _, key, text, scope, kind, entities, entry, author, parents = entries[0][:9]
    if not all(isinstance(value, str) for value in (key, text, scope, kind, author)):
        raise TypeError("a text of it is none")
    if not 0.0 <= entry <= 1.0:
        raise ValueError(f"its entry is {entry}")
    rule = Rule(
        key,
        text,
        scope,
        kind,
        _texts(entities),
        entry,
        author,
        _texts(parents),
        tuple(dict.fromkeys(e for change in changes for e in change.evidence)),
        last.status,
        since(changes).reason,
        changes[0].at,
        last.version,
        changes[0].principal,
    )
    return RuleRecord(rule, changes)


def _change(entry: tuple[Any, ...]) -> RuleChange:
    version, status, reason, principal, at, evidence = entry[9:]
    return RuleChange(entry[1], version, status, reason, principal, at, _texts(evidence))


def _contrast(found: tuple[Any, ...]) -> Contrast:
    try:
        return Contrast(*found[:6], *map(_texts, found[6:9]), *found[9:])
    except (TypeError, ValueError) as error:
        raise RecordError(
            f"contrast {found[0]!r} cannot be read: {error}; see: jitrl memory check"
        ) from error


def _use(rule: str, episode: str, told: int, chance: float, *steps: int) -> RuleUse:
    is_number = isinstance(chance, int | float)
    if not (is_number and (0.0 < chance < 1.0 or (told and chance == 1.0))):
        raise RecordError(
            f"rule {rule!r}, episode {episode!r}: told with a chance of {chance!r}; see: jitrl "
            "memory check"
        )
    return RuleUse(rule, episode, told == 1, chance, *steps)


def _texts(text: str) -> tuple[Any, ...]:
    return tuple(msgspec.json.decode(text))


def _json(ids: Iterable[str] | Iterable[int]) -> str:
    return msgspec.json.encode(list(ids)).decode()
