"""A folder of memories, one file for each tenant, each opened when it is first asked for."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

from jitrl.config import Memory, Settings
from jitrl.errors import JitRLError, StoreError
from jitrl.service.desk import Desk
from jitrl.service.keys import TENANT, checked_tenant
from jitrl.service.seats import Limits

_log = logging.getLogger(__name__)

KEYS = "keys.json"
"""The file of keys in the folder."""


class Tenants:
    """The desks of all tenants. Safe for threads.

    Args:
        folder: Where the memory files lie; made if it does not exist.
        settings: Of every memory.

    Raises:
        StoreError: If the folder cannot be used.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        settings: Memory | None = None,
        *,
        model: Settings | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.folder, self._settings, self._model = Path(folder), settings, model
        self.limits = limits or Limits()
        self._desks: dict[str, Desk] = {}
        self._lock = threading.Lock()
        made(self.folder)

    def path(self, tenant: str) -> Path:
        """The memory file of a tenant."""
        return self.folder / f"{checked_tenant(tenant)}.db"

    def open_desk(self, tenant: str) -> Desk | None:
        """The desk of a tenant if it is open."""
        return self._desks.get(tenant)

    def desk(self, tenant: str) -> Desk:
        """The desk of a tenant; its memory is made if there is none.

        Raises:
            StoreError: If the file cannot be used.
            ConfigError: If a setting has an impossible value.
        """
        found = self._desks.get(tenant)
        if found is not None:
            return found
        with self._lock:
            if tenant not in self._desks:
                self._desks[tenant] = Desk(
                    self.path(tenant),
                    self._settings,
                    model=self._model,
                    limits=self.limits,
                    is_kept=True,
                )
            return self._desks[tenant]

    def open(self) -> dict[str, Desk]:
        """The desks that are open, by tenant."""
        return dict(self._desks)

    def warm(self) -> list[str]:
        """Open and read all memories that are there; returns the tenants that failed."""
        failed = []
        for path in sorted(self.folder.glob("*.db")):
            if not TENANT.fullmatch(path.stem):
                continue
            try:
                self.desk(path.stem).warm()
            except JitRLError:
                _log.exception("memory unusable tenant=%s", path.stem)
                failed.append(path.stem)
        return failed

    def sweep(self) -> int:
        """Close the episodes that nobody asked for; returns how many."""
        return sum(len(desk.roster.sweep()) for desk in self.open().values())

    def close(self) -> None:
        """Release all files; may be called twice."""
        with self._lock:
            for desk in self._desks.values():
                desk.close()
            self._desks.clear()


def made(folder: Path) -> Path:
    """``folder``, which is there now; one that is made is this user's alone, where modes are kept.

    Raises:
        StoreError: If it cannot be made.
    """
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror}") from error
    return folder
