"""Where imports come from, and the memory file that they fill: whole, or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, TypeVar, cast

from jitrl import given
from jitrl.cli.memory.options import writable
from jitrl.errors import StoreError
from jitrl.stores import place
from jitrl.stores.lock import FileLock
from jitrl.stores.sqlite import SQLiteStore

Done = TypeVar("Done")


class NothingNewError(Exception):
    """Takes back what was made for lines that did not come."""

    def __init__(self, done: object) -> None:
        super().__init__()
        self.done = done


def filled(file: str, name: str, read: Callable[[SQLiteStore], Done]) -> Done:
    """Read into ``file``. A new one is made elsewhere, and comes to its place if it holds anything.

    So a failure leaves nothing behind, and what another process made meanwhile is not touched.

    Args:
        read: Fills the store, and says what it did; it raises ``NothingNewError`` with that where
            nothing is to be kept.
    """
    target = Path(given.path(file))
    try:
        if file == ":memory:" or target.exists() or not target.parent.is_dir():
            with writable(file, name, create=False) as store:
                return read(store)
        with _aside(target) as folder:
            made = folder / "memory.db"
            with writable(str(made), name, beside=str(target)) as store:
                done = read(store)
            _put(made, target)
        return done
    except NothingNewError as nothing:
        return cast(Done, nothing.done)


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A folder beside ``target``; those that killed imports of it left are removed."""
    mark = f".jitrl-import-{zlib.crc32(os.fsencode(target.name)):08x}-"
    for folder in target.parent.glob(f"{mark}*"):
        if _is_left(folder):
            shutil.rmtree(folder, ignore_errors=True)
    with ExitStack() as stack:
        try:
            made = stack.enter_context(TemporaryDirectory(prefix=mark, dir=target.parent))
        except OSError as error:
            raise StoreError(f"cannot make {target}: {error.strerror}") from error
        lock = stack.enter_context(closing(FileLock(f"{made}/{_IN_USE}")))
        with lock.held(_SECONDS):
            yield Path(made)


def _is_left(folder: Path) -> bool:
    """Whether the process that made a folder is gone; the system freed its lock then."""
    if not (folder / _IN_USE).exists():
        return time.time() - folder.stat().st_mtime > _SECONDS  # else it may be about to make it
    try:
        with closing(FileLock(f"{folder}/{_IN_USE}")) as lock, lock.held(0):
            return True
    except StoreError:
        return False


_IN_USE = "in-use"
_SECONDS = 60.0


def _put(made: Path, target: Path) -> None:
    """Give a complete memory file its name, for good."""
    if Path(f"{made}-wal").exists():
        raise StoreError(f"{target} could not be written to its end; free space and import again")
    real = os.path.realpath(target)
    with closing(FileLock(f"{real}.lock")) as lock, lock.held(_SECONDS):
        place.clear_log(real)  # of a file that was deleted
        try:
            os.link(made, real)
        except FileExistsError as error:
            raise StoreError(
                f"{target} was made by somebody else meanwhile; import again"
            ) from error
        except OSError:  # no links on this disk
            made.replace(real)
        place.note(real, lock)
    if os.name == "posix":
        folder = os.open(os.path.dirname(real), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def opened(source: str) -> Iterator[BinaryIO]:
    """The lines of a file, or of stdin for `-`.

    Raises:
        StoreError: If it cannot be read.
    """
    if source == "-":
        yield sys.stdin.buffer
        return
    try:
        file = Path(source).open("rb")  # noqa: SIM115  (closed below)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise StoreError(f"cannot read {source}: {said}") from error
    with file:
        yield file
