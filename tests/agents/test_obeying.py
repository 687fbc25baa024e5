"""Whether an action does as an order says: it is asked for, forbidden, or neither."""

import pytest

from jitrl.agents.rulebook.obeying import is_obeyed
from jitrl.agents.rulebook.telling import Telling
from jitrl.agents.rulebook.told import Line, Told
from jitrl.types import Prompt, Rule, State

DELETE, EDIT, SAVE = (f"click(<button[{name}]>)" for name in ("Delete", "Edit", "Save"))
ALL = "click(<button[Delete all]>)"
删除, 编辑, 保存 = (f"click(<button[{name}]>)" for name in ("删除", "编辑", "保存"))


@pytest.mark.parametrize(
    ("order", "actions", "obeying"),
    [
        ("click Delete", [DELETE, EDIT], [DELETE]),
        ("do not click Delete", [DELETE, EDIT], [EDIT]),
        ("Never click Delete", [DELETE, EDIT, SAVE], [EDIT, SAVE]),
        ("click Save instead of Delete", [DELETE, EDIT, SAVE], [SAVE]),
        ("do not click Delete, click Edit", [DELETE, EDIT, SAVE], [EDIT]),
        ("click Delete but never Delete all", [DELETE, ALL], [DELETE]),
        ("click [Delete]", [DELETE, EDIT], [DELETE]),
        ("点击“删除”", [删除, 编辑], [删除]),
        ("不要点击“删除”", [删除, 编辑], [编辑]),
        ("别点击删除", [删除, 编辑, 保存], [编辑, 保存]),
        ("不要点击删除，点击保存", [删除, 编辑, 保存], [保存]),
        ("take fill(Price, 特别优惠)", ["fill(Price, 特别优惠)", EDIT], ["fill(Price, 特别优惠)"]),
    ],
)
def test_what_is_asked_for_is_obeyed_and_what_is_forbidden_is_not(order, actions, obeying):
    assert [one for one in actions if is_obeyed(order, one, actions)] == obeying
    assert [one for one in actions if is_obeyed(order, one, actions) is None] == []


@pytest.mark.parametrize(
    "order",
    ["look the price up first", "先核对金额", "do not convert the currency", "click Archive"],
)
def test_of_an_order_that_names_no_action_there_nobody_can_tell(order):
    actions = [DELETE, EDIT, 删除]
    assert {is_obeyed(order, one, actions) for one in actions} == {None}


@pytest.mark.parametrize(
    ("text", "obeyed", "unknown"),
    [
        ("When you see the list, click Delete", 1, 0),
        ("When you see the list, do not click Delete", 2, 0),
        ("When you see the list, compare the prices", 0, 3),
    ],
)
def test_an_episode_counts_what_was_obeyed_and_what_is_unknown(text, obeyed, unknown):
    how = Telling(3, 200, 0.5, 0.3, 0.2, 1.0)
    line = Line(Rule("r", text, "s", author="human"), "goal", 0.0)
    told = Told((line,), how, lambda _: {"r": 0.5}, lambda: {"r"})
    prompt = Prompt("goal", "the list", (), (DELETE, EDIT, SAVE))
    for action in (DELETE, EDIT, SAVE):
        assert told.notes(State("you see the list"), prompt)
        told.said.took(action, ())
    (use,) = told.uses("e")
    assert (use.occasions, use.obeyed, use.unknown) == (3, obeyed, unknown)
