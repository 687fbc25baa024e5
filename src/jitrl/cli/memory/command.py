"""`jitrl memory`: all that is done with a memory file."""

from __future__ import annotations

import typer

from jitrl.cli.memory import (
    changing,
    export,
    looking,
    preview,
    purging,
    rebuild,
    replaying,
    versions,
)
from jitrl.cli.memory.import_ import import_

app = typer.Typer(no_args_is_help=True)


@app.callback()
def memory() -> None:
    """List, show, quarantine, replay, roll back, export, import, check, back up, purge, preview."""


app.command()(looking.ls)
app.command()(looking.show)
app.command()(looking.stats)
app.command()(changing.quarantine)
app.command()(changing.restore)
app.command()(replaying.replay)
app.command()(versions.snapshot)
app.command()(versions.snapshots)
app.command()(replaying.diff)
app.command()(versions.rollback)
app.command()(versions.undo)
app.command()(versions.canary)
app.command()(export.export)
app.command("import")(import_)
app.command()(rebuild.rebuild)
app.command()(looking.check)
app.command()(purging.backup)
app.command()(purging.purge)
app.command()(preview.preview)
