"""What makes two sentences one rule, and how much of a text is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.core.sentences import cleaned, folded, is_id_of, rule_id, scoped_id

FOUR = (
    "当输入包含日期时，先统一成 YYYY-MM-DD 再处理",
    "部署前必须运行测试",
    "重跑gen-itgc后检查悬空引用",
    "データベースの設定を確認する",
)


def test_different_rules_have_different_ids():
    assert len({rule_id(text) for text in (*FOUR, "C++ 模板", "C 模板")}) == 6


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("　部署前必须运行测试。", FOUR[1]),
        ("我们应该部署前必须运行测试", FOUR[1]),
        ("- When A holds, do B.", "when a holds, do b"),
        ("1. You should check the date before saving!", "Check the date before saving"),
        ("Please  check the date\nbefore saving", "check the date before saving"),
        ("“Ｗhen A holds, do B”", "When A holds, do B"),
    ],
)
def test_forms_blanks_bullets_and_courtesies_make_no_other_rule(text, same):
    assert rule_id(text) == rule_id(same)


UNSEEN = (
    *("\u200e", "\u202e", "\u2066", "\u061c", "\u180e", "\u2062", "\U000e0041"),
    *("\x00", "\x1b", "\x7f", "\ufe0f", "\u034f", "\u3164", "\u200b", "\xad"),
)


@pytest.mark.parametrize("char", UNSEEN, ids=[f"{ord(char):04x}" for char in UNSEEN])
def test_what_is_not_seen_makes_no_other_rule_and_is_not_kept(char):
    text = f"{char}When A{char} holds, {char}do B{char}"
    assert rule_id(text) == rule_id("When A holds, do B")
    assert scoped_id(text, "s") == scoped_id("When A holds, do B", "s")
    assert cleaned(text) == "When A holds, do B"


def test_blanks_between_words_and_signs_that_are_seen_stay():
    assert cleaned("When A\x1fholds,\x85do B") == "When A holds, do B"
    assert cleaned("When A holds, write \u0600123") == "When A holds, write \u0600123"


def test_an_id_from_before_unseen_characters_were_left_out_is_still_one_of_its_text():
    text = "When A\u200e holds, do B"
    was = "393fc71118ac"
    assert was != rule_id(text)
    assert is_id_of(was, text, "shop")
    assert is_id_of("cddc833006cd", text, "shop")
    assert not is_id_of("cddc833006cd", text, "bank")
    assert is_id_of(rule_id(text), text, "shop")
    assert is_id_of(scoped_id(text, "shop"), text, "shop")
    assert not is_id_of(was, "When A holds, do B", "shop")


def test_cleaning_twice_changes_nothing_more():
    odd = ("1. 2. Please, you should - go on ...", "，。", "", "e\u200c\u0301")
    for text in (*FOUR, *odd):
        assert cleaned(cleaned(text)) == cleaned(text)


@pytest.mark.parametrize(
    "text",
    [
        "如果目标提到订单号，先点击“订单”",
        "如果目标提到订单号，先点击「订单」",
        "When the order is paid, click “Cancel”",
        'When the order is paid, answer "Done."',
        "“Save” is what to click when the form is full: click “Save”",
        "When the text is done, type `x`",
        "When A holds, do B.",
        "当输入包含日期时：先统一（写成 YYYY-MM-DD）",
    ],
)
def test_a_text_is_kept_as_it_was_written(text):
    assert cleaned(text) == text
    assert cleaned(f"  - {text}") == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("“When A holds, do B”", "When A holds, do B"),
        ('"When A holds, do B."', "When A holds, do B."),
        ("**When A holds, do B**", "When A holds, do B"),
        ("「如果甲，做乙」", "如果甲，做乙"),
        ("规则 1：请如果甲，\u200b做乙", "如果甲，做乙"),
        ("  When A\nholds,  do B", "When A holds, do B"),
    ],
)
def test_what_stands_around_a_sentence_goes(text, kept):
    assert cleaned(text) == kept


def test_ids_of_memories_made_before_are_those_of_today():
    was = "如果目标提到订单号,先点击“订单"
    assert rule_id("如果目标提到订单号，先点击“订单”。") == rule_id(was) == "0c7df5eadb0d"
    assert rule_id("When the order is paid, click “Cancel”") == rule_id(
        "When the order is paid, click “Cancel"
    )
    assert scoped_id(FOUR[1], "shop") == scoped_id(f"- {FOUR[1]}。", "shop") != rule_id(FOUR[1])


@pytest.mark.parametrize(
    ("before", "after"),
    [("*", "*"), ("- ", ""), ("1. ", ""), ("please ", ""), ("* - please ", "")],
)
def test_whatever_stands_around_a_sentence_goes_however_much_it_is(before, after):
    text = f"{before * 3000}When A holds, do B{after * 3000}"
    assert cleaned(text) == "When A holds, do B"
    assert rule_id(text) == rule_id("When A holds, do B")


MARKS = "“”「」‘’\"'`*-> .,;，。、！1)[甲．（Ｗ\u200b\u0301\u3000"
WORDS = ["1. ", "rule 2: ", "规则3：", "please ", "请", "You should ", "我们应该", "do", "When A"]
PIECES = st.sampled_from([*MARKS, *WORDS])


@given(st.lists(PIECES, max_size=8).map("".join))
def test_what_is_kept_of_a_text_has_its_id(text):
    assert rule_id(cleaned(text)) == rule_id(text)
    assert rule_id(folded(text)) == rule_id(text)
    assert cleaned(cleaned(text)) == cleaned(text)
