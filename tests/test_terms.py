"""One thing has one word, in both languages: in the terminal, on the pages and in the docs."""

import re
from pathlib import Path

import pytest

from jitrl.cli.explain.words import LANGUAGES as EXPLAIN
from jitrl.cli.rules.words import LANGUAGES as RULES
from jitrl.report.taught import WORDS as TAUGHT
from jitrl.service.pages.words import SAID

ROOT = Path(__file__).parents[1]
READ = (
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / "docs" / "img").glob("*.svg"),
    *(
        path
        for part in ("analysis", "cli", "integrations", "report", "service/pages")
        for path in sorted((ROOT / "src" / "jitrl" / part).rglob("*.py"))
    ),
)
"""What users read, or what prints it."""

NOT = {
    r"\bturn(s|ed|ing)? (it|them|the choice|a choice|choices)? ?round\b": "changed by the memory",
    r"\bturn(s|ed)? (a|the|its|no) (choice|decision)s?\b": "changed by the memory",
    r"\bmost-turned\b": "--most-changed",
    "留出对照": "留出",
    r"回退(?!\*)": "回滚",
    "被改变的决定": "被改变的决策",
    "结局": "结果",
    "委托方|责任人": "负责人",
    "仪表板": "仪表盘",
    "近邻": "邻居",
    "受信任": "可信",
    "(?:仅|只|只能)微调": "轻推",
    "闸": "关口",
    "判定": "评判",
    "退役": "撤下",
    "抵触": "矛盾",
    "平均分": "平均得分",
    "费用": "花费",
}
"""A word that was used for something, and the one that stands for it everywhere."""
OWN = {"docs/zh/environments.md": {"仪表板"}}
"""Words of somebody else's: of pages that an agent sees."""


@pytest.mark.parametrize("other", NOT)
def test_a_thing_is_called_by_the_same_word_everywhere(other):
    found = [
        f"{name}: {hit[0]!r} is {NOT[other]!r} elsewhere"
        for path in READ
        if other not in OWN.get(name := path.relative_to(ROOT).as_posix(), ())
        for hit in re.finditer(other, path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(("column", "lang"), [(0, "en"), (1, "zh")])
def test_the_terminal_and_the_pages_have_the_same_words(column, lang):
    explain, rules = EXPLAIN[lang], RULES[lang]
    pairs = {
        "term.changed": explain.turned,
        "term.before": explain.prior,
        "term.after": explain.after,
        "term.visits": explain.visits,
        "term.returns": explain.returns,
        "term.exploration": explain.bonus,
        "term.lessons": TAUGHT[lang].column,
        "term.similarity": explain.similarity,
        "term.effect": explain.effect,
        "decision.rule_told": explain.was_told,
        "decision.rule_was_held": explain.told[False],
        "decision.alone": explain.alone,
        "decision.with": explain.memory,
        "reason.holdout": explain.reasons["holdout"],
        "rules.told": rules.told,
        "rules.held": rules.held,
        "rule.episodes": rules.figures[0],
        "rules.wins": rules.figures[1],
        "curve.score": rules.figures[2],
        "rule.held_steps": rules.figures[3],
        "rules.obeyed": rules.figures[4],
        "rule.unclear": rules.figures[5],
        **{f"rule_status.{status}": said for status, said in rules.statuses.items()},
    }
    assert {key: SAID[key][column] for key in pairs} == pairs
