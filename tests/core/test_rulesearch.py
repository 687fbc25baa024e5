"""Rules are found by their words, in any script, the best first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.core.rulesearch import search
from jitrl.testing.rule_samples import TEXTS, sample_rule

DATES, TESTS, DANGLING, DATABASE = RULES = [sample_rule(text, entities=()) for text in TEXTS]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("日期", DATES),
        ("统一", DATES),
        ("YYYY-MM-DD", DATES),
        ("yyyy", DATES),
        ("部署前", TESTS),
        ("测", TESTS),
        ("itgc", DANGLING),
        ("Gen-ITGC", DANGLING),
        ("ｉｔｇｃ", DANGLING),
        ("悬空", DANGLING),
        ("検索した設定", DATABASE),
        ("データ", DATABASE),
    ],
)
def test_a_word_finds_the_rule_that_has_it(query: str, first: object) -> None:
    assert [found.rule for found in search(query, RULES)][:1] == [first]


@pytest.mark.parametrize("query", ["苹果", "", " ", "!?", "😀", "gen2", "预"])
def test_words_that_no_rule_has_find_nothing(query: str) -> None:
    assert search(query, RULES) == []
    assert search(query, []) == []


def test_a_word_as_long_as_a_page_keeps_no_search_waiting() -> None:
    assert [found.rule for found in search("a" * 1_000_000 + " 日期", RULES)] == [DATES]


def test_rare_words_and_short_rules_come_first_and_equals_stay_in_order() -> None:
    texts = (
        "when a table is long, sort it",
        "when a table is wide, scroll it",
        "when a table is long and you were asked for the largest value of a column, sort it first",
        "when a form is long, fill it",
    )
    rules = [sample_rule(text, entities=()) for text in texts]
    assert [f.rule for f in search("sort a long table", rules)] == [
        rules[0],
        rules[2],
        rules[1],
        rules[3],
    ]
    assert [f.rule for f in search("table", rules)] == rules[:3]
    assert [f.rule for f in search("table", rules, 1)] == rules[:1]


def test_whole_names_beat_their_parts_elsewhere() -> None:
    parts = sample_rule("when you gen an itgc of the itgc, gen it", entities=())
    assert search("gen-itgc", [parts, DANGLING])[0].rule == DANGLING


def test_key_words_and_the_kind_of_task_are_looked_at_too() -> None:
    rule = sample_rule(TEXTS[1], entities=("pytest", "发布"), kind="release")
    for query in ("pytest", "发布", "release"):
        assert [f.rule for f in search(query, [DATES, rule])] == [rule]


@given(st.text(max_size=20), st.permutations(RULES))
def test_any_query_finds_the_same_rules_in_any_order_of_the_rulebook(
    query: str, rules: list[object]
) -> None:
    found = search(query, rules)  # type: ignore[arg-type]
    assert {f.rule.id for f in found} == {f.rule.id for f in search(query, RULES)}
    assert all(f.score > 0.0 for f in found)
    assert [f.score for f in found] == sorted((f.score for f in found), reverse=True)
