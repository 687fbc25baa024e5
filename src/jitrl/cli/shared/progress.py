"""How far it is: a bar with time left on a terminal, elsewhere a plain line now and then.

Nothing is shown before there is something to tell, so that an error at the start stands alone.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from jitrl.cli.shared.output import people, tell
from jitrl.language import singular
from jitrl.run.experiment import Progress as Step

EVERY = 30.0
"""Seconds from one plain line to the next, at least."""


class Lines:
    """Plain lines for a file or a log of CI; most of those that are offered are not said.

    Args:
        say: Prints a line.
        clock: Seconds of any origin.
    """

    def __init__(
        self, say: Callable[[str], None] = tell, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._clock = say, clock
        self._due = clock() + EVERY
        self._begun: dict[str, tuple[float, float]] = {}

    def offer(self, line: str) -> None:
        """Say it, if the last one was said long enough ago."""
        if self._clock() >= self._due:
            self.say(line)

    def left(self, done: float, total: float, what: str = "") -> float | None:
        """Seconds that the rest of ``what`` takes at the pace so far; ``None`` at first."""
        now = self._clock()
        began, before = self._begun.setdefault(what, (now, done))
        if done <= before or now <= began:
            return None
        return (now - began) * (total - done) / (done - before)

    def say(self, line: str) -> None:
        """Say it in any case."""
        self._say(line)
        self._due = self._clock() + EVERY


LEFT = (", about {:.0f} s left", ", about {:.0f} min left")


def about(left: float | None, forms: tuple[str, str] = LEFT) -> str:
    """How a plain line ends that says how long the rest takes, in seconds or in minutes."""
    if left is None or left < 1.0:
        return ""
    return forms[0].format(left) if left < 100 else forms[1].format(left / 60)


class Bar:
    """One bar on a terminal's stderr from the first ``show`` on; plain lines where there is none.

    Args:
        stays: Whether the bar, or a line in its place, is left when it ends.
        lines: Takes the plain lines.
    """

    def __init__(
        self,
        label: str,
        *columns: ProgressColumn,
        stays: bool = True,
        lines: Lines | None = None,
    ) -> None:
        self._bar = Progress(
            TextColumn("{task.description:>12}", markup=False),
            BarColumn(24),
            *columns,
            console=people(),
            transient=not stays,
        )
        self._label, self._stays, self._line = label, stays, ""
        self._row: TaskID | None = None
        self._lines = lines or Lines()

    def show(self, line: str, done: float, total: float, note: str = "") -> None:
        """Move the bar.

        Args:
            line: The same in words.
        """
        self._line = line
        if not people().is_terminal:
            self._lines.offer(line + about(self._lines.left(done, total)))
            return
        if self._row is None:
            self._row = self._bar.add_task(self._label, total=total, note=note)
            self._bar.start()
        self._bar.update(self._row, completed=done, total=total, note=note)

    def end(self) -> None:
        """Leave the last state, if it stays and there was one."""
        if self._row is not None:
            self._bar.stop()
        elif self._stays and self._line:
            self._lines.say(self._line)


@contextmanager
def counting(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar while the block runs; it is gone afterwards.

    The function it gives takes how many of how many are done.
    """
    bar = Bar(label, MofNCompleteColumn(), TimeRemainingColumn(), stays=False)
    try:
        yield lambda done, total: bar.show(f"{label} {done} of {total}".strip(), done, total)
    finally:
        bar.end()


@contextmanager
def shared(label: str) -> Iterator[Callable[[float], None]]:
    """Show a bar while the block runs; the function it gives takes the share that is done."""
    percent = TextColumn("{task.percentage:>3.0f} %")
    bar = Bar(label, percent, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    try:
        yield lambda share: bar.show(f"{label} {100 * share:.0f} %", share, 1.0)
    finally:
        bar.end()


class Watched:
    """Episodes of one run as they come, and the mean score of the attempt that is played."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._scores: dict[int, list[float]] = defaultdict(list)
        self._bar = Bar(
            label,
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )

    def begun(self, done: int, total: int) -> None:
        """The first episode is being played; ``done`` were played before."""
        self._bar.show(self._said(done, total, ""), done, total)

    def moved(self, step: Step) -> None:
        """One more episode is over."""
        scores = self._scores
        if step.episode is not None:
            scores[step.trial.attempt].append(step.episode.info["score"])
        attempt = max(scores, default=0)
        parts = [f"attempt {attempt + 1}"]
        if scores:
            parts.append(f"{sum(scores[attempt]) / len(scores[attempt]):.2f}")
        styled = [parts[0], *(f"[bold]{mean}[/bold]" for mean in parts[1:])]
        if step.failed:
            parts.append(f"{step.failed} failed")
            styled.append(f"[red]{step.failed} failed[/red]")
        said = self._said(step.done, step.total, "".join(f", {part}" for part in parts))
        self._bar.show(said, step.done, step.total, " ".join(styled))

    def end(self) -> None:
        """Leave what was shown last."""
        self._bar.end()

    def _said(self, done: int, total: int, more: str) -> str:
        return f"{self._label}: {singular(f'{done} of {total} episodes')}{more}"


@contextmanager
def watched(label: str) -> Iterator[Watched]:
    """Show a bar while the block runs, once something is played."""
    watch = Watched(label)
    try:
        yield watch
    finally:
        watch.end()


@contextmanager
def stages() -> Iterator[Callable[[str, float], None]]:
    """A bar for each stage, drawn only when told: no thread runs beside what is measured.

    The function it gives takes a stage and the share of it that is done.
    """
    begun: dict[str, TaskID] = {}
    progress, lines = Progress(console=people(), auto_refresh=False), Lines()
    is_terminal = people().is_terminal

    def moved(stage: str, share: float) -> None:
        percent = int(100 * share)
        if not is_terminal:
            lines.offer(f"{stage} {percent} %{about(lines.left(share, 1.0, stage))}")
            return
        if not begun:
            progress.start()
        if stage not in begun:
            begun[stage] = progress.add_task(stage, total=100)
        if percent > progress.tasks[begun[stage]].completed:
            progress.update(begun[stage], completed=percent, refresh=True)

    try:
        yield moved
    finally:
        if begun:
            progress.stop()
