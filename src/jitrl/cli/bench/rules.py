"""`jitrl bench rules`: what a rulebook is worth with a model that heeds it, and what gates hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from jitrl.analysis.plain import plain
from jitrl.cli.bench.numbers import NO_INTERVAL, difference, number, say_fewer, short
from jitrl.cli.bench.options import ARMS, OUT, SEEDS, WORKERS
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.planned import teller
from jitrl.cli.shared.progress import shared
from jitrl.errors import InputError
from jitrl.language import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jitrl.bench.rules.results import Result

_ABREAST = 10  # rounds in a table
_WORST = 3  # effects of rules that are left


def rules(
    what: Annotated[
        Literal["together", "gates", "settings"],
        typer.Option(
            help="`together`: no rules, rules, scores, both. `gates`: rules with and without "
            "gates, and with planted ones of three kinds. `settings`: the options of the agent, "
            "one at a time, also in books that do harm or say too much."
        ),
    ] = "together",
    arms: ARMS = "",
    right: Annotated[
        float, typer.Option(help="What the made-up model knows of the right action, nats.")
    ] = 4.0,
    heeds: Annotated[
        float, typer.Option(help="Nats that an action gains when its notes name it.")
    ] = 3.0,
    world: Annotated[
        Literal["backoffice", "extraction"],
        typer.Option(help="`backoffice` scores 0 or 1, `extraction` also shares."),
    ] = "backoffice",
    world_seed: Annotated[int, typer.Option(min=0, help="Seed the world is made of.")] = 1,
    templates: Annotated[
        int, typer.Option(min=1, help="Templates of a seed; three tasks each.")
    ] = 8,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of 8 attempts at each task.")] = 5,
    seeds: SEEDS = 5,
    out: OUT = None,
    workers: WORKERS = 1,
    json: JSON = False,
) -> None:
    """Measure rules in a world with a made-up model that heeds what its notes name."""
    from jitrl.bench.arms import chosen
    from jitrl.bench.rules.arms import SETS
    from jitrl.bench.rules.results import rules as bench

    for name, value in (("--right", right), ("--heeds", heeds)):
        if not math.isfinite(value):
            raise InputError(f"{name} is {value}; it must be a finite number")
    wanted = chosen(SETS[what], arms)
    with shared(what) as tell:
        report = bench(
            what,
            wanted,
            seeds=range(seeds),
            world=world,
            world_seed=world_seed,
            right=right,
            heeds=heeds,
            templates=templates,
            rounds=rounds,
            folder="" if out is None else str(out),
            workers=workers,
            tell=tell,
            begun=teller(
                f"{what}, {counted(len(wanted), 'arm')}",
                "--arms PATTERN --templates N --rounds N --seeds N",
            ),
        )
    say_fewer(templates, report.protocol["templates"], "templates")
    _show(report.results)
    _show_waiting(report.protocol.get("told_until_retired", {}))
    _show_played(report.protocol)
    if json:
        emit(plain(report))


def _show(results: Sequence[Result]) -> None:
    from jitrl.bench.pool import parts

    shown = figures("", "n", "score", "minus", "")
    for result in results:
        base = result.against if result.against != result.arm.name else ""
        shown.add(
            result.arm.name,
            str(result.n),
            number(result.score),
            base,
            difference(result.difference) if base else "",
        )
    people().print(shown)
    for part in parts(range(len(results[0].rounds)), _ABREAST):
        by_round = figures("round", *(str(place + 1) for place in part))
        for result in results:
            by_round.add(result.arm.name, *(short(result.rounds[place]) for place in part))
        people().print(by_round)
    _show_asked(results)
    _show_planted(results)
    people().print(
        "n: templates of all seeds. Score: mean of all attempts. "
        f"95 % intervals by template and seed. {NO_INTERVAL}",
        style="dim",
    )


def _show_asked(results: Sequence[Result]) -> None:
    """How often settings had something to decide."""
    heads = ("apart", "gap", "best", "steps", "full", "let in", "lowest")
    shown = figures("", "rules", *heads)
    held = [(result, result.asked) for result in results if result.asked is not None]
    for result, of in held:
        shown.add(
            result.arm.name,
            f"{result.active:.1f} + {result.candidate:.1f}",
            str(of.apart),
            str(of.gap),
            str(of.threshold),
            str(of.steps),
            str(of.full),
            str(of.admitted),
            str(of.lowest),
        )
    if held:
        people().print(shown)
        people().print(
            "Rules: active + candidates at the end, mean over seeds; the rest is of all seeds "
            "together. Apart: rounds of a task whose attempts did not all score alike; gap, best: "
            "those of them that taught nothing by `gap`, by `threshold`. Full: steps at which as "
            "many rules spoke as `told` allows. Let in: rules that the gates admitted; lowest: "
            "those that went by `bottom`.",
            style="dim",
        )


def _show_planted(results: Sequence[Result]) -> None:
    """What became of the planted rules, if there are any."""
    from jitrl.bench.rules.planted import TIMES

    if not any(result.planted for result in results):
        return
    fates = figures("", "planted", "let in", "left", "uses", *(f"by {n}" for n in TIMES))
    for result in results:
        for of in result.planted.values():
            fates.add(
                result.arm.name,
                str(of.rules),
                str(of.admitted),
                str(of.told),
                f"{of.uses:.1f}",
                *(f"{share:.0%}" for share in of.gone.values()),
            )
    people().print(fates)
    for result in results:
        for of in result.planted.values():
            if of.left:
                worst = ", ".join(str(one) for one in of.left[:_WORST])
                people().print(
                    f"Effects of what is left, {result.arm.name}: {worst}",
                    style="dim",
                    markup=False,
                )
    people().print(
        f"Left: still told at the end; the {_WORST} worst effects with the bounds of the gates, "
        "by the draws of each rule. Uses: episodes in which a rule was told, mean; by: share "
        "that was retired after so many uses at most.",
        style="dim",
    )


def _show_waiting(found: Mapping[str, Mapping[str, Sequence[int]]]) -> None:
    """How long rules of a known effect are told, by the gates' own arithmetic."""
    for status, effects in found.items():
        for effect, (middle, ninth) in effects.items():
            people().print(
                f"Of effect {effect}, one that is {status} is told {middle} times until it is "
                f"retired, and at most {ninth} in nine of ten cases (simulated).",
                style="dim",
            )


def _show_played(protocol: Mapping[str, Any]) -> None:
    """What an arm's row rests on, and how long all of it took."""
    people().print(
        f"{counted(len(protocol['seeds']), 'seed')}, {counted(protocol['templates'], 'template')} "
        f"of {counted(protocol['tasks_of_a_template'], 'task')}, "
        f"{counted(protocol['rounds'], 'round')} of "
        f"{counted(protocol['attempts_of_a_round'], 'attempt')}; "
        f"{protocol['minutes_of_one_process']:.1f} minutes of one process.",
        style="dim",
    )
