"""Final success against the reliability of the judge, as an SVG that needs no page around it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from jitrl.bench.judge.curve import Result
from jitrl.bench.report import Report
from jitrl.core.stats import Interval
from jitrl.report.chart import DARK_PALETTE, PALETTE, nice_ticks, spread

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 60, 560, 20, 52


def svg(report: Report[Result]) -> str:
    """One line with its 95 % band for each kind of judge; levels without a judge are dashed."""
    lines: dict[str, list[Result]] = {}
    for result in report.results:
        if result.arm.line:
            lines.setdefault(result.arm.line, []).append(result)
    levels = [r for r in report.results if r.arm.reliability is None]
    high = max(_band(r)[1] for r in report.results)
    ticks = nice_ticks(0.0, high)
    reliabilities = sorted({_reliability(r) for line in lines.values() for r in line})
    first, last = reliabilities[0], reliabilities[-1]

    def x(p: float) -> float:
        return LEFT + (RIGHT - LEFT) * (p - first) / (last - first)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / ticks[-1]

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Final success against the reliability of the judge">',
        f"<style>{_style()}</style>",
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
    ]
    for tick in ticks:
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
            f'<text class="tick" x="{LEFT - 10}" y="{y(tick) + 4:.1f}" text-anchor="end">'
            f"{100 * tick:g} %</text>"
        )
    for p in reliabilities:
        parts.append(
            f'<text class="tick" x="{x(p):.1f}" y="{HEIGHT - BOTTOM + 20}" '
            f'text-anchor="middle">{100 * p:g} %</text>'
        )
    parts.append(
        f'<text class="tick" x="{(LEFT + RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">'
        "reliability of the judge</text>"
        f'<text class="tick" transform="translate(14 {(HEIGHT - BOTTOM + TOP) / 2:.0f}) '
        'rotate(-90)" text-anchor="middle">success in the last attempts</text>'
    )
    for i, line in enumerate(lines.values()):
        upper = [f"{x(_reliability(r)):.1f},{y(_band(r)[1]):.1f}" for r in line]
        lower = [f"{x(_reliability(r)):.1f},{y(_band(r)[0]):.1f}" for r in line]
        parts.append(f'<polygon class="band c{i}" points="{" ".join(upper + lower[::-1])}"/>')
    for level in levels:
        at = y(level.final.mean)
        parts.append(f'<line class="level" x1="{LEFT}" x2="{RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
    for i, line in enumerate(lines.values()):
        points = [(x(_reliability(r)), y(r.final.mean)) for r in line]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline class="line c{i}" points="{path}"/>')
        parts += [f'<circle class="c{i}" cx="{a:.1f}" cy="{b:.1f}" r="3.5"/>' for a, b in points]
    parts += _labels(
        [(name, f"c{i}", y(line[-1].final.mean)) for i, (name, line) in enumerate(lines.items())]
        + [(level.arm.name, "grey", y(level.final.mean)) for level in levels]
    )
    return "\n".join([*parts, "</svg>\n"])


def _labels(given: Sequence[tuple[str, str, float]]) -> list[str]:
    """Names to the right of where their lines end, moved apart."""
    heights = spread([height for _, _, height in given], 18)
    return [
        f'<text class="label {color}" x="{RIGHT + 12}" y="{height + 4:.1f}">{escape(name)}</text>'
        for (name, color, _), height in zip(given, heights, strict=True)
    ]


def _reliability(result: Result) -> float:
    return result.arm.reliability or 0.0


def _band(result: Result) -> tuple[float, float]:
    match result.final.interval:
        case Interval(low, high):
            return low, high
        case _:
            return result.final.mean, result.final.mean


def _style() -> str:
    light = "".join(f".c{i}{{color:{color}}}" for i, color in enumerate(PALETTE))
    dark = "".join(f".c{i}{{color:{color}}}" for i, color in enumerate(DARK_PALETTE))
    return f"{_STYLE}{light}@media (prefers-color-scheme: dark){{{_DARK}{dark}}}"


_STYLE = (
    "text{font-family:system-ui,sans-serif}.page{fill:#ffffff}.grid{stroke:#e5e7eb}"
    ".tick{fill:#6b7280;font-size:12px}.label{fill:currentColor;font-size:13px;font-weight:600}"
    ".grey{color:#6b7280}.level{stroke:#6b7280;stroke-width:1.3;stroke-dasharray:5 4}"
    ".line{fill:none;stroke:currentColor;stroke-width:2}circle{fill:currentColor}"
    ".band{fill:currentColor;opacity:.13}"
)
_DARK = ".page{fill:#0f1218}.grid{stroke:#2a303c}.tick{fill:#9aa3b2}.grey{color:#9aa3b2}"
