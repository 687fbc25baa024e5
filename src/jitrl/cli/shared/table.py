"""A comparison as tables in the terminal: scores, then what they cost."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from jitrl.analysis.compare import Comparison
from jitrl.cli.shared.listing import breadth
from jitrl.cli.shared.output import people
from jitrl.report import grid, terms
from jitrl.report.words import ENGLISH

_COLORS = {"better": "green", "worse": "red"}
_SPARE = ("last", "first", "best", "rival", "avg", "final")
"""Columns left out where there is no room, in this order; of ``avg`` only its interval."""
_SPARE_COST = ("wall_s", "learning_s", "acting_s", "learning", "tokens")


def show(comparison: Comparison) -> None:
    """Print the numbers of each run, then what one must know of them."""
    _fitted(grid.scores(comparison, ENGLISH), _SPARE)
    warned = terms.warning(comparison, ENGLISH)
    if warned:
        people().print(Text(warned, style="bold"))
    if len(comparison.lines) > 1:  # the terms of a single one hold its cost
        people().print()
        _fitted(grid.costs(comparison, ENGLISH), _SPARE_COST)
    people().print()
    if len(comparison.lines) > 1:
        said = ENGLISH.equal.format(" · ".join(terms.shared(comparison, ENGLISH)))
        people().print(_dimmed(said, comparison))
    for line in comparison.lines:
        name = grid.label(comparison, line, ENGLISH)
        alone = len(comparison.lines) == 1
        said = terms.every(line, ENGLISH) if alone else terms.own(comparison, line, ENGLISH)
        people().print(_dimmed(f"{name}: {said}", comparison))
    if note := terms.note(comparison, ENGLISH):
        people().print(Text(note, style="dim"))


def _dimmed(said: str, comparison: Comparison) -> Text:
    """Terms, in which what must not be overlooked stands out: episodes without a score."""
    text = Text(said, style="dim")
    for result in (line.result for line in comparison.lines if line.result.unscored):
        is_none = sum(result.unscored.values()) == result.scores.size
        style = "not dim bold red" if is_none else "not dim yellow"
        text.highlight_words([terms.unscored(result, ENGLISH)], style)
    return text


def _fitted(shown: grid.Grid, spare: tuple[str, ...]) -> None:
    """Print a table without the columns that there is no room for."""
    console, keys = people(), shown.keys
    left_out: list[str] = []
    for key in ("", *(key for key in spare if key in keys)):
        left_out += [key] if key else []
        kept = shown.only(tuple(k for k in keys if k not in left_out or k == "avg"))
        table = _table(grid.without_intervals(kept, "avg") if "avg" in left_out else kept)
        if breadth(table, console) <= console.width:
            break
    console.print(table)
    if left_out:
        said = ", ".join(
            f"interval of {head}" if key == "avg" else head
            for key, head in zip(keys, shown.heads, strict=True)
            if key in left_out
        )
        console.print(Text(f"no room for: {said} (a wider terminal or --json has them)", "dim"))


def _table(shown: grid.Grid) -> Table:
    """Numbers are never cut; a label that is too long goes on in the next line."""
    table = Table(box=None, pad_edge=False)
    for i, head in enumerate(shown.heads):
        narrow = head.replace(" ", "\n", 1) if i > 0 and len(head) < 18 else head
        if i == 0:
            table.add_column(Text(narrow), overflow="fold")
        else:
            table.add_column(Text(narrow), justify="right", no_wrap=True)
    for row in shown.rows:
        style = _COLORS.get(row.verdict, "") if row.line else "dim"
        table.add_row(*(Text(cell) for cell in row.cells), style=style)
    return table
