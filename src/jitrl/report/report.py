"""A comparison as Markdown and as data, and what one must know of each of its rows."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from jitrl.analysis.bill import bill, extra
from jitrl.analysis.compare import ORACLE, Comparison, Line
from jitrl.analysis.results import Result
from jitrl.core.stats import FEWEST_CLUSTERS, Difference, Interval, NoInterval
from jitrl.report import chart, grid
from jitrl.report.words import Words


def data(comparison: Comparison, schema: str) -> dict[str, Any]:
    """Everything in plain values; ``schema`` comes first."""
    tasks, seeds, attempts = comparison.shape
    return {
        "schema": schema,
        "base": comparison.base,
        "interval": {"level": 0.95, "method": "BCa bootstrap", "over": comparison.by},
        "shape": {"tasks": tasks, "seeds": seeds, "attempts": attempts},
        "base_best_of_k": {"mean": comparison.first.summary.best, **_interval(comparison.passed)},
        "hint": comparison.hint and _difference(comparison.hint),
        "cannot_test_prompts": comparison.cannot_test_prompts,
        "rows": [_row(comparison, line) for line in comparison.lines],
    }


def terms(line: Line, words: Words) -> str:
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
    size = {"t": len(result.record.tasks), "k": run["attempts"], "s": len(result.record.seeds)}
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
    if line.agent == ORACLE:
        said.append(words.oracle)
    if result.excluded:
        said.append(words.excluded.format(result.excluded))
    if result.failures:
        said.append(words.failures.format(result.failures))
    if result.unwritten:
        said.append(words.unwritten.format(result.unwritten))
    if result.unscored:
        said.append(words.unscored.format(result.unscored))
    if line.differs:
        said.append(words.differs.format("; ".join(line.differs)))
    return said


def _cost(result: Result, words: Words) -> str:
    took = bill(result)
    said = words.calls.format(calls=took.calls, cached=took.cached, tokens=took.tokens)
    return f"{said}, ${took.dollars:.2f}" if took.dollars else said


def note(comparison: Comparison, words: Words) -> str:
    """How to read the table."""
    names = {"en": comparison.by + "s", "zh": words.schedule.get(comparison.by, "种子")}
    clusters = names[words.code]
    said = words.note.format(k=comparison.shape[2], clusters=clusters)
    held = comparison.shape[0 if comparison.by == "task" else 1]
    if held >= FEWEST_CLUSTERS or len(comparison.lines) == 1:
        return said
    return said + words.few.format(n=held, clusters=clusters, fewest=FEWEST_CLUSTERS)


def warning(comparison: Comparison, words: Words) -> str:
    """That prompt methods cannot be tested with this model, if so; else ""."""
    if comparison.hint is None or not comparison.cannot_test_prompts:
        return ""
    return words.hint.format(difference=grid.difference(comparison.hint))


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


def markdown(comparison: Comparison, words: Words, command: str = "") -> str:
    """The table, the curve as a table of at most ten attempts, the cost, and how to read them.

    Args:
        command: The command line that writes it.
    """
    shown = grid.scores(comparison, words)
    rows = [(*row.cells, terms(row.line, words) if row.line else grid.NONE) for row in shown.rows]
    names = [grid.label(comparison, line, words) for line in comparison.lines]
    curve = [
        (str(k), *(_point(line, k - 1) for line in comparison.lines))
        for k in chart.attempt_ticks(comparison.shape[2])
    ]
    bills = grid.costs(comparison, words)
    warned = warning(comparison, words)
    return "\n".join(
        [
            f"# {words.title}",
            "",
            played(comparison, words),
            "",
            *_table((*shown.heads, words.terms), rows),
            "",
            *([warned, ""] if warned else ()),
            note(comparison, words),
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
    groups = ((words.ran_by, commands(comparison)), (words.made_by, (command,) if command else ()))
    lines = []
    for said, given in groups:
        if given:
            lines += [f"{said}:", "", *(f"    {line}" for line in given), ""]
    return lines


def _row(comparison: Comparison, line: Line) -> dict[str, Any]:
    result, run = line.result, line.result.record.settings["run"]
    s, d, more = line.summary, line.difference, extra(comparison, line)
    return {
        "label": result.label,
        "agent": run["agent"],
        "folder": str(result.folder),
        "journals": [str(path) for path in result.journals],
        "commands": list(result.commands),
        "commit": result.commits,
        "config": result.record.digest,
        "environment": result.setting("environment", "name"),
        "environment_options": result.setting("environment", "options"),
        "model": result.model,
        "scorers": list(result.scorers),
        "tasks": list(result.record.tasks),
        "attempts": run["attempts"],
        "seeds": list(result.record.seeds),
        "evaluator": result.setting("memory", "evaluator"),
        "told": result.record.told,
        "rewards": run["rewards"],
        "schedule": run["schedule"],
        "order": run["order"],
        "protocol": run["protocol"],
        "cost": [asdict(total) for total in result.cost],
        "bill": asdict(bill(result)),
        "extra": more and asdict(more),
        "excluded": result.excluded,
        "failures": result.failures,
        "unwritten": result.unwritten,
        "unscored": result.unscored,
        "differs": list(line.differs),
        "avg": s.avg,
        "avg_interval": _interval(line.avg),
        "first": line.curve.mean[0],
        "final": s.final,
        "first_five": s.first,
        "last_five": s.last,
        "best_of_k": s.best,
        "difference": d and _difference(d),
        "verdict": d and d.verdict,
        "rival": line.rival and {"label": line.rival.label, **_difference(line.rival.difference)},
        "final_beyond_base_best_of_k": _difference(line.beyond),
        "curve": [
            {"mean": mean, **_interval(band)}
            for mean, band in zip(line.curve.mean, line.curve.band, strict=True)
        ],
        "scores": result.scores.tolist(),
    }


def _difference(of: Difference) -> dict[str, Any]:
    return {"mean": of.mean, "clusters": of.clusters, **_interval(of.interval)}


def _interval(of: Interval | NoInterval) -> dict[str, Any]:
    match of:
        case Interval(low, high):
            return {"low": low, "high": high}
        case NoInterval(reason):
            return {"low": None, "high": None, "reason": reason}


def _point(line: Line, k: int) -> str:
    return grid.number(line.curve.mean[k], line.curve.band[k])


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *rows]
    return ["| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines]
