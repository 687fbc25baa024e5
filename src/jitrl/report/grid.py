"""The tables of a comparison as texts: scores with their differences, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jitrl.analysis.bill import Extra, bill, extra
from jitrl.analysis.compare import Comparison, Line
from jitrl.core.stats import FEWEST_CLUSTERS, Difference, Interval, NoInterval
from jitrl.report.words import Words

Column = Literal["agent", "avg", "first", "final", "last", "best", "difference", "verdict", "rival"]
NONE = "–"


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of one run; ``line`` is ``None`` for the base's best of all attempts."""

    cells: tuple[str, ...]
    line: Line | None

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, ``no evidence`` or ""."""
        return self.line.difference.verdict if self.line and self.line.difference else ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its headings and rows, and the key of each column."""

    keys: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[Row, ...]

    def only(self, keys: tuple[str, ...]) -> Grid:
        """The columns of these keys."""
        places = [i for i, key in enumerate(self.keys) if key in keys]
        rows = (Row(tuple(row.cells[i] for i in places), row.line) for row in self.rows)
        return Grid(
            tuple(self.keys[i] for i in places), tuple(self.heads[i] for i in places), tuple(rows)
        )


def without_intervals(shown: Grid, key: str) -> Grid:
    """``shown`` with the means alone in the column ``key``."""
    i = shown.keys.index(key)
    rows = [
        Row((*row.cells[:i], row.cells[i].partition(" [")[0], *row.cells[i + 1 :]), row.line)
        for row in shown.rows
    ]
    return Grid(shown.keys, shown.heads, tuple(rows))


def scores(comparison: Comparison, words: Words) -> Grid:
    """Scores of each run, then what replaying the base's best attempt would reach.

    The last five attempts are a column where there are more than five, the first, the last and the
    best where there is a second attempt, differences where there is a second run.
    """
    k = comparison.shape[2]
    heads: dict[Column, str] = {
        "agent": words.agent,
        "avg": words.avg,
        "first": words.first,
        "final": words.final,
        "last": words.last,
        "best": words.best.format(k=k),
        "difference": words.difference.format(base=comparison.base),
        "verdict": words.verdict,
        "rival": words.rival,
    }
    rows = [Row(tuple(_cells(comparison, line, words).values()), line) for line in comparison.lines]
    if len(comparison.lines) > 1 and k > 1:
        best = number(comparison.first.summary.best, comparison.passed)
        name = words.reference.format(base=comparison.base, k=k)
        rows.append(Row((name, best, *(NONE,) * (len(heads) - 2)), None))
    grid = Grid(tuple(heads), tuple(heads.values()), tuple(rows))
    left_out = set[Column]()
    if k <= 5:
        left_out |= {"last"}
    if k == 1:
        left_out |= {"first", "final", "best"}
    if len(comparison.lines) < 2:
        left_out |= {"difference", "verdict"}
    if len(comparison.lines) < 3:
        left_out |= {"rival"}
    return grid.only(tuple(key for key in grid.keys if key not in left_out))


def costs(comparison: Comparison, words: Words) -> Grid:
    """What each run took; a column without any number is left out."""
    heads = {
        "agent": words.agent,
        "acting": words.acting,
        "learning": words.learning,
        "tokens": words.tokens,
        "dollars": words.dollars,
        "per_extra": words.per_extra,
        "acting_s": words.acting_s,
        "learning_s": words.learning_s,
        "wall_s": words.wall_s,
    }
    rows = [Row(_bill(comparison, line, words), line) for line in comparison.lines]
    used = [
        key
        for i, key in enumerate(heads)
        if any(row.cells[i] not in (NONE, "0", "$0.00") for row in rows)
    ]
    return Grid(tuple(heads), tuple(heads.values()), tuple(rows)).only(tuple(used))


def label(comparison: Comparison, line: Line, words: Words) -> str:
    """The run's name with its marks: terms that differ, prompts that cannot be tested."""
    marked = comparison.cannot_test_prompts and line.works_by_prompt
    return line.result.label + (words.mark if marked else "") + (words.star if line.differs else "")


def difference(of: Difference) -> str:
    """``+0.181 [+0.120, +0.260]``, or ``[n < 6]`` or ``[–]``, which ``note`` explains."""
    match of.interval:
        case Interval(low, high):
            return f"{_signed(of.mean)} [{_signed(low)}, {_signed(high)}]"
        case NoInterval(is_constant=True):
            return f"{_signed(of.mean)} [{NONE}]"
        case NoInterval():
            return f"{_signed(of.mean)} [n < {FEWEST_CLUSTERS}]"


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"  # without -0.000


def number(mean: float, interval: Interval | NoInterval) -> str:
    """``0.181 [0.120, 0.260]``, ``0.000 [–]`` where all score alike, or the mean alone."""
    match interval:
        case Interval(low, high):
            return f"{mean:.3f} [{low:.3f}, {high:.3f}]"
        case NoInterval(is_constant=True):
            return f"{mean:.3f} [{NONE}]"
        case NoInterval():
            return f"{mean:.3f}"


def duration(seconds: float | None, words: Words) -> str:
    """``4.2 s`` or ``3 min 07 s``."""
    if seconds is None:
        return NONE
    if seconds < 60:
        return words.seconds.format(seconds)
    return words.minutes.format(int(seconds) // 60, int(seconds) % 60)


def _cells(comparison: Comparison, line: Line, words: Words) -> dict[Column, str]:
    s, d = line.summary, line.difference
    return {
        "agent": label(comparison, line, words),
        "avg": number(s.avg, line.avg),
        "first": f"{line.curve.mean[0]:.3f}",
        "final": f"{s.final:.3f}",
        "last": f"{s.last:.3f}",
        "best": f"{s.best:.3f}",
        "difference": difference(d) if d else NONE,
        "verdict": words.verdicts[d.verdict] if d else NONE,
        "rival": difference(line.rival.difference) if line.rival else NONE,
    }


def _bill(comparison: Comparison, line: Line, words: Words) -> tuple[str, ...]:
    took = bill(line.result)
    return (
        label(comparison, line, words),
        f"{took.acting:,}",
        f"{took.learning:,}",
        f"{took.tokens:,}",
        f"${took.dollars:,.2f}",
        _extra(extra(comparison, line), words),
        duration(took.acting_s, words),
        duration(took.learning_s, words),
        duration(took.wall_s, words),
    )


def _extra(of: Extra | None, words: Words) -> str:
    if of is None:
        return NONE
    said = words.each.format(calls=of.calls)
    return said if of.dollars is None else f"{said}, ${of.dollars:+,.3f}"
