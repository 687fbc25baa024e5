"""One SQLite file: a connection that writes, one that reads, and the locks in front of them."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from jitrl.errors import InputError, JitRLError, StoreError
from jitrl.stores import schema
from jitrl.stores.lock import FileLock

_PLAIN_CODE = 0xFF
"""Extended SQLite error codes keep the plain code in the low byte."""


class Connection:
    """Transactions on one file, for any number of threads and processes.

    Two connections, so that readers of this process never wait for its writer; `:memory:` has
    one for both. The lock file queues writers of different processes.
    """

    def __init__(self, path: str, *, readonly: bool, timeout: float) -> None:
        self.path = path
        self.readonly = readonly
        self.timeout = timeout
        self.is_volatile = path == ":memory:"
        self._pid = os.getpid()
        self._is_open = False
        self._owner: int | None = None
        self._seen: int | None = None
        self._head = 0
        self._write_lock = threading.RLock()
        self._read_lock = self._write_lock if self.is_volatile else threading.RLock()
        with ExitStack() as undo, self.translated():
            self._lock: FileLock | None = None
            if not self.is_volatile:
                try:
                    _check_path(path, readonly)
                except (OSError, ValueError) as error:
                    raise StoreError(f"{path!r} cannot be looked for: {error}") from error
                if not readonly:
                    self._lock = FileLock(f"{path}.lock")
                    undo.callback(self._lock.close)
            self._writer = self._connect()
            undo.callback(self._writer.close)
            self._prepare()
            self._reader = self._writer if self.is_volatile else self._connect()
            undo.pop_all()
            self._is_open = True

    def _connect(self) -> sqlite3.Connection:
        options = {"timeout": self.timeout, "isolation_level": None, "check_same_thread": False}
        if self.is_volatile:
            return sqlite3.connect(":memory:", **options)  # type: ignore[call-overload,no-any-return]
        mode = "rwc"
        if self.readonly:
            # Where it may write, a reader that leaves last can remove SQLite's log files.
            mode = "rw" if _is_writable(Path(self.path)) else "ro"
        uri = f"{Path(self.path).absolute().as_uri()}?mode={mode}"
        db: sqlite3.Connection = sqlite3.connect(uri, uri=True, **options)  # type: ignore[call-overload]
        try:
            db.execute("PRAGMA cache_size = -32768")
            if self.readonly:
                db.execute("PRAGMA query_only = 1")
            else:
                # An acknowledged commit survives a power cut (fullfsync: on macOS too).
                db.execute("PRAGMA synchronous = FULL")
                db.execute("PRAGMA fullfsync = 1")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _prepare(self) -> None:
        db = self._writer
        needs_work = schema.needs_work(db, self.path)
        (journal,) = db.execute("PRAGMA journal_mode").fetchone()
        if not needs_work and (self.readonly or journal in ("wal", "memory")):
            return
        if self.readonly:
            raise StoreError(
                f"{self.path} is empty or of an older schema and cannot be brought up to date "
                "with readonly=True; open it for writing once"
            )
        if self._lock is None:
            schema.prepare(db, self.path)
            return
        self._lock.acquire(self.timeout)
        try:
            (journal,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
            if journal != "wal":
                raise StoreError(
                    f"{self.path} cannot use write-ahead logging (got {journal!r}); memory files "
                    "must be on a local disk, not on a network file system"
                )
            schema.prepare(db, self.path)
        finally:
            self._lock.release()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of the block or nothing. Inside another one: a part of it.

        Raises:
            StoreError: If the file is locked, full, read-only, damaged or closed.
        """
        if self._owner == threading.get_ident():
            with self._savepoint():
                yield self._writer
            return
        if not self._write_lock.acquire(timeout=self.timeout):
            raise StoreError(f"another thread wrote to {self.path} for {self.timeout:g} s")
        try:
            self._check_usable()
            if self.readonly:
                raise StoreError(f"{self.path} was opened with readonly=True")
            with self.translated():
                if self._lock is None:
                    with self._transaction():
                        yield self._writer
                    return
                self._lock.acquire(self.timeout)
                try:
                    with self._transaction():
                        yield self._writer
                finally:
                    self._lock.release()
        finally:
            self._write_lock.release()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        db = self._writer
        db.execute("BEGIN IMMEDIATE")
        self._owner = threading.get_ident()
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
            raise
        finally:
            self._owner = None
            self._seen = None

    @contextmanager
    def _savepoint(self) -> Iterator[None]:
        db = self._writer
        db.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK TO part")
                db.execute("RELEASE part")
            raise
        db.execute("RELEASE part")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view. Inside ``writing`` of the same thread: that transaction's view."""
        if self._owner == threading.get_ident():
            yield self._writer
            return
        with self._read_lock:
            self._check_usable()
            with self.translated():
                self._reader.execute("BEGIN")
                try:
                    yield self._reader
                finally:
                    # Ends a damaged file's transaction too, where COMMIT would fail.
                    with suppress(sqlite3.Error):
                        self._reader.execute("ROLLBACK")

    def head(self, memory_id: int) -> int:
        """Newest version; asks the file only if somebody wrote since the last call."""
        if self._owner == threading.get_ident():
            return _head(self._writer, memory_id)
        with self._read_lock:
            self._check_usable()
            with self.translated():
                (seen,) = self._reader.execute("PRAGMA data_version").fetchone()
                if seen != self._seen:
                    self._head = _head(self._reader, memory_id)
                    self._seen = seen
                return self._head

    def size(self) -> int:
        """Bytes on disk: the file and its log; 0 for ``:memory:``."""
        files = (Path(f"{self.path}{suffix}") for suffix in ("", "-wal"))
        return sum(f.stat().st_size for f in files if f.exists() and not self.is_volatile)

    def close(self) -> None:
        """Close both connections; may be called twice."""
        with self._write_lock, self._read_lock:
            if not self._is_open:
                return
            self._is_open = False
            self._reader.close()
            self._writer.close()
            if self._lock is not None:
                self._lock.close()

    def _check_usable(self) -> None:
        if not self._is_open:
            raise StoreError(f"the store {self.path} is closed")
        if os.getpid() != self._pid:
            raise StoreError(
                f"{self.path} was opened by process {self._pid} and came here by fork; "
                "open it again in this process"
            )

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn SQLite's errors into ours."""
        try:
            yield
        except sqlite3.Error as error:
            raise _store_error(error, self.path, self.timeout) from error
        except (UnicodeEncodeError, OverflowError) as error:
            raise InputError(f"a text or number cannot be stored: {error}") from error


def _head(db: sqlite3.Connection, memory_id: int) -> int:
    (version,) = db.execute("SELECT head FROM memory WHERE id = ?", (memory_id,)).fetchone()
    return int(version)


def _is_writable(file: Path) -> bool:
    return os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)


def _check_path(path: str, readonly: bool) -> None:
    file = Path(path)
    if file.is_dir():
        raise StoreError(f"{path} is a folder; a memory is one file, for example {path}/memory.db")
    if not file.parent.is_dir():
        raise StoreError(f"the folder {file.parent} does not exist; create it first")
    if readonly:
        if not file.exists():
            raise StoreError(f"there is no memory file {path}")
        return
    if file.exists() and not os.access(file, os.W_OK):
        raise StoreError(f"{path} is read-only; make it writable or open it with readonly=True")
    if not os.access(file.parent, os.W_OK):
        raise StoreError(
            f"the folder {file.parent} is read-only, but SQLite keeps its log beside {path}; "
            "make it writable or copy the file elsewhere"
        )


def _store_error(error: sqlite3.Error, path: str, timeout: float) -> JitRLError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PLAIN_CODE
    said = f"{path}: {error}"
    if code == sqlite3.SQLITE_NOTADB:
        return StoreError(f"{path} is not a memory file (not an SQLite database)")
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreError(f"{said}; the file is damaged: jitrl memory check {path}")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoreError(
            f"{said}; nothing of this was written and all that was acknowledged is safe: "
            "free space, then store it again"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(f"{said}; another process held it for {timeout:g} s, try again")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(
            f"{said}; check that the file and its folder exist and can be written "
            "(SQLite keeps its log beside the file, for readers too)"
        )
    return StoreError(said)
