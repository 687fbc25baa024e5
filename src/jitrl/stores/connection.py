"""One SQLite file: a connection that writes, one that reads, and the locks in front of them."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from jitrl.errors import InputError, JitRLError, StoreError
from jitrl.stores import place, schema
from jitrl.stores.lock import FileLock

_SHOWN = 40  # characters on each side of what cannot be stored
_PLAIN_CODE = 0xFF
"""Extended SQLite error codes keep the plain code in the low byte."""


class Connection:
    """Transactions on one file, for any number of threads and processes.

    Two connections, so that readers of this process never wait for its writer; `:memory:` has
    one for both. The lock file queues writers of different processes.

    Attributes:
        undone: Transactions, or parts of one, that were taken back after their head was asked for.
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
        self.undone, self._was_asked = 0, False
        self._write_lock = threading.RLock()
        self._read_lock = self._write_lock if self.is_volatile else threading.RLock()
        with ExitStack() as undo, self.translated():
            self._lock: FileLock | None = None
            self._opened: place.Opened | None = None
            if self.is_volatile:
                self._writer = self._reader = self._connect()
                schema.prepare(self._writer, path)
            else:
                self._open(undo)
            undo.pop_all()
            self._is_open = True

    def _open(self, undo: ExitStack) -> None:
        """Open the file; nothing is made beside one that turns out to be none of ours."""
        path = self.path
        try:
            _check_path(path, self.readonly)
            self._real = os.path.realpath(path)
        except (OSError, ValueError) as error:
            raise StoreError(f"{path!r} cannot be looked for: {error}") from error
        mode, is_frozen = _mode(self._real, self.readonly)
        if place.is_unsure(self._real) and _may_lock(self._real, self.readonly):
            own = self._made_lock(undo)
            with own.held(self.timeout):
                place.clear_log(self._real)
                self._open_writer(mode, undo)
                place.note(self._real, own)
                self._bring_up_to_date()
        else:
            place.check_log(self._real)
            is_ready = self._open_writer(mode, undo)
            lock = None if self.readonly else self._made_lock(undo)
            if lock and not (is_ready and place.is_noted(self._real)):
                with lock.held(self.timeout):
                    place.note(self._real, lock)
                    self._bring_up_to_date()
        self._reader = self._connect(mode)
        undo.callback(self._reader.close)
        schema.check_version(self._reader, path)
        self._opened = place.Opened(os.path.abspath(path), self._real, is_frozen=is_frozen)

    def _made_lock(self, undo: ExitStack) -> FileLock:
        self._lock = FileLock(f"{self._real}.lock")
        undo.callback(self._lock.close)
        return self._lock

    def _open_writer(self, mode: str, undo: ExitStack) -> bool:
        """Connect to what is a memory or an empty file; whether it can be used as it is."""
        self._writer = self._connect(mode)
        undo.callback(self._writer.close)
        needs_work = schema.needs_work(self._writer, self.path)
        if self.readonly and needs_work:
            raise StoreError(
                f"{self.path} is empty or of an older schema and cannot be brought up to date "
                "with readonly=True; open it for writing once: "
                f'python -c "import jitrl; jitrl.open({self.path!r}).close()"'
            )
        (journal,) = self._writer.execute("PRAGMA journal_mode").fetchone()
        return not needs_work and journal == "wal"

    def _bring_up_to_date(self) -> None:
        """Let the file use a log, and have the present tables; the lock must be held."""
        if self.readonly:
            return
        (journal,) = self._writer.execute("PRAGMA journal_mode = WAL").fetchone()
        if journal != "wal":
            raise StoreError(
                f"{self.path} cannot use write-ahead logging (got {journal!r}); memory files "
                "must be on a local disk, not on a network file system"
            )
        schema.prepare(self._writer, self.path)

    def _connect(self, mode: str = "") -> sqlite3.Connection:
        options = {"timeout": self.timeout, "isolation_level": None, "check_same_thread": False}
        if self.is_volatile:
            return sqlite3.connect(":memory:", **options)  # type: ignore[call-overload,no-any-return]
        uri = f"{Path(self.path).absolute().as_uri()}?{mode}"
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
                if not self._is_there():
                    self._leave()
                    self._check_place()
                with self._lock.held(self.timeout), self._transaction():
                    yield self._writer
        finally:
            self._write_lock.release()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        db = self._writer
        db.execute("BEGIN IMMEDIATE")
        self._owner, self._was_asked = threading.get_ident(), False
        try:
            schema.check_version(db, self.path)
            yield
            self._check_place()
            db.execute("COMMIT")
        except BaseException:
            self.undone += self._was_asked
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
            self.undone += self._was_asked
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
                    self._check_frozen()
                finally:
                    # Ends a damaged file's transaction too, where COMMIT would fail.
                    with suppress(sqlite3.Error):
                        self._reader.execute("ROLLBACK")

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The connection that writes, without a transaction, while no other process writes.

        Raises:
            StoreError: As ``writing``.
        """
        with self.writing():  # whatever can be wrong is said there
            pass
        with self._write_lock, self.translated():
            if self._lock is None:
                yield self._writer
                return
            with self._lock.held(self.timeout):
                yield self._writer

    def head(self, memory_id: int) -> int:
        """Newest version; asks the file only if somebody wrote since the last call."""
        if self._owner == threading.get_ident():
            self._was_asked = True
            return _head(self._writer, memory_id)
        with self._read_lock:
            self._check_usable()
            with self.translated():
                self._check_place()
                self._check_frozen()
                (seen,) = self._reader.execute("PRAGMA data_version").fetchone()
                if seen != self._seen:
                    schema.check_version(self._reader, self.path)
                    self._head = _head(self._reader, memory_id)
                    self._seen = seen
                return self._head

    def copy(self, target: sqlite3.Connection) -> None:
        """Copy the whole file, as one moment shows it, into an empty database."""
        with self._read_lock:
            self._check_usable()
            with self.translated():
                self._reader.backup(target)

    def size(self) -> int:
        """Bytes on disk: the file and its log; 0 for ``:memory:``."""
        if self.is_volatile:
            return 0
        files = (Path(f"{self._real}{suffix}") for suffix in ("", "-wal"))
        return sum(f.stat().st_size for f in files if f.exists())

    def close(self) -> None:
        """Close both connections; may be called twice."""
        with self._write_lock, self._read_lock:
            if not self._is_open:
                return
            self._is_open = False
            if not self._is_there():
                self._leave()
            self._reader.close()
            self._writer.close()
            if self._lock is not None:
                self._lock.close()

    def _check_place(self) -> None:
        """Refuse to go on with a file that nobody will find again."""
        if not self._is_there():
            raise StoreError(
                f"{self.path} was replaced or deleted while it was open; nothing of this was "
                "written; open it again"
            )

    def _check_frozen(self) -> None:
        if self._opened is not None:
            self._opened.check_frozen()

    def _is_there(self) -> bool:
        return self._opened is None or self._opened.is_there()

    def _leave(self) -> None:
        """Put the log into the file it is of, so that it is not laid beside the one there now."""
        if self.readonly or self._lock is None or self._opened is None:
            return
        with suppress(sqlite3.Error, StoreError), self._lock.held(1.0):
            busy, pages, moved = self._writer.execute("PRAGMA wal_checkpoint").fetchone()
            if not busy and pages == moved:
                self._opened.drop_log()

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
        except UnicodeEncodeError as error:
            text, place = error.object, error.start
            begin = max(0, place - _SHOWN)
            raise InputError(
                "a text cannot be stored or looked for: half of a surrogate pair at character "
                f"{place}, in {text[begin : place + _SHOWN]!r}; decode it with errors='replace'"
            ) from error
        except OverflowError as error:
            raise InputError(f"a number cannot be stored: {error}") from error


def _head(db: sqlite3.Connection, memory_id: int) -> int:
    (version,) = db.execute("SELECT head FROM memory WHERE id = ?", (memory_id,)).fetchone()
    return int(version)


def _mode(real: str, readonly: bool) -> tuple[str, bool]:
    """How SQLite opens the file, and whether it holds that nobody can write to it."""
    if not readonly:
        return "mode=rwc", False
    can_write = [os.access(part, os.W_OK) for part in (real, os.path.dirname(real))]
    if all(can_write):  # so a reader that leaves last can remove SQLite's log files
        return "mode=rw", False
    if any(can_write) or place.is_log_beside(real) or os.path.exists(f"{real}-shm"):
        return "mode=ro", False
    return "mode=ro&immutable=1", True


def _may_lock(real: str, readonly: bool) -> bool:
    """Whether one who opens the file can take the lock; a reader makes no file for it."""
    needed = (real, os.path.dirname(real), f"{real}.lock")
    return not readonly or all(os.access(part, os.W_OK) for part in needed)


def _check_path(path: str, readonly: bool) -> None:
    file = Path(path)
    if file.is_dir():
        raise StoreError(f"{path} is a folder; a memory is one file, for example {path}/memory.db")
    if readonly and not file.exists():
        made = "; jitrl.open makes one, and so does an import (jitrl memory import)"
        raise StoreError(f"there is no memory file {path}{place.nearest(path) or made}")
    if not file.parent.is_dir():
        raise StoreError(f"the folder {file.parent} does not exist; create it first")
    if file.exists() and not file.is_file():
        raise StoreError(f"{path} is a device, pipe or socket; a memory is a regular file")
    if readonly:
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
