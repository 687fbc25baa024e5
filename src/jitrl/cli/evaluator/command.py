"""`jitrl evaluator`: how far an evaluator can be trusted, and labels of people to compare with."""

from __future__ import annotations

import typer

from jitrl.cli.evaluator import check, label

app = typer.Typer(no_args_is_help=True)


@app.callback()
def evaluator() -> None:
    """Compare an evaluator with outcomes and people, and label steps by hand."""


app.command()(label.label)
app.command()(check.check)
