"""`jitrl bench poison`: how far planted rows change decisions, with admission and without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from jitrl.analysis.plain import plain
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people, tell
from jitrl.cli.shared.planned import teller
from jitrl.cli.shared.progress import shared
from jitrl.errors import InputError

if TYPE_CHECKING:
    from jitrl.bench.poison import Poisoned


def poison(
    preset: Annotated[
        list[str] | None,
        typer.Option(help="Named settings to attack; may be repeated. Default: both."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Memories of each case.")] = 200,
    asked: Annotated[int, typer.Option(min=1, help="Decisions of each memory.")] = 5,
    most_changed: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Exit 1 if, with admission on, one source changes a larger share of decisions, a "
            "forged basis is not refused, or a rollback is not exact.",
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    json: JSON = False,
) -> None:
    """Plant rows on wrong actions, and count the decisions that they change.

    Each memory is rolled back after each attack, and the decisions are compared bit for bit.
    """
    from jitrl import presets
    from jitrl.bench import machine
    from jitrl.bench.poison import PRESETS, SCHEMA, measure

    named = tuple(preset or PRESETS)
    if unknown := sorted(set(named).difference(presets.NAMES)):
        raise InputError(f"no preset {unknown[0]!r}; there are {', '.join(presets.NAMES)}")
    with shared("poison") as done:
        found = measure(
            trials=trials,
            asked=asked,
            presets=named,
            workers=workers,
            tell=done,
            begun=teller("poison", "--trials N", "memory"),
        )
    _show(found, named)
    if json:
        emit(plain({"schema": SCHEMA, "machine": machine.facts(), "results": found}))
    if most_changed is not None and (broken := _broken(found, most_changed)):
        for said in broken:
            tell(said, style="red")
        raise typer.Exit(1)


def _show(found: Sequence[Poisoned], presets: Sequence[str]) -> None:
    by = {(f.evidence, f.attack, f.preset, f.admission): f for f in found}
    columns = [(preset, on) for preset in presets for on in (False, True)]
    heads = [f"{preset}, {'on' if on else 'off'}" for preset, on in columns]
    shown = figures("evidence", "attack", *heads)
    for evidence, attack in dict.fromkeys((f.evidence, f.attack) for f in found):
        cells = (f"{100 * by[evidence, attack, *column].turned:.1f} %" for column in columns)
        shown.add(evidence, attack, *cells)
    people().print(shown)
    people().print(
        f"Share of {found[0].decisions} decisions that they changed, with admission off and on. "
        f"Exactly as before after the rollback: {min(f.identical for f in found):.1%} at least.",
        style="dim",
    )


def _broken(found: Sequence[Poisoned], most: float) -> list[str]:
    """What does not hold that is promised, in words."""
    said = []
    for f in found:
        at = f"{f.preset}, {f.attack}, evidence {f.evidence}"
        if f.identical < 1.0:
            said.append(f"{at}: {1 - f.identical:.1%} of decisions differ after the rollback")
        if not f.admission:
            continue
        if f.attack.startswith("forged") and f.refused < 1.0:
            said.append(f"{at}: {1 - f.refused:.1%} of the outcomes were not refused")
        is_one = not f.attack.startswith("ten sources")
        if is_one and f.turned > most:
            said.append(f"{at}: {f.turned:.1%} of decisions changed, at most {most:.1%} may")
    return said
