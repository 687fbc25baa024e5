"""A comparison as Markdown."""

from __future__ import annotations

from jitrl.analysis.compare import Comparison, Line
from jitrl.report import chart, grid, terms
from jitrl.report.words import Words


def markdown(comparison: Comparison, words: Words, command: str = "") -> str:
    """The table, the curve as a table of at most ten attempts, the cost, and how to read them.

    Args:
        command: The command line that writes it.
    """
    shown = grid.scores(comparison, words)
    rows = [
        (*row.cells, terms.every(row.line, words) if row.line else grid.NONE) for row in shown.rows
    ]
    names = [grid.label(comparison, line, words) for line in comparison.lines]
    curve = [
        (str(k), *(_point(line, k - 1) for line in comparison.lines))
        for k in chart.attempt_ticks(comparison.shape[2])
    ]
    bills = grid.costs(comparison, words)
    warned = terms.warning(comparison, words)
    return "\n".join(
        [
            f"# {words.title}",
            "",
            terms.played(comparison, words),
            "",
            *_table((*shown.heads, words.terms), rows),
            "",
            *([warned, ""] if warned else ()),
            terms.note(comparison, words),
            "",
            f"## {words.curve}",
            "",
            *_table((words.attempt, *names), curve),
            "",
            f"## {words.cost}",
            "",
            *_table(bills.heads, [row.cells for row in bills.rows]),
            "",
            words.bill.format(base=comparison.base),
            "",
            *_commands(comparison, words, command),
        ]
    )


def _commands(comparison: Comparison, words: Words, command: str) -> list[str]:
    groups = (
        (words.ran_by, terms.commands(comparison)),
        (words.made_by, (command,) if command else ()),
    )
    lines = []
    for said, given in groups:
        if given:
            lines += [f"{said}:", "", *(f"    {line}" for line in given), ""]
    return lines


def _point(line: Line, k: int) -> str:
    return grid.number(line.curve.mean[k], line.curve.band[k])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *rows]
    return ["| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines]
