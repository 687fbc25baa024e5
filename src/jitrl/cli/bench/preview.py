"""`jitrl bench preview`: what previews say, beside what the settings then really got."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from jitrl.analysis.plain import plain
from jitrl.cli.shared.listing import figures
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.planned import teller
from jitrl.cli.shared.progress import shared
from jitrl.core.stats import Interval

if TYPE_CHECKING:
    from jitrl.bench.preview import Case


def preview(
    world: Annotated[
        Literal["all", "toy", "backoffice"], typer.Option(help="Where episodes are played.")
    ] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="Memories of each world.")] = 5,
    episodes: Annotated[int, typer.Option(min=2, help="Logged episodes of each task.")] = 20,
    truth: Annotated[
        int, typer.Option(min=2, help="Episodes of each task really played under a setting.")
    ] = 40,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    json: JSON = False,
) -> None:
    """Preview settings from logged decisions, then really play them, on a memory that stands still.

    The model is scripted, so no key and no download is needed.
    """
    from jitrl.bench.preview import WORLDS, measure

    with shared("preview") as tell:
        report = measure(
            tuple(WORLDS) if world == "all" else (world,),
            seeds=seeds,
            episodes=episodes,
            truth=truth,
            workers=workers,
            tell=tell,
            begun=teller("preview", "--world NAME --seeds N --episodes N --truth N", "episode"),
        )
    _show(report.results)
    if json:
        emit(plain(report))


def _show(results: Sequence[Case]) -> None:
    for world in dict.fromkeys(one.world for one in results):
        people().print(world, style="bold")
        shown = figures("setting", "gain, DR", "95 %", "really", "counts for", "outside", "held")
        for one in (one for one in results if one.world == world):
            found, interval = one.found, one.found.dr.interval
            covered = found.overlap
            shown.add(
                f"{one.target} ({one.seed})",
                "refused" if found.refusal else f"{found.dr.gain:+.3f}",
                f"{interval.low:+.3f} … {interval.high:+.3f}"
                if isinstance(interval, Interval) and not found.refusal
                else "",
                f"{one.truth:+.3f} ± {one.error:.3f}",
                f"{covered.effective:.0f} of {covered.episodes}",
                f"{covered.outside:.1%}",
                {None: "", True: "yes", False: "no"}[one.held],
            )
        people().print(shown)
    said = [one for one in results if one.held is not None]
    people().print(
        f"{len(said)} of {len(results)} previews said something; the interval held what the "
        f"setting then really got in {sum(bool(one.held) for one in said)} of them. In brackets: "
        "the seed. Really: gain of episodes played under it, and its standard error.",
        style="dim",
    )
