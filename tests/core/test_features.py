"""What of a step may hold in other tasks: parts of actions, masked values, names, look-ahead."""

from __future__ import annotations

import numpy as np
import pytest

from jitrl.core.features import (
    Action,
    Goal,
    SiteMap,
    Situation,
    features,
    goal_of,
    parts,
)
from jitrl.types import State

NOWHERE = SiteMap({}, {})


def all_of_it(token: str) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("click(<link[Orders]>)", Action("click", ("link",), ("Orders",))),
        ("click(<link[Orders]#2>)", Action("click", ("link",), ("Orders",))),
        ("click(<button>)", Action("click", ("button",))),
        ("fill(<textbox[Name]>, \"x, y\")", Action("fill", ("textbox",), ("Name", "x, y"))),
        ("click(<link[Women's shoes]>)", Action("click", ("link",), ("Women's shoes",))),
        ("click(<link[a, b (c)]>)", Action("click", ("link",), ("a, b (c)",))),
        ("click(<link[a \\] b > c]>)", Action("click", ("link",), ("a ] b > c",))),
        ('fill(<box>, "say \\"hi\\"")', Action("fill", ("box",), ('say "hi"',))),
        ('fill(<textbox[Note]>, "it\'s")', Action("fill", ("textbox",), ("Note", "it's"))),
        ("say('it''s', b)", Action("say", (), ("'it''s'", "b"))),
        ("say('x, y')", Action("say", (), ("x, y",))),
        ("say(it's fine, isn't it)", Action("say", (), ("it's fine", "isn't it"))),
        ('select(<list[A]>, ["b", "c, d"])', Action("select", ("list",), ("A", "b", "c, d"))),
        ('tab.open(url="a, b")', Action("tab.open", (), ("a, b",))),
        ("go(north)", Action("go", (), ("north",))),
        ("scroll(0, -200)", Action("scroll", (), ("0", "-200"))),
        ("back()", Action("back")),
        ("click(<链接[订单, 全部]>)", Action("click", ("链接",), ("订单, 全部",))),
        ('fill(<文本框[姓名]>, "王小明")', Action("fill", ("文本框",), ("姓名", "王小明"))),
        ("put apple in fridge", Action("put", (), ("apple", "fridge"))),
        ("look", Action("look")),
        ("打开冰箱", Action("打开冰箱")),
        ("", Action("")),
    ],
)  # fmt: skip
def test_an_action_is_taken_apart(action: str, expected: Action) -> None:
    assert parts(action) == expected


@pytest.mark.parametrize(
    ("text", "value", "is_named"),
    [
        ("Cancel order 9166", "9166", True),
        ("Cancel order 91660", "9166", False),
        ("Cancel order 91660 or 9166", "9166", True),
        ("Cancel order 9166", "order 9166", True),
        ("Cancel ORDER", "order", True),
        ("Cancel reorder", "order", False),
        ("取消订单9166", "订单", True),
        ("取消订单9166", "9166", True),
        ("открой котик", "кот", False),
        ("un café noir", "caf", False),
        ("anything", "  ", False),
    ],
)
def test_a_value_is_named_where_it_stands_as_whole_words(
    text: str, value: str, is_named: bool
) -> None:
    assert Goal(text).names(value) is is_named


def test_words_of_a_goal_leave_out_values_and_what_is_quoted() -> None:
    assert Goal("Show Bob's order 12 and Ann's note 'buy milk'").tokens == {
        *("show", "bob", "s", "order", "and", "ann", "note")
    }
    assert Goal("把“王小明”的订单取消").tokens == Goal("把的订单取消").tokens - {"把的", "的订"} | {
        *("把", "的订")
    }


def test_values_are_masked_by_what_they_are() -> None:
    goal = Goal("Ship order 9166 of Ann to SKU-7")
    assert goal.masked("click(<link[9166]>)").text == "click link | {number}"
    assert goal.masked("click(<link[5086]>)").text == "click link | {other}"
    assert goal.masked("click(<link[SKU-7]>)").text == "click link | {code}"
    assert goal.masked("click(<link[Ann]>)").text == "click link | {text}"
    assert goal.masked("click(<link[Bob]>)").text == "click link | Bob"
    assert goal.masked('fill(<textbox[To]>, "Bob")').form == "fill textbox | {text} | *"
    assert goal.masked("click(<link[5086]>)").form == "click link | {other}"


def test_two_tasks_that_differ_in_values_see_one_action() -> None:
    here = Goal("Cancel order 9166").masked("click(<link[Order 9166]>)")
    there = Goal("Cancel order 5086").masked("click(<link[Order 5086]>)")
    assert here == there


def test_the_share_of_a_label_that_a_goal_names_compares_beginnings_of_words() -> None:
    goal = Goal("Cancel the order")
    assert goal.masked("click(<button[Cancellation]>)").named == 1.0
    assert goal.masked("click(<link[Orders and returns]>)").named == pytest.approx(1 / 3)
    assert goal.masked("back()").named == 0.0
    assert Goal("取消订单").masked("click(<button[取消]>)").named == 1.0


def test_the_features_of_a_page_by_hand() -> None:
    step = Situation(
        "cancel order 12",
        State("a page", place="orders"),
        "click(<link[Orders]>)",
        ("click(<link[12]>)", "back()", "click(<button[Refund]>)"),
        {"back()"},
        joined=1,
    )
    found = features("page", step, NOWHERE, lambda t: 1.0 if t == "cancel" else 0.0)
    offered = "back,click link"
    last = "click link | Orders"
    assert found == [
        {
            ("verb", offered, "click"): 1.0,
            ("named",): 2.0,
            ("named", "click"): 1.0,
            ("goal", "cancel", "click link | {number}"): 0.7,
            ("page", "orders", "click link | {number}"): 1.0,
            ("form", offered, "click link | {number}"): 1.0,
            ("last", last, "click link | {number}"): 0.5,
        },
        {
            ("verb", offered, "back"): 1.0,
            ("goal", "cancel", "back"): 0.7,
            ("again",): 1.0,
            ("page", "orders", "back"): 1.0,
            ("form", offered, "back"): 1.0,
            ("last", last, "back"): 0.5,
        },
        {
            ("verb", offered, "click"): 1.0,
            ("goal", "cancel", "click button | Refund"): 0.7,
            ("page", "orders", "click button | Refund"): 1.0,
            ("form", offered, "click button | *"): 1.0,
            ("last", last, "click button | Refund"): 0.5,
        },
    ]


def test_the_features_of_a_sentence_by_hand() -> None:
    step = Situation(
        "eat", State("a room"), "take red apple", ("put red apple in old fridge", "look"), set()
    )
    put, look = features("words", step, NOWHERE, lambda t: 0.01)
    assert put == {
        ("verb", "look,put", "put"): 1.0,
        ("action", "put | red apple | old fridge"): 0.5,
        ("last verb", "take", "put"): 1.0,
        ("same object", "take", "put"): 1.0,
        ("object", "put", "0", "apple"): 0.5,
        ("object", "put", "1", "fridge"): 0.5,
        ("pair", "put", "apple", "old fridge"): 1.0,
        ("pair", "put", "red", "old fridge"): 1.0,
        ("fits", "red", "old fridge"): 1.0,
        ("fits", "apple", "old fridge"): 1.0,
    }
    assert look == {
        ("verb", "look,put", "look"): 1.0,
        ("action", "look"): 0.5,
        ("last verb", "take", "look"): 1.0,
    }


def test_another_object_than_the_last_one_is_told_apart() -> None:
    step = Situation("eat", State("a room"), "take apple", ("put pear in fridge",), set())
    [put] = features("words", step, NOWHERE, all_of_it)
    assert put["other object", "take", "put"] == 1.0


SITE = SiteMap(
    {
        ("home", "click(<link[Shop]>)"): "shop",
        ("home", "click(<link[Home]>)"): "home",
        ("shop", "click(<link[Orders]>)"): "orders",
        ("shop", "click(<link[Back]>)"): "home",
    },
    {
        "home": ("click(<link[Shop]>)", "click(<link[Home]>)", "click(<link[Help]>)"),
        "shop": ("click(<link[Orders]>)", "click(<link[Back]>)", "click(<link[Help]>)"),
        "orders": ("click(<button[Cancel now]>)", "click(<link[Orders]>)"),
    },
)


def test_what_lies_one_and_two_pages_behind_an_action_counts() -> None:
    to_shop = "click(<link[Shop]>)"
    assert SITE.ahead("home", to_shop, goal_of("cancel it")) == (0.0, 0.5)
    assert SITE.ahead("home", to_shop, goal_of("my orders")) == (1.0, 0.0)
    step = Situation("cancel", State("", place="home"), "", (to_shop, "wait()"), set())
    shop, wait = features("page", step, SITE, all_of_it)
    assert shop["two ahead",] == 1.0
    assert ("ahead",) not in shop
    assert ("two ahead",) not in wait


def test_what_the_page_at_hand_offers_as_well_is_not_ahead() -> None:
    assert SITE.ahead("home", "click(<link[Shop]>)", goal_of("help")) == (0.0, 0.0)


def test_an_action_that_stays_or_leads_nowhere_known_has_nothing_ahead() -> None:
    for action in ("click(<link[Home]>)", "click(<link[Help]>)"):
        assert SITE.ahead("home", action, goal_of("orders cancel")) == (0.0, 0.0)


def test_the_way_back_is_not_two_pages_ahead() -> None:
    assert SITE.ahead("home", "click(<link[Shop]>)", goal_of("home")) == (0.0, 0.0)


def test_looking_ahead_finds_the_largest_share_wherever_it_lies() -> None:
    rng = np.random.default_rng(5)
    said = ["Orders", "My orders", "Cancel order", "Help", "Old orders list", "Settings"]
    pages = [str(number) for number in range(6)]
    offered = {
        page: {f"click(<link[{said[n]}]>)": None for n in rng.choice(6, 3, replace=False)}
        for page in pages
    }
    after = {(page, a): str(rng.choice(pages)) for page in pages for a in offered[page]}
    site, goal = SiteMap(after, offered), goal_of("cancel my orders")

    def largest(page: str, besides: dict[str, None]) -> float:
        return max(
            (goal.share(parts(a).labels) for a in offered[page] if a not in besides), default=0.0
        )

    seen = set()
    for page, action in after:
        first = after[page, action]
        one = largest(first, offered[page]) if first != page else 0.0
        behind = [a for a in offered[first] if a not in offered[page] and first != page]
        beyond = [after[first, a] for a in behind if after[first, a] not in (page, first)]
        two = max((largest(second, offered[first]) for second in beyond), default=0.0)
        assert site.ahead(page, action, goal) == (one, two)
        seen.add((one > 0.0, two > 0.0))
    assert len(seen) == 4
