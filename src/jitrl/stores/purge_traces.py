"""What decisions say of episodes that were purged: rows, actions and rules that are gone."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection
from typing import Any, NamedTuple

from jitrl.stores import packing, rulebook_reads
from jitrl.stores.stream import in_chunks
from jitrl.types import Decision, Episode, Neighbor, Weighed

GONE = "(purged)"
"""Stands where a decision of another episode named an action that only the subject had."""

_HEAD = [name for name in Decision.__dataclass_fields__ if name not in ("candidates", "neighbors")]
_ACTION, _NOTES, _VERSION = map(_HEAD.index, ("action", "notes", "version"))
_NAMED, _SOURCE = map(list(Weighed.__dataclass_fields__).index, ("action", "source"))
_NEAR, _ROWS = Neighbor._fields.index("action"), Neighbor._fields.index("rows")


class Gone(NamedTuple):
    """What decisions of other episodes may not name any more."""

    rows: frozenset[int]
    actions: frozenset[str]
    rules: frozenset[str]


def unknown_actions(db: sqlite3.Connection, memory: int, actions: Collection[str]) -> set[str]:
    """Those that no step and no row of the memory has any more."""
    left = set(actions)
    for table in (
        "step s JOIN episode e ON e.id = s.episode_id",
        "row s JOIN judgment j ON j.id = s.judgment_id JOIN episode e ON e.id = j.episode_id",
    ):
        query = f"SELECT s.action FROM {table} WHERE e.memory_id = {memory} AND s.action"
        left.difference_update(action for (action,) in in_chunks(db, query, list(left)))
    return left


def told(decision: Any) -> set[str]:
    """Ids of the rules that spoke at a packed decision."""
    head = decision[0] if decision else ()
    return {rule for rule, *_ in head[_NOTES]} if len(head) > _NOTES else set()


def swept(db: sqlite3.Connection, memory: int, episode: Episode, body: bytes) -> bytes:
    """The packed decisions of an episode, without what was purged since they were made.

    Ids of rows that went may have been given to others since.
    """
    read = [d.version for d in (step.decision for step in episode.steps) if d and _names(d)]
    if not (read and _is_purged(db, memory, min(read))):
        return body
    packed = packing.unpack(body)
    made = [decision for decision in packed if decision is not None]
    born = dict(
        in_chunks(
            db,
            f"""SELECT r.id, j.version FROM row r JOIN judgment j ON j.id = r.judgment_id
            JOIN episode e ON e.id = j.episode_id WHERE e.memory_id = {memory} AND r.id""",
            {row for _, _, neighbors in made for near in neighbors for row in near[_ROWS]},
        )
    )
    named = {c[_NAMED] for _, candidates, _ in made for c in candidates}
    named |= {near[_NEAR] for _, _, neighbors in made for near in neighbors}
    lost = unknown_actions(db, memory, named - {step.action for step in episode.steps})
    spoke = set[str]().union(*map(told, made))
    rules = frozenset(spoke.difference(rulebook_reads.known_ids(db, memory, spoke)))
    changed = False
    for decision in made:
        (head, _, neighbors) = decision
        rows = {row for near in neighbors for row in near[_ROWS]}
        gone = frozenset(row for row in rows if born.get(row, math.inf) > head[_VERSION])
        changed |= cleaned(decision, Gone(gone, frozenset(lost), rules))
    return packing.encoded(packed) if changed else body


def _names(decision: Decision) -> bool:
    """Whether a decision can name anything of other episodes."""
    return bool(
        decision.neighbors
        or decision.notes
        or any(c.source == "memory" for c in decision.candidates)
    )


def _is_purged(db: sqlite3.Connection, memory: int, since: int) -> bool:
    """Whether something was, after version ``since``; see ``purge.py``."""
    found = db.execute(
        """SELECT 1 FROM change WHERE memory_id = ? AND version > ? AND kind = 'retire'
        AND episode_id IS NULL LIMIT 1""",
        (memory, since),
    )
    return found.fetchone() is not None


def cleaned(decision: Any, gone: Gone) -> bool:
    """Change one packed decision in place; whether it was."""
    head, candidates, neighbors = decision
    rows, lost, rules = gone
    kept, changed = [], False
    if not rules.isdisjoint(told(decision)):
        head[_NOTES] = [one for one in head[_NOTES] if one[0] not in rules]
        changed = True
    for near in neighbors:
        left = [i for i in near[_ROWS] if i not in rows]
        if len(left) == len(near[_ROWS]) and near[_NEAR] not in lost:
            kept.append(near)
            continue
        changed = True
        if left:
            near[_ROWS] = left
            kept.append(near)
    number = 0
    for candidate in candidates:
        is_borrowed = candidate[_SOURCE] == "memory" and candidate[_NAMED] != head[_ACTION]
        if is_borrowed and candidate[_NAMED] in lost:
            number += 1
            candidate[_NAMED] = f"{GONE} {number}"
            changed = True
    decision[2] = kept
    return changed
