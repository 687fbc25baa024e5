"""Which versions of a memory episodes read: all there is, a snapshot, or one that is on trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jitrl.errors import ConfigError
from jitrl.ports import Store


class Reading:
    """What the episodes of an agent read.

    Args:
        snapshot: The one that is read; "" for all there is.
        canary: The one that a share of episodes reads instead; "" for none.
        share: Of episodes, in [0, 1].

    Raises:
        ConfigError: If the store has no snapshots.
        StoreError: If there is none of a name.
    """

    def __init__(self, store: Store, snapshot: str, canary: str, share: float) -> None:
        self._usual = _version(store, snapshot, "memory.snapshot")
        self._canary = _version(store, canary, "memory.canary")
        self._name, self._share = canary, float(share)

    def drawn(self, rng: np.random.Generator) -> tuple[int | None, Mapping[str, Any]]:
        """What an episode reads (``None``: all there is), and what is to be noted of it.

        Nothing is drawn where no snapshot is on trial.
        """
        version, noted = self._usual, dict[str, Any]()
        if self._canary is not None:
            draw = float(rng.random())
            arm = "canary" if draw < self._share else "main"
            noted["canary"] = {"name": self._name, "arm": arm, "share": self._share, "draw": draw}
            version = self._canary if arm == "canary" else version
        if version is not None:
            noted["snapshot"] = version
        return version, noted


def check_versions(store: Store, setting: str) -> None:
    """Refuse a setting that the store cannot keep.

    Raises:
        ConfigError: With what to do.
    """
    if not hasattr(store, "versions"):
        raise ConfigError(
            f"{setting} is set, but store {type(store).__name__} has no 'versions'; leave the "
            "setting out, or keep the memory in the store 'sqlite'"
        )


def _version(store: Store, name: str, setting: str) -> int | None:
    if not name:
        return None
    check_versions(store, setting)
    version: int = store.versions.snapshot(name).version  # type: ignore[attr-defined]
    return version
