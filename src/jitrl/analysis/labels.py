"""What people say of steps: a file of labels beside a run or a memory, appended to and resumed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from jitrl.errors import RecordError, StoreError
from jitrl.run import folder as folders
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
        raise StoreError(f"there is no run folder or memory file {place}")
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

    Raises:
        RecordError: If a line is no label.
        StoreError: If it cannot be read.
    """
    if not path.is_file():
        return {}
    found: dict[tuple[str, int], int | None] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        try:
            label = msgspec.json.decode(line, type=Label)
        except msgspec.MsgspecError as error:
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
    """Write a label down at once.

    Raises:
        StoreError: If the file cannot be written.
    """
    line = msgspec.json.encode(Label(episode, step, score, by, time.time())) + b"\n"
    try:
        with path.open("ab") as file:
            file.write(line)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error
