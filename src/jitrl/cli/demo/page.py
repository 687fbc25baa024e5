"""The report of `jitrl demo`: who plays, the race, first attempts and the decision shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jitrl.analysis import explain as views
from jitrl.analysis.compare import Comparison
from jitrl.cli.demo.words import Words
from jitrl.cli.explain import words as explain_words
from jitrl.cli.main import COMMAND
from jitrl.cli.shared.output import writing
from jitrl.core.rule import UpdateRule
from jitrl.memory.explain import Explanation
from jitrl.report import page
from jitrl.report import words as tables
from jitrl.study import demo as demos

REPORT = "report.html"
"""What is written last."""
_SHOWN = 6  # candidates of the decision


def decision(
    turning: Explanation | None, rule: UpdateRule, words: Words, lang: tables.Language
) -> list[page.Section]:
    """The decision that memory changed, for the report."""
    if turning is None:
        return [page.Section(words.turned, (words.unturned,))]
    names = explain_words.LANGUAGES[lang]
    mine, own = views.memorys(turning.decision, rule), views.unaided(turning.decision)
    shown = sorted(turning.decision.candidates, key=lambda c: -c.corrected)[:_SHOWN]
    where = turning.state.text.partition("\n")[0]
    instead = [
        (f"{names.without} {other.episode}", f"{names.would} {other.action}")
        for other in turning.without
        if other.action != mine.action
    ]
    return [
        page.Section(
            words.turned,
            terms=(
                (names.decision, turning.id),
                *([(names.context, turning.state.context)] if turning.state.context else ()),
                (names.place, " · ".join(filter(None, (where, turning.state.place)))),
                (names.alone, f"{own.action}  {own.prior:.0%}"),
                (names.memory, f"{mine.action}  {mine.probability:.0%}"),
                *instead[:1],
            ),
            heads=(names.candidate, names.prior, names.q, names.returns, names.after),
            rows=tuple(
                (
                    c.action,
                    f"{c.prior:.1%}",
                    f"{c.q:.3f}",
                    f"{views.by_returns(c, turning.decision, rule):+.1f}",
                    f"{c.probability:.1%}",
                )
                for c in shown
            ),
            best=next((i for i, c in enumerate(shown) if c.action == mine.action), -1),
            note=names.because[views.why(turning.decision, rule, mine)],
        )
    ]


def write(
    plan: demos.Plan,
    comparison: Comparison,
    names: tables.Words,
    words: Words,
    terms: str,
    more: Sequence[page.Section],
) -> Path:
    """The HTML report: who plays, the race, and what else people were shown."""
    path = plan.folder / REPORT
    arms = page.Section(words.arms_title, terms=tuple(words.arms.items()))
    title, intro = f"{words.name}: {words.title}", page.Section("", tuple(terms.splitlines()))
    made = page.html(comparison, names, COMMAND.get(), title=title, first=(intro, arms), more=more)
    with writing(path):
        path.write_text(made, encoding="utf-8")
    return path
