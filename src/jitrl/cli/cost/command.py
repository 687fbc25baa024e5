"""`jitrl cost`: dollars of learning at inference beside those of fine-tuning."""

from __future__ import annotations

import inspect
import re
from dataclasses import asdict, replace
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from jitrl.analysis.price import NAMES, Account, Assumptions, Origin, account, measured
from jitrl.cli.cost.words import LANGUAGES, Words
from jitrl.cli.shared.output import emit, people
from jitrl.errors import InputError
from jitrl.report.words import Language

_DEFAULTS = Assumptions()
_MEASURED = ("tokens_in", "tokens_out", "judging", "learning")


def _said(name: str) -> str:
    """What the docstring says of an assumption."""
    doc = inspect.getdoc(Assumptions) or ""
    found = re.search(rf"^    {name}: (.*)$", doc, re.MULTILINE)
    return found[1] if found else ""


def _option(name: str) -> inspect.Parameter:
    flag = f"--{name.replace('_', '-')}"
    said = f"{_said(name)} (assumed: {getattr(_DEFAULTS, name):g})"
    annotation = Annotated[float | None, typer.Option(flag, help=said)]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def cost(
    run: Annotated[
        Path | None,
        typer.Option(help="Finished run whose ledger says the tokens and shares of an episode."),
    ] = None,
    volume: Annotated[
        float, typer.Option(min=0, help="Tasks in use for which totals are shown.")
    ] = 10_000,
    lang: Annotated[Language, typer.Option(help="Language of what is said.")] = "en",
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    **given: float | None,
) -> None:
    """Set what learning at inference costs beside fine-tuning, and where both are even.

    Every number is an option and is printed beside the result. Defaults are assumptions, not
    offers: give your own tokens and prices.
    """
    if not isfinite(volume):
        raise InputError(f"--volume is {volume}; it must be a finite number of tasks")
    own = {name: value for name, value in given.items() if value is not None}
    origins: dict[str, Origin] = dict.fromkeys(NAMES, "assumed")
    values = replace(_DEFAULTS, **own)
    if run is not None:
        values = replace(measured(run, values), **own)
        origins |= dict.fromkeys(_MEASURED, "measured")
    origins |= dict.fromkeys(own, "given")
    found = account(values)
    if json:
        emit(_data(values, origins, found, volume))
    else:
        _show(values, origins, found, volume, LANGUAGES[lang])


cost.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        *(
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in inspect.signature(cost, eval_str=True).parameters.values()
            if p.name != "given"
        ),
        *map(_option, NAMES),
    ]
)
cost.__annotations__ = {p.name: p.annotation for p in inspect.signature(cost).parameters.values()}


def _data(
    values: Assumptions, origins: dict[str, Origin], found: Account, volume: float
) -> dict[str, Any]:
    ways = {"memory": found.memory, "tuning": found.tuning}
    return {
        "schema": "jitrl.cost/1",
        "attempts": found.attempts,
        **{name: {**asdict(way), "volume": way.total(volume)} for name, way in ways.items()},
        "volume": volume,
        "even": found.even,
        "cheaper": found.cheaper(volume),
        "assumptions": {
            name: {"value": value, "origin": origins[name]}
            for name, value in asdict(values).items()
        },
    }


def _show(
    values: Assumptions, origins: dict[str, Origin], found: Account, volume: float, words: Words
) -> None:
    console = people()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for head in (words.once, words.each, words.total.format(volume=volume)):
        table.add_column(Text(head), justify="right", header_style="dim", no_wrap=True)
    for name, way in ((words.memory, found.memory), (words.tuning, found.tuning)):
        numbers = (_dollars(way.once), _dollars(way.each), _dollars(way.total(volume)))
        table.add_row(Text(name), *map(Text, numbers))
    console.print(table)
    console.print()
    if found.even is None:
        said = words.never[found.cheaper(volume)]
    else:
        said = words.even.format(
            volume=found.even, before=words.names[found.cheaper(found.even / 2)]
        )
    console.print(Text(said, style="bold"))
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(Text(words.rests), header_style="dim", no_wrap=True)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column(Text(words.option), header_style="dim", no_wrap=True)
    table.add_column(Text(words.origin), header_style="dim", no_wrap=True)
    for name, value in asdict(values).items():
        style = "dim" if origins[name] == "assumed" else ""
        flag = f"--{name.replace('_', '-')}"
        cells = (words.what[name], f"{value:,.6g}", flag, words.origins[origins[name]])
        table.add_row(*map(Text, cells), style=style)
    console.print(table)
    console.print()
    console.print(Text(words.left_out, style="dim"))


def _dollars(value: float) -> str:
    return f"${value:,.0f}" if value >= 100 else f"${value:,.2f}" if value >= 1 else f"${value:.4f}"
