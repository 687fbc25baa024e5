"""Reports that a service answered under an idempotency key: the file, and purges of it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import msgspec

from jitrl.errors import StoreError
from jitrl.stores.purge_find import Wanted
from jitrl.stores.purge_owed import digest

TABLE = (
    "CREATE TABLE IF NOT EXISTS said(key TEXT PRIMARY KEY, what BLOB NOT NULL, "
    "receipt BLOB NOT NULL, at REAL NOT NULL) WITHOUT ROWID"
)
"""``what`` is a JSON list: episode, value, basis, evaluator, told, principal."""

_SECONDS = 30.0


def file_beside(path: str | os.PathLike[str]) -> Path:
    """Where a service keeps what was said of a memory file."""
    return Path(f"{os.path.splitext(path)[0]}.said")


def count(path: Path, wanted: Wanted, episodes: Collection[str]) -> int:
    """How many reports are of the subjects, or of ``episodes``.

    Args:
        episodes: SHA-256 of their keys.

    Raises:
        StoreError: If the file cannot be read.
    """
    with _opened(path) as db:
        return len(_found(db, path, wanted, episodes))


def forget(path: Path, wanted: Wanted, episodes: Collection[str]) -> tuple[int, bool]:
    """Remove the reports of the subjects, and of ``episodes``, from the file and its log.

    Args:
        episodes: SHA-256 of their keys.

    Returns:
        How many, and whether the log is empty; it is not while another process reads.

    Raises:
        StoreError: If the file cannot be used.
    """
    with _opened(path) as db:
        try:
            db.execute("PRAGMA secure_delete = ON")
            found = _found(db, path, wanted, episodes)
            db.executemany("DELETE FROM said WHERE key = ?", [(key,) for key in found])
            db.execute("VACUUM")
            (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            raise StoreError(f"{path}: {error}") from error
    return len(found), not busy


def _opened(path: Path) -> closing[sqlite3.Connection]:
    try:
        return closing(sqlite3.connect(path, timeout=_SECONDS, isolation_level=None))
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from error


def _found(
    db: sqlite3.Connection, path: Path, wanted: Wanted, episodes: Collection[str]
) -> list[str]:
    """The idempotency keys of what is to go."""
    try:
        kept = db.execute("SELECT key, what FROM said").fetchall()
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from error
    found = []
    for key, what in kept:
        said = msgspec.json.decode(what)
        is_gone = said[0] in wanted.episodes or digest(said[0]) in episodes
        if is_gone or said[-1] in wanted.principals or wanted.says(key, said):
            found.append(key)
    return found
