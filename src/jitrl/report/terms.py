"""What must be said beside the tables of a comparison: the terms of each row, how to read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from jitrl.analysis.bill import bill
from jitrl.analysis.compare import ORACLE, Comparison, Line
from jitrl.analysis.results import Result
from jitrl.analysis.unscored import cause
from jitrl.core.stats import FEWEST_CLUSTERS, Interval, NoInterval
from jitrl.language import singular
from jitrl.report import grid
from jitrl.report.chart import MARKED, Trace
from jitrl.report.words import Words


def every(line: Line, words: Words) -> str:
    """What one must know of a row, in one line."""
    return " · ".join(_terms(line, words))


def shared(comparison: Comparison, words: Words) -> tuple[str, ...]:
    """The terms that all rows have in common."""
    each = [_terms(line, words) for line in comparison.lines]
    return tuple(term for term in each[0] if all(term in other for other in each[1:]))


def own(comparison: Comparison, line: Line, words: Words) -> str:
    """The terms that are not in every row."""
    common = shared(comparison, words)
    return " · ".join(term for term in _terms(line, words) if term not in common)


def _terms(line: Line, words: Words) -> list[str]:
    result, run = line.result, line.result.record.settings["run"]
    record = result.record
    size = {"t": len(record.tasks), "k": record.attempts, "s": len(record.seeds)}
    judge = (words.told if result.record.told else words.blind).format(
        result.setting("memory", "evaluator")
    )
    schedule = words.schedule[run["schedule"]].format(order=words.schedule[run["order"]])
    said = [
        words.commit.format(result.commits),
        words.config.format(result.record.digest),
        f"{result.model} ({', '.join(result.scorers)})",
        words.sized(**size),
        judge,
        words.rewards[run["rewards"]],
        schedule,
        words.protocol[run["protocol"]],
        _cost(result, words),
    ]
    if (stop := record.stopped) is not None:
        numbers = {"k": stop.attempts, "of": run["attempts"], "w": stop.window}
        said.append(words.stopped.format(gain=stop.said, margin=stop.margin, **numbers))
    if line.agent == ORACLE:
        said.append(words.oracle)
    if result.excluded:
        said.append(singular(words.excluded.format(result.excluded)))
    if result.failures:
        said.append(singular(words.failures.format(result.failures)))
    if result.unwritten:
        said.append(singular(words.unwritten.format(result.unwritten)))
    if result.unscored:
        said.append(unscored(result, words))
    if line.differs:
        said.append(words.differs.format("; ".join(line.differs)))
    return said


def unscored(result: Result, words: Words) -> str:
    """How many episodes have no score, why, and what to do about it."""
    reasons, total = list(result.unscored.items()), sum(result.unscored.values())
    shown = [f"{times:,} × {reason}" for reason, times in reasons[:_REASONS]]
    if rest := sum(times for _, times in reasons[_REASONS:]):
        shown.append(words.other_reasons.format(rest))
    which = words.none_scored if total == result.scores.size else words.unscored
    todo = words.remedies[cause(result.unscored)].format(file=result.journals[0])
    return which.format(total, reasons="; ".join(shown)) + todo


_REASONS = 3
"""Most reasons that are told one by one."""


def _cost(result: Result, words: Words) -> str:
    took = bill(result)
    said = singular(words.calls.format(calls=took.calls, cached=took.cached, tokens=took.tokens))
    return f"{said}, ${took.dollars:.2f}" if took.dollars else said


def note(comparison: Comparison, words: Words) -> str:
    """How to read the table, as far as it has such numbers."""
    clusters, k = _clusters(comparison, words), comparison.shape[2]
    are_many, stop = len(comparison.lines) > 1, "。" if words.code == "zh" else "."
    held = comparison.shape[0 if comparison.by == "task" else 1]
    said = words.note.format(k=k) if k > 1 else ""
    if held >= FEWEST_CLUSTERS:
        said += words.intervals.format(clusters=clusters)
        said += (words.leaves_out if are_many else "") + stop + alike(comparison, words)
    elif are_many:
        said += words.few.format(n=held, clusters=clusters, fewest=FEWEST_CLUSTERS)
    return said.strip()


def _clusters(comparison: Comparison, words: Words) -> str:
    names = {"en": comparison.by + "s", "zh": words.schedule.get(comparison.by, "种子")}
    return names[words.code]


def alike(comparison: Comparison, words: Words) -> str:
    """Why an interval is left out where all score alike, if one is."""
    levels = [comparison.passed] * (len(comparison.lines) > 1)
    differences: list[Interval | NoInterval] = []
    for line in comparison.lines:
        levels += [line.avg, *line.curve.band]
        compared = (line.difference, line.rival and line.rival.difference)
        differences += [of.interval for of in compared if of and of.verdict != "no evidence"]
        levels += [of.interval for of in compared if of]
    said = words.alike if _is_any_constant(levels) else ""
    said += words.alike_verdict if _is_any_constant(differences) else ""
    return said.format(clusters=_clusters(comparison, words))


def open_marks(comparison: Comparison, words: Words, shown: Sequence[Trace]) -> str:
    """What the open marks of a chart mean, if it has some; "" if not."""
    if not any(trace.alike and len(trace.mean) <= MARKED for trace in shown):
        return ""
    return words.open_marks.format(clusters=_clusters(comparison, words))


def _is_any_constant(intervals: Sequence[Interval | NoInterval]) -> bool:
    return any(isinstance(one, NoInterval) and one.is_constant for one in intervals)


def warning(comparison: Comparison, words: Words) -> str:
    """That prompt methods cannot be tested with this model, or that it is unknown; else ""."""
    if comparison.hint is None:
        return ""
    difference = grid.difference(comparison.hint)
    if comparison.has_too_few_for_hint:
        clusters = _clusters(comparison, words)
        return words.hint_unknown.format(difference=difference, clusters=clusters)
    return words.hint.format(difference=difference) if comparison.cannot_test_prompts else ""


def played(comparison: Comparison, words: Words) -> str:
    """The environments and their options, each once, and the first and last day of play."""
    found: dict[str, None] = {}
    days: list[str] = []
    for line in comparison.lines:
        record = line.result.record
        options = record.settings["environment"]["options"]
        said = ", ".join(f"{name}={_brief(value)}" for name, value in options.items())
        name = record.settings["environment"]["name"]
        found[f"{name} ({said})" if said else name] = None
        days += [f"{datetime.fromtimestamp(s.started, UTC):%Y-%m-%d}" for s in record.sessions]
    first, last = min(days), max(days)
    when = first if first == last else f"{first} – {last}"
    return words.played.format(what="; ".join(found), when=when)


def _brief(value: Any) -> str:
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def commands(comparison: Comparison) -> tuple[str, ...]:
    """The command lines that started the runs, each once."""
    found = (command for line in comparison.lines for command in line.result.commands)
    return tuple(dict.fromkeys(found))
