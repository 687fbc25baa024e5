"""Looking things up in a memory file beside those who decide: a connection of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from jitrl.errors import StoreError
from jitrl.stores import reads
from jitrl.stores.connection import Connection
from jitrl.stores.stream import RowReader
from jitrl.stores.writes import STATUS
from jitrl.types import Row, RowStatus

_ROW = """SELECT r.id, r.judgment_id, r.step, r.state_id, r.action, r.reward, r.ret,
    r.next_state_id, r.terminal, r.novelty, r.born, r.status
    FROM row r JOIN judgment j ON j.id = r.judgment_id JOIN episode e ON e.id = j.episode_id"""


@dataclass(frozen=True, slots=True)
class Stored:
    """An episode of the journal, in short."""

    key: str
    task: str
    scope: str
    status: str
    principal: str
    holdout: bool
    steps: int


class Lookup:
    """Reads of one memory that wait for nobody, and for which nobody waits. Safe for threads.

    Args:
        path: An existing memory file.
        memory: Name of the memory in it.

    Raises:
        StoreError: If the file cannot be read, or has no such memory.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, memory: str = "default", timeout: float = 60.0
    ) -> None:
        self._db = Connection(os.fspath(path), readonly=True, timeout=timeout)
        with self._db.reading() as db:
            ids = dict(db.execute("SELECT name, id FROM memory"))
        if memory not in ids:
            self._db.close()
            raise StoreError(f"{path} has no memory {memory!r}; it has {list(ids)}")
        self._id = int(ids[memory])

    def close(self) -> None:
        """Release the file; may be called twice."""
        self._db.close()

    def head(self) -> int:
        """Newest version of the memory."""
        return self._db.head(self._id)

    def scopes(self) -> list[str]:
        """Scopes with at least one episode, in alphabetical order."""
        with self._db.reading() as db:
            found = db.execute(
                "SELECT DISTINCT scope FROM episode WHERE memory_id = ? ORDER BY scope", (self._id,)
            ).fetchall()
        return [scope for (scope,) in found]

    def episode(self, key: str) -> Stored | None:
        """The stored episode of that key; ``None`` if there is none."""
        with self._db.reading() as db:
            raw = reads.find_episode(db, self._id, key)
            if raw is None:
                return None
            (steps,) = db.execute(
                "SELECT count(*) FROM step WHERE episode_id = ?", (raw[0],)
            ).fetchone()
        return Stored(key, raw[2], raw[3], raw[4], raw[7], raw[8] == 1, int(steps))

    def rows(
        self,
        *,
        before: int | None = None,
        limit: int = 100,
        scope: str | None = None,
        status: RowStatus | None = None,
        episode: str | None = None,
    ) -> list[Row]:
        """Rows with their present status, the newest first.

        Args:
            before: Only rows of a smaller id.
            scope: Only rows of this scope.
            status: Only rows of this status.
            episode: Only rows of the episode of this key.
        """
        wanted: list[tuple[str, int | str]] = [("e.memory_id = ?", self._id)]
        if before is not None:
            wanted.append(("r.id < ?", before))
        if scope is not None:
            wanted.append(("e.scope = ?", scope))
        if status is not None:
            wanted.append(("r.status = ?", STATUS[status]))
        if episode is not None:
            wanted.append(("e.key = ?", episode))
        return self._rows(wanted, limit)

    def row(self, id: int) -> Row | None:
        """One row with its present status; ``None`` if this memory has none of that id."""
        found = self._rows([("e.memory_id = ?", self._id), ("r.id = ?", id)], 1)
        return found[0] if found else None

    def _rows(self, wanted: Sequence[tuple[str, int | str]], limit: int) -> list[Row]:
        where = " AND ".join(condition for condition, _ in wanted)
        values = [value for _, value in wanted]
        with self._db.reading() as db:
            records = db.execute(
                f"{_ROW} WHERE {where} ORDER BY r.id DESC LIMIT ?", (*values, limit)
            ).fetchall()
            return list(RowReader().rows(db, records))
