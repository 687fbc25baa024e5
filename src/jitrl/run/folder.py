"""A run on disk: run.json says what it is, one memory file per seed is its journal."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

import jitrl
from jitrl.config import Budget, Memory, Settings, digest
from jitrl.errors import ConfigError, InputError, RecordError, StoreError
from jitrl.language import counted
from jitrl.run import plateau
from jitrl.run.ledger import Ledger, Limits, Price
from jitrl.stores.lock import FileLock
from jitrl.stores.place import nearest
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Task

SCHEMA = "jitrl.run-record/1"
_LOCK, _PARTIAL = "run.lock", "run.json.partial"
_FREE = {
    ("run", "workers"),
    ("run", "max_failures"),
    ("run", "pages"),
    ("memory", "telemetry"),
}
"""Settings that change no number; like the budget, they may differ when a run is resumed."""


class Session(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One start of a run, and the code that it ran on.

    Attributes:
        command: The command line; "" if it was not started by one.
        seconds: Wall time, 0 if there was nothing left to play; ``None`` if it was killed, or was
            started by a version that did not say.
    """

    started: float
    jitrl: str
    commit: str
    python: str
    numpy: str
    system: str
    command: str = ""
    seconds: float | None = None


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What run.json holds.

    Attributes:
        digest: Of the settings that change numbers, of the tasks and of the evaluator.
        settings: Group to setting to value, tasks and seeds written out.
        families: Task id to its family, in the order of the environment.
        told: Whether the evaluator has seen the gold outcome.
        embedder: Name, with version or digest, of what states are compared by; "" for words.
        book: Digest of what the book says that the memories begin with; "" without one.
        stopped: Where it ended early, and why; ``None`` if it did not.
    """

    digest: str
    settings: dict[str, dict[str, Any]]
    families: dict[str, str]
    told: bool
    sessions: list[Session]
    schema: str = SCHEMA
    embedder: str = ""
    book: str = ""
    stopped: plateau.Stop | None = None

    @property
    def attempts(self) -> int:
        """Attempts at each task and seed that a finished run has."""
        asked = int(self.settings["run"]["attempts"])
        return asked if self.stopped is None else self.stopped.attempts

    @property
    def tasks(self) -> tuple[str, ...]:
        """Ids of the tasks that are run."""
        return tuple(self.settings["run"]["tasks"])

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that are run."""
        return tuple(self.settings["run"]["seeds"])

    @property
    def begins_with(self) -> str:
        """The digest of what the book says, and where it lay; "" without one."""
        path = self.settings["run"].get("book", "")
        return f"{self.book} in {path}" if self.book else path


@dataclass(frozen=True, slots=True)
class MadeOf:
    """What changes the numbers of a run beside its settings.

    Attributes:
        told: Whether the evaluator has seen the gold outcome.
        embedder, book: As in ``Record``.
    """

    tasks: Sequence[Task]
    seeds: Sequence[int]
    told: bool
    embedder: str = ""
    book: str = ""


def asked_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a model that change what it answers."""
    return {name: value for name, value in options.items() if name not in ("cache", "replay")}


def store_path(folder: Path, seed: int) -> Path:
    """The memory file of one seed."""
    return folder / f"seed-{seed}.db"


def played(folder: Path) -> int:
    """Episodes that the journals in ``folder`` hold; those that failed do not count."""
    count = 0
    for path in folder.glob("seed-*.db"):
        with SQLiteStore(path, readonly=True) as store:
            count += sum(episode.status != "aborted" for episode in store.episodes())
    return count


def default(settings: Settings, name: str = "", *, book: str = "") -> Path:
    """Where a run of these settings lies unless it is told to lie elsewhere.

    Args:
        name: What it is called, if not by its agent.
        book: Digest of the book that it begins with.
    """
    environment, agent = settings.environment.name.replace(":", "-"), settings.run.agent
    counted = _counted(_values(settings)) | ({"run.book": book} if book else {})
    return Path("runs") / f"{environment}-{name or agent}-{digest(counted)[:8]}"


def spent(folder: Path) -> Ledger:
    """What the run in ``folder`` has cost, if it is there; the folder is left as it is."""
    return Ledger(folder / "ledger.db", readonly=True)


def ledger(folder: Path | None, budget: Budget) -> Ledger:
    """What the run in ``folder`` has cost, and may cost; without a folder, what is no run."""
    return Ledger(
        ":memory:" if folder is None else folder / "ledger.db",
        limits=Limits(budget.max_calls, budget.max_tokens, budget.max_dollars),
        prices={model: Price(*price) for model, price in budget.prices.items()},
    )


def read(folder: Path) -> Record:
    """The record of the run in ``folder``.

    Raises:
        InputError: If there is no run.
        RecordError: If its record cannot be read.
    """
    path = folder / "run.json"
    if not path.is_file():
        inside = [str(run.parent) for run in sorted(folder.glob("*/run.json"))]
        raise InputError(
            f"{folder} is a folder of {counted(len(inside), 'run')}; name one: {', '.join(inside)}"
            if inside
            else f"{folder} holds no run (no run.json); `jitrl run --out {folder}` makes one"
            f"{nearest(folder)}"
        )
    try:
        record = msgspec.json.decode(path.read_bytes(), type=Record)
    except msgspec.DecodeError as error:
        raise RecordError(f"{path} is not a record of a run: {error}") from error
    if record.schema != SCHEMA:
        raise RecordError(f"{path} has schema {record.schema!r}; this version reads {SCHEMA!r}")
    return record


@contextmanager
def opened(
    folder: Path, settings: Settings, made_of: MadeOf, command: str = ""
) -> Iterator[Record]:
    """Begin or resume the run in ``folder`` and keep other processes out of it meanwhile.

    Raises:
        InputError: If it holds something else.
        ConfigError: If it holds a run of other settings, or is in use.
    """
    record = _record(settings, made_of, command)
    _not_another(folder)
    make(folder)
    lock = FileLock(str(folder / _LOCK))
    try:
        try:
            lock.acquire(0)
        except StoreError as error:
            raise ConfigError(f"another process is running {folder}; wait for it") from error
        if any(folder.glob("seed-*.db")):
            record = _resumed(folder, record)
        write(folder / "run.json", record)
        yield record
    finally:
        lock.close()


def check(folder: Path, settings: Settings, made_of: MadeOf) -> None:
    """Refuse a folder that a run could not begin or be resumed in, and leave it as it is.

    Raises:
        InputError: If it holds something else.
        ConfigError: If it holds a run of other settings.
    """
    _not_another(folder)
    if any(folder.glob("seed-*.db")):
        _resumed(folder, _record(settings, made_of, ""))


def over(folder: Path, record: Record, seconds: float, stopped: plateau.Stop | None) -> None:
    """Write down how long the present session of ``record`` took, and whether it ended early."""
    *before, last = record.sessions
    sessions = [*before, msgspec.structs.replace(last, seconds=seconds)]
    write(folder / "run.json", msgspec.structs.replace(record, sessions=sessions, stopped=stopped))


@cache
def commit() -> str:
    """Commit of the source tree this runs from (``+`` if it was changed), or the version.

    Asked once a process: what is imported stays what it was.
    """
    root = Path(jitrl.__file__).parents[2]
    if not (root / ".git").exists():
        return f"v{jitrl.__version__}"
    git = ("git", "-C", str(root))
    try:
        head = subprocess.run(
            (*git, "rev-parse", "--short=10", "HEAD"), capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            (*git, "status", "--porcelain", "--untracked-files=no"),
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return f"v{jitrl.__version__}"
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")


def _record(settings: Settings, made_of: MadeOf, command: str) -> Record:
    values = _values(settings)
    values["run"]["tasks"] = [task.id for task in made_of.tasks]
    values["run"]["seeds"] = list(made_of.seeds)
    embedder, book = made_of.embedder, made_of.book
    also = [*([embedder] if embedder else []), *([{"book": book}] if book else [])]
    return Record(
        digest=digest([_counted(values), made_of.told, *also]),
        settings=values,
        families={task.id: task.family for task in made_of.tasks},
        told=made_of.told,
        sessions=[
            Session(
                started=time.time(),
                jitrl=jitrl.__version__,
                commit=commit(),
                python=platform.python_version(),
                numpy=version("numpy"),
                system=platform.platform(),
                command=command,
            )
        ],
        embedder=embedder,
        book=book,
    )


def _values(settings: Settings) -> dict[str, dict[str, Any]]:
    values: dict[str, dict[str, Any]] = msgspec.to_builtins(settings)
    del values["serve"]  # of another command
    values["memory"]["trusted"] = sorted(values["memory"]["trusted"])
    return values


def _counted(values: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The settings that change numbers; where a model's answers are kept does not."""
    counted = {
        f"{group}.{name}": value
        for group, table in values.items()
        for name, value in table.items()
        if group not in ("budget", "rules") and (group, name) not in _FREE
    }
    if values["run"].get("plateau") is None:  # then neither counts, as before there were any
        for name in ("run.plateau", "run.margin"):
            counted.pop(name, None)
    counted.pop("run.book", None)  # what it says counts, not where it lies
    for name in ("admission", "snapshot", "canary", "canary_share"):  # as before there were any
        if not values["memory"].get(name):
            counted.pop(f"memory.{name}", None)
    if list(counted.get("memory.redact", ())) == list(Memory().redact):  # as before there was any
        counted.pop("memory.redact")
    for group in ("model", "writer"):
        counted[f"{group}.options"] = asked_of(values[group]["options"])
    return counted


def _resumed(folder: Path, record: Record) -> Record:
    before = read(folder)
    if before.digest != record.digest:
        theirs, mine = _counted(before.settings), _counted(record.settings)
        differences = [
            f"{name}: {theirs.get(name)!r} → {mine.get(name)!r}"
            for name in {**mine, **theirs}
            if theirs.get(name) != mine.get(name)
        ]
        if before.embedder != record.embedder:
            differences.append(f"embedder: {before.embedder!r} → {record.embedder!r}")
        if before.book != record.book:
            differences.append(f"run.book: {before.begins_with!r} → {record.begins_with!r}")
        raise ConfigError(
            f"{folder} holds a run of other settings ({'; '.join(differences) or 'evaluator'}); "
            "resume it with the same, or choose a new folder"
        )
    return msgspec.structs.replace(record, sessions=[*before.sessions, *record.sessions])


def _not_another(folder: Path) -> None:
    if not (folder / "run.json").is_file() and folder.is_dir() and not _is_begun(folder):
        raise InputError(f"{folder} is not empty and holds no run; choose a new folder")


def _is_begun(folder: Path) -> bool:
    """Whether a folder without a record holds nothing, or what a start leaves that got no further.

    That is so where the disk was full or the process was killed.
    """
    return {path.name for path in folder.iterdir()} <= {_LOCK, _PARTIAL}


def make(folder: Path) -> None:
    """Make a folder, unless it is there.

    Raises:
        StoreError: If it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be made: {error.strerror}") from error


def write(path: Path, record: msgspec.Struct) -> None:
    """Write a record as JSON, all of it or nothing.

    Raises:
        StoreError: If it cannot be written; what was there is there still.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
        os.replace(partial, path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error
