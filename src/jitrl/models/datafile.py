"""Small SQLite files of our own: opened or created by any number of processes at once."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from jitrl.errors import StoreError

_TIMEOUT = 30.0  # seconds to wait for other processes


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file.

    Attributes:
        name: In messages: ``a ledger``.
        application: SQLite's application id, which marks the file as this kind.
        version: Of the schema; a file of a later one is refused.
        schema: Statements that create the tables.
    """

    name: str
    application: int
    version: int
    schema: tuple[str, ...]


class DataFile:
    """An open file, safe for threads.

    Args:
        path: Created if missing; ``:memory:`` for one that vanishes.
        readonly: What the file holds now, if it is there, as a copy that vanishes; no file is made
            or changed.

    Raises:
        StoreError: If it cannot be opened or written, is of another kind, or is newer.
    """

    def __init__(self, path: Path | str, kind: Kind, *, readonly: bool = False) -> None:
        self.path, self._kind = str(path), kind
        self._lock = threading.Lock()
        try:
            self._db = _copied(Path(path)) if readonly else _connected(self.path)
        except sqlite3.Error as error:
            raise self._failure(error) from error
        self._close = weakref.finalize(self, self._db.close)
        with self.transaction() as db:
            self._prepare(db)
        with self._reporting():
            self._write_ahead()

    def _write_ahead(self) -> None:
        """Readers and the writer do not wait for each other. SQLite itself does not wait here."""
        until = time.monotonic() + _TIMEOUT
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
            time.sleep(0.01)

    def _prepare(self, db: sqlite3.Connection) -> None:
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if tables and application != self._kind.application:
            raise StoreError(f"{self.path} is a database of something else than {self._kind.name}")
        if version > self._kind.version:
            raise StoreError(f"{self.path} was written by a newer jitrl; update jitrl")
        for statement in self._kind.schema:
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {self._kind.application}")
        db.execute(f"PRAGMA user_version = {self._kind.version}")

    @contextmanager
    def transaction(self, *, survives_power_loss: bool = False) -> Iterator[sqlite3.Connection]:
        """All or nothing, alone among all threads and processes.

        What was committed survives the death of the process; with ``survives_power_loss`` that of
        the machine as well, at the price of waiting for the disk.

        Raises:
            StoreError: If the file cannot be read or written.
        """
        with self._reporting():
            mode = "FULL" if survives_power_loss else "NORMAL"
            self._db.execute(f"PRAGMA synchronous = {mode}")
            self._db.execute("BEGIN IMMEDIATE")
            with self._db:
                yield self._db

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """For one statement that only reads.

        Raises:
            StoreError: If the file cannot be read.
        """
        with self._reporting():
            yield self._db

    def close(self) -> None:
        """Release the file; may be called twice."""
        with self._lock:
            self._close()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _failure(self, error: sqlite3.Error) -> StoreError:
        return StoreError(f"cannot use {self.path} as {self._kind.name}: {error}")


def _connected(to: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(
        to, timeout=_TIMEOUT, check_same_thread=False, isolation_level=None, uri=uri
    )


def _copied(path: Path) -> sqlite3.Connection:
    copy = _connected(":memory:")
    if path.is_file():
        with closing(_connected(f"{path.absolute().as_uri()}?{_mode(path)}", uri=True)) as file:
            file.backup(copy)
    return copy


def _mode(path: Path) -> str:
    """How SQLite reads the file: without a log it makes none. One that somebody left is taken in
    and removed, where that is allowed.
    """
    if not any(Path(f"{path}{end}").exists() for end in ("-wal", "-shm")):
        return "mode=ro&immutable=1"
    is_writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return "mode=rw" if is_writable else "mode=ro"
