"""A bar with time left and the scores of each attempt as they come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from jitrl.cli.output import people
from jitrl.run.experiment import Progress as Step


@contextmanager
def counted(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal's stderr while the block runs; it is gone afterwards.

    The function it gives takes how many of how many are done.
    """
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=people(),
        transient=True,
        disable=not people().is_terminal,
    )
    with bar:
        row = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(row, completed=done, total=total)


@contextmanager
def watched(label: str) -> Iterator[Callable[[Step], None]]:
    """Show a bar on stderr while the block runs; the function it gives moves it."""
    bar = Progress(
        TextColumn("{task.description:>12}", markup=False),
        BarColumn(24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=people(),
    )
    scores: dict[int, list[float]] = defaultdict(list)

    with bar:
        row = bar.add_task(label, total=None, note="")

        def moved(step: Step) -> None:
            if step.episode is not None:
                scores[step.trial.attempt].append(step.episode.info["score"])
            attempt = max(scores, default=0)
            note = f"attempt {attempt + 1}"
            if scores:
                note += f" [bold]{sum(scores[attempt]) / len(scores[attempt]):.2f}[/bold]"
            if step.failed:
                note += f" [red]{step.failed} failed[/red]"
            bar.update(row, completed=step.done, total=step.total, note=note)

        yield moved


@contextmanager
def stages() -> Iterator[Callable[[str, float], None]]:
    """A bar for each stage, drawn only when told: no thread runs beside what is measured.

    The function it gives takes a stage and the share of it that is done.
    """
    with Progress(console=people(), auto_refresh=False) as progress:
        begun: dict[str, TaskID] = {}

        def tell(stage: str, share: float) -> None:
            if stage not in begun:
                begun[stage] = progress.add_task(stage, total=100)
            percent = int(100 * share)
            if percent > progress.tasks[begun[stage]].completed:
                progress.update(begun[stage], completed=percent, refresh=True)

        yield tell
