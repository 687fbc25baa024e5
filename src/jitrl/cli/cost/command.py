"""`jitrl cost`: dollars of learning at inference beside those of fine-tuning."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from jitrl.analysis.price import NAMES, Account, Assumptions, Origin, account, measured
from jitrl.analysis.spend import Spent, spent
from jitrl.cli.cost.spent import show_spent
from jitrl.cli.cost.words import LANGUAGES, Words
from jitrl.cli.shared.output import emit, people
from jitrl.errors import InputError
from jitrl.language import singular
from jitrl.report.words import Language

_MEASURED = ("tokens_in", "tokens_out", "judging", "learning")


def _assumed(name: str) -> Any:
    """The option that gives an assumption."""
    [one] = (field for field in fields(Assumptions) if field.name == name)
    return typer.Option(
        f"--{name.replace('_', '-')}", help=f"{one.metadata['help']} (assumed: {one.default:g})"
    )


def cost(
    run: Annotated[
        Path | None,
        typer.Option(help="Run whose ledger says the tokens and shares of an episode."),
    ] = None,
    most_beside: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Exit 1 if judging and learning took a larger share of what the run spent.",
        ),
    ] = None,
    volume: Annotated[
        float, typer.Option(min=0, help="Tasks in use for which totals are shown.")
    ] = 10_000,
    lang: Annotated[Language, typer.Option(help="Language of what is said.")] = "en",
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    tokens_in: Annotated[float | None, _assumed("tokens_in")] = None,
    tokens_out: Annotated[float | None, _assumed("tokens_out")] = None,
    price_in: Annotated[float | None, _assumed("price_in")] = None,
    price_out: Annotated[float | None, _assumed("price_out")] = None,
    tasks: Annotated[float | None, _assumed("tasks")] = None,
    attempts: Annotated[float | None, _assumed("attempts")] = None,
    rounds: Annotated[float | None, _assumed("rounds")] = None,
    judging: Annotated[float | None, _assumed("judging")] = None,
    learning: Annotated[float | None, _assumed("learning")] = None,
    used: Annotated[float | None, _assumed("used")] = None,
    gpus: Annotated[float | None, _assumed("gpus")] = None,
    hours: Annotated[float | None, _assumed("hours")] = None,
    gpu_price: Annotated[float | None, _assumed("gpu_price")] = None,
    served: Annotated[float | None, _assumed("served")] = None,
    load: Annotated[float | None, _assumed("load")] = None,
) -> None:
    """Set what learning at inference costs beside fine-tuning, and where both are even.

    Every number is an option and is printed beside the result. Defaults are assumptions, not
    offers: give your own tokens and prices. With --run the tokens are a run's own, and it is said
    what acting, judging and learning took of it.
    """
    given = locals()
    if most_beside is not None and run is None:
        raise InputError("--most-beside needs --run: shares are those of a run's ledger")
    if not isfinite(volume):
        raise InputError(f"--volume is {volume}; it must be a finite number of tasks")
    own = {name: given[name] for name in NAMES if given[name] is not None}
    origins: dict[str, Origin] = dict.fromkeys(NAMES, "assumed")
    values = replace(Assumptions(), **own)
    ledger = None
    if run is not None:
        ledger = spent(run, values.price_in, values.price_out)
        values = replace(measured(ledger, values), **own)
        origins |= dict.fromkeys(_MEASURED, "measured")
    origins |= dict.fromkeys(own, "given")
    found = account(values)
    if json:
        emit(_data(values, origins, found, volume) | (_phases(ledger) if ledger else {}))
    else:
        if ledger is not None:
            show_spent(ledger, LANGUAGES[lang])
        _show(values, origins, found, volume, LANGUAGES[lang])
    if ledger is not None and most_beside is not None and ledger.beside > most_beside:
        people().print(
            LANGUAGES[lang].above.format(share=ledger.beside, most=most_beside), style="red"
        )
        raise typer.Exit(1)


def _data(
    values: Assumptions, origins: dict[str, Origin], found: Account, volume: float
) -> dict[str, Any]:
    ways = {"memory": found.memory, "tuning": found.tuning}
    return {
        "schema": "jitrl.cost/1",
        "attempts": found.attempts,
        "beside": found.beside,
        **{name: {**asdict(way), "volume": way.total(volume)} for name, way in ways.items()},
        "volume": volume,
        "even": found.even,
        "cheaper": found.cheaper(volume),
        "assumptions": {
            name: {"value": value, "origin": origins[name]}
            for name, value in asdict(values).items()
        },
    }


def _phases(ledger: Spent) -> dict[str, Any]:
    phases = [
        {**asdict(one), "share": ledger.share(one.phase), "each": one.dollars / ledger.episodes}
        for one in ledger.phases
    ]
    return {
        "spent": {
            "episodes": ledger.episodes,
            "beside": ledger.beside,
            "is_priced": ledger.is_priced,
            "phases": phases,
        }
    }


def _show(
    values: Assumptions, origins: dict[str, Origin], found: Account, volume: float, words: Words
) -> None:
    console = people()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for head in (words.once, words.each, singular(words.total.format(volume=volume))):
        table.add_column(Text(head), justify="right", header_style="dim", no_wrap=True)
    for name, way in ((words.memory, found.memory), (words.tuning, found.tuning)):
        numbers = (_dollars(way.once), _dollars(way.each), _dollars(way.total(volume)))
        table.add_row(Text(name), *map(Text, numbers))
    console.print(table)
    console.print()
    if found.even is None:
        said = words.never[found.always]
    else:
        said = words.even.format(volume=found.even, before=words.names[found.cheaper(0.0)])
    console.print(Text(said, style="bold"))
    console.print(Text(words.part.format(share=found.beside)))
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
