"""`jitrl bench credit`: whether the steps that rules are made of are the decisive ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jitrl.analysis.plain import plain
from jitrl.cli.bench.numbers import NO_INTERVAL, number, say_fewer, short
from jitrl.cli.bench.options import OUT, WORKERS
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.planned import teller
from jitrl.cli.shared.progress import shared
from jitrl.language import counted

if TYPE_CHECKING:
    from jitrl.bench.credit.measure import Result


def credit(
    world: Annotated[
        Literal["all", "toy", "backoffice", "extraction"],
        typer.Option(help="Where attempts are made; `all` pools them, too."),
    ] = "all",
    tasks: Annotated[int, typer.Option(min=1, help="Tasks of each world.")] = 12,
    seeds: Annotated[int, typer.Option(min=1, help="Rounds of each task and kind of errors.")] = 5,
    out: OUT = None,
    workers: WORKERS = 1,
    json: JSON = False,
) -> None:
    """Measure whether the steps that a rulebook names as decisive are, and what naming them costs.

    Errors are planted among harmless detours, so it is known which steps they are.
    """
    from jitrl.bench.credit.measure import measure
    from jitrl.bench.credit.planted import WORLDS

    with shared("credit") as tell:
        report = measure(
            tuple(WORLDS) if world == "all" else (world,),
            tasks=tasks,
            seeds=seeds,
            folder="" if out is None else str(out),
            workers=workers,
            tell=tell,
            begun=teller("credit", "--world NAME --tasks N --seeds N", "round"),
        )
    for name, listed in report.protocol["tasks"].items():
        say_fewer(tasks, len(listed), f"tasks of {name} that are long enough")
    _show(report.results)
    listed = report.protocol["tasks"]
    said = " + ".join(f"{len(of)} tasks of {name}" for name, of in listed.items())
    undrawn = sum(report.protocol["undrawn"].values())
    took = report.protocol["minutes_of_one_process"]
    people().print(
        f"{said}, {counted(seeds, 'seed')}; {counted(undrawn, 'round')} could not be drawn; "
        f"{took:.1f} minutes of one process.",
        style="dim",
    )
    if json:
        emit(plain(report))


def _show(results: Sequence[Result]) -> None:
    kinds = dict.fromkeys((one.world, one.errors) for one in results)
    for world, errors in kinds:
        shown = figures("way", "precision", "recall", "steps", "tokens", "cost")
        for one in results:
            if (one.world, one.errors) == (world, errors):
                shown.add(
                    one.arm.name,
                    number(one.precision),
                    number(one.recall),
                    f"{one.steps:.1f}",
                    f"{one.tokens:.0f}",
                    "" if one.cost is None else short(one.cost.mean),
                )
        rounds = next(one.rounds for one in results if (one.world, one.errors) == (world, errors))
        people().print(f"{world}, errors: {errors}, {counted(rounds, 'round')}", style="bold")
        people().print(shown)
    people().print(
        "Precision: share of the steps named in a round that are decisive; recall: share of the "
        "decisive ones that were named; 95 % intervals by task. Steps of the environment played "
        "again, and tokens of a model that scores steps, in a round. Cost: steps over those "
        "of substitution wherever a bad attempt did something else; for a model, tokens over those "
        "of scoring every such attempt. A number behind `steps`: its chance to score a step right. "
        f"{NO_INTERVAL}",
        style="dim",
    )
