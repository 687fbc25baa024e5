"""`jitrl rules`: the rulebook of a memory: what is in it, why, and how to change it by hand."""

from __future__ import annotations

import typer

from jitrl.cli.rules import changing, lines, looking, redistil
from jitrl.cli.usage import SentenceCommand

app = typer.Typer(no_args_is_help=True)


@app.callback()
def rules() -> None:
    """List, show, add, retire, restore, rebuild, export and import rules of a memory."""


app.command()(looking.ls)
app.command()(looking.show)
app.command()(looking.why)
app.command(cls=SentenceCommand)(changing.add)
app.command()(changing.retire)
app.command()(changing.restore)
app.command()(redistil.redistil)
app.command()(lines.export)
app.command("import")(lines.import_)
