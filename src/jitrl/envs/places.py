"""Folders outside a project: what can be made again, and what a user owns and we may not ship."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from jitrl.errors import ConfigError


def cache_folder(part: str) -> Path:
    """Where ``part`` of the package keeps what it can make again.

    ``JITRL_CACHE_DIR``, or the user's cache folder of the system; it need not exist yet.
    """
    named = os.environ.get("JITRL_CACHE_DIR")
    if named:
        return Path(named) / part
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "jitrl" / part


def games_folder(given: Path | None) -> Path:
    """Where the user's story files lie: ``given``, else ``JITRL_GAMES_DIR``.

    Raises:
        ConfigError: If neither names a folder.
    """
    named = given or os.environ.get("JITRL_GAMES_DIR")
    if not named:
        raise ConfigError(
            "story files are not shipped; say where yours are with the variable JITRL_GAMES_DIR or "
            "the option folder"
        )
    folder = Path(named)
    if not folder.is_dir():
        origin = "option folder" if given else "variable JITRL_GAMES_DIR"
        raise ConfigError(f"{origin} is {str(folder)!r}; there is no such folder")
    return folder
