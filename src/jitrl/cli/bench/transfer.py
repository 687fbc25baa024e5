"""`jitrl bench transfer`: what a memory of other tasks is worth at the first attempt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jitrl.analysis.plain import plain
from jitrl.cli.bench.numbers import NO_INTERVAL, difference, number, numbers, say_fewer, short
from jitrl.cli.bench.options import GAMES, OUT, WORKERS
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.planned import teller
from jitrl.cli.shared.progress import shared
from jitrl.cli.shared.settings import names
from jitrl.errors import InputError
from jitrl.language import counted

if TYPE_CHECKING:
    from jitrl.bench.transfer.results import Result

What = Literal["backoffice", "wrong", "text"]


def transfer(
    what: Annotated[
        What,
        typer.Option(
            help="`backoffice`: with a memory of other tasks and templates, beside rows as they "
            "are, UCB and Thompson sampling. `wrong`: with memories that were tampered with. "
            "`text`: text games with a memory of the other games of the kind."
        ),
    ] = "backoffice",
    arms: Annotated[
        str,
        typer.Option(
            help="Only the arms cold and default, and those whose name matches this pattern."
        ),
    ] = "",
    prior: Annotated[
        Literal["noisy", "stated", "uniform"],
        typer.Option(
            help="What the frozen model of the back office believes. `stated`: as `noisy`, but it "
            "states its beliefs as confidences in whole tens."
        ),
    ] = "noisy",
    right: Annotated[
        float, typer.Option(help="What the noisy one knows of the right action, nats.")
    ] = 2.3,
    shop: Annotated[int, typer.Option(min=0, help="Seed of the shop.")] = 1,
    templates: Annotated[
        int, typer.Option(min=0, help="Templates of the back office; 0 for all.")
    ] = 0,
    games: GAMES = "40-57",
    kinds: Annotated[str, typer.Option(help="Kinds of text games.")] = "twc,cook,coin",
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Run seeds: 0, 1, …; 10 of the back office, 2 of text games."),
    ] = None,
    out: OUT = None,
    workers: WORKERS = 1,
    json: JSON = False,
) -> None:
    """Measure first attempts at new tasks, with and without a memory of other ones.

    The text games need the extra `textworld-express` and Java.
    """
    from jitrl.bench.arms import chosen
    from jitrl.bench.transfer import results as bench
    from jitrl.bench.transfer.arms import SETS
    from jitrl.envs.textworld_express import GAMES

    wanted = chosen(SETS[what], arms, always=("cold", "default"))
    games_of = list(dict.fromkeys(names(kinds)))
    if not math.isfinite(right):
        raise InputError(f"--right is {right}; it must be a finite number")
    if not games_of or any(name not in GAMES for name in games_of):
        raise InputError(f"--kinds {kinds!r} must be among {', '.join(GAMES)}")
    folder = "" if out is None else str(out)
    said = f"{what}, first attempts of {counted(len(wanted), 'arm')} and the memories they need"
    with shared(what) as tell:
        if what == "text":
            report = bench.text(
                what,
                wanted,
                games=games_of,
                game_seeds=numbers(games),
                seeds=range(seeds or 2),
                folder=folder,
                workers=workers,
                tell=tell,
                begun=teller(said, "--arms PATTERN --kinds NAMES --games SEEDS --seeds N"),
            )
        else:
            report = bench.backoffice(
                what,
                wanted,
                seeds=range(seeds or 10),
                shop=shop,
                prior=prior,
                right=right,
                templates=templates,
                folder=folder,
                workers=workers,
                tell=tell,
                begun=teller(said, "--arms PATTERN --templates N --seeds N"),
            )
    if what != "text":
        say_fewer(templates, report.protocol["templates"], "templates")
    _show(report.results, what)
    if json:
        emit(plain(report))


def _show(results: Sequence[Result], what: What) -> None:
    from jitrl.core.transfer import STRENGTHS

    group, unit = ("kind of game", "game") if what == "text" else ("family", "template")
    held = "unseen: the memory holds other games of the kind"
    if what != "text":
        held = "seen: the memory holds other tasks of the template; unseen: it holds none"
    for split in dict.fromkeys(result.split for result in results):
        shown = figures(split, "score", "minus cold", "above/at/below", "c")
        for result in results:
            if result.split == split:
                cold = result.arm.learned == "nothing"
                shown.add(
                    result.arm.name,
                    number(result.score),
                    "" if cold else difference(result.against_cold),
                    "" if cold else f"{result.better} / {result.equal} / {result.worse}",
                    short(result.strength),
                )
        people().print(shown)
    groups, splits = results[0].by_group, {result.split for result in results}
    if is_by_group := len(groups) <= 4:
        shown = figures(f"by {group}", *groups)
        for result in results:
            cold = result.arm.learned == "nothing"
            shown.add(
                f"{result.arm.name}, {result.split}" if len(splits) > 1 else result.arm.name,
                *(
                    short(group.score) if cold else difference(group.against_cold)
                    for group in result.by_group.values()
                ),
            )
        people().print(shown)
    people().print(
        f"First attempts; nothing is learned from them. {held}. "
        f"95 % intervals by {unit}; above/at/below: how many "
        f"{unit}s are above, at and below cold. c: how far lessons were followed, 0 to "
        f"{STRENGTHS[-1]:g}."
        + f" By {group}: scores of cold, differences from cold of the others." * is_by_group
        + f" {NO_INTERVAL}",
        style="dim",
    )
