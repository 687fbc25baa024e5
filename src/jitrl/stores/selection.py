"""Which rows of a memory are meant: by row, episode, source, evaluator, principal or time."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any

import msgspec

from jitrl.errors import InputError
from jitrl.stores import reads, stream


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows that fulfil all that is said; of several values of one kind, any.

    Attributes:
        rows: Ids.
        episodes: Keys.
        sources: As rows have them: the key of an episode, or ``principal:NAME``.
        evaluators: Names of those who scored.
        bases: What outcomes rest on.
        principals: Who is answerable.
        scopes: Scopes.
        since, until: When they were learned, seconds since 1970; ``until`` itself is not meant.
    """

    rows: Collection[int] = ()
    episodes: Collection[str] = ()
    sources: Collection[str] = ()
    evaluators: Collection[str] = ()
    bases: Collection[str] = ()
    principals: Collection[str] = ()
    scopes: Collection[str] = ()
    since: float | None = None
    until: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said, so that all rows would be meant."""
        return not any(getattr(self, f.name) or getattr(self, f.name) == 0.0 for f in fields(self))

    @property
    def is_plain(self) -> bool:
        """Whether rows and episodes alone are named: these are meant together, and whole."""
        named = (f.name for f in fields(self) if f.name not in ("rows", "episodes"))
        return not any(getattr(self, name) or getattr(self, name) == 0.0 for name in named)


def rows(db: sqlite3.Connection, memory_id: int, of: Selection) -> tuple[int, ...]:
    """Ids of the rows that are meant and not retired, oldest first.

    Raises:
        InputError: If nothing is said.
        StoreError: If a row or an episode that is named does not exist.
    """
    if of.is_empty:
        raise InputError(
            "nothing is named; name rows, episodes, sources, evaluators, bases, principals, "
            "scopes or a time"
        )
    if of.rows:
        stream.rows_by_id(db, memory_id, of.rows)
    for key in of.episodes:
        reads.must_find(db, memory_id, key)
    where = ["e.memory_id = ?", "r.status <> 2"]
    bound: list[Any] = [memory_id]
    named: Collection[Any]
    for column, named in (
        ("r.id", of.rows),
        ("e.key", of.episodes),
        ("j.source", of.sources),
        ("j.evaluator", of.evaluators),
        ("j.basis", of.bases),
        ("j.principal", of.principals),
        ("e.scope", of.scopes),
    ):
        if named:
            where.append(f"{column} IN (SELECT value FROM json_each(?))")
            bound.append(msgspec.json.encode(sorted(named)).decode())
    for sign, time in ((">=", of.since), ("<", of.until)):
        if time is not None:
            where.append(f"c.at {sign} ?")
            bound.append(float(time))
    found = db.execute(
        f"""SELECT r.id FROM row r JOIN judgment j ON j.id = r.judgment_id
        JOIN episode e ON e.id = j.episode_id
        JOIN change c ON c.memory_id = e.memory_id AND c.version = j.version
        WHERE {" AND ".join(where)} ORDER BY r.id""",
        bound,
    )
    return tuple(i for (i,) in found)


def learned(db: sqlite3.Connection, memory_id: int, principal: str, after: float, most: int) -> int:
    """Episodes of a principal whose first rows came after a time; counts to ``most``, newest first.

    Versions come in order of time, so it looks no further back than it must.
    """
    found = set[int]()
    entries = db.execute(
        """SELECT c.at, c.episode_id, j.principal, j.rows FROM change c
        LEFT JOIN judgment j ON j.id = c.judgment_id
        WHERE c.memory_id = ? ORDER BY c.version DESC""",
        (memory_id,),
    )
    for at, episode, who, count in entries:
        if at <= after or len(found) >= most:
            break
        if who == principal and count:
            found.add(episode)
    return len(found)
