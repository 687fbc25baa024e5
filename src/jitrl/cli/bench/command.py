"""`jitrl bench`: measurements of this package, and scores of finished benchmark tasks."""

from __future__ import annotations

import typer

from jitrl.cli.bench import (
    choices,
    credit,
    decide,
    judge,
    learn,
    paper,
    poison,
    preview,
    rules,
    search,
    serve,
    transfer,
    webarena,
)

app = typer.Typer(no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure retrieval, decisions, learning and its choices; score finished web tasks."""


app.command()(learn.learn)
app.command()(transfer.transfer)
app.command()(choices.choices)
app.command()(rules.rules)
app.command()(paper.paper)
app.command()(poison.poison)
app.command()(judge.judge)
app.command()(credit.credit)
app.command()(preview.preview)
app.command()(webarena.webarena)
app.command()(search.search)
app.command()(decide.decide)
app.command()(serve.serve)
