"""Copies of a memory file that are whole, and a list of them, so that a purge finds them."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from jitrl.errors import RecordError, StoreError
from jitrl.stores.lock import FileLock
from jitrl.stores.sqlite import SQLiteStore

LIST = ".copies"
"""Follows the name of the memory file: one JSON line for each copy that was made of it."""
KEY = ".redaction-key"
"""Follows it, too: the key of its placeholders goes with a backup, or a restored memory would
take each secret for a new one."""

CopyKind = Literal["backup", "export"]


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that was made of a memory.

    Attributes:
        path: Absolute.
        at: Seconds since 1970.
    """

    kind: CopyKind
    path: str
    at: float


def backup(store: SQLiteStore, target: str) -> int:
    """Copy the whole file to ``target`` while others use it, and check the copy; returns its bytes.

    Raises:
        StoreError: If the copy cannot be made or is not whole; none is left then.
    """
    to = Path(target)
    if to.exists():
        raise StoreError(f"{target} is there already; a backup overwrites nothing")
    part = Path(f"{to.absolute()}.{os.getpid()}.part")
    try:
        with closing(sqlite3.connect(part, isolation_level=None)) as copy:
            store._db.copy(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
        with SQLiteStore(part, readonly=True, memory=store.memory) as made:
            problems = made.check()
        if problems:
            raise StoreError(f"the copy is not whole: {problems[0].rule}: {problems[0].found}")
        _keep(part, to)
        key = Path(f"{os.path.realpath(store.path)}{KEY}")
        if key.exists():
            _written(Path(f"{to.absolute()}{KEY}"), key.read_bytes())
        note(store.path, Copy("backup", str(to.absolute()), time.time()))
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"cannot write {target}: {error}") from error
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{part}{suffix}").unlink(missing_ok=True)
    return to.stat().st_size


def _keep(part: Path, to: Path) -> None:
    """Give a complete copy its name, for good."""
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    os.chmod(part, 0o600)
    try:
        os.link(part, to)
    except FileExistsError as error:
        raise StoreError(f"{to} was made by somebody else meanwhile") from error
    except OSError:  # no links on this disk
        part.rename(to)
    if os.name == "posix":
        folder = os.open(to.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _written(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def note(path: str, copy: Copy) -> None:
    """Write down that a copy was made of the memory file at ``path``; once for each path."""
    if path == ":memory:":
        return
    real = os.path.realpath(path)
    with closing(FileLock(f"{real}.lock")) as lock, lock.held(60.0):
        known = [one for one in copies(path) if one.path != copy.path]
        _replace(real, [*known, copy])


def forget(path: str, gone: set[str]) -> None:
    """Take copies that are gone off the list."""
    real = os.path.realpath(path)
    with closing(FileLock(f"{real}.lock")) as lock, lock.held(60.0):
        _replace(real, [one for one in copies(path) if one.path not in gone])


def copies(path: str) -> list[Copy]:
    """The copies that were made of the memory file at ``path``, oldest first.

    Raises:
        RecordError: If the list cannot be read.
    """
    file = Path(f"{os.path.realpath(path)}{LIST}")
    if path == ":memory:" or not file.exists():
        return []
    try:
        lines = file.read_bytes().splitlines()
        return [msgspec.json.decode(line, type=Copy) for line in lines if line.strip()]
    except (OSError, msgspec.MsgspecError) as error:
        raise RecordError(f"{file} is no list of copies: {error}") from error


def _replace(real: str, known: list[Copy]) -> None:
    file, part = Path(f"{real}{LIST}"), Path(f"{real}{LIST}.part")
    if not known:
        with suppress(FileNotFoundError):
            file.unlink()
        return
    _written(part, b"".join(msgspec.json.encode(one) + b"\n" for one in known))
    os.replace(part, file)
