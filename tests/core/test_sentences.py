"""What makes two sentences one rule, and what makes a text none."""

import pytest

from jitrl.core.sentences import LONGEST, Finding, Parts, cleaned, faults, parts, rule_id

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


def test_cleaning_twice_changes_nothing_more():
    odd = ("1. 2. Please, you should - go on ...", "，。", "", "e\u200c\u0301")
    for text in (*FOUR, *odd):
        assert cleaned(cleaned(text)) == cleaned(text)


@pytest.mark.parametrize(
    "text",
    [
        *FOUR,
        "When the input contains a date, first write it as YYYY-MM-DD.",
        "If the goal names an order, click(<link[Orders]>) first",
        "Before you save, check that the price is filled in",
        "Check the currency before converting an amount",
        "Never submit the form until every required field is filled",
        "For each field that is missing, ask the form for it",
        "When asked for a sum: add the rows of the table, not the total line",
        "遇到表格时，先读表头",
        "如果目标提到订单号，先点击“订单”",
        "在商品页面，不要点击“删除”",
    ],
)
def test_an_order_with_a_condition_is_a_rule(text):
    assert faults(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("。", "empty"),
        ("Think more", "platitude"),
        ("When solving a task, think harder", "platitude"),
        ("Pay attention to details", "platitude"),
        ("多思考", "platitude"),
        ("如果任务困难，要仔细思考", "platitude"),
        ("The agent failed because it clicked the wrong link", "analysis"),
        ("The best attempt opened the order first", "analysis"),
        ("失败是因为点错了链接", "analysis"),
        ("当遇到问题时，失败的原因是没有点击", "analysis"),
        ("Click the button", "no condition"),
        ("If necessary, check the order", "no condition"),
        ("点击订单", "no condition"),
        ("必要时，检查订单", "no condition"),
        ("When the page is a list, the order is at the top", "no order"),
        ("When a date occurs, write it as ISO. Then check it twice", "several"),
        ("When a date occurs, write " + "x" * LONGEST, "too long"),
    ],
)
def test_what_is_no_rule_is_said(text, fault):
    assert fault in [finding.fault for finding in faults(text)]


def test_a_rule_comes_apart_into_when_and_what():
    assert parts("When A holds, then do B.") == Parts("When A holds", "do B")
    assert parts("Do B before A holds") == Parts("before A holds", "Do B")
    assert parts("部署前必须运行测试") == Parts("部署前", "必须运行测试")
    assert parts("Do B") is None


def test_what_is_quoted_is_one_piece_whatever_it_says():
    rule = "When the goal is “Fill it in: rate. Write percent.” and you see [a, b], take f([x, y])"
    assert faults(rule) == []
    assert parts(rule).order == "take f([x, y])"
    assert faults('When "all failed", think more')[0].fault == "platitude"
    assert faults(f"When you see “{'x' * 300}”, wait") == [
        Finding("too long", "302 characters in quotes, at most 240")
    ]
