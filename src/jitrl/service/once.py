"""What was said under an idempotency key, so that saying it again changes nothing.

An answer is kept after what it answers is on disk. What a process that died in between was asked is
done when it is asked again, which the memory itself notices unless a correction came in the
meantime. What doing it takes along, and is gone once it is done, is kept before.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

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
            found = self._found(key, what)
            said = Said(None, partial(self._keep, key, what))
            if isinstance(found, Receipt):
                said.receipt = found
            elif found is not None:
                said.brought = found
            yield said
            if said.receipt is not None and said.receipt is not found:
                self._keep(key, what, said.receipt)
        finally:
            with self._lock:
                self._under_way.discard(key)

    def _found(self, key: str, what: bytes) -> Receipt | float | None:
        with self._lock, self._translated():
            found = self._db.execute(
                "SELECT what, receipt FROM said WHERE key = ?", (key,)
            ).fetchone()
        if found is None:
            return None
        kept: Receipt | float = msgspec.msgpack.decode(found[1], type=Receipt | float)
        if found[0] == what:
            return kept
        if isinstance(kept, Receipt):
            raise Reused(key)
        return None  # that was never answered, so the key is free

    def _keep(self, key: str, what: bytes, came: Receipt | float) -> None:
        with self._lock, self._translated():
            self._db.execute(
                "INSERT OR REPLACE INTO said VALUES (?, ?, ?, ?)",
                (key, what, msgspec.msgpack.encode(came), time.time()),
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from error


class Said:
    """What is said in a block; ``receipt`` is what came of it.

    Attributes:
        brought: What an earlier try that was not answered brought to what was said.
    """

    def __init__(self, receipt: Receipt | None, keep: Callable[[float], None]) -> None:
        self.receipt, self.brought, self._keep = receipt, 0.0, keep

    def bring(self, brought: float) -> None:
        """Keep ``brought`` for the next try, before this one is done.

        Raises:
            StoreError: If the file cannot be used.
        """
        if brought != self.brought:
            self._keep(brought)
            self.brought = brought
