"""A comparison as a table in the terminal."""

from __future__ import annotations

from rich.table import Table

from jitrl.cli.output import people
from jitrl.run import report
from jitrl.run.compare import Comparison
from jitrl.run.words import ENGLISH

_COLORS = {"better": "green", "worse": "red", "no evidence": ""}


def show(comparison: Comparison) -> None:
    """Print the numbers of each run, then what one must know of it."""
    table = Table(box=None)
    shown = len(report.heads(comparison, ENGLISH)) - (2 if len(comparison.lines) == 1 else 0)
    for i, head in enumerate(report.heads(comparison, ENGLISH)[:shown]):
        narrow = head.replace(" ", "\n", 1) if i < 6 else head
        table.add_column(narrow, justify="left" if i == 0 else "right", no_wrap=i > 0)
    for line in comparison.lines:
        color = _COLORS[line.difference.verdict] if line.difference else ""
        table.add_row(*report.cells(line, ENGLISH)[:shown], style=color)
    people().print(table)
    for line in comparison.lines:
        people().print(f"{line.result.label}: {report.terms(line, ENGLISH)}", style="dim")
    people().print(report.note(comparison, ENGLISH), style="dim")
