"""Options that several benches take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ARMS = Annotated[
    str, typer.Option(help="Only the first arm, and those whose name matches this pattern.")
]
GAMES = Annotated[str, typer.Option(help="Seeds of the text games, as `40-57` or `1,2,3`.")]
OUT = Annotated[
    Path | None,
    typer.Option(help="Folder of what was played; the same command again goes on there."),
]
REPEATS = Annotated[int, typer.Option(min=1, help="Repeats of all queries.")]
SEEDS = Annotated[int, typer.Option(min=1, help="Run seeds: 0, 1, …")]
WORKERS = Annotated[int, typer.Option(min=1, help="Processes.")]
