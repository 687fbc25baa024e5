"""`jitrl evaluator check`: how far an evaluator can be trusted."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from jitrl import config
from jitrl.analysis import labels as labelled
from jitrl.analysis.assess import Agreement, Assessment, Steps, assess
from jitrl.analysis.plain import plain
from jitrl.cli.evaluator.label import PLACE
from jitrl.cli.memory.options import NAME
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.progress import counting
from jitrl.cli.shared.settings import OPTIONS, Flags, with_settings
from jitrl.core.stats import Interval, NoInterval
from jitrl.errors import InputError
from jitrl.language import counted
from jitrl.models.calls import Meter
from jitrl.ports import Evaluator
from jitrl.run import folder as folders
from jitrl.run.judging import evaluator_of


@with_settings(but=frozenset(OPTIONS) - {"--evaluator"})
def check(
    place: PLACE,
    flags: Flags,
    labels: Annotated[
        Path | None, typer.Option(help="File of labels; default: the one beside the run.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Only the labels of this person.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Judge so many episodes, drawn at random.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Judge each so often, with new draws.")] = 1,
    canaries: Annotated[
        int,
        typer.Option(
            min=0, help="Plant texts that ask for a score on the pages of so many episodes."
        ),
    ] = 0,
    success: Annotated[
        float, typer.Option(help="Least sum of rewards that counts as a success.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drawing of episodes.")] = 0,
    least_kappa: Annotated[
        float | None, typer.Option(help="Exit 1 if kappa with the outcomes is lower, or not known.")
    ] = None,
    most_obeyed: Annotated[
        float | None, typer.Option(help="Exit 1 if a larger share of planted texts helped.")
    ] = None,
    memory: NAME = "default",
    json: JSON = False,
) -> None:
    """Judge finished episodes again and compare: with outcomes, people, and itself.

    Nothing is learned or written. The limits of the budget are those of all judgments together; at
    one of them it stops. Outcomes are those that the journal holds: a blind evaluator is
    not shown them.
    """
    settings = config.load(flags)
    found = labelled.chosen(labelled.episodes(place, memory), limit, seed)
    if not found:
        raise InputError(f"{place} holds no finished episode")
    if most_obeyed is not None and not canaries:
        raise InputError("--most-obeyed needs --canaries")
    if labels is not None and not labels.is_file():
        raise InputError(f"there is no file {labels}; `jitrl evaluator label {place}` makes one")
    said = labelled.read(labels or labelled.file_of(place), by)
    with (
        closing(folders.ledger(None, settings.budget)) as ledger,
        counting("judging") as tell,
    ):
        done = assess(
            partial(_drawn, settings, ledger.meter("judge")),
            found,
            labels=said,
            repeats=repeats,
            canaries=canaries,
            success=success,
            tell=tell,
        )
    missed = _missed(done, least_kappa, most_obeyed)
    if json:
        emit(_data(done) | {"missed": missed})
    else:
        _show(done)
    for miss in missed:
        people().print(miss, style="red")
    if missed:
        raise typer.Exit(1)


def _drawn(settings: config.Settings, meter: Meter, number: int) -> Evaluator:
    """The evaluator that the settings name, with draws of its own for each number."""
    memory, options = settings.memory, dict(settings.memory.evaluator_options)
    draw = {"judge": "first", "simulated": "seed"}.get(memory.evaluator)
    if number and draw:
        step = int(options.get("samples", 1)) if draw == "first" else 1
        options[draw] = int(options.get(draw, 0)) + number * step
    own = msgspec.structs.replace(memory, evaluator_options=options)
    return evaluator_of(msgspec.structs.replace(settings, memory=own), meter)


def _missed(done: Assessment, least_kappa: float | None, most_obeyed: float | None) -> list[str]:
    """What was demanded and is not so."""
    missed = []
    if least_kappa is not None:
        kappa = done.gold.kappa if done.gold else None
        if kappa is None or kappa < least_kappa:
            shown = "not known" if kappa is None else f"{kappa:.3f}"
            missed.append(f"kappa with the outcomes is {shown}, --least-kappa is {least_kappa:g}")
    if most_obeyed is not None:
        obeyed = done.obeyed
        if obeyed is None or obeyed > most_obeyed:
            shown = "not known" if obeyed is None else f"{obeyed:.3f}"
            missed.append(f"share obeyed is {shown}, --most-obeyed is {most_obeyed:g}")
    return missed


def _data(done: Assessment) -> dict[str, Any]:
    return {"schema": "jitrl.evaluator.check/2", **plain(done), "obeyed": done.obeyed}


def _show(done: Assessment) -> None:
    console = people()
    console.print(
        f"{done.evaluator}, {'told the outcome' if done.told else 'blind'}: "
        f"{counted(done.episodes, 'episode')}, {sum(done.unscored.values())} not scored"
    )
    for reason, number in done.unscored.items():
        console.print(f"  {number} {reason}", style="dim")
    if done.gold:
        _show_truth(done.gold)
    elif done.is_source:
        console.print(
            "outcomes: these come from the evaluator itself, or from a member of it, so there is "
            "nothing to compare; name another one: --evaluator judge or --evaluator checks",
            style="yellow",
        )
    elif done.told:
        console.print("outcomes: it is told them, so there is nothing to compare")
    else:
        console.print("outcomes: the journal holds none")
    if done.people:
        _show_people(done.people)
    if done.repeats:
        again = done.repeats
        console.print(
            f"{again.repeats} times: variance of an episode's sum {again.variance:.4f}, "
            f"verdict not always the same in {100 * again.changed:.0f} %"
        )
    if done.spread:
        spread = done.spread
        console.print(
            f"sums of rewards: {spread.low:.3f} to {spread.high:.3f}, sd {spread.sd:.3f}; two "
            f"episodes are equal with chance {spread.equal:.2f}; "
            f"{100 * spread.zeros:.0f} % of the steps got 0"
        )
        if spread.discriminates is False:
            console.print("it does not discriminate: all sums are about the same", style="yellow")
    if done.canaries:
        shown = figures("planted text", "episodes", "score rose", "not scored")
        for one in done.canaries:
            shown.add(one.canary, f"{one.episodes}", f"{one.rose}", f"{one.unscored}")
        console.print(shown)


def _show_truth(found: Agreement) -> None:
    verdicts = ["success", "failure", "cannot tell", "not scored"]
    there = [v for v in verdicts if any(v in said for said in found.confusion.values())]
    shown = figures("truth", *(f"judged {v}" if v in verdicts[:2] else v for v in there))
    for truth, said in found.confusion.items():
        shown.add(truth, *(f"{said.get(v, 0)}" for v in there))
    people().print(shown)
    people().print(
        f"accuracy {_number(found.accuracy)}, kappa {_number(found.kappa)} "
        f"{_interval(found.interval)}, {counted(found.tasks, 'task')}"
    )


def _show_people(found: Steps) -> None:
    people().print(
        f"{counted(found.steps, 'labelled step')} ({found.unsure} more that nobody could tell): "
        f"Spearman {_number(found.spearman)}, Pearson {_number(found.pearson)}, kappa of signs "
        f"{_number(found.kappa)} {_interval(found.interval)}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(of: Interval | NoInterval) -> str:
    match of:
        case Interval(low, high):
            return f"[{low:.3f}, {high:.3f}]"
        case NoInterval(reason):
            return f"(no interval: {reason})"
