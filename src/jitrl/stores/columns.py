"""The rows of a memory as columns, read at once by whoever counts over all of them."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.stores.sqlite import SQLiteStore
from jitrl.stores.stream import RowReader
from jitrl.stores.writes import STATUS
from jitrl.types import State


@dataclass(frozen=True, slots=True)
class Columns:
    """Every row that a memory ever had is known by its owner, the active ones by all else.

    Attributes:
        active: Of each active row its state, action, return, the version that brought it, and the
            key of its episode, in the order of their ids.
        states, scopes: Of all rows: state id to the state and its scope.
        owners: Row id to the key of its episode, retired rows too.
    """

    active: tuple[tuple[int, str, float, int, str], ...]
    states: dict[int, State]
    scopes: dict[int, str]
    owners: dict[int, str]


def read(store: SQLiteStore) -> Columns:
    """The rows of a memory."""
    with store._db.reading() as db:
        found = db.execute(
            """SELECT r.state_id, r.action, r.ret, j.version, e.key, r.id, r.status
            FROM row r JOIN judgment j ON j.id = r.judgment_id
            JOIN episode e ON e.id = j.episode_id WHERE e.memory_id = ? ORDER BY r.id""",
            (store._id,),
        ).fetchall()
        known = dict.fromkeys(row[0] for row in found)
        reader = RowReader()
        reader.states(db, known)
        query = "SELECT id, scope FROM state WHERE memory_id = ?"
        scopes = dict(db.execute(query, (store._id,)).fetchall())
    return Columns(
        tuple(row[:5] for row in found if row[6] == STATUS["active"]),
        {i: reader.state(i) for i in known},  # type: ignore[misc]
        {i: scopes[i] for i in known},
        {row[5]: row[4] for row in found},
    )
