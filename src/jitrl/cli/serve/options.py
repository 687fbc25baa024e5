"""Options of `jitrl serve` that its commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FOLDER = Annotated[
    Path, typer.Option("--folder", help="Where the memories of all tenants and the keys lie.")
]
HERE = Path("jitrl-service")
