"""File of answers: every call of a model once, to be looked up instead of asked again.

One file serves as a cache (an answer that is there is not asked for again) and as a recording (a
run is repeated from it with no model at all). Samples of one question are apart, by their draw.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

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
