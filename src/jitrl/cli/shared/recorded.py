"""The memory that a command line names, and the settings that it was used with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jitrl import config
from jitrl.agents.corrected import Corrected
from jitrl.analysis.sight import found, looking
from jitrl.cli.shared.settings import Flags, merge
from jitrl.stores.sqlite import SQLiteStore


def recorded(place: Path, seed: int | None, given: Sequence[str]) -> tuple[Path, config.Memory]:
    """The memory file, and its settings, of which ``--set`` gave some; see ``sight.found``.

    Raises:
        InputError: If a run has no such seed.
        StoreError: If there is nothing at ``place``.
        ConfigError: If a setting does not exist or has an impossible value.
    """
    flags: Flags = {}
    merge(flags, given, "--set")
    return found(place, seed, flags)


def sight(store: SQLiteStore, settings: config.Memory, given: Sequence[str]) -> Corrected:
    """Who decided on ``store``; trusts what the memory remembers, unless ``--set`` says else."""
    is_said = any(text.startswith("memory.trusted") for text in given)
    return looking(store, settings, trusted=not is_said)
