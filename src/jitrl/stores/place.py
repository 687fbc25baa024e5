"""Which file a path names: whether it is still the one that was opened, and whose log is beside it.

SQLite finds its log by name. Laid beside another file, as when a backup is put in the place of a
file that is open, the log would be applied to that file and destroy it.

Nothing here opens the memory file: closing it again would free the locks that SQLite holds.
"""

from __future__ import annotations

import difflib
import os
from contextlib import suppress
from pathlib import Path

from jitrl.errors import StoreError
from jitrl.stores.lock import FileLock

LOGS = ("-wal", "-shm")
BESIDE = (*LOGS, "-journal", ".lock", ".redaction-key", ".copies", ".purging")
"""What may lie beside a memory file, by what follows its name."""

_IS_KNOWN = os.name == "posix"  # elsewhere the system lets nobody replace an open file

FileId = tuple[int, int]


def file_id(path: str) -> FileId | None:
    """What tells files apart (device, number); ``None`` if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_blank(path: str) -> bool:
    """Whether there is no file, or an empty one."""
    try:
        return os.stat(path).st_size == 0
    except OSError:
        return True


def nearest(path: str | os.PathLike[str]) -> str:
    """``; did you mean memory.db?``, if nothing is at ``path`` and something beside it is alike."""
    there = Path(path)
    if there.exists():
        return ""
    try:
        names = [name for name in os.listdir(there.parent) if not name.endswith(BESIDE)]
    except OSError:
        return ""
    close = difflib.get_close_matches(there.name, names, n=1)
    return f"; did you mean {there.with_name(close[0])}?" if close else ""


class Opened:
    """A memory file that is open, and its log.

    Args:
        path: Absolute, as it was given.
        real: Absolute, links followed; SQLite names the log by it.
        is_frozen: Nobody should write to it at all.
    """

    def __init__(self, path: str, real: str, *, is_frozen: bool) -> None:
        self._path = path
        self._real = real
        self._file = file_id(path)
        self._logs = {suffix: file_id(f"{real}{suffix}") for suffix in LOGS}
        self._content = _content(path) if is_frozen else None

    def is_there(self) -> bool:
        """Whether the path still names it."""
        return file_id(self._path) == self._file is not None

    def check_frozen(self) -> None:
        """What was read of a file that nobody should write to counts only if nobody did.

        Raises:
            StoreError: If somebody did.
        """
        if self._content is None:
            return
        if _content(self._path) != self._content or is_log_beside(self._real):
            raise StoreError(
                f"{self._path} was read as a file that nobody writes to, but somebody did; "
                "open it again"
            )

    def drop_log(self) -> None:
        """Take the log from beside the path, if it is this file's."""
        for suffix, found in self._logs.items():
            if found is not None and file_id(f"{self._real}{suffix}") == found:
                with suppress(OSError):
                    os.unlink(f"{self._real}{suffix}")


def _content(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


def is_log_beside(real: str) -> bool:
    """Whether a log with something in it lies beside the file."""
    return not (is_blank(f"{real}-wal") and is_blank(f"{real}-journal"))


def is_unsure(real: str) -> bool:
    """Whether what lies beside the path may be the log of another file than it names."""
    return is_blank(real) or _noted(real) not in (None, file_id(real))


def check_log(real: str) -> None:
    """Refuse the log of another file.

    Raises:
        StoreError: If the file was replaced while its log was in use.
    """
    if is_unsure(real) and not is_blank(real) and is_log_beside(real):
        raise StoreError(
            f"{real} was replaced while it was open, and the log {real}-wal seems to be of the "
            "file before: close all that has it open. If the log is still there then, delete "
            f"{real}-wal and {real}-shm; or {real}.lock, if the log came with this file"
        )


def clear_log(real: str) -> None:
    """Before a file is opened: take away what an other one left; who uses that keeps it.

    Whoever opens a file of which ``is_unsure`` holds the lock from here until ``note``, so that
    nobody takes away a log that came into use meanwhile.

    Raises:
        StoreError: As ``check_log``.
    """
    check_log(real)
    if is_unsure(real):
        for suffix in LOGS:
            with suppress(OSError):
                os.unlink(f"{real}{suffix}")


# --- the note in the lock file ----------------------------------------------------------------


def is_noted(real: str) -> bool:
    """Whether the lock file says that the log is this file's."""
    return not _IS_KNOWN or _noted(real) == file_id(real)


def note(real: str, lock: FileLock) -> None:
    """Write down, in the lock file, whose log it is from now on; the lock must be held."""
    file, own = file_id(real), file_id(lock.path)
    if _IS_KNOWN and file and own:
        lock.note(f"{file[1]} {own[1]}\n")


def _noted(real: str) -> FileId | None:
    """The file that the log is of; ``None`` if it is not known, as where the folder was copied."""
    lock, file = file_id(f"{real}.lock"), file_id(real)
    if not _IS_KNOWN or lock is None or file is None:
        return None
    try:
        number, own = map(int, Path(f"{real}.lock").read_bytes().split())
    except (OSError, ValueError):
        return None
    return (file[0], number) if own == lock[1] else None
