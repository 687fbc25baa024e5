"""A comparison as one HTML page that needs nothing else, for light and dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from jitrl.analysis.compare import Comparison
from jitrl.report import chart, forest, grid, terms
from jitrl.report.unbroken import unbroken
from jitrl.report.words import Words


@dataclass(frozen=True, slots=True)
class Section:
    """What a page says beside the comparison: sentences, and a table if there are rows.

    Attributes:
        terms: Pairs of a term and what is said of it.
        heads, rows: Of the table; ``best`` is the number of the row that stands out.
    """

    title: str
    said: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    best: int = -1
    note: str = ""


def html(
    comparison: Comparison,
    words: Words,
    command: str = "",
    values: Sequence[str] = (),
    *,
    title: str = "",
    first: Sequence[Section] = (),
    more: Sequence[Section] = (),
) -> str:
    """Scores, learning curves, differences, cost, and how each row came about.

    Args:
        command: The command line that writes it.
        values: Labels of runs that are values of one setting, in the order of a curve over them.
        title: In the place of the usual one.
        first, more: Sections before the scores, and before the cost.
    """
    equal = terms.shared(comparison, words)
    rows = [
        f"<dt>{_text(grid.label(comparison, line, words))}</dt>"
        f"<dd>{_text(terms.own(comparison, line, words))}</dd>"
        for line in comparison.lines
        if len(comparison.lines) > 1
    ]
    warned, note = terms.warning(comparison, words), terms.note(comparison, words)
    shown = chart.traces(comparison, words)
    return _PAGE.format(
        code=words.code,
        title=_text(title or words.title),
        first="".join(map(_section, first)),
        more="".join(map(_section, more)),
        style=_style(),
        played=_text(terms.played(comparison, words)),
        equal=_text(" " + words.equal.format(" · ".join(equal))) if equal else "",
        warning=f'<p class="warning">{_text(warned)}</p>\n' if warned else "",
        scores=_table(grid.scores(comparison, words)),
        note=f'<p class="note">{_text(note)}</p>\n' if note else "",
        curve=_text(words.curve),
        chart=_both(partial(chart.svg, shown, words)),
        legend=_text(words.legend + terms.open_marks(comparison, words, shown)),
        forest=_values(comparison, words, values) + _forest(comparison, words),
        cost=_text(words.cost),
        costs=_table(grid.costs(comparison, words)),
        bill=_text(words.bill.format(base=comparison.base)),
        own=_text(words.own),
        rows="\n".join(rows),
        commands=_commands(comparison, words, command),
    )


def _table(shown: grid.Grid) -> str:
    """Headings, a row for each run, and the verdict in its color."""
    rows = []
    for row in shown.rows:
        verdict = (row.verdict or "none").replace(" ", "-")
        marks = [verdict if key == "verdict" else "" for key in shown.keys]
        rows.append(_row(shown.heads, row.cells, marks, "" if row.line else " reference"))
    return _tabled(shown.heads, rows)


def _tabled(heads: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f"<th>{_text(text)}</th>" for text in heads)
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody>\n</table></div>"
    )


def _row(heads: Sequence[str], cells: Sequence[str], marks: Sequence[str], kind: str = "") -> str:
    """One row; narrow windows show each cell beside its heading."""
    inner = "".join(
        f'<td class="{mark}" data-head="{_text(name)}">{_text(text)}</td>'
        for name, text, mark in zip(heads, cells, marks, strict=True)
    )
    return f'<tr class="numbers{kind}">{inner}</tr>'


def _section(of: Section) -> str:
    head = [f"<h2>{_text(of.title)}</h2>"] if of.title else []
    parts = [*head, *(f"<p>{_text(said)}</p>" for said in of.said)]
    if of.terms:
        terms = (f"<dt>{_text(name)}</dt><dd>{_text(said)}</dd>" for name, said in of.terms)
        parts.append(f'<dl class="terms">{"".join(terms)}</dl>')
    if of.rows:
        marks = (["better" if i == of.best else ""] * len(of.heads) for i in range(len(of.rows)))
        rows = [_row(of.heads, row, mark) for row, mark in zip(of.rows, marks, strict=True)]
        parts.append(_tabled(of.heads, rows))
    if of.note:
        parts.append(f'<p class="note">{_text(of.note)}</p>')
    return "\n".join([*parts, ""])


def _both(drawn: Callable[..., str]) -> str:
    """A drawing for wide and one for narrow windows, of which the page shows one."""
    return "\n".join(drawn(width=width) for width in (chart.WIDTH, chart.NARROW))


def _values(comparison: Comparison, words: Words, values: Sequence[str]) -> str:
    """Avg over the values of one setting, with what the other runs reach as lines."""
    if not values:
        return ""
    traces = chart.along(comparison, values)
    drawn = _both(
        partial(chart.svg, traces, words, ticks=values, axis=words.setting, score=words.avg)
    )
    return f"<h2>{_text(words.values)}</h2>\n{drawn}\n"


def _forest(comparison: Comparison, words: Words) -> str:
    """The differences as dots and bars, where there are any."""
    shown = forest.twigs(comparison, words)
    if not shown:
        return ""
    return (
        f"<h2>{_text(words.differences)}</h2>\n{_both(partial(forest.svg, shown, words))}\n"
        f'<p class="note">{_text(words.forest.format(base=comparison.base))}</p>\n'
    )


def _commands(comparison: Comparison, words: Words, command: str) -> str:
    groups = ((words.ran_by, terms.commands(comparison)), (words.made_by, (command,)))
    return "".join(
        f'<p class="note">{_text(said)}</p>\n'
        + "".join(f"<pre>{escape(line)}</pre>\n" for line in given)
        for said, given in groups
        if any(given)
    )


def _text(said: str) -> str:
    return escape(unbroken(said))


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
main{max-width:1140px;margin:0 auto;padding:32px 24px 48px}
h1{font-size:1.5rem;margin:0 0 20px}
h2{font-size:1.05rem;margin:36px 0 8px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th{font-weight:600;text-align:right;color:var(--muted);font-size:.82rem;padding:6px 7px;
border-bottom:1px solid var(--rule);vertical-align:bottom}
td{padding:10px 7px 0;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left;padding-left:0}
.numbers td:first-child{font-weight:600}
.numbers td{padding-bottom:9px;border-bottom:1px solid var(--rule)}
.reference td{color:var(--muted)}.reference td:first-child{font-weight:400}
.warning{border-left:3px solid var(--bad);padding:6px 12px;max-width:46rem;font-size:.92rem}
dl{font-size:.82rem;color:var(--muted);margin:8px 0}dt{color:var(--text);font-weight:600}
dd{margin:0 0 8px}
.terms{font-size:.92rem;max-width:46rem}.terms dd{overflow-wrap:anywhere}
pre{font-size:.8rem;white-space:pre-wrap;overflow-wrap:anywhere;color:var(--muted);margin:4px 0}
.better{color:var(--good);font-weight:600}.worse{color:var(--bad);font-weight:600}
.none,.no-evidence{color:var(--muted)}
.note{color:var(--muted);font-size:.82rem;max-width:46rem}
.chart{display:block;width:100%;max-width:900px;height:auto;overflow:visible}
.narrow{display:none}
.grey{color:var(--muted)}
.grid{stroke:var(--rule);stroke-width:1}
.tick,.axis{fill:var(--muted);font-size:12px}
.label{fill:currentColor;font-size:13px;font-weight:600}
.line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
.dashed{stroke-width:1.3;stroke-dasharray:4 4}
.dot{fill:currentColor}
.open{fill:var(--page);stroke:currentColor;stroke-width:1.6}
.band{fill:currentColor;opacity:.14}
.bar{stroke:currentColor;stroke-width:1.4;opacity:.55}
.leader{stroke:currentColor;stroke-width:1;opacity:.5}
.zero{stroke:var(--muted);stroke-width:1.3;stroke-dasharray:4 4}
.range{stroke:currentColor;stroke-width:3;stroke-linecap:round}
.value{fill:var(--muted);font-size:12px;font-variant-numeric:tabular-nums}
@media (max-width:1140px){td{white-space:normal}
.numbers td:first-child{overflow-wrap:break-word}.no-evidence,.better,.worse{white-space:nowrap}}
@media (max-width:900px){thead{display:none}tr{display:block}
.numbers td{display:flex;justify-content:space-between;gap:16px;padding:2px 0}
.numbers td:first-child{padding-top:12px}
.numbers td:not(:first-child)::before{content:attr(data-head);color:var(--muted);font-weight:400}
.numbers td:not(:first-child){white-space:nowrap}}
@media (max-width:640px){main{padding:20px 16px 32px}.wide{display:none}.narrow{display:block}}"""

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
<p class="note">{played}{equal}</p>
{first}{warning}{scores}
{note}<h2>{curve}</h2>
{chart}
<p class="note">{legend}</p>
{forest}{more}<h2>{cost}</h2>
{costs}
<p class="note">{bill}</p>
<h2>{own}</h2>
<dl>
{rows}
</dl>
{commands}</main>
</body>
</html>
"""
