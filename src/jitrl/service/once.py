"""What was said under an idempotency key, so that saying it again changes nothing.

An answer is kept after what it answers is on disk. A process that dies in between does it again
when it is asked again, which the memory itself notices unless a correction came in the meantime.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from jitrl.errors import StoreError
from jitrl.ports import Receipt
from jitrl.service.errors import Conflict, Reused
from jitrl.stores.said import TABLE

_KEPT = 30 * 24 * 3600.0
"""Seconds that a key is remembered."""


class Once:
    """The keys of one memory, in a small file beside it. Safe for threads.

    Raises:
        StoreError: If the file cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._lock = threading.Lock()
        self._under_way: set[str] = set()
        with self._translated():
            self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(TABLE)
            self._db.execute("DELETE FROM said WHERE at < ?", (time.time() - _KEPT,))

    def close(self) -> None:
        """Release the file; may be called twice."""
        with self._lock:
            self._db.close()

    @contextmanager
    def saying(self, key: str, what: bytes) -> Iterator[Said]:
        """For a block that says ``what``, unless ``said.receipt`` shows that it was said.

        Raises:
            Reused: If something else was said under the key.
            Conflict: If it is being said just now.
            StoreError: If the file cannot be used.
        """
        with self._lock:
            if key in self._under_way:
                raise Conflict(f"what came with idempotency key {key!r} is being done; wait for it")
            self._under_way.add(key)
        try:
            said = Said(self._found(key, what))
            is_new = said.receipt is None
            yield said
            if is_new and said.receipt is not None:
                self._keep(key, what, said.receipt)
        finally:
            with self._lock:
                self._under_way.discard(key)

    def _found(self, key: str, what: bytes) -> Receipt | None:
        with self._lock, self._translated():
            found = self._db.execute(
                "SELECT what, receipt FROM said WHERE key = ?", (key,)
            ).fetchone()
        if found is None:
            return None
        if found[0] != what:
            raise Reused(f"something else was said with idempotency key {key!r}; take another one")
        return msgspec.msgpack.decode(found[1], type=Receipt)

    def _keep(self, key: str, what: bytes, receipt: Receipt) -> None:
        with self._lock, self._translated():
            self._db.execute(
                "INSERT OR IGNORE INTO said VALUES (?, ?, ?, ?)",
                (key, what, msgspec.msgpack.encode(receipt), time.time()),
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from error


class Said:
    """What is said in a block; ``receipt`` is what came of it."""

    def __init__(self, receipt: Receipt | None) -> None:
        self.receipt = receipt
