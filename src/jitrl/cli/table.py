"""A comparison as a table in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from jitrl.cli.listing import breadth
from jitrl.cli.output import people
from jitrl.run import report
from jitrl.run.compare import Comparison
from jitrl.run.words import ENGLISH

_COLORS = {"better": "green", "worse": "red", "no evidence": ""}
_SPARE = ((), (3, 4), (3, 4, 5))
"""Columns left out where there is no room: first and last five, then the best of all attempts."""


def show(comparison: Comparison) -> None:
    """Print the numbers of each run, then what one must know of it."""
    console = people()
    for left_out in _SPARE:
        table = _table(comparison, left_out)
        if breadth(table, console) <= console.width:
            break
    console.print(table)
    if left_out:
        heads = report.heads(comparison, ENGLISH)
        said = ", ".join(heads[i] for i in left_out)
        console.print(Text(f"no room for: {said} (a wider terminal or --json has them)", "dim"))
    for line in comparison.lines:
        said = f"{line.result.label}: {report.terms(line, ENGLISH)}"
        console.print(Text(said, style="dim"))
    console.print(Text(report.note(comparison, ENGLISH), style="dim"))


def _table(comparison: Comparison, left_out: Sequence[int]) -> Table:
    """Numbers are never cut; a label that is too long goes on in the next line."""
    table = Table(box=None, pad_edge=False)
    heads = report.heads(comparison, ENGLISH)
    shown = [i for i in range(len(heads)) if i not in left_out]
    if len(comparison.lines) == 1:
        shown = shown[:-2]  # there is nothing to differ from
    for i in shown:
        narrow = heads[i].replace(" ", "\n", 1) if 0 < i < 6 else heads[i]
        if i == 0:
            table.add_column(Text(narrow), overflow="fold")
        else:
            table.add_column(Text(narrow), justify="right", no_wrap=True)
    for line in comparison.lines:
        color = _COLORS[line.difference.verdict] if line.difference else ""
        cells = report.cells(line, ENGLISH)
        table.add_row(*(Text(cells[i]) for i in shown), style=color)
    return table
