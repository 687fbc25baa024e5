"""How a memory is looked at again: its file, the settings it was used with, and who decided."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from jitrl import config
from jitrl.agents.corrected import Corrected
from jitrl.errors import InputError, StoreError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.run import folder as folders
from jitrl.run.embedding import remembered
from jitrl.stores.place import nearest
from jitrl.stores.sqlite import SQLiteStore

Flags = Mapping[str, Mapping[str, Any]]


def found(place: Path, seed: int | None, flags: Flags) -> tuple[Path, config.Memory]:
    """The memory file, and the settings it was used with: those of its run, else those in force.

    Args:
        place: A memory file, or the folder of a run.
        seed: Of a run: whose memory; ``None``: the first.
        flags: Group to setting to value; these count before what a run recorded.

    Raises:
        InputError: If the run has no such seed.
        StoreError: If there is nothing.
    """
    if not place.exists():
        raise StoreError(f"there is no run folder or memory file {place}{nearest(place)}")
    folder = place if place.is_dir() else place.parent
    if not (place.is_dir() or (folder / "run.json").is_file()):
        return place, config.load(flags).memory
    record = folders.read(folder)
    if place.is_dir():
        if seed is not None and seed not in record.seeds:
            raise InputError(f"{folder} has no seed {seed}; it has {list(record.seeds)}")
        place = folders.store_path(folder, record.seeds[0] if seed is None else seed)
    recorded = record.settings["memory"] | dict(flags.get("memory", {}))
    return place, msgspec.convert(recorded, config.Memory)


def looking(store: SQLiteStore, settings: config.Memory, *, trusted: bool = True) -> Corrected:
    """Who decided with the memory in ``store``; it reads all there is, and judges nothing.

    Args:
        trusted: Whether the bases that the memory remembers count before those of ``settings``.
    """
    known = store.settings().get("trusted")
    if trusted and known:
        settings = msgspec.structs.replace(settings, trusted=frozenset(known))
    settings = msgspec.structs.replace(settings, snapshot="", canary="")
    # Nothing is judged here, so the evaluator that the memory was used with is not needed.
    return Corrected(store, EnvironmentRewards(), settings, partial(remembered, store.path))
