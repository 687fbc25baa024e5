"""Options of `jitrl serve` that its commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jitrl import config

FOLDER = Annotated[
    str | None,
    typer.Option(
        "--folder",
        help="Where the memories of all tenants and the keys lie; default: setting serve.folder.",
        show_default=False,
    ),
]


def place(folder: str | None) -> Path:
    """The folder that is named, else that of the settings in force.

    Raises:
        ConfigError: If a setting is not allowed.
    """
    return Path(config.load().serve.folder if folder is None else folder)
