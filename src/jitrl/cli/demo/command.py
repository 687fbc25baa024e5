"""`jitrl demo`: a frozen model that gets better, beside itself without memory."""

from __future__ import annotations

import itertools
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from jitrl.analysis import explain as views
from jitrl.analysis.compare import Comparison
from jitrl.analysis.plain import plain
from jitrl.cli.demo import page as demo_page
from jitrl.cli.demo.words import LANGUAGES, Words
from jitrl.cli.explain import words as explain_words
from jitrl.cli.explain.tables import explained
from jitrl.cli.shared.output import JSON, emit, people
from jitrl.cli.shared.progress import Lines, about, counting
from jitrl.extras import running
from jitrl.presets import load
from jitrl.report import grid, page
from jitrl.report import terms as report_terms
from jitrl.report import words as tables
from jitrl.report.data import data
from jitrl.run import experiment
from jitrl.study import demo as demos

OWN_AGENT = """\
import jitrl

agent = jitrl.open("memory.db")
with agent.episode("close the ticket") as episode:
    page = desk.start()
    while page is not None:
        state = jitrl.State(page, context=desk.goal)
        logits = model.score(page)  # as {"refund(order)": -1.2}
        page = desk.do(episode.decide(state, logits).action)
    episode.finish(outcome=desk.solved(), basis="test")  # or "user_feedback" …
"""

_ROWS, _STEP = 10, 6  # lines of the plot, and columns from one attempt to the next
_STYLES = {demos.JITRL: "green", demos.STATIC: "yellow", demos.ARGMAX: "dim"}
_ARMS = (demos.STATIC, demos.JITRL)


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer tasks and attempts.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for journals, scores and report; resumes it.")
    ] = None,
    lang: Annotated[tables.Language, typer.Option(help="Language of headings and labels.")] = "en",
    json: JSON = False,
) -> None:
    """Watch a frozen model get better, beside itself without memory.

    The embedded model acts in the back office of a shop, with JitRL and without. Needs no key, no
    account and no network; no scores are shipped, all are computed here.
    """
    folder = out or Path("runs") / time.strftime("demo-%Y%m%d-%H%M%S")
    plan = demos.Plan(folder, seed)
    result = show(demos.quick(plan) if quick else plan, lang)
    if json:
        emit(result)


def show(plan: demos.Plan, lang: tables.Language) -> dict[str, Any]:
    """Run the demo for people; returns what it found in plain values."""
    words, names, console = LANGUAGES[lang], tables.LANGUAGES[lang], people()
    began = time.monotonic()
    console.print(Text(words.title, style="bold"))
    model = {"embedded": "SmolLM2-135M-Instruct"}.get(plan.model.name, plan.model.name)
    numbers = {"model": model, "tasks": len(plan.tasks), "attempts": plan.attempts}
    terms = words.terms.format(**numbers, seed=plan.seed)
    console.print(Text(terms, style="dim"))
    console.print()
    is_over = (plan.folder / demo_page.REPORT).is_file() and demos.is_played(plan)
    console.print(Text(words.again if is_over else words.loading, style="dim"))
    with _watched(plan, words) as watch:
        comparison = demos.race(plan, watch)
    console.print()
    console.print(Text(words.result, style="bold"))
    console.print(plotted(comparison, words))
    console.print(_table(comparison, names, words))
    constant = report_terms.alike(comparison, names)
    console.print(Text(words.note.format(k=plan.attempts) + constant, style="dim"))
    console.print()
    console.print(Text(words.unseen.format(n=len(plan.unseen)), style="bold"))
    with counting("") as moved:
        passed, of = itertools.count(1), 2 * len(plan.unseen)
        first = demos.first_attempts(plan, lambda arm: moved(next(passed), of))
    ours, base = (sum(s) / len(s) for s in (first.jitrl, first.static))
    said = grid.difference(first.difference)
    verdict = names.verdicts[first.difference.verdict]
    told = words.told.format(ours=ours, base=base, difference=said, verdict=verdict)
    console.print(Text(told))
    console.print()
    turning = demos.turning_point(plan)
    rule = load("default").rule
    if turning is None:
        console.print(Text(words.unturned))
    else:
        console.print(Text(words.turned, style="bold"))
        console.print(explained(turning, rule, explain_words.LANGUAGES[lang], lines=4))
    console.print()
    console.print(Text(words.own, style="bold"))
    console.print(Syntax(OWN_AGENT.rstrip(), "python", background_color="default"))
    first_section = page.Section(words.unseen.format(n=len(plan.unseen)), (told,))
    more = [first_section, *demo_page.decision(turning, rule, words, lang)]
    path = demo_page.write(plan, comparison, names, words, terms, more)
    console.print()
    journal = plan.folder / demos.JITRL
    files = words.files.format(page=path, jitrl=_program(), folder=journal)
    console.print(Text(files), soft_wrap=True)
    seconds = time.monotonic() - began
    console.print(Text(words.took.format(seconds=seconds), style="dim"))
    return {
        **data(comparison, "jitrl.demo/2"),
        "seed": plan.seed,
        "seconds": seconds,
        "folder": str(plan.folder),
        "report": str(path),
        "first_attempts": {
            **plain(first),
            "verdict": first.difference.verdict,
        },
        "turned": None if turning is None else views.data(turning, rule),
    }


def _program() -> str:
    """``jitrl`` as the shell finds it: by its name, or through the Python that runs it."""
    if shutil.which("jitrl"):
        return "jitrl"
    return f"{running()} -m jitrl"


@contextmanager
def _watched(plan: demos.Plan, words: Words) -> Iterator[demos.Watch]:
    """Bars and each attempt's share of solved tasks; plain lines where there is no terminal."""
    console, lock, began = people(), threading.Lock(), time.monotonic()
    scores: dict[str, dict[int, list[float]]] = {arm: defaultdict(list) for arm in _STYLES}
    bars = Progress(
        TextColumn("{task.description:>8}"),
        BarColumn(32),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn(words.left),
        console=console,
    )
    lines = Lines()
    done = dict.fromkeys(_ARMS, 0)
    rows = {arm: bars.add_task(arm, total=len(plan.tasks) * plan.attempts) for arm in _ARMS}

    def shown() -> Group:
        table = Table(box=None, pad_edge=False)
        table.add_column(words.attempt, style="dim", min_width=8, justify="right")
        for k in range(plan.attempts):
            table.add_column(str(k + 1), justify="right", width=4, style="bold")
        with lock:
            for arm in _ARMS:
                cells = (f"{sum(s) / len(s):.2f}" for _, s in sorted(scores[arm].items()))
                table.add_row(arm, *cells, style=_STYLES[arm])
        return Group(bars, table)

    live = Live(console=console, get_renderable=shown, refresh_per_second=4)

    def moved(arm: str, step: experiment.Progress) -> None:
        with lock:
            if step.episode is None:
                return
            attempt = scores[arm][step.trial.attempt]
            attempt.append(step.episode.info["score"])
            if arm in rows:
                bars.update(rows[arm], completed=step.done)
                done[arm] = step.done
            if console.is_terminal or arm not in rows:
                return
            seconds = time.monotonic() - began
            left = lines.left(sum(done.values()), len(rows) * step.total)
            rest = about(left, words.rest)
            if len(attempt) == len(plan.tasks):
                number, won = step.trial.attempt + 1, sum(attempt)
                terms = {"attempt": number, "won": won, "tasks": len(attempt)}
                lines.say(words.solved.format(seconds=seconds, arm=arm, **terms) + rest)
            else:
                terms = {"done": step.done, "total": step.total}
                lines.offer(words.going.format(seconds=seconds, arm=arm, **terms) + rest)

    if not console.is_terminal:
        yield moved
        return
    with live:
        yield moved


def _table(comparison: Comparison, names: tables.Words, words: Words) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(names.agent, no_wrap=True, header_style="dim")
    k = comparison.shape[2]
    numbers = (names.avg, names.final, words.passed.format(k=k))
    for head in (*numbers, names.difference.format(base=comparison.base), names.verdict):
        table.add_column(head, justify="right", no_wrap=True, header_style="dim")
    for line in comparison.lines:
        s, d = line.summary, line.difference
        shown = (f"{value:.3f}" for value in (s.avg, s.final, s.best))
        end = (grid.difference(d), names.verdicts[d.verdict]) if d else ("–", "–")
        table.add_row(line.result.label, *shown, *end, style=_STYLES[line.result.label])
    return table


def plotted(comparison: Comparison, words: Words) -> Text:
    """The learning curves in the terminal: a column for each attempt, lines from 0 to 1."""
    means = {line.result.label: line.curve.mean for line in comparison.lines}
    drawn: list[tuple[str, str, str, Sequence[float]]] = [
        ("╌", words.best, "dim", comparison.chances),
        ("○", demos.STATIC, _STYLES[demos.STATIC], means[demos.STATIC]),
        ("●", demos.JITRL, _STYLES[demos.JITRL], means[demos.JITRL]),
    ]
    attempts = comparison.shape[2]
    width = (attempts - 1) * _STEP + 1
    grid: dict[tuple[int, int], tuple[str, str]] = {}
    for mark, _, style, values in drawn:
        for column in range(width):
            k, part = divmod(column, _STEP)
            after = values[min(k + 1, attempts - 1)]
            height = values[k] + (after - values[k]) * part / _STEP
            point = mark if part == 0 or mark == "╌" else "·"
            place = (round(height * _ROWS), column)
            if part == 0 or grid.get(place, ("·", ""))[0] in "·╌":
                grid[place] = (point, style)
    text = Text()
    for row in range(_ROWS, -1, -1):
        text.append(f"{row / _ROWS:4.1f} ┤ " if row % 5 == 0 else "     │ ", style="dim")
        for column in range(width):
            mark, style = grid.get((row, column), (" ", ""))
            text.append(mark, style=style)
        text.append("\n")
    axis = "".join(f"{k:<{_STEP}}" for k in range(1, attempts + 1))
    text.append(f"       {axis} {words.attempt}\n       ", style="dim")
    for mark, label, style, _ in reversed(drawn):
        text.append(f"{mark} {label}   ", style=style)
    text.append("\n")
    return text
