"""A comparison as Markdown, as data, and as one HTML page that needs nothing else."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from html import escape
from typing import Any

from jitrl.core.stats import FEWEST_CLUSTERS, Difference, Interval, NoInterval
from jitrl.run import chart
from jitrl.run.compare import Comparison, Line
from jitrl.run.results import Result
from jitrl.run.words import Words


def data(comparison: Comparison, schema: str) -> dict[str, Any]:
    """Everything in plain values; ``schema`` comes first."""
    tasks, seeds, attempts = comparison.shape
    return {
        "schema": schema,
        "base": comparison.base,
        "interval": {"level": 0.95, "method": "BCa bootstrap", "over": comparison.by},
        "shape": {"tasks": tasks, "seeds": seeds, "attempts": attempts},
        "rows": [_row(line) for line in comparison.lines],
    }


def cells(line: Line, words: Words) -> tuple[str, ...]:
    """What the table shows of a run: label, five numbers, difference, verdict."""
    s = line.summary
    numbers = (f"{value:.3f}" for value in (s.avg, s.final, s.first, s.last, s.best))
    if line.difference is None:
        return (line.result.label, *numbers, "–", "–")
    verdict = words.verdicts[line.difference.verdict]
    return (line.result.label, *numbers, difference(line.difference), verdict)


def heads(comparison: Comparison, words: Words) -> tuple[str, ...]:
    """Headings over ``cells``."""
    return (
        words.agent,
        words.avg,
        words.final,
        words.first,
        words.last,
        words.best.format(k=comparison.shape[2]),
        words.difference.format(base=comparison.base),
        words.verdict,
    )


def difference(of: Difference) -> str:
    """``+0.181 [+0.120, +0.260]``, or ``[n < 6]``, which ``note`` explains."""
    match of.interval:
        case Interval(low, high):
            return f"{of.mean:+.3f} [{low:+.3f}, {high:+.3f}]"
        case NoInterval():
            return f"{of.mean:+.3f} [n < {FEWEST_CLUSTERS}]"


def terms(line: Line, words: Words) -> str:
    """What one must know of a row, in one line."""
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
    if result.excluded:
        said.append(words.excluded.format(result.excluded))
    if result.failures:
        said.append(words.failures.format(result.failures))
    if result.unscored:
        said.append(words.unscored.format(result.unscored))
    if line.differs:
        said.append(words.differs.format("; ".join(line.differs)))
    return " · ".join(said)


def _cost(result: Result, words: Words) -> str:
    calls, cached = (sum(getattr(t, n) for t in result.cost) for n in ("calls", "cached"))
    tokens = sum(total.tokens_in + total.tokens_out for total in result.cost)
    said = words.calls.format(calls=calls, cached=cached, tokens=tokens)
    dollars = sum(total.dollars for total in result.cost)
    return f"{said}, ${dollars:.2f}" if dollars else said


def note(comparison: Comparison, words: Words) -> str:
    """How to read the table."""
    names = {"en": comparison.by + "s", "zh": words.schedule.get(comparison.by, "种子")}
    clusters = names[words.code]
    said = words.note.format(k=comparison.shape[2], clusters=clusters)
    held = comparison.shape[0 if comparison.by == "task" else 1]
    if held >= FEWEST_CLUSTERS or len(comparison.lines) == 1:
        return said
    return said + words.few.format(n=held, clusters=clusters, fewest=FEWEST_CLUSTERS)


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


def markdown(comparison: Comparison, words: Words) -> str:
    """The table, the curve as a table of at most ten attempts, and how to read them."""
    head = (*heads(comparison, words), words.terms)
    rows = [(*cells(line, words), terms(line, words)) for line in comparison.lines]
    labels = [line.result.label for line in comparison.lines]
    curve = [
        (str(k), *(_point(line, k - 1) for line in comparison.lines))
        for k in chart.attempt_ticks(comparison.shape[2])
    ]
    return "\n".join(
        [
            f"# {words.title}",
            "",
            *_table(head, rows),
            "",
            note(comparison, words),
            "",
            f"## {words.curve}",
            "",
            *_table((words.attempt, *labels), curve),
            "",
        ]
    )


def html(comparison: Comparison, words: Words) -> str:
    """One page for light and dark, with the curve drawn in it."""
    names = heads(comparison, words)
    head = "".join(f"<th>{escape(text)}</th>" for text in names)
    rows = []
    for line in comparison.lines:
        shown = cells(line, words)
        verdict = line.difference.verdict if line.difference else "none"
        kinds = [*("",) * (len(shown) - 1), verdict.replace(" ", "-")]
        inner = "".join(
            f'<td class="{kind}" data-head="{escape(name)}">{escape(text)}</td>'
            for kind, name, text in zip(kinds, names, shown, strict=True)
        )
        rows.append(
            f'<tr class="numbers">{inner}</tr>\n'
            f'<tr class="terms"><td colspan="{len(shown)}">{escape(terms(line, words))}</td></tr>'
        )
    return _PAGE.format(
        code=words.code,
        title=escape(words.title),
        curve=escape(words.curve),
        style=_style(),
        chart=chart.svg(chart.traces(comparison, words), words),
        head=head,
        rows="\n".join(rows),
        note=escape(note(comparison, words)),
        played=escape(played(comparison, words)),
        legend=escape(words.legend),
    )


def _row(line: Line) -> dict[str, Any]:
    result, run = line.result, line.result.record.settings["run"]
    s, d = line.summary, line.difference
    return {
        "label": result.label,
        "agent": run["agent"],
        "commit": result.commits,
        "config": result.record.digest,
        "environment": result.setting("environment", "name"),
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
        "excluded": result.excluded,
        "failures": result.failures,
        "unscored": result.unscored,
        "differs": list(line.differs),
        "avg": s.avg,
        "final": s.final,
        "first_five": s.first,
        "last_five": s.last,
        "best_of_k": s.best,
        "difference": d and {"mean": d.mean, "clusters": d.clusters, **_interval(d.interval)},
        "verdict": d and d.verdict,
        "curve": [
            {"mean": mean, **_interval(band)}
            for mean, band in zip(line.curve.mean, line.curve.band, strict=True)
        ],
        "scores": result.scores.tolist(),
    }


def _interval(of: Interval | NoInterval) -> dict[str, Any]:
    match of:
        case Interval(low, high):
            return {"low": low, "high": high}
        case NoInterval(reason):
            return {"low": None, "high": None, "reason": reason}


def _point(line: Line, k: int) -> str:
    band = line.curve.band[k]
    limits = f" [{band.low:.3f}, {band.high:.3f}]" if isinstance(band, Interval) else ""
    return f"{line.curve.mean[k]:.3f}{limits}"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *rows]
    return ["| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines]


def _style() -> str:
    light = "".join(f".c{i}{{color:{color}}}" for i, color in enumerate(chart.PALETTE))
    dark = "".join(f".c{i}{{color:{color}}}" for i, color in enumerate(chart.DARK_PALETTE))
    return f"{_STYLE}\n{light}\n@media (prefers-color-scheme: dark){{{dark}}}"


_STYLE = """\
:root{color-scheme:light dark;--page:#ffffff;--text:#111827;--muted:#6b7280;--rule:#e5e7eb;
--good:#15803d;--bad:#b91c1c}
@media (prefers-color-scheme: dark){:root{--page:#0f1218;--text:#e8eaee;--muted:#9aa3b2;
--rule:#2a303c;--good:#4ade80;--bad:#f87171}}
body{margin:0;background:var(--page);color:var(--text);line-height:1.5;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"PingFang SC","Microsoft YaHei",
"Noto Sans CJK SC",sans-serif}
main{max-width:940px;margin:0 auto;padding:32px 24px 48px}
h1{font-size:1.5rem;margin:0 0 20px}
h2{font-size:1.05rem;margin:36px 0 8px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th{font-weight:600;text-align:right;color:var(--muted);font-size:.82rem;padding:6px 10px;
border-bottom:1px solid var(--rule);vertical-align:bottom}
td{padding:10px 10px 0;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left;padding-left:0}
.numbers td:first-child{font-weight:600}
.terms td{white-space:normal;text-align:left;color:var(--muted);font-size:.8rem;
padding:2px 0 10px;border-bottom:1px solid var(--rule)}
.better{color:var(--good);font-weight:600}.worse{color:var(--bad);font-weight:600}
.none,.no-evidence{color:var(--muted)}
.note{color:var(--muted);font-size:.82rem;max-width:46rem}
.chart{display:block;width:100%;height:auto}
.grey{color:var(--muted)}
.grid{stroke:var(--rule);stroke-width:1}
.tick,.axis{fill:var(--muted);font-size:12px}
.label{fill:currentColor;font-size:13px;font-weight:600}
.line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.dashed{stroke-width:1.3;stroke-dasharray:4 4}
.dot{fill:currentColor}
.band{fill:currentColor;opacity:.14}
@media (max-width:640px){main{padding:20px 16px 32px}thead{display:none}tr,.terms td{display:block}
.numbers td{display:flex;justify-content:space-between;gap:16px;padding:2px 0}
.numbers td:first-child{padding-top:12px}
.numbers td:not(:first-child)::before{content:attr(data-head);color:var(--muted);font-weight:400}
.tick,.axis{font-size:22px}.label{font-size:24px}}"""

_PAGE = """\
<!doctype html>
<html lang="{code}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p class="note">{played}</p>
<div class="scroll"><table>
<thead><tr>{head}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
<p class="note">{note}</p>
<h2>{curve}</h2>
{chart}
<p class="note">{legend}</p>
</main>
</body>
</html>
"""
