"""`jitrl memory import`: what JSON lines hold, all or none, into a file that may be new."""

from __future__ import annotations

import os
import shutil
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO

import msgspec
import typer

from jitrl import given
from jitrl.cli.memory.options import FILE, GAMMA, NAME, RETURNS, TRUSTED, deriving
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.core.credit import derive_rows
from jitrl.errors import StoreError
from jitrl.stores import jsonl, place
from jitrl.stores.lock import FileLock
from jitrl.stores.sqlite import SQLiteStore


def import_(
    file: FILE,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="JSONL file, or - for stdin.")],
    trust: Annotated[
        bool, typer.Option("--trust", help="Keep basis, principals, quarantine, status of rules.")
    ] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave bad lines out, and list them.")
    ] = False,
    principal: Annotated[str, typer.Option(help="Who is answerable for what comes in.")] = "import",
    gamma: GAMMA = None,
    returns: RETURNS = None,
    trusted: TRUSTED = None,
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Add episodes and rules from JSON lines: all or none, in quarantine unless trusted.

    A new file is derived by the settings in force, and appears only if something was imported.
    """
    given.text(principal, "--principal")

    def read(store: SQLiteStore, lines: Iterable[bytes]) -> jsonl.Imported:
        with store.batch():
            settings = deriving(store, gamma, returns, trusted)
            done = jsonl.read(
                store,
                lines,
                partial(derive_rows, **settings),
                name=source,
                trust=trust,
                skip_bad=skip_bad,
                principal=principal,
            )
            if not (done.episodes or done.rules or done.contrasts):
                raise _NothingNewError(done)
            if not store.settings():
                store.configure(settings)
        return done

    with _source(source) as lines:
        done = _filled(file, name, lambda store: read(store, lines))
    for bad in done.skipped:
        tell(f"{source}:{bad.line} left out: {bad.reason}", style="yellow")
    book = f"{done.rules} rules and {done.contrasts} contrasts added, "
    tell(
        f"{done.episodes} episodes added with {done.rows} rows ({done.quarantined} in quarantine), "
        f"{book if done.rules or done.contrasts else ''}"
        f"{done.duplicates} were there already, {len(done.skipped)} lines left out"
    )
    if json:
        emit({"schema": "jitrl.memory.import/1", **msgspec.to_builtins(done)})


class _NothingNewError(Exception):
    """Takes back what was made for lines that did not come."""

    def __init__(self, done: jsonl.Imported) -> None:
        super().__init__()
        self.done = done


def _filled(file: str, name: str, read: Callable[[SQLiteStore], jsonl.Imported]) -> jsonl.Imported:
    """Read into ``file``. A new one is made elsewhere, and comes to its place if it holds anything.

    So a failure leaves nothing behind, and what another process made meanwhile is not touched.
    """
    target = Path(given.path(file))
    try:
        if file == ":memory:" or target.exists() or not target.parent.is_dir():
            with SQLiteStore(file, memory=name, create=False) as store:
                return read(store)
        with _aside(target) as folder:
            made = folder / "memory.db"
            with SQLiteStore(made, memory=name) as store:
                done = read(store)
            _put(made, target)
        return done
    except _NothingNewError as nothing:
        return nothing.done


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
def _source(source: str) -> Iterator[BinaryIO]:
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
