"""The learning curve of a place beside the arm without memory, with bands, never without n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jitrl.analysis import results
from jitrl.analysis.compare import Comparison, compare
from jitrl.analysis.progress import Arm, Point, Progress, by_attempt, by_order
from jitrl.analysis.results import Result
from jitrl.core.stats import Difference, Interval, NoInterval
from jitrl.errors import ConfigError, InputError
from jitrl.report import chart, grid, terms
from jitrl.report.words import LANGUAGES
from jitrl.service.pages.asking import Asked, Shown
from jitrl.service.pages.foreign import shown
from jitrl.service.pages.places import Place
from jitrl.service.pages.viewers import Viewer
from jitrl.service.pages.words import Words

MOST = 20_000
"""Newest episodes of a memory that its curve is drawn of."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the chart and of the table below it.

    Attributes:
        color: Number in the palette; -1 is grey.
        low, high: Ends of the band; ``None`` where there is none.
        n: Episodes behind each point; ``None`` for what is not a run but read off one.
        why: Why a point has no band; "" where it has one.
    """

    label: str
    color: int
    is_dashed: bool
    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    n: tuple[int | None, ...]
    why: tuple[str, ...]

    @property
    def each(self) -> int | None:
        """Episodes behind each point, where all have as many."""
        known = set(self.n)
        return known.pop() if len(known) == 1 else None

    def at(self, x: float) -> int | None:
        """Place of the point at ``x``."""
        return self.x.index(x) if x in self.x else None


def view(asked: Asked) -> Shown:
    """The page; the part of it that changes while a run goes on, where ``part`` is given."""
    is_part = bool(asked.text("part"))
    stamp = asked.place.stamp()
    if is_part and asked.text("seen") == stamp:
        return Shown("nothing.html", {}, is_part=True, status=204)
    values = _of_run(asked) if asked.place.kind == "run" else _of_memory(asked)
    template = "curve_part.html" if is_part else "curve.html"
    return Shown(template, {"stamp": stamp, **values}, is_part=is_part)


def comparison_of(place: Place, viewer: Viewer) -> Comparison | None:
    """A finished run beside those of the shelf that were played on equal terms; else ``None``."""
    own = finished(place)
    if own is None:
        return None
    others = [
        result
        for other in viewer.shelf.runs()
        if other != place and (result := finished(other)) is not None
    ]
    alike = [result for result in others if _is_alike(own, result)]
    return compare([own, *alike])


def finished(place: Place) -> Result | None:
    """What came out of a run; ``None`` where it is not finished, or no run."""
    if place.kind != "run":
        return None
    try:
        return results.read(place.path, place.name)
    except InputError:
        return None


def _is_alike(one: Result, other: Result) -> bool:
    try:
        compare([one, other])
    except ConfigError:
        return False
    return True


def _of_run(asked: Asked) -> dict[str, Any]:
    comparison = comparison_of(asked.place, asked.viewer)
    if comparison is None:
        return _under_way(asked)
    words = LANGUAGES[asked.lang]
    tasks, seeds, attempts = comparison.shape
    found = [
        _line(
            trace.label,
            trace.color,
            [_point(k + 1.0, mean, _end(trace.band, k)) for k, mean in enumerate(trace.mean)],
            [None if trace.dashed else tasks * seeds] * attempts,
            asked.words,
            trace.dashed,
        )
        for trace in chart.traces(comparison, words)
    ]
    return {
        "state": "finished",
        "lines": found,
        "data": data(found, asked.words("curve.attempt"), asked.words("curve.score")),
        "scores": grid.scores(comparison, words),
        "said": [_said(comparison, asked.words)],
        "note": terms.note(comparison, words),
        "terms": terms.shared(comparison, words) or (terms.every(comparison.first, words),),
        "n": tasks * seeds * attempts,
        "axis": asked.words("curve.attempt"),
        "commands": terms.commands(comparison),
    }


def _under_way(asked: Asked) -> dict[str, Any]:
    """Of a run that is not finished: its attempts as far as they were played, and its base's."""
    arms = [(asked.place.name, _played(asked.place))]
    for other in asked.viewer.shelf.runs():
        record = other.record()
        if other != asked.place and record and record.settings["run"]["agent"] == "static":
            arms.append((other.name, _played(other)))
    record = asked.place.record()
    total = len(record.tasks) * len(record.seeds) * record.attempts if record else 0
    done = sum(map(len, arms[0][1].values()))
    lines = [
        _arm(by_attempt(name, played), 0 if i == 0 else -1, asked.words)
        for i, (name, played) in enumerate(arms)
        if any(played.values())
    ]
    return {
        "state": "under-way",
        "lines": lines,
        "data": data(lines, asked.words("curve.attempt"), asked.words("curve.score")),
        "said": [asked.words("curve.under_way", done=done, total=total)],
        "n": done,
        "done": done,
        "total": total,
        "axis": asked.words("curve.attempt"),
    }


def _played(place: Place) -> dict[int, list[tuple[str, float]]]:
    """Attempt to task (with its seed) and score of each episode."""
    found: dict[int, list[tuple[str, float]]] = {}
    for seed in place.seeds():
        with place.reading(seed) as opened:
            for line in opened.paging.episodes(limit=MOST).items:
                if line.status != "aborted" and line.attempt is not None and line.noted is not None:
                    found.setdefault(line.attempt, []).append((line.task, line.noted))
    return found


def _of_memory(asked: Asked) -> dict[str, Any]:
    words = asked.words
    with asked.place.reading() as opened:
        lines = opened.paging.episodes(limit=MOST).items[::-1]
    progress = by_order(lines, (words("curve.with"), words("curve.held")))
    colors: dict[str, int] = {words("curve.with"): 0, words("curve.held"): -1}
    found = [_arm(arm, colors[arm.name], words) for arm in progress.arms]
    scored = sum(line.score is not None for line in lines)
    return {
        "state": "memory",
        "lines": found,
        "data": data(found, words("curve.episodes"), words("curve.score")),
        "said": [_effect(progress, words)] if scored else [],
        "n": scored,
        "unscored": len(lines) - scored,
        "axis": words("curve.up_to"),
        "stretch": progress.stretch,
    }


def _effect(progress: Progress, words: Words) -> str:
    of = progress.effect
    if of is None:
        return words("curve.none_held")
    if of.by == "task":
        said = difference(of.difference, words, words("curve.held_base"))
    elif of.is_known:
        ends = _ends(of.difference, words, "curve.both_alike")
        verdict = words(f"verdict.{of.difference.verdict.replace(' ', '_')}")
        said = words(
            "curve.by_episodes",
            verdict=verdict,
            mean=of.difference.mean,
            ends=ends,
            ours=of.ours,
            held=of.held,
            tasks=of.tasks,
        )
    else:
        return words("curve.judge_later", ours=of.ours, held=of.held, tasks=of.tasks)
    return words("curve.of", name=words("curve.with_name"), said=said)


def _said(comparison: Comparison, words: Words) -> str:
    """The verdict of the first run that is not the base."""
    for line in comparison.lines:
        if line.difference is not None:
            said = difference(line.difference, words, comparison.base)
            return words("curve.of", name=line.result.label, said=said)
    return words("curve.alone")


def difference(of: Difference, words: Words, base: str) -> str:
    """A difference in a sentence, with its interval and what it rests on."""
    if words.lang == "zh" and base.isascii():  # names in Latin letters stand apart
        base = f" {base} "
    if isinstance(of.interval, NoInterval) and not of.interval.is_constant:
        mean = words("curve.so_far", mean=of.mean) if of.clusters else ""
        return words("curve.too_few", base=base, mean=mean, n=of.clusters)
    verdict = words(f"verdict.{of.verdict.replace(' ', '_')}")
    return words(
        "curve.difference",
        verdict=verdict,
        base=base,
        mean=of.mean,
        ends=_ends(of, words),
        n=of.clusters,
    )


def _ends(of: Difference, words: Words, alike: str = "curve.constant") -> str:
    """The interval of a difference that has a verdict."""
    match of.interval:
        case Interval(low, high):
            return words("curve.between", low=low, high=high)
    return words(alike, n=of.clusters)


def _arm(arm: Arm, color: int, words: Words) -> Line:
    return _line(arm.name, color, arm.points, [p.n for p in arm.points], words)


def _point(x: float, mean: float, ends: tuple[float, float] | None) -> Point:
    interval: Interval | NoInterval = NoInterval("too few")
    if ends is not None:
        is_flat = ends[0] == ends[1]
        interval = NoInterval("alike", is_constant=True) if is_flat else Interval(*ends)
    return Point(x, mean, interval, 0, 0)


def _end(band: Sequence[tuple[float, float] | None], k: int) -> tuple[float, float] | None:
    return band[k] if band else None


def _line(
    label: str,
    color: int,
    points: Sequence[Point],
    n: Sequence[int | None],
    words: Words,
    is_dashed: bool = False,
) -> Line:
    ends = [p.interval if isinstance(p.interval, Interval) else None for p in points]
    why = [
        ""
        if isinstance(p.interval, Interval) or is_dashed
        else words("curve.alike" if p.interval.is_constant else "curve.few_tasks")
        for p in points
    ]
    return Line(
        label,
        color,
        is_dashed,
        tuple(p.x for p in points),
        tuple(p.mean for p in points),
        tuple(None if e is None else e.low for e in ends),
        tuple(None if e is None else e.high for e in ends),
        tuple(n),
        tuple(why),
    )


def data(lines: Sequence[Line], axis: str, score: str) -> Mapping[str, Any]:
    """The lines as the chart in the browser takes them: one row of x, the rest filled up."""
    xs = sorted({x for line in lines for x in line.x})

    def spread(line: Line, values: Sequence[Any]) -> list[Any]:
        known = dict(zip(line.x, values, strict=True))
        return [known.get(x) for x in xs]

    return {
        "x": xs,
        "axis": axis,
        "score": score,
        "lines": [
            {
                "label": shown(line.label),
                "color": line.color,
                "dashed": line.is_dashed,
                "mean": spread(line, line.mean),
                "low": spread(line, line.low),
                "high": spread(line, line.high),
                "n": spread(line, line.n),
            }
            for line in lines
        ],
    }
