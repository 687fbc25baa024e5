"""What running episodes have done so far, so that they go on when the service is started again.

One file for each running episode, appended to before a step is answered and deleted once the memory
has the episode. It is handed to the system and not synced: a killed process loses no answered step,
a power cut may lose the last ones.
"""

from __future__ import annotations

import hashlib
import logging
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from jitrl.errors import StoreError
from jitrl.stores import packing
from jitrl.stores.lock import FileLock
from jitrl.types import Decision, State

_log = logging.getLogger(__name__)

_SUFFIX = ".episode"
_VERSION = 2
_READ = (1, _VERSION)
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
        is_torn: Whether a step in between is missing.
        is_noted: Whether rules were told in it.
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
    is_torn: bool = False
    is_noted: bool = False


class RunningJournal:
    """The files of one memory's running episodes. Each episode belongs to one thread at a time.

    Raises:
        StoreError: If the folder cannot be made, or another process has it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder} cannot be made: {error.strerror}") from error
        self._lock = FileLock(os.fspath(self.folder / "in-use"))
        try:
            self._lock.acquire(_SECONDS)
        except StoreError as error:
            self._lock.close()
            raise StoreError(f"another service has the running episodes in {folder}") from error

    def close(self) -> None:
        """Let another process have them."""
        self._lock.close()

    def begin(
        self,
        key: str,
        task: str,
        scope: str,
        principal: str,
        goal: str | None = None,
        family: str = "",
    ) -> None:
        """An episode starts."""
        self._append(key, ["begin", _VERSION, key, task, scope, principal, goal, family])

    def noted(self, key: str) -> None:
        """Rules were told."""
        self._append(key, ["noted"])

    def step(self, key: str, number: int, state: State, action: str, decision: Decision) -> None:
        """A step was taken; the last entry of a number counts.

        Its neighbors are left out: they are nine tenths of a decision, and can be found again.
        """
        where = (state.text, state.context, state.place)
        body = packing.pack([replace(decision, neighbors=())])
        self._append(key, ["step", number, where, action, body])

    def reward(self, key: str, step: int, value: float) -> None:
        """A step was rewarded."""
        self._append(key, ["reward", step, value])

    def said(self, key: str, value: float) -> None:
        """The agent rewarded itself."""
        self._append(key, ["said", value])

    def end(self, key: str) -> None:
        """The memory has the episode."""
        try:
            self._path(key).unlink(missing_ok=True)
        except OSError:
            _log.exception("running episode not deleted key=%s", key)

    def kept(self) -> Iterator[Kept]:
        """The episodes that were running; what is torn at the end of a file is left out."""
        for path in sorted(self.folder.glob(f"*{_SUFFIX}")):
            records = list(_records(path.read_bytes()))
            if not records or records[0][0] != "begin" or records[0][1] not in _READ:
                _log.warning("running episode unreadable file=%s", path)
                continue
            yield _read(records)

    def _append(self, key: str, record: list[Any]) -> None:
        body = _encode(record)
        head = len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big")
        try:
            with self._path(key).open("ab", buffering=0) as file:
                before = file.tell()
                if file.write(head + body) != _HEAD + len(body):
                    file.truncate(before)
                    raise OSError("the disk is full")
        except OSError:  # the agent goes on, and a restart knows less
            _log.exception("running episode not written key=%s", key)

    def _path(self, key: str) -> Path:
        return self.folder / f"{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}{_SUFFIX}"


def _records(data: bytes) -> Iterator[list[Any]]:
    at = 0
    while at + _HEAD <= len(data):
        length, crc = (int.from_bytes(data[at + i : at + i + 4], "big") for i in (0, 4))
        body = data[at + _HEAD : at + _HEAD + length]
        if len(body) < length or zlib.crc32(body) != crc:
            return
        yield msgspec.msgpack.decode(body)
        at += _HEAD + length


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
            kept.rewards.append((values[0], values[1]))
        elif kind == "noted":
            kept.is_noted = True
        else:
            kept.said.append(values[0])
    return kept
