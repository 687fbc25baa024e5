"""`jitrl bench learn`: what the default rule learns, beside other rules, and what disturbs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from jitrl.analysis.plain import plain
from jitrl.cli.bench.numbers import NO_INTERVAL, between, difference, number, numbers, short
from jitrl.cli.bench.options import ARMS, GAMES, SEEDS, WORKERS
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.planned import teller
from jitrl.cli.shared.progress import shared
from jitrl.errors import InputError
from jitrl.language import counted

if TYPE_CHECKING:
    from jitrl.bench.learning.games import Result
    from jitrl.bench.learning.planted import Turned
    from jitrl.bench.learning.toy import Protocol

What = Literal["main", "robust", "ablation", "planted", "gaps", "toy"]


def learn(
    what: Annotated[
        What,
        typer.Option(
            help="`main`: rules and baselines on text games. `robust`: wrong and right priors, "
            "slips, shifted rewards. `ablation`: one setting changed at a time. `planted`: rows "
            "of one source against clear evidence. `gaps`: honest rows against a wrong prior. "
            "`toy`: the hidden protocol with slips."
        ),
    ] = "main",
    arms: ARMS = "",
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Play each arm with these settings of the memory, too: `rule.kernel=0.01, "
            "gamma=0.5`. Repeat it for more arms.",
        ),
    ] = None,
    games: GAMES = "40-57",
    seeds: SEEDS = 2,
    attempts: Annotated[int, typer.Option(min=1, help="Episodes of each game and seed.")] = 25,
    trials: Annotated[
        int, typer.Option(min=1, help="Memories per case of `planted` and `gaps`.")
    ] = 400,
    protocols: Annotated[int, typer.Option(min=1, help="Hidden protocols of `toy`.")] = 200,
    workers: WORKERS = 1,
    json: JSON = False,
) -> None:
    """Measure what the default rule learns, beside other rules and under disturbances.

    The text games need the extra `textworld-express` and Java.
    """
    from jitrl.bench import machine
    from jitrl.bench.arms import chosen
    from jitrl.bench.learning import games as text_games
    from jitrl.bench.learning import planted, toy
    from jitrl.bench.learning.arms import SCHEMA, SETS, changed, fewer

    if (arms or change) and what not in SETS:
        raise InputError(f"--arms and --set go with --what {', '.join(SETS)}, not {what}")
    seeds_of_games = numbers(games)
    data: dict[str, Any] = {"schema": SCHEMA, "what": what}
    if what in ("planted", "gaps"):
        with shared(what) as tell:
            turned = planted.measure(
                what,
                trials=trials,
                workers=workers,
                tell=tell,
                begun=teller(what, "--trials N", "memory"),
            )
        _show_shares(turned, "right" if what == "gaps" else "turned")
        data |= {"machine": machine.facts(), "results": turned}
    elif what == "toy":
        with shared(what) as tell:
            found = toy.measure(
                seeds=protocols,
                workers=workers,
                tell=tell,
                begun=teller(f"{what}, hidden protocols", "--protocols N"),
            )
        _show_toy(found)
        data |= {"machine": machine.facts(), "results": found}
    else:
        wanted = fewer(changed(chosen(SETS[what], arms), change or ()), attempts)
        with shared(what) as tell:
            report = text_games.measure(
                what,
                wanted,
                game_seeds=seeds_of_games,
                seeds=range(seeds),
                workers=workers,
                tell=tell,
                begun=teller(
                    f"{what}, {counted(len(wanted), 'arm')} on text games",
                    "--arms PATTERN --games SEEDS --seeds N --attempts N",
                ),
            )
        _show(report.results)
        data = plain(report)
    if json:
        emit(plain(data))


def _show(results: Sequence[Result]) -> None:
    shown = figures("arm", "Avg", "first 5", "last 5", "difference of Avg")
    for result in results:
        change = result.differences.get("avg")
        shown.add(
            result.arm.name,
            number(result.avg),
            short(result.first_five.mean),
            short(result.last_five.mean),
            "" if change is None else difference(change),
        )
        if result.arm.agent == "static" and "best" in result.differences:
            name = f"static, best of {result.arm.attempts}"
            beyond = difference(result.differences["best"])
            shown.add(name, number(result.best), "", "", beyond)
    people().print(shown)
    people().print(
        "Means over games and seeds, 95 % intervals by game. Differences are from the first arm, "
        f"with an oracle prior from the static arm with that prior. {NO_INTERVAL}",
        style="dim",
    )


def _show_shares(results: Sequence[Turned], what: str) -> None:
    shown = figures("case", "rule", what, "of")
    for case in results:
        shown.add(case.case, case.rule, f"{100 * case.share:.1f} %", f"{case.trials}")
    people().print(shown)


def _show_toy(results: Sequence[Protocol]) -> None:
    shown = figures("rule", "first ten", "last ten", "ceiling", "interval of the last ten")
    for found in results:
        shown.add(
            found.agent,
            short(found.first_ten),
            short(found.last_ten),
            short(found.ceiling),
            between(found.interval),
        )
    people().print(shown)
    people().print(f"95 % intervals by protocol. {NO_INTERVAL}", style="dim")
