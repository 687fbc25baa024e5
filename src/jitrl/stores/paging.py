"""A memory file in pages: rows, episodes and decisions, the newest first, never all at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import msgspec

from jitrl.ports import ChangeKind, DecisionRecord
from jitrl.stores import reads
from jitrl.stores.sqlite import SQLiteStore
from jitrl.stores.stream import RowReader, in_chunks
from jitrl.stores.writes import STATUS
from jitrl.types import Basis, EpisodeStatus, Row, RowStatus

_FROM = """FROM row r CROSS JOIN judgment j ON j.id = r.judgment_id
    CROSS JOIN episode e ON e.id = j.episode_id"""  # in this order, so that ids come sorted
_COLUMNS = """r.id, r.judgment_id, r.step, r.state_id, r.action, r.reward, r.ret, r.next_state_id,
    r.terminal, r.novelty, r.born, r.status"""
T = TypeVar("T")
Column = Literal["scope", "task", "agent", "evaluator", "basis", "source"]

_ALL = 2**63 - 1  # later than any id
_SCANNED = 200
"""Episodes that are looked through for decisions in one transaction."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are wanted; what is empty asks for nothing.

    Attributes:
        task: Tasks that begin so.
        episode: Key of the episode.
        source: As ``Row.source``.
        text: What the action or the state holds, in any case.
        ids: These rows alone.
    """

    status: RowStatus | None = None
    basis: Basis | None = None
    scope: str | None = None
    evaluator: str = ""
    task: str = ""
    episode: str = ""
    source: str = ""
    text: str = ""
    ids: tuple[int, ...] = ()

    def clauses(self) -> tuple[str, list[Any]]:
        """What follows WHERE, and its values."""
        found: list[tuple[str, list[Any]]] = []
        if self.status is not None:
            found.append(("r.status = ?", [STATUS[self.status]]))
        if self.basis is not None:
            found.append(("j.basis = ?", [self.basis]))
        if self.scope is not None:
            found.append(("e.scope = ?", [self.scope]))
        for column, value in (
            ("j.evaluator", self.evaluator),
            ("e.key", self.episode),
            ("j.source", self.source),
        ):
            if value:
                found.append((f"{column} = ?", [value]))
        if self.task:
            found.append(("instr(e.task, ?) = 1", [self.task]))
        if self.text:
            found.append(
                (
                    "(r.action LIKE ? ESCAPE '\\' OR EXISTS (SELECT 1 FROM state s WHERE "
                    "s.id = r.state_id AND s.text LIKE ? ESCAPE '\\'))",
                    [_holding(self.text)] * 2,
                )
            )
        if self.ids:
            found.append(
                (
                    "r.id IN (SELECT value FROM json_each(?))",
                    [msgspec.json.encode(self.ids).decode()],
                )
            )
        return (
            "".join(f" AND {clause}" for clause, _ in found),
            [value for _, values in found for value in values],
        )


@dataclass(frozen=True, slots=True)
class EpisodeLine:
    """One line about an episode.

    Attributes:
        place: Number in the file; later ones are larger.
        score: Sum of the judged step rewards; ``None`` where it is unscored.
        attempt, noted: Number of the attempt and the environment's score, where a run noted them.
        unscored: Why; "" if it is scored.
        rows: By status.
    """

    place: int
    key: str
    task: str
    scope: str
    status: EpisodeStatus
    agent: str
    is_held: bool
    is_quarantined: bool
    steps: int
    score: float | None
    unscored: str
    basis: str
    evaluator: str
    finished: float
    rows: dict[RowStatus, int]
    attempt: int | None = None
    noted: float | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of what there is, and where to go on: ``before`` of the next page; 0: there is none."""

    items: tuple[T, ...]
    onward: int


@dataclass(frozen=True, slots=True)
class RowChange:
    """An entry of the version stream that brought a row, or changed its status."""

    version: int
    kind: ChangeKind
    reason: str
    principal: str
    at: float


@dataclass(frozen=True, slots=True)
class Size:
    """How much a memory holds; ``held`` counts the episodes that acted without it on purpose."""

    episodes: int
    held: int
    rows: int
    decisions: int


class Paging:
    """Reads ``store`` page by page."""

    def __init__(self, store: SQLiteStore) -> None:
        self._db, self._id = store._db, store._id

    def rows(self, wanted: Wanted, *, before: int = 0, limit: int = 50) -> Page[Row]:
        """Rows with an id below ``before`` (0: all), the newest first."""
        clauses, values = wanted.clauses()
        with self._db.reading() as db:
            raw = db.execute(
                f"SELECT {_COLUMNS} {_FROM} WHERE r.id < ? AND e.memory_id = ?{clauses} "
                "ORDER BY r.id DESC LIMIT ?",
                (before or _ALL, self._id, *values, limit + 1),
            ).fetchall()
            found = RowReader().rows(db, raw[:limit])
        return Page(found, found[-1].id if len(raw) > limit else 0)

    def counts(self, wanted: Wanted) -> dict[RowStatus, int]:
        """Number of rows by status; each status is there."""
        clauses, values = wanted.clauses()
        with self._db.reading() as db:
            found = dict(
                db.execute(
                    f"SELECT r.status, count(*) {_FROM} WHERE e.memory_id = ?{clauses} GROUP BY 1",
                    (self._id, *values),
                )
            )
        return {name: int(found.get(number, 0)) for name, number in STATUS.items()}

    def ids(self, wanted: Wanted) -> tuple[int, ...]:
        """Ids of all rows that are wanted, ascending."""
        clauses, values = wanted.clauses()
        with self._db.reading() as db:
            found = db.execute(
                f"SELECT r.id {_FROM} WHERE e.memory_id = ?{clauses} ORDER BY r.id",
                (self._id, *values),
            )
            return tuple(i for (i,) in found)

    def values(self, column: Column, limit: int = 200) -> tuple[str, ...]:
        """What stands in a column of the episodes or their judgments, sorted."""
        table = "episode" if column in ("scope", "task", "agent") else "judgment"
        mine = "" if table == "episode" else "JOIN episode e ON e.id = t.episode_id"
        owner = "t" if table == "episode" else "e"
        with self._db.reading() as db:
            found = db.execute(
                f"SELECT DISTINCT t.{column} FROM {table} t {mine} WHERE {owner}.memory_id = ? "
                f"AND t.{column} IS NOT NULL ORDER BY 1 LIMIT ?",
                (self._id, limit),
            )
            return tuple(value for (value,) in found)

    def episodes(
        self,
        *,
        task: str = "",
        scope: str | None = None,
        before: int = 0,
        limit: int = 50,
    ) -> Page[EpisodeLine]:
        """Episodes of tasks that begin with ``task``, the newest first."""
        with self._db.reading() as db:
            raw = db.execute(
                """SELECT e.id, e.key, e.task, e.scope, e.status, e.agent, e.holdout, e.quarantined,
                    (SELECT count(*) FROM step WHERE episode_id = e.id),
                    (SELECT sum(value) FROM json_each(j.rewards)), j.rewards IS NULL, j.reason,
                    coalesce(j.basis, ''), j.evaluator, e.finished,
                    json_extract(e.info, '$.attempt'), json_extract(e.info, '$.score')
                FROM episode e
                JOIN judgment j ON j.id = (SELECT max(id) FROM judgment WHERE episode_id = e.id)
                WHERE e.memory_id = ? AND e.id < ? AND (? = '' OR instr(e.task, ?) = 1)
                    AND (? IS NULL OR e.scope = ?)
                ORDER BY e.id DESC LIMIT ?""",
                (self._id, before or _ALL, task, task, scope, scope, limit + 1),
            ).fetchall()
            rows = _by_status(db, [one[0] for one in raw[:limit]])
        lines = tuple(_line(one, rows[one[0]]) for one in raw[:limit])
        return Page(lines, lines[-1].place if len(raw) > limit else 0)

    def decisions(self, *, before: int = 0, episodes: int = _SCANNED) -> Page[DecisionRecord]:
        """All decisions of the next ``episodes`` before the one at ``before``, the newest first."""
        with self._db.reading() as db:
            places = [
                i
                for (i,) in db.execute(
                    "SELECT id FROM episode WHERE memory_id = ? AND id < ? "
                    "ORDER BY id DESC LIMIT ?",
                    (self._id, before or _ALL, episodes + 1),
                )
            ]
            asked = places[:episodes]
            steps = in_chunks(
                db,
                "SELECT episode_id, step FROM step WHERE read IS NOT NULL AND episode_id",
                asked,
            )
            found = reads.read_decision_records(db, sorted(steps, reverse=True))
        return Page(tuple(found), asked[-1] if len(places) > episodes else 0)

    def history(self, row: int) -> tuple[RowChange, ...]:
        """What happened to a row, oldest first."""
        with self._db.reading() as db:
            found = db.execute(
                """SELECT c.version, c.kind, c.reason, c.principal, c.at FROM change c
                WHERE c.memory_id = ? AND (
                    EXISTS (SELECT 1 FROM change_row x WHERE x.memory_id = c.memory_id
                        AND x.version = c.version AND x.row_id = ?)
                    OR c.judgment_id = (SELECT judgment_id FROM row WHERE id = ?))
                ORDER BY c.version""",
                (self._id, row, row),
            )
            return tuple(RowChange(*one) for one in found)

    def size(self) -> Size:
        """How many episodes, rows and decisions there are."""
        with self._db.reading() as db:
            counts = [
                number or 0
                for query in (
                    "SELECT count(*), sum(holdout) FROM episode WHERE memory_id = ?",
                    """SELECT sum(j.rows) FROM judgment j JOIN episode e ON e.id = j.episode_id
                    WHERE e.memory_id = ?""",
                    """SELECT count(s.read) FROM episode e JOIN step s ON s.episode_id = e.id
                    WHERE e.memory_id = ?""",
                )
                for number in db.execute(query, (self._id,)).fetchone()
            ]
        return Size(*map(int, counts))


def _line(raw: tuple[Any, ...], rows: dict[RowStatus, int]) -> EpisodeLine:
    place, key, task, scope, status, agent, held, quarantined, steps = raw[:9]
    score, is_unscored, reason, basis, evaluator, finished, attempt, noted = raw[9:]
    return EpisodeLine(
        place=place,
        key=key,
        task=task,
        scope=scope,
        status=status,
        agent=agent,
        is_held=held == 1,
        is_quarantined=quarantined == 1,
        steps=steps,
        score=None if is_unscored else float(score or 0.0),
        unscored=reason if is_unscored else "",
        basis=basis,
        evaluator=evaluator,
        finished=finished,
        rows=rows,
        attempt=attempt if isinstance(attempt, int) else None,
        noted=float(noted) if isinstance(noted, int | float) else None,
    )


def _by_status(db: sqlite3.Connection, episodes: Sequence[int]) -> dict[int, dict[RowStatus, int]]:
    """Episode id to its rows by status."""
    names = {number: name for name, number in STATUS.items()}
    found: dict[int, dict[RowStatus, int]] = {i: dict.fromkeys(STATUS, 0) for i in episodes}
    query = """SELECT j.episode_id, r.status FROM judgment j
        JOIN row r ON r.id BETWEEN j.first_row AND j.first_row + j.rows - 1 WHERE j.episode_id"""
    for i, status in in_chunks(db, query, episodes):
        found[i][names[status]] += 1
    return found


def _holding(text: str) -> str:
    """A pattern of LIKE for what holds ``text``."""
    for sign in "\\%_":
        text = text.replace(sign, f"\\{sign}")
    return f"%{text}%"
