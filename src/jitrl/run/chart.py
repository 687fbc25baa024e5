"""Learning curves with bands as one SVG, in colors that the page may change for the dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from jitrl.core.stats import Interval
from jitrl.run.compare import Comparison, Line
from jitrl.run.words import Words

WIDTH, HEIGHT = 760, 380
LEFT, TOP, BOTTOM = 56, 16, 48
PALETTE = ("#2563eb", "#d97706", "#0d9488", "#9333ea", "#db2777", "#65a30d")
"""Colors of the runs in order; the base is grey."""
DARK_PALETTE = ("#60a5fa", "#fbbf24", "#2dd4bf", "#c084fc", "#f472b6", "#a3e635")
GREY = "#6b7280"
_OURS = 0  # color of the agent jitrl, whatever runs beside it


@dataclass(frozen=True, slots=True)
class Trace:
    """One line of the chart.

    Attributes:
        color: Number in the palette; -1 is grey.
        band: Interval at each attempt; empty for none.
        dashed: For what is not a run but read off one.
    """

    label: str
    color: int
    mean: tuple[float, ...]
    band: tuple[tuple[float, float], ...] = ()
    dashed: bool = False


def traces(comparison: Comparison, words: Words) -> tuple[Trace, ...]:
    """The runs, the base in grey after its chances (a single run is no base)."""
    if len(comparison.lines) == 1:
        return (_trace(comparison.lines[0], _OURS),)
    base = next(line for line in comparison.lines if line.result.label == comparison.base)
    others = [line for line in comparison.lines if line is not base]
    ours = next((n for n in others if n.result.setting("run", "agent") == "jitrl"), None)
    rest = iter(range(_OURS + 1, len(others) + 1))
    return (
        Trace(words.so_far.format(base=comparison.base), -1, comparison.chances, dashed=True),
        _trace(base, -1),
        *(_trace(line, _OURS if line is ours else next(rest)) for line in others),
    )


def _trace(line: Line, color: int) -> Trace:
    band = tuple((b.low, b.high) for b in line.curve.band if isinstance(b, Interval))
    return Trace(line.result.label, color, line.curve.mean, band)


def svg(shown: Sequence[Trace], words: Words) -> str:
    """The chart; classes ``c0`` … and ``grey`` take their colors from the page's style."""
    attempts = max(len(trace.mean) for trace in shown)
    right = WIDTH - 18 - max(_breadth(trace.label) for trace in shown)
    low, high = span(shown)
    ticks = nice_ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])

    def x(k: float) -> float:
        return LEFT + (right - LEFT) * (k / (attempts - 1) if attempts > 1 else 0.5)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    parts = [
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(words.curve)}" xmlns="http://www.w3.org/2000/svg">'
    ]
    for tick in ticks:
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{right:.0f}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}"/><text class="tick" x="{LEFT - 10}" y="{y(tick) + 4:.1f}" '
            f'text-anchor="end">{tick:g}</text>'
        )
    for k in attempt_ticks(attempts):
        parts.append(
            f'<text class="tick" x="{x(k - 1):.1f}" y="{HEIGHT - BOTTOM + 20}" '
            f'text-anchor="middle">{k}</text>'
        )
    middle = LEFT + (right - LEFT) / 2
    parts.append(
        f'<text class="axis" x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(words.attempt)}</text>"
        f'<text class="axis" transform="translate(14 {(HEIGHT - BOTTOM + TOP) / 2:.0f}) '
        f'rotate(-90)" text-anchor="middle">{escape(words.score)}</text>'
    )
    for trace in shown:
        if len(trace.band) == len(trace.mean):
            upper = [f"{x(k):.1f},{y(b[1]):.1f}" for k, b in enumerate(trace.band)]
            lower = [f"{x(k):.1f},{y(b[0]):.1f}" for k, b in enumerate(trace.band)]
            points = " ".join(upper + lower[::-1])
            parts.append(f'<polygon class="band {_class(trace)}" points="{points}"/>')
    for trace in shown:
        points = " ".join(f"{x(k):.1f},{y(v):.1f}" for k, v in enumerate(trace.mean))
        dash = " dashed" if trace.dashed else ""
        parts.append(f'<polyline class="line {_class(trace)}{dash}" points="{points}"/>')
        if attempts <= 30 and not trace.dashed:
            parts += [
                f'<circle class="dot {_class(trace)}" cx="{x(k):.1f}" cy="{y(v):.1f}" r="2.5"/>'
                for k, v in enumerate(trace.mean)
            ]
    heights = spread([y(trace.mean[-1]) for trace in shown], 17)
    for trace, height in zip(shown, heights, strict=True):
        parts.append(
            f'<text class="label {_class(trace)}" x="{right + 10:.0f}" '
            f'y="{height + 4:.1f}">{escape(trace.label)}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def span(shown: Sequence[Trace]) -> tuple[float, float]:
    """Lowest and highest value shown; [0, 1] for scores that stay in it."""
    values = [v for t in shown for v in (*t.mean, *(end for band in t.band for end in band))]
    low, high = min(values), max(values)
    if low >= 0.0 and high <= 1.0:
        return 0.0, 1.0
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


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The same heights, moved apart until no two are closer than ``gap``."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    moved = [heights[i] for i in order]
    for _ in range(100):
        for i in range(len(moved) - 1):
            overlap = gap - (moved[i + 1] - moved[i])
            if overlap > 0:
                moved[i] -= overlap / 2
                moved[i + 1] += overlap / 2
    placed = list(heights)
    for i, height in zip(order, moved, strict=True):
        placed[i] = height
    return placed


def _breadth(text: str) -> float:
    """About how wide a label is, in the chart's units."""
    return sum(13.0 if ord(letter) > 0x2E7F else 6.8 for letter in text)


def _class(trace: Trace) -> str:
    return "grey" if trace.color < 0 else f"c{trace.color % len(PALETTE)}"
