"""What a condition in free words speaks of."""

import pytest

from jitrl.agents.rulebook.conditions import content


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("When the input contains a date", {"date"}),
        ("if the customer asks for a refund", {"customer", "refund"}),
        ("When you see the page", set()),
        ("whenever an order is shipped", {"order", "shipped"}),
        ("当输入包含日期时", {"日期"}),
        ("如果用户要求退款", {"退款"}),
        ("当目标里提到日期时", {"日期"}),
        ("若看到登录页面", {"登录"}),
        ("当页面显示时间时", {"时间"}),
        ("当用户名为空", {"用户", "户名", "名为", "为空"}),
    ],
)
def test_words_that_any_condition_has_are_not_what_it_speaks_of(condition, words):
    assert content(condition) == words
