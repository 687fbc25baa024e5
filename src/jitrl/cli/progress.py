"""A bar with time left and the scores of each attempt as they come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from jitrl.cli.output import people
from jitrl.run.experiment import Progress as Step


@contextmanager
def watched(label: str) -> Iterator[Callable[[Step], None]]:
    """Show a bar on stderr while the block runs; the function it gives moves it."""
    bar = Progress(
        TextColumn("{task.description:>12}"),
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
