"""What adding rules, changing their status and using them does, each inside one transaction."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import msgspec

from jitrl.core.rule import check_number
from jitrl.core.sentences import LONGEST_TEXT, cleaned, is_id_of, rule_id, scoped_id
from jitrl.errors import InputError, brief
from jitrl.language import counted
from jitrl.stores import rulebook_reads as reads
from jitrl.stores import writes
from jitrl.stores.records import RuleRecord
from jitrl.types import RULE_STATUSES, Contrast, Rule, RuleStatus, RuleUse

_MOST = {"id": 100, "text": LONGEST_TEXT, "scope": 10_000, "kind": 10_000, "author": 10_000}
"""Characters that each text of a rule may have; scope and type of task as an episode's."""
_SHOWN = 200  # characters of a value in a message


def add(
    db: sqlite3.Connection,
    memory_id: int,
    rules: Sequence[Rule],
    contrasts: Sequence[Contrast],
    reason: str,
    principal: str,
) -> tuple[str, ...]:
    """Add rules and contrasts as one entry of the stream; returns the ids of the new rules."""
    now = time.time()
    given = _merged(rules)
    fresh = _new_contrasts(db, memory_id, contrasts)
    known = {r.rule.id: r.rule for r in reads.records(db, memory_id, ids=given)}
    for key, there in known.items():
        if there.scope != given[key].scope:
            raise InputError(
                f"rule {key!r} is there in scope {there.scope!r} ({there.status}) and is not told "
                f"in scope {given[key].scope!r}; the id of its text there is "
                f"{scoped_id(there.text, given[key].scope)!r}"
            )
    _check_rings(db, memory_id, [given[key] for key in given if key not in known])
    evidence = {
        key: tuple(e for e in rule.evidence if key not in known or e not in known[key].evidence)
        for key, rule in given.items()
    }
    _check_evidence(db, memory_id, {e for some in evidence.values() for e in some}, fresh)
    new = [key for key in given if key not in known]
    if not (new or fresh or any(evidence.values())):
        return ()
    version = _version(db, memory_id, reason, principal, now)
    for contrast in fresh.values():
        _put_contrast(db, memory_id, contrast, version, now)
    for key in new:
        _put_rule(db, memory_id, given[key])
    ids = reads.row_ids(db, memory_id, given)
    for key, some in evidence.items():
        status = known[key].status if key in known else given[key].status
        if some or key not in known:
            _put_change(db, memory_id, version, ids[key], status, some)
    return tuple(new)


def put_record(db: sqlite3.Connection, memory_id: int, record: RuleRecord) -> bool:
    """Store a rule from elsewhere with its history, unless it is there; whether it was new."""
    rule = record.rule
    check_rule(rule)
    if reads.records(db, memory_id, ids=[rule.id]):
        return False
    _check_rings(db, memory_id, [rule])
    _check_evidence(db, memory_id, {e for c in record.changes for e in c.evidence}, ())
    row_id = _put_rule(db, memory_id, rule)
    for change in record.changes:
        version = _version(db, memory_id, change.reason, change.principal, change.at)
        _put_change(db, memory_id, version, row_id, change.status, change.evidence)
    return True


def set_status(
    db: sqlite3.Connection,
    memory_id: int,
    status: RuleStatus,
    ids: Collection[str],
    reason: str,
    principal: str,
) -> int:
    """Give rules a status as one entry of the stream; returns how many changed."""
    _check_status(status)
    rows = reads.row_ids(db, memory_id, ids)
    found = reads.records(db, memory_id, ids=ids)
    changed = [r.rule.id for r in found if r.rule.status != status]
    if changed:
        version = _version(db, memory_id, reason, principal, time.time())
        for key in changed:
            _put_change(db, memory_id, version, rows[key], status, ())
    return len(changed)


def check_uses(uses: Sequence[RuleUse], key: str) -> None:
    """Refuse uses that no episode ``key`` can have had.

    Raises:
        InputError: With the use and what is allowed.
    """
    seen = set[str]()
    for use in uses:
        at = f"episode {key!r}: use of rule {use.rule!r}"
        if use.episode != key:
            raise InputError(f"{at} is of episode {use.episode!r}")
        if use.rule in seen:
            raise InputError(f"{at} comes twice; an episode uses a rule once")
        seen.add(use.rule)
        if not 0.0 < use.chance <= 1.0:
            raise InputError(f"{at} has chance {use.chance}; it must be in (0, 1]")
        if use.chance == 1.0 and not use.told:
            raise InputError(f"{at} has chance 1 to be told, but it was not told")
        if not 0 <= use.obeyed <= use.occasions - max(use.unknown, 0) or use.unknown < 0:
            raise InputError(
                f"{at} was obeyed {counted(use.obeyed, 'time')} on "
                f"{counted(use.occasions, 'occasion')}, {use.unknown} of them unknown; "
                "it can be obeyed from 0 times up to once an occasion that is known"
            )


def put_uses(
    db: sqlite3.Connection, memory_id: int, episode_id: int, uses: Sequence[RuleUse]
) -> None:
    """Write the uses of an episode that was just journaled.

    Raises:
        InputError: If the memory has no such rule.
    """
    keys = {use.rule for use in uses}
    rows = reads.known_ids(db, memory_id, keys) if uses else {}
    if unknown := sorted(keys.difference(rows)):
        raise InputError(
            f"the episode uses rule {', '.join(unknown)}, which this memory does not have; "
            "add rules before the episode that uses them"
        )
    db.executemany(
        "INSERT INTO rule_use VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                episode_id,
                rows[u.rule],
                int(u.told),
                float(u.chance),
                int(u.occasions),
                int(u.obeyed),
                int(u.unknown),
            )
            for u in uses
        ],
    )


def _merged(rules: Sequence[Rule]) -> dict[str, Rule]:
    """Rules by id, checked; of those that say the same the first, with the evidence of all."""
    out: dict[str, Rule] = {}
    for rule in rules:
        check_rule(rule)
        first = out.get(rule.id, rule)
        evidence = tuple(dict.fromkeys((*first.evidence, *rule.evidence)))
        out[rule.id] = replace(first, evidence=evidence)
    return out


def _new_contrasts(
    db: sqlite3.Connection, memory_id: int, contrasts: Sequence[Contrast]
) -> dict[str, Contrast]:
    """Those that are not stored yet, by id.

    Raises:
        InputError: If one cannot be stored, or its id is that of another.
    """
    named = [contrast.id for contrast in contrasts]
    stored = {c.id: c for c in reads.contrasts(db, memory_id, ids=named)}
    fresh: dict[str, Contrast] = {}
    for contrast in contrasts:
        _check_contrast(contrast)
        other = stored.get(contrast.id) or fresh.get(contrast.id)
        if other is None:
            fresh[contrast.id] = contrast
        elif _said(other) != _said(contrast):
            raise InputError(
                f"contrast {contrast.id!r} is already there and says something else: "
                f"{brief(_said(other))}; give each contrast an id of its own"
            )
    return fresh


def _said(contrast: Contrast) -> Contrast:
    scores = tuple(float(score) for score in contrast.scores)
    return replace(contrast, scores=scores, created=0.0, version=0, principal="")


def check_rule(rule: Rule) -> None:
    """Refuse what can be no rule.

    Raises:
        InputError: With what to do.
    """
    _check_texts(rule)
    if not cleaned(rule.text):
        raise InputError(f"rule {rule.id!r} has the text {rule.text!r}; a rule is a sentence")
    if not is_id_of(rule.id, rule.text, rule.scope):
        raise InputError(
            f"rule {rule.id!r}: the id of {rule.text!r} is {rule_id(rule.text)!r}; "
            "use core.sentences.rule_id"
        )
    if rule.id in rule.parents:
        raise InputError(f"rule {rule.id!r} stands for itself; parents are other rules")
    try:
        check_number(f"rule {rule.id}: entry", rule.entry, 0.0, 1.0)
    except ValueError as error:
        raise InputError(str(error)) from error
    if not rule.author:
        raise InputError(f"rule {rule.id} has no author; name who distilled it")
    _check_status(rule.status)


def _check_texts(rule: Rule) -> None:
    """Refuse a rule whose texts are none, or are pages by mistake."""
    at = f"rule {brief(rule.id)}"
    for name, most in _MOST.items():
        text = getattr(rule, name)
        if not isinstance(text, str):
            raise InputError(f"{at}: its {name} is {brief(text)}; it must be a text")
        if len(text) > most:
            raise InputError(f"{at}: its {name} has {len(text)} characters; at most {most}")
    for name in ("entities", "parents", "evidence"):
        some = getattr(rule, name)
        if isinstance(some, str) or not all(isinstance(one, str) for one in some):
            raise InputError(f"{at}: its {name} are {brief(some)}; each of them must be a text")


def check_parents(above: Mapping[str, Collection[str]], new: Iterable[Rule]) -> None:
    """Refuse new rules that stand for each other in a ring: none of them would be told.

    Args:
        above: Parents of all rules, the new ones among them.

    Raises:
        InputError: With the ring.
    """
    for rule in new:
        ways: list[tuple[str, ...]] = [(rule.id,)]
        seen = set[str]()
        while ways:
            way = ways.pop()
            for parent in above.get(way[-1], ()):
                if parent == rule.id:
                    ring = " → ".join((*way, parent))
                    raise InputError(f"rules stand for each other in a ring: {ring}; leave one out")
                if parent not in seen:
                    seen.add(parent)
                    ways.append((*way, parent))


def _check_rings(db: sqlite3.Connection, memory_id: int, new: Sequence[Rule]) -> None:
    above = {rule.id: rule.parents for rule in new}
    while unseen := {p for parents in above.values() for p in parents if p not in above}:
        above |= dict.fromkeys(unseen, ()) | reads.parents(db, memory_id, unseen)
    check_parents(above, new)


def _check_status(status: str) -> None:
    if status not in RULE_STATUSES:
        raise InputError(f"rule status {status!r} must be one of {list(RULE_STATUSES)}")


def _check_contrast(contrast: Contrast) -> None:
    at = f"contrast {brief(contrast.id)}"
    if not contrast.id or not contrast.task:
        raise InputError(f"{at} of task {brief(contrast.task)} needs an id and a task")
    keys = (*contrast.good, *contrast.bad)
    if not keys or not all(keys) or len(set(keys)) < len(keys):
        raise InputError(
            f"{at} is between good {brief(contrast.good)} and bad {brief(contrast.bad)}; "
            "it needs keys of episodes, each once"
        )
    if len(contrast.scores) != len(keys) or not all(map(math.isfinite, contrast.scores)):
        raise InputError(
            f"{at} has the scores {brief(contrast.scores)} for {counted(len(keys), 'episode')}; "
            "it needs a finite one of each, the good ones' first"
        )
    if not (contrast.round >= 0 and math.isfinite(contrast.created)):
        raise InputError(
            f"{at}: round is {contrast.round}, created is {contrast.created}; "
            "a round is at least 0, a time finite"
        )


def _check_evidence(
    db: sqlite3.Connection, memory_id: int, evidence: set[str], fresh: Iterable[str]
) -> None:
    missing = evidence.difference(fresh)
    missing.difference_update(c.id for c in reads.contrasts(db, memory_id, ids=missing))
    if missing:
        named = ", ".join(sorted(missing))
        raise InputError(
            f"a rule names contrast {named[:_SHOWN]}{'…' * (len(named) > _SHOWN)} as evidence, "
            "which this memory does not have; add it with the rule"
        )


def _version(db: sqlite3.Connection, memory_id: int, reason: str, principal: str, at: float) -> int:
    version = writes.next_version(db, memory_id)
    writes.put_change(db, memory_id, version, "rules", None, None, reason, principal, at)
    return version


def _put_rule(db: sqlite3.Connection, memory_id: int, rule: Rule) -> int:
    entities = sorted(set(rule.entities))
    row_id = db.execute(
        "INSERT INTO rule VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            memory_id,
            rule.id,
            cleaned(rule.text),
            rule.scope,
            rule.kind,
            _json(entities),
            float(rule.entry),
            rule.author,
            _json(rule.parents),
        ),
    ).lastrowid
    return int(row_id or 0)


def _put_change(
    db: sqlite3.Connection,
    memory_id: int,
    version: int,
    row_id: int,
    status: RuleStatus,
    evidence: Sequence[str],
) -> None:
    db.execute(
        "INSERT INTO change_rule VALUES (?, ?, ?, ?, ?)",
        (memory_id, version, row_id, status, _json(evidence)),
    )


def _put_contrast(
    db: sqlite3.Connection, memory_id: int, contrast: Contrast, version: int, now: float
) -> None:
    c = contrast
    db.execute(
        "INSERT INTO contrast VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            memory_id,
            c.id,
            c.scope,
            c.task,
            c.kind,
            int(c.round),
            c.goal,
            _json(c.good),
            _json(c.bad),
            _json([float(score) for score in c.scores]),
            float(c.created) or now,
            version,
        ),
    )


def _json(values: Sequence[str] | Sequence[float]) -> str:
    return msgspec.json.encode(values).decode()
