"""`jitrl run`: one agent on tasks x attempts x seeds, with progress, resumable."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jitrl import config
from jitrl.analysis import compare, results
from jitrl.cli.shared.arms import play_one
from jitrl.cli.shared.output import JSON, emit, tell
from jitrl.cli.shared.settings import Flags, with_settings
from jitrl.cli.shared.table import show
from jitrl.report.data import data
from jitrl.run import folder
from jitrl.run.compose import compose
from jitrl.run.ready import require_agent


@with_settings()
def run(
    flags: Flags,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run; the same settings again resume it."),
    ] = None,
    json: JSON = False,
) -> None:
    """Play tasks x attempts x seeds with one agent.

    A run that was stopped is resumed by the same command: what is in its journals is not played
    again.
    """
    settings = config.load(flags)
    parts = compose(settings)
    where = out or folder.default(settings, book=parts.book_digest)
    require_agent(settings, parts)
    play_one(settings.run.agent, settings, parts, where, is_alone=True)
    comparison = compare.compare([results.read(where, settings.run.agent)])
    if json:
        emit({**data(comparison, "jitrl.run/1"), "folder": str(where)})
        return
    show(comparison)
    tell(f"{where}: jitrl report {where} --out report.html")
