"""What people say of steps: a file of labels beside a run or a memory, appended to and resumed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from jitrl.errors import RecordError, StoreError
from jitrl.run import folder as folders
from jitrl.stores.place import nearest
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode

SCHEMA = "jitrl.label/1"

Labels = Mapping[tuple[str, int], int | None]
"""(episode key, step) to a score from -3 to 3, or ``None`` for "cannot tell"."""


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file. A later line of the same step and person replaces an earlier one."""

    episode: str
    step: int
    score: int | None
    by: str = ""
    at: float = 0.0
    schema: str = SCHEMA


def episodes(place: Path, memory: str = "default") -> list[Episode]:
    """The finished episodes of a run folder (all seeds) or a memory file, with their outcomes.

    Raises:
        InputError: If there is no run in the folder.
        StoreError: If there is nothing, or a file cannot be read.
    """
    if not place.exists():
        raise StoreError(f"there is no run folder or memory file {place}{nearest(place)}")
    if place.is_dir():
        record = folders.read(place)
        files = [folders.store_path(place, seed) for seed in record.seeds]
    else:
        files = [place]
    found: list[Episode] = []
    for file in files:
        if place.is_dir() and not file.is_file():
            continue  # a seed that was not begun yet
        with SQLiteStore(file, memory=memory, readonly=True) as store:
            found += [e for e in store.episodes() if e.status != "aborted" and e.steps]
    return found


def chosen(episodes: Sequence[Episode], limit: int | None, seed: int) -> list[Episode]:
    """``limit`` of the episodes (all if ``None``) in an order drawn from ``seed``."""
    order = np.random.default_rng(seed).permutation(len(episodes)).tolist()
    return [episodes[i] for i in order[:limit]]


def file_of(place: Path) -> Path:
    """Where labels of a run or a memory lie unless another file is named."""
    return place / "labels.jsonl" if place.is_dir() else place.with_suffix(".labels.jsonl")


def read(path: Path, by: str | None = None) -> dict[tuple[str, int], int | None]:
    """The labels in a file, or one person's; empty if it does not exist.

    A last line without its end is what a kill left of a label, and is none.

    Raises:
        RecordError: If a line is no label.
        StoreError: If it cannot be read.
    """
    if not path.is_file():
        return {}
    found: dict[tuple[str, int], int | None] = {}
    try:
        lines = path.read_bytes().split(b"\n")  # within a text, other ends of lines may stand
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    for number, line in enumerate(_whole(lines), 1):
        try:
            label = _label(line)
        except ValueError as error:
            raise RecordError(f"{path}, line {number} is no label: {error}") from error
        if label.schema != SCHEMA or (label.score is not None and not -3 <= label.score <= 3):
            raise RecordError(
                f"{path}, line {number}: schema {label.schema!r}, score {label.score}; "
                f"it must be {SCHEMA!r} and -3 to 3 or null"
            )
        if by is None or label.by == by:
            found[label.episode, label.step] = label.score
    return found


def append(path: Path, episode: str, step: int, score: int | None, by: str) -> None:
    """Write a label down at once, in place of what a kill left of the last one.

    Raises:
        StoreError: If the file cannot be written.
    """
    line = msgspec.json.encode(Label(episode, step, score, by, time.time())) + b"\n"
    try:
        _mend(path)
        with path.open("ab") as file:
            file.write(line)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def _label(line: bytes) -> Label:
    """The label in a line.

    Raises:
        ValueError: If there is none.
    """
    try:
        return msgspec.json.decode(line, type=Label)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from error


def _whole(lines: list[bytes]) -> list[bytes]:
    """All lines but a last one that has no end and is no label."""
    try:
        if lines[-1]:
            _label(lines[-1])
            return lines
    except ValueError:
        pass
    return lines[:-1]


def _mend(path: Path) -> None:
    """Have the file end with a whole line; the rest of one would spoil what is written next."""
    if not path.is_file():
        return
    was = path.read_bytes()
    whole = b"".join(line + b"\n" for line in _whole(was.split(b"\n")))
    if whole != was:
        with path.open("r+b") as file:
            file.truncate(min(len(whole), len(was)))
            file.seek(0, os.SEEK_END)
            file.write(whole[len(was) :])
