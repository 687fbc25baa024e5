"""A lock between processes, kept in a file of its own beside the memory file."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from jitrl.errors import StoreError

if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _free(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _free(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLock:
    """Exclusive between processes and between objects; the system frees it when one dies.

    SQLite's own lock makes waiters sleep longer the longer they wait, so with eight writers an
    unlucky one waits for seconds. Waiting here, in short steps, first keeps that rare.
    """

    def __init__(self, path: str) -> None:
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise StoreError(f"cannot create the lock file {path}: {error.strerror}") from error
        self.path = path

    def acquire(self, timeout: float) -> None:
        """Wait at most ``timeout`` seconds.

        Raises:
            StoreError: If another process held the lock for all that time.
        """
        deadline = time.monotonic() + timeout
        while not _try(self._descriptor):
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{self.path} was held by another process for {timeout:g} s; "
                    "nothing was written, try again"
                )
            time.sleep(random.uniform(0.0005, 0.002))

    @contextmanager
    def held(self, timeout: float) -> Iterator[None]:
        """The block has the lock."""
        self.acquire(timeout)
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Let the next one in."""
        _free(self._descriptor)

    def note(self, text: str) -> None:
        """Replace what the file says, for good; where the disk is full it says nothing then."""
        try:
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, text.encode())
        except OSError:
            os.ftruncate(self._descriptor, 0)
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file; it stays on disk, because others may hold it."""
        os.close(self._descriptor)
