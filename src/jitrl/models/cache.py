"""File of answers: every call of a model once, to be looked up instead of asked again.

One file serves as a cache (an answer that is there is not asked for again) and as a recording (a
run is repeated from it with no model at all). Samples of one question are apart, by their draw.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from jitrl.errors import StoreError
from jitrl.models import calls
from jitrl.models.datafile import DataFile, Kind

_KIND = Kind(
    "a file of answers",
    application=0x6A726C61,
    version=1,
    schema=(
        """CREATE TABLE IF NOT EXISTS answer(
            key BLOB PRIMARY KEY,
            model TEXT NOT NULL,
            request TEXT NOT NULL,
            answer TEXT NOT NULL,
            usable INTEGER NOT NULL,
            at REAL NOT NULL
        )""",
    ),
)


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer from the file. ``usable`` is false if no scorer could read it."""

    answer: calls.Answer
    usable: bool


class AnswerFile:
    """A file of answers, for any number of threads and processes at once.

    Args:
        path: Created if missing; ``:memory:`` for one that vanishes.

    Raises:
        StoreError: If the file cannot be opened or written, is something else, or is newer.
    """

    def __init__(self, path: Path | str) -> None:
        self._file = DataFile(path, _KIND)

    def get(self, identity: str, request: calls.Request) -> Stored | None:
        """The answer that a model of this identity gave to ``request``; ``None`` if not there.

        Raises:
            StoreError: If the file cannot be read.
        """
        with self._file.reading() as db:
            row = db.execute(
                "SELECT answer, usable FROM answer WHERE key = ?", (calls.key(identity, request),)
            ).fetchone()
        if row is None:
            return None
        try:
            answer = msgspec.json.decode(row[0], type=calls.Answer)
        except msgspec.MsgspecError as error:
            raise StoreError(f"{self._file.path} holds a damaged answer: {error}") from error
        return Stored(answer, bool(row[1]))

    def put(
        self,
        model: str,
        identity: str,
        request: calls.Request,
        answer: calls.Answer,
        *,
        usable: bool,
    ) -> None:
        """Keep ``answer``. One that was usable is not replaced.

        Raises:
            StoreError: If the file cannot be written.
        """
        row = (
            calls.key(identity, request),
            model,
            msgspec.json.encode(request).decode(),
            msgspec.json.encode(answer).decode(),
            usable,
            time.time(),
        )
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO answer VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT(key) DO UPDATE SET "
                "answer = excluded.answer, usable = excluded.usable, at = excluded.at "
                "WHERE NOT answer.usable",
                row,
            )

    def close(self) -> None:
        """Release the file; may be called twice."""
        self._file.close()


def is_one(path: Path) -> bool:
    """Whether a file of answers lies there; it is not opened."""
    try:
        with path.open("rb") as file:
            head = file.read(100)  # SQLite's header has the application id at 68
    except OSError:
        return False
    is_sqlite = head.startswith(b"SQLite format 3\0")
    return is_sqlite and int.from_bytes(head[68:72], "big") == _KIND.application


def holding(path: Path, says: Callable[..., bool]) -> int:
    """How many calls ``says`` is true of: of what was asked, or what was answered.

    Raises:
        StoreError: If the file cannot be read.
    """
    with closing(DataFile(path, _KIND, readonly=True)) as file, file.reading() as db:
        return len(_said(db, says))


def has_before(path: Path, at: float) -> bool:
    """Whether a call was answered before ``at``, in seconds since 1970.

    Raises:
        StoreError: If the file cannot be read.
    """
    with closing(DataFile(path, _KIND, readonly=True)) as file, file.reading() as db:
        return db.execute("SELECT 1 FROM answer WHERE at < ? LIMIT 1", (at,)).fetchone() is not None


def forget(path: Path, says: Callable[..., bool]) -> tuple[int, bool]:
    """Remove the calls that ``says`` is true of, from the file and its log.

    Returns:
        How many, and whether the log is empty; it is not while another process reads.

    Raises:
        StoreError: If the file cannot be used.
    """
    with closing(DataFile(path, _KIND)) as file:
        with file.transaction() as db:
            db.execute("PRAGMA secure_delete = ON")
            found = _said(db, says)
            db.executemany("DELETE FROM answer WHERE key = ?", found)
        with file.reading() as db:
            db.execute("VACUUM")
            (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return len(found), not busy


def _said(db: sqlite3.Connection, says: Callable[..., bool]) -> list[tuple[bytes]]:
    def decoded(text: str) -> Any:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:  # damaged: as it is
            return text

    rows = db.execute("SELECT key, model, request, answer FROM answer")
    return [(key,) for key, model, *texts in rows if says(model, *map(decoded, texts))]
