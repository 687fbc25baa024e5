"""What running episodes have done so far, so that they go on when the service is started again.

One file for each running episode, appended to before a step is answered and deleted once the memory
has the episode. It is handed to the system and not synced: a killed process loses no answered step,
a power cut may lose the last ones. What cannot be written, as on a full disk, is written with what
comes next.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from jitrl.errors import StoreError
from jitrl.stores import packing
from jitrl.stores.lock import FileLock
from jitrl.stores.purge_find import Wanted
from jitrl.types import Decision, State

_log = logging.getLogger(__name__)

_SUFFIX, _LOCK = ".episode", "in-use"
_VERSION = 3
_READ = (1, 2, _VERSION)
_SECONDS = 5.0
_HEAD = 8  # bytes before a record: its length and checksum
_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was answered."""

    state: State
    action: str
    decision: Decision


@dataclass(slots=True)
class Kept:
    """A running episode as its file has it.

    Attributes:
        rewards: Step and value of each trusted reward, in the order they came.
        said: Each reward on the agent's own word.
        once: Idempotency key → step that was named and value of the reward that came with it.
        is_torn: Whether a step is missing.
        is_noted: Whether rules spoke in it, told or held out.
        seen: Step → what the agent saw there, as it is kept.
    """

    key: str
    task: str
    scope: str
    principal: str
    goal: str | None = None
    family: str = ""
    steps: list[Step] = field(default_factory=list)
    rewards: list[tuple[int, float]] = field(default_factory=list)
    said: list[float] = field(default_factory=list)
    once: dict[str, tuple[int | None, float]] = field(default_factory=dict)
    is_torn: bool = False
    is_noted: bool = False
    seen: dict[int, str] = field(default_factory=dict)


def folder_beside(path: str | os.PathLike[str]) -> Path:
    """Where the running episodes of a memory file are kept, if a service keeps them."""
    return Path(f"{os.path.splitext(path)[0]}.running")


class RunningJournal:
    """The files of one memory's running episodes. Each episode belongs to one thread at a time.

    Raises:
        StoreError: If the folder cannot be made, or another process has it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._unwritten: dict[str, bytes] = {}
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder} cannot be made: {error.strerror}") from error
        self._lock = FileLock(os.fspath(self.folder / _LOCK))
        try:
            self._lock.acquire(_SECONDS)
        except StoreError as error:
            self._lock.close()
            raise StoreError(f"another service has the running episodes in {folder}") from error

    def close(self) -> None:
        """Let another process have them."""
        for key in list(self._unwritten):
            self.catch_up(key)
        self._lock.close()

    def owes(self, key: str) -> bool:
        """Whether something of an episode could not be written so far."""
        return key in self._unwritten

    def catch_up(self, key: str) -> None:
        """Write what could not be written of an episode."""
        if self.owes(key):
            self._put(key, b"")

    def begin(
        self,
        key: str,
        task: str,
        scope: str,
        principal: str,
        goal: str | None = None,
        family: str = "",
    ) -> None:
        """An episode starts; what an unreadable file of its key holds goes."""
        self.end(key)
        self._append(key, ["begin", _VERSION, key, task, scope, principal, goal, family])

    def noted(self, key: str) -> None:
        """Rules spoke, told or held out."""
        self._append(key, ["noted"])

    def lost(self, key: str) -> None:
        """A step was taken that could not be written down."""
        self._append(key, ["lost"])

    def step(
        self,
        key: str,
        number: int,
        state: State,
        action: str,
        decision: Decision,
        *,
        must: bool = False,
    ) -> None:
        """A step was taken; the last entry of a number counts.

        Its neighbors are left out: they are nine tenths of a decision, and can be found again.

        Args:
            must: Whether it does not count if it cannot be written.

        Raises:
            StoreError: If it must be written, and cannot.
        """
        where = (state.text, state.context, state.place)
        body = packing.pack_plain([replace(decision, neighbors=())])
        self._append(key, ["step", number, where, action, body], must=must)

    def seen(self, key: str, number: int, text: str) -> None:
        """What the agent saw at a step."""
        self._append(key, ["seen", number, text])

    def reward(
        self, key: str, step: int, value: float, once: str = "", named: int | None = None
    ) -> None:
        """A step was rewarded.

        Args:
            once: Idempotency key that it came with.
            named: Step that was named with it.

        Raises:
            StoreError: If it cannot be written.
        """
        self._append(key, ["reward", step, value, once, named], must=True)

    def said(self, key: str, value: float, once: str = "", named: int | None = None) -> None:
        """The agent rewarded itself. Arguments and errors as ``reward``."""
        self._append(key, ["said", value, once, named], must=True)

    def end(self, key: str) -> None:
        """The memory has the episode."""
        self._unwritten.pop(key, None)
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError:
            _log.exception("running episode not deleted key=%s", key)

    def kept(self) -> Iterator[Kept]:
        """The episodes that were running.

        What is torn at the end of a file is cut off, so that what follows can be read again.
        """
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            data = path.read_bytes()
            records, end = _records(data)
            if not data:  # a process ended, or the disk was full, before anything was written
                path.unlink(missing_ok=True)
                continue
            if not _is_whole(records):
                _log.warning("running episode unreadable file=%s", path)
                continue
            if end < len(data):
                _cut(path, end)
            yield _read(records)

    def _append(self, key: str, record: list[Any], *, must: bool = False) -> None:
        body = _encode(record)
        head = len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big")
        self._put(key, head + body, must=must)

    def _put(self, key: str, data: bytes, *, must: bool = False) -> None:
        """Write ``data`` behind what is unwritten by now."""
        left = self._unwritten.pop(key, b"")
        try:
            with self._path(key).open("ab", buffering=0) as file:
                before = file.tell()
                if file.write(left + data) != len(left + data):
                    file.truncate(before)
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            if not must:
                left += data
            if left:
                self._unwritten[key] = left
            _log.error("running episode not written key=%s error=%s", key, error)
            if must:
                raise StoreError(
                    f"{self._path(key)}: {error.strerror}; this could not be kept, so it counts "
                    "for nothing: say it again once there is room"
                ) from error

    def _path(self, key: str) -> Path:
        return self.folder / f"{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}{_SUFFIX}"


def holding(folder: Path, wanted: Wanted) -> list[Path]:
    """The files of running episodes that hold something of the subjects of a purge."""
    return [p for p in sorted(folder.glob(f"*{_SUFFIX}")) if _holds(p.read_bytes(), wanted)]


@contextmanager
def unused(folder: Path) -> Iterator[bool]:
    """Whether no service has the running episodes in a folder; none gets them in the block."""
    with closing(FileLock(os.fspath(folder / _LOCK))) as lock:
        try:
            lock.acquire(0.0)
        except StoreError:
            yield False
        else:
            yield True


def _holds(data: bytes, wanted: Wanted) -> bool:
    records, end = _records(data)
    rest = data if not _is_whole(records) else data[end:]
    if any(text.encode() in said for text in wanted.texts for said in (rest, rest.lower())):
        return True
    if not _is_whole(records):
        return False
    kept = Kept(*records[0][2:])
    steps = (values for kind, *values in records if kind == "step")
    return (
        kept.key in wanted.episodes
        or kept.task in wanted.tasks
        or kept.principal in wanted.principals
        or any(kind != "step" and wanted.says(values) for kind, *values in records)
        or any(wanted.says(where, act, packing.unpack(made)) for _, where, act, made in steps)
    )


def _records(data: bytes) -> tuple[list[list[Any]], int]:
    """The whole records, and where the last of them ends."""
    found: list[list[Any]] = []
    at = 0
    while at + _HEAD <= len(data):
        length, crc = (int.from_bytes(data[at + i : at + i + 4], "big") for i in (0, 4))
        body = data[at + _HEAD : at + _HEAD + length]
        if not body or len(body) < length or zlib.crc32(body) != crc:  # a power cut leaves zeros
            break
        found.append(msgspec.msgpack.decode(body))
        at += _HEAD + length
    return found, at


def _is_whole(records: list[list[Any]]) -> bool:
    """Whether they are those of an episode from its beginning."""
    return bool(records) and records[0][0] == "begin" and records[0][1] in _READ


def _cut(path: Path, end: int) -> None:
    try:
        os.truncate(path, end)
    except OSError:  # the agent goes on, and the next restart knows less
        _log.exception("torn end of a running episode not cut off file=%s", path)


def _read(records: list[list[Any]]) -> Kept:
    kept = Kept(*records[0][2:])
    for kind, *values in records[1:]:
        if kind == "step":
            number, where, action, packed = values
            if number > len(kept.steps):
                kept.is_torn = True
                break
            decision = packing.build(packing.unpack(packed)[0])
            kept.steps[number:] = [Step(State(*where), action, decision)]
        elif kind == "reward":
            step, value, *asked = values
            kept.rewards.append((step, value))
            _named(kept, value, *asked)
        elif kind == "noted":
            kept.is_noted = True
        elif kind == "seen":
            kept.seen[values[0]] = values[1]
        elif kind == "lost":
            kept.is_torn = True
        else:
            value, *asked = values
            kept.said.append(value)
            _named(kept, value, *asked)
    return kept


def _named(kept: Kept, value: float, once: str = "", step: int | None = None) -> None:
    """A reward came with an idempotency key, if it did."""
    if once:
        kept.once[once] = step, value
