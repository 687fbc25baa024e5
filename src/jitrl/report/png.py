"""Learning curves as a PNG, drawn by matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jitrl.errors import ConfigError, MissingExtra
from jitrl.report.chart import (
    GREY,
    MARKED,
    PALETTE,
    SHAPES,
    Trace,
    attempt_ticks,
    dodges,
    is_crowded,
    nice_ticks,
    span,
    spread,
    stretches,
)
from jitrl.report.words import Words

_CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "Microsoft YaHei",
    "SimHei",
)


def write(path: Path, shown: Sequence[Trace], words: Words) -> None:
    """Draw ``shown`` into ``path``, 1520 × 760 pixels.

    Raises:
        MissingExtra: If matplotlib is not installed.
        ConfigError: If no font here has Chinese letters and the words are Chinese.
    """
    try:
        from matplotlib import font_manager, rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra(
            "PNG charts need matplotlib: pip install 'jitrl[plot]', or write an .html report"
        ) from error
    fonts = ["DejaVu Sans"]
    if words.code == "zh":
        installed = {font.name for font in font_manager.fontManager.ttflist}
        fonts = [font for font in _CHINESE_FONTS if font in installed]
        if not fonts:
            raise ConfigError(
                "no font with Chinese letters is installed (fonts-noto-cjk has one); "
                "install it, or use --lang en or an .html report"
            )
    with rc_context({"font.family": fonts, "font.size": 9}):
        figure = Figure(figsize=(7.6, 3.8), dpi=200, layout="constrained")
        axes = figure.add_subplot()
        attempts = max(len(trace.mean) for trace in shown)
        crowded = is_crowded(shown, attempts)
        for trace, aside in zip(shown, dodges(shown, attempts), strict=True):
            color = _color(trace)
            x = [k + 1 + aside for k in range(len(trace.mean))]
            axes.plot(
                x,
                trace.mean,
                color=color,
                linewidth=1 if trace.dashed else 1.8,
                linestyle="--" if trace.dashed else "-",
                marker=_marker(trace) if attempts <= MARKED and not trace.dashed else None,
                markersize=3,
            )
            if trace.alike and attempts <= MARKED:
                open_at = sorted(trace.alike)
                axes.plot(
                    [x[k] for k in open_at],
                    [trace.mean[k] for k in open_at],
                    linestyle="",
                    marker=_marker(trace),
                    markersize=3.4,
                    markerfacecolor="white",
                    markeredgecolor=color,
                    zorder=2.5,
                )
            for stretch in stretches(trace):
                at, lower, upper = zip(*((x[k], *ends) for k, *ends in stretch), strict=True)
                if crowded or len(stretch) == 1:
                    axes.vlines(at, lower, upper, color=color, alpha=0.55, linewidth=1)
                else:
                    axes.fill_between(at, lower, upper, color=color, alpha=0.14, linewidth=0)
        ticks = nice_ticks(*span(shown))
        low, high = ticks[0], ticks[-1]
        heights = spread([trace.mean[-1] for trace in shown], 0.055 * (high - low), low, high)
        for trace, height in zip(shown, heights, strict=True):
            axes.annotate(
                trace.label,
                (attempts + (0.3 if crowded else 0), height),
                xytext=(8, 0),
                textcoords="offset points",
                color=_color(trace),
                va="center",
                annotation_clip=False,
            )
        axes.set_ylim(low - 0.02 * (high - low), high + 0.02 * (high - low))
        axes.set_xticks(attempt_ticks(attempts))
        axes.set_yticks(ticks)
        axes.set_xlabel(words.attempt, color=GREY)
        axes.set_ylabel(words.score, color=GREY)
        axes.grid(axis="y", color="#e5e7eb")
        axes.set_axisbelow(True)
        axes.tick_params(length=0, colors=GREY)
        for spine in axes.spines.values():
            spine.set_visible(False)
        figure.savefig(path, format="png")


_MARKERS = dict(zip(SHAPES, "os^Dh", strict=True))


def _marker(trace: Trace) -> str:
    return "o" if trace.color < 0 else _MARKERS[SHAPES[trace.color % len(SHAPES)]]


def _color(trace: Trace) -> str:
    return GREY if trace.color < 0 else PALETTE[trace.color % len(PALETTE)]
