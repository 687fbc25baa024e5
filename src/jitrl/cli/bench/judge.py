"""`jitrl bench judge`: how good a judge must be before memory helps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jitrl.analysis.plain import plain
from jitrl.cli.bench.numbers import NO_INTERVAL, difference, number, short
from jitrl.cli.bench.options import WORKERS
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, in_folder, people, writing
from jitrl.cli.shared.planned import teller
from jitrl.cli.shared.progress import shared
from jitrl.errors import InputError
from jitrl.language import counted

if TYPE_CHECKING:
    from jitrl.bench.judge.curve import Result


def judge(
    what: Annotated[
        Literal["outcome", "steps"],
        typer.Option(
            help="`outcome`: judges that report how an episode ended, unbiased and positively "
            "biased. `steps`: judges that score steps, too, blind and told the outcome."
        ),
    ] = "outcome",
    tasks: Annotated[int, typer.Option(min=6, help="Tasks of the back office.")] = 16,
    seeds: Annotated[int, typer.Option(min=1, help="Frozen models, and chance: 0, 1, …")] = 5,
    attempts: Annotated[
        int, typer.Option(min=5, help="Episodes of each task and seed; the last five count.")
    ] = 12,
    workers: WORKERS = 1,
    chart: Annotated[
        Path | None, typer.Option(help="Draw final success against reliability into this .svg.")
    ] = None,
    json: JSON = False,
) -> None:
    """Measure how good a judge must be before memory helps.

    Judges of known reliability score the same tasks as the environment does, and as nobody does.
    """
    from jitrl.bench.judge.arms import SETS
    from jitrl.bench.judge.chart import svg
    from jitrl.bench.judge.curve import measure
    from jitrl.report.words import ENGLISH

    if chart is not None and chart.suffix != ".svg":
        raise InputError(f"cannot write {chart}; use .svg")
    if chart is not None:
        in_folder(chart)
    with shared(what) as tell:
        report = measure(
            what,
            tasks=tasks,
            seeds=seeds,
            attempts=attempts,
            workers=workers,
            tell=tell,
            begun=teller(
                f"{what}, {counted(len(SETS[what]), 'judge')} × "
                f"{ENGLISH.sized(tasks, attempts, seeds)}",
                "--tasks N --seeds N --attempts N",
            ),
        )
    _show(report.results)
    if json:
        emit(plain(report))
    if chart is not None:
        with writing(chart):
            chart.write_text(svg(report), encoding="utf-8")
        people().print(f"wrote {chart}")


def _show(results: Sequence[Result]) -> None:
    shown = figures("judge", "final", "- nothing learned", "- static", "right")
    for result in results:
        shown.add(
            result.arm.name,
            number(result.final),
            "" if result.gain is None else difference(result.gain),
            "" if result.over_static is None else short(result.over_static.mean, "+"),
            "" if result.right is None else short(result.right),
        )
    people().print(shown)
    people().print(
        "Final: mean success of the last five attempts, 95 % intervals by task; then what it is "
        "more than without learning (the same agent, within-episode memory only), and than the "
        "frozen model by itself. Right: share of the outcomes that were reported right. "
        f"{NO_INTERVAL}",
        style="dim",
    )
