"""Learning curves with bands as one SVG, in colors that the page may change for the dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from jitrl.analysis.compare import Comparison, Line
from jitrl.core.stats import Interval, NoInterval
from jitrl.report import grid
from jitrl.report.words import Words

WIDTH, HEIGHT = 760, 380
NARROW = 440
"""Width of the drawing that stands in for the wide one on a telephone."""
LEFT, TOP, BOTTOM = 56, 16, 48
PALETTE = (
    *("#2563eb", "#d97706", "#0d9488", "#9333ea", "#db2777"),
    *("#65a30d", "#dc2626", "#0284c7", "#92400e", "#4338ca"),
)
"""Colors of the runs in order; the base is grey. Colors that are alike have other marks."""
DARK_PALETTE = (
    *("#60a5fa", "#fbbf24", "#2dd4bf", "#c084fc", "#f472b6"),
    *("#a3e635", "#f87171", "#38bdf8", "#d6a26e", "#a5b4fc"),
)
SHAPES = ("circle", "square", "triangle", "diamond", "hexagon")
"""Marks of the points of color 0, 1, …, again from the first after the last."""
MARKED = 30
"""Most attempts whose points have a mark."""
FEW = 4
"""Most lines whose intervals are bands; more lines have bars, which do not hide each other."""
GREY = "#6b7280"
_OURS = 0  # color of the agent jitrl, whatever runs beside it


@dataclass(frozen=True, slots=True)
class Trace:
    """One line of the chart.

    Attributes:
        color: Number in the palette; -1 is grey.
        band: Interval at each attempt, of no width where all score alike, ``None`` where there are
            too few; empty for none at all.
        dashed: For what is not a run but read off one.
    """

    label: str
    color: int
    mean: tuple[float, ...]
    band: tuple[tuple[float, float] | None, ...] = ()
    dashed: bool = False

    @property
    def alike(self) -> frozenset[int]:
        """Attempts at which all score alike, so that there is no interval; their marks are open."""
        return frozenset(k for k, ends in enumerate(self.band) if ends and ends[0] == ends[1])

    @property
    def is_banded(self) -> bool:
        """Whether an interval of it can be seen."""
        return any(ends and ends[0] < ends[1] for ends in self.band)


def traces(comparison: Comparison, words: Words) -> tuple[Trace, ...]:
    """The runs, the base in grey after its chances (a single run is no base)."""
    names = {line.result.label: grid.label(comparison, line, words) for line in comparison.lines}
    if len(comparison.lines) == 1:
        return (_trace(comparison.lines[0], _OURS, names),)
    base = comparison.first
    others = [line for line in comparison.lines if line is not base]
    ours = next((n for n in others if n.agent == "jitrl"), None)
    rest = iter(range(_OURS + 1, len(others) + 1))
    return (
        Trace(words.so_far.format(base=comparison.base), -1, comparison.chances, dashed=True),
        _trace(base, -1, names),
        *(_trace(line, _OURS if line is ours else next(rest), names) for line in others),
    )


def _trace(line: Line, color: int, names: Mapping[str, str]) -> Trace:
    return Trace(
        names[line.result.label], color, line.curve.mean, _ends(line.curve.mean, line.curve.band)
    )


def _ends(
    means: Sequence[float], intervals: Sequence[Interval | NoInterval]
) -> tuple[tuple[float, float] | None, ...]:
    found: list[tuple[float, float] | None] = []
    for mean, interval in zip(means, intervals, strict=True):
        match interval:
            case Interval(low, high):
                found.append((low, high))
            case NoInterval(is_constant=True):
                found.append((mean, mean))
            case _:
                found.append(None)
    return tuple(found) if any(found) else ()


def stretches(trace: Trace) -> list[list[tuple[int, float, float]]]:
    """Attempts in a row that are drawn as one band: number, low and high of each.

    A band goes on where all score alike, as a point.
    """
    found: list[list[tuple[int, float, float]]] = [[]]
    for k, ends in enumerate(trace.band):
        if ends is None:
            found.append([])
        else:
            found[-1].append((k, *ends))
    return [stretch for stretch in found if any(low < high for _, low, high in stretch)]


def along(comparison: Comparison, values: Sequence[str]) -> tuple[Trace, ...]:
    """Avg of the runs labelled ``values`` as one line; each other run as a level one."""
    lines = {line.result.label: line for line in comparison.lines}
    known = [lines[label] for label in values if label in lines]
    means = tuple(line.summary.avg for line in known)
    curve = Trace("", _OURS, means, _ends(means, [line.avg for line in known]))
    others = [line for line in comparison.lines if line.result.label not in values]
    level = (
        Trace(line.result.label, -1, (line.summary.avg,) * len(known), dashed=True)
        for line in others
    )
    return (*level, curve)


def svg(
    shown: Sequence[Trace],
    words: Words,
    *,
    ticks: Sequence[str] = (),
    axis: str = "",
    score: str = "",
    width: int = WIDTH,
) -> str:
    """The chart; classes ``c0`` … and ``grey`` take their colors from the page's style.

    Args:
        ticks: Names of the points; the numbers of attempts if not given.
        axis, score: Names of the axes.
        width: Of the drawing; letters keep their size.
    """
    attempts = max(len(trace.mean) for trace in shown)
    right = width - 24 - max(breadth(trace.label) for trace in shown)
    low, high = span(shown)
    rungs = nice_ticks(low, high)
    low, high = min(low, rungs[0]), max(high, rungs[-1])

    side = 0.3 if is_crowded(shown, attempts) else 0.0  # room for what is drawn aside
    step = (right - LEFT) / max(attempts - 1 + 2 * side, 1)

    def x(k: float) -> float:
        return LEFT + (side + k) * step if attempts > 1 else (LEFT + right) / 2

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    parts = [
        f'<svg class="chart {kind(width)}" viewBox="0 0 {width} {HEIGHT}" role="img" '
        f'aria-label="{escape(words.curve)}" xmlns="http://www.w3.org/2000/svg">'
    ]
    for tick in rungs:
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{right:.0f}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}"/><text class="tick" x="{LEFT - 10}" y="{y(tick) + 4:.1f}" '
            f'text-anchor="end">{tick:g}</text>'
        )
    names = dict(enumerate(ticks)) or {k - 1: str(k) for k in attempt_ticks(attempts)}
    every = math.ceil(25 * len(names) / (right - LEFT))
    names = {k: name for i, (k, name) in enumerate(names.items()) if ticks or i % every == 0}
    for k, name in names.items():
        parts.append(
            f'<text class="tick" x="{x(k):.1f}" y="{HEIGHT - BOTTOM + 20}" '
            f'text-anchor="middle">{escape(name)}</text>'
        )
    middle = LEFT + (right - LEFT) / 2
    parts.append(
        f'<text class="axis" x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(axis or words.attempt)}</text>"
        f'<text class="axis" transform="translate(14 {(HEIGHT - BOTTOM + TOP) / 2:.0f}) '
        f'rotate(-90)" text-anchor="middle">{escape(score or words.score)}</text>'
    )
    shift = dodges(shown, attempts)
    for trace, aside in zip(shown, shift, strict=True):
        for stretch in stretches(trace):
            if is_crowded(shown, attempts) or len(stretch) == 1:
                parts += [
                    f'<line class="bar {css(trace.color)}" x1="{x(k + aside):.1f}" '
                    f'x2="{x(k + aside):.1f}" y1="{y(low_k):.1f}" y2="{y(high_k):.1f}"/>'
                    for k, low_k, high_k in stretch
                    if low_k < high_k
                ]
            else:
                upper = [f"{x(k):.1f},{y(high_k):.1f}" for k, _, high_k in stretch]
                lower = [f"{x(k):.1f},{y(low_k):.1f}" for k, low_k, _ in stretch]
                points = " ".join(upper + lower[::-1])
                parts.append(f'<polygon class="band {css(trace.color)}" points="{points}"/>')
    for trace, aside in zip(shown, shift, strict=True):
        places = [(x(k + aside), y(v)) for k, v in enumerate(trace.mean)]
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        dash = " dashed" if trace.dashed else ""
        parts.append(f'<polyline class="line {css(trace.color)}{dash}" points="{points}"/>')
        if attempts <= MARKED and not trace.dashed:
            parts += [
                _mark(trace.color, px, py, is_open=k in trace.alike)
                for k, (px, py) in enumerate(places)
            ]
    ends = [y(trace.mean[-1]) for trace in shown]
    heights = spread(ends, 17, TOP + 4, HEIGHT - BOTTOM)
    for trace, aside, end, height in zip(shown, shift, ends, heights, strict=True):
        if abs(end - height) > 6:
            parts.append(
                f'<line class="leader {css(trace.color)}" x1="{x(attempts - 1 + aside) + 5:.0f}" '
                f'x2="{right + 12:.0f}" y1="{end:.1f}" y2="{height:.1f}"/>'
            )
        parts.append(
            f'<text class="label {css(trace.color)}" x="{right + 16:.0f}" '
            f'y="{height + 4:.1f}">{escape(trace.label)}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def is_crowded(shown: Sequence[Trace], attempts: int) -> bool:
    """Whether intervals are bars at each attempt instead of bands."""
    return attempts <= 12 and sum(trace.is_banded for trace in shown) > FEW


def dodges(shown: Sequence[Trace], attempts: int) -> list[float]:
    """How far aside each line is drawn, in attempts, so that bars stand beside each other."""
    if not is_crowded(shown, attempts):
        return [0.0] * len(shown)
    drawn = [i for i, trace in enumerate(shown) if not trace.dashed]
    width = 0.5 / len(drawn)
    aside = {i: (place - (len(drawn) - 1) / 2) * width for place, i in enumerate(drawn)}
    return [aside.get(i, 0.0) for i in range(len(shown))]


def _mark(color: int, x: float, y: float, *, is_open: bool) -> str:
    """A point of a line; its shape tells colors apart that are alike."""
    dot = "dot open" if is_open else "dot"
    if color < 0 or SHAPES[color % len(SHAPES)] == "circle":
        return f'<circle class="{dot} {css(color)}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    corners = _CORNERS[SHAPES[color % len(SHAPES)]]
    points = " ".join(f"{x + 3.8 * dx:.1f},{y + 3.8 * dy:.1f}" for dx, dy in corners)
    return f'<polygon class="{dot} {css(color)}" points="{points}"/>'


_CORNERS = {
    "square": ((-0.75, -0.75), (0.75, -0.75), (0.75, 0.75), (-0.75, 0.75)),
    "triangle": ((0, -1), (0.95, 0.75), (-0.95, 0.75)),
    "diamond": ((0, -1.15), (1.15, 0), (0, 1.15), (-1.15, 0)),
    "hexagon": ((-0.5, -0.9), (0.5, -0.9), (1, 0), (0.5, 0.9), (-0.5, 0.9), (-1, 0)),
}


def span(shown: Sequence[Trace]) -> tuple[float, float]:
    """Lowest and highest value shown; [0, 1] for scores that stay in it, unless all are low."""
    values = [
        v for t in shown for v in (*t.mean, *(end for band in t.band if band for end in band))
    ]
    low, high = min(values), max(values)
    if low >= 0.0 and high <= 1.0:
        return 0.0, high if 0.0 < high <= 0.5 else 1.0
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def nice_ticks(low: float, high: float) -> list[float]:
    """About five round numbers that cover ``low`` to ``high``."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def attempt_ticks(attempts: int) -> list[int]:
    """Attempts to be marked, counted from 1: the first, the last and round ones between."""
    if attempts <= 12:
        return list(range(1, attempts + 1))
    step = next(s for s in (5, 10, 20, 50, 100, 200, 500, 1000) if attempts / s <= 10)
    middle = [k for k in range(step, attempts, step) if attempts - k >= step / 2]
    return [1, *middle, attempts]


def spread(
    heights: Sequence[float], gap: float, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    """The same heights, moved apart until no two are closer than ``gap``.

    Args:
        low, high: Where they stay within, if there is room for all.
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    moved = [heights[i] for i in order]
    for _ in range(100):
        for i in range(len(moved) - 1):
            overlap = gap - (moved[i + 1] - moved[i])
            if overlap > 0:
                moved[i] -= overlap / 2
                moved[i + 1] += overlap / 2
    for i in reversed(range(len(moved))):
        above = high if i == len(moved) - 1 else moved[i + 1] - gap
        moved[i] = min(moved[i], above)
    for i in range(len(moved)):
        below = low if i == 0 else moved[i - 1] + gap
        moved[i] = max(moved[i], below)
    placed = list(heights)
    for i, height in zip(order, moved, strict=True):
        placed[i] = height
    return placed


def breadth(text: str) -> float:
    """How wide a bold label is at most in usual fonts, in the chart's units."""
    return sum(13.0 if ord(letter) > 0x2E7F else 8.4 for letter in text)


def kind(width: int) -> str:
    """Class of a drawing, by which the page shows it where it fits."""
    return "narrow" if width <= NARROW else "wide"


def css(color: int) -> str:
    """Class of a color in the page's style; -1 is grey."""
    return "grey" if color < 0 else f"c{color % len(PALETTE)}"
