"""Differences from the base as dots with their intervals, one line each, as one SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from jitrl.analysis.compare import Comparison
from jitrl.core.stats import Difference, Interval
from jitrl.report import chart, grid
from jitrl.report.words import Words

LINE, TOP, BOTTOM = 28, 8, 34
_VALUE = 190  # room for a difference in figures
_ABOVE, _EDGE = 22, 24  # a narrow drawing: where words stand above a bar, room at both ends


@dataclass(frozen=True, slots=True)
class Twig:
    """One difference; ``color`` as in the learning curves."""

    label: str
    color: int
    difference: Difference


def twigs(comparison: Comparison, words: Words) -> tuple[Twig, ...]:
    """The differences of all runs from the base, in the order of the table."""
    if len(comparison.lines) < 2:
        return ()
    colors = {trace.label: trace.color for trace in chart.traces(comparison, words)}
    return tuple(
        Twig(name, colors[name], line.difference)
        for line in comparison.lines
        if line.difference
        for name in [grid.label(comparison, line, words)]
    )


def svg(shown: Sequence[Twig], words: Words, *, width: int = chart.WIDTH) -> str:
    """The dots; classes ``c0`` … take their colors from the page's style.

    Where it is narrow, label and figures stand above their bar, else beside it.
    """
    is_narrow = chart.kind(width) == "narrow"
    line = LINE + (_ABOVE if is_narrow else 0)
    height = TOP + line * len(shown) + BOTTOM
    left = 24 + max(chart.breadth(twig.label) for twig in shown)
    right: float = width - _VALUE
    if is_narrow:
        left, right = _EDGE, width - _EDGE
    ends = [0.0]
    for twig in shown:
        ends.append(twig.difference.mean)
        if isinstance(twig.difference.interval, Interval):
            ends += [twig.difference.interval.low, twig.difference.interval.high]
    low, high = min(ends), max(ends)
    ticks = chart.nice_ticks(low, high if high > low else low + 0.1)
    low, high = min(low, ticks[0]), max(high, ticks[-1])

    def x(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    foot = TOP + line * len(shown)
    parts = [
        f'<svg class="chart {chart.kind(width)}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(words.differences)}" xmlns="http://www.w3.org/2000/svg">'
    ]
    for tick in ticks:
        parts.append(
            f'<line class="{"grid" if tick else "zero"}" x1="{x(tick):.1f}" x2="{x(tick):.1f}" '
            f'y1="{TOP}" y2="{foot}"/><text class="tick" x="{x(tick):.1f}" y="{foot + 18}" '
            f'text-anchor="middle">{tick:+g}</text>'
        )
    for i, twig in enumerate(shown):
        y, kind, of = TOP + line * (i + 1) - LINE / 2, chart.css(twig.color), twig.difference
        at = (0.0, y - _ABOVE + 4, "start") if is_narrow else (left - 12, y + 4, "end")
        parts.append(
            f'<text class="label {kind}" x="{at[0]:.0f}" y="{at[1]:.1f}" text-anchor="{at[2]}">'
            f"{escape(twig.label)}</text>"
        )
        if isinstance(of.interval, Interval):
            parts.append(
                f'<line class="range {kind}" x1="{x(of.interval.low):.1f}" '
                f'x2="{x(of.interval.high):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
        at = (width, at[1], "end") if is_narrow else (right + 16, y + 4, "start")
        parts.append(
            f'<circle class="dot {kind}" cx="{x(of.mean):.1f}" cy="{y:.1f}" r="5"/>'
            f'<text class="value" x="{at[0]:.0f}" y="{at[1]:.1f}" text-anchor="{at[2]}">'
            f"{escape(grid.difference(of))}</text>"
        )
    return "\n".join([*parts, "</svg>"])
