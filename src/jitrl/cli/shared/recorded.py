"""The memory that a command line names, and the settings that it was used with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from jitrl import config
from jitrl.agents.corrected import Corrected
from jitrl.cli.shared.settings import Flags, merge
from jitrl.errors import InputError, StoreError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.run import folder as folders
from jitrl.run.embedding import remembered
from jitrl.stores.sqlite import SQLiteStore


def recorded(place: Path, seed: int | None, given: Sequence[str]) -> tuple[Path, config.Memory]:
    """The memory file, and the settings it was used with: those of its run, else those in force.

    Raises:
        InputError: If a run has no such seed.
        StoreError: If there is nothing at ``place``.
        ConfigError: If a setting does not exist or has an impossible value.
    """
    flags: Flags = {}
    merge(flags, given, "--set")
    if not place.exists():
        raise StoreError(f"there is no run folder or memory file {place}")
    folder = place if place.is_dir() else place.parent
    if not (place.is_dir() or (folder / "run.json").is_file()):
        return place, config.load(flags).memory
    record = folders.read(folder)
    if place.is_dir():
        if seed is not None and seed not in record.seeds:
            raise InputError(f"{folder} has no seed {seed}; it has {list(record.seeds)}")
        place = folders.store_path(folder, record.seeds[0] if seed is None else seed)
    settings = record.settings["memory"] | flags.get("memory", {})
    return place, msgspec.convert(settings, config.Memory)


def sight(
    store: SQLiteStore, file: Path, settings: config.Memory, given: Sequence[str]
) -> Corrected:
    """Who decided on ``store``; trusts what the memory remembers, unless something else is given.

    It reads all there is, and judges nothing, so the evaluator that the memory was used with is not
    needed.
    """
    trusted = store.settings().get("trusted")
    if trusted and not any(text.startswith("memory.trusted") for text in given):
        settings = msgspec.structs.replace(settings, trusted=frozenset(trusted))
    settings = msgspec.structs.replace(settings, snapshot="", canary="")
    return Corrected(store, EnvironmentRewards(), settings, partial(remembered, str(file)))
