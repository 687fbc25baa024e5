"""Which rules are told: those that fit, the best of them, as many as there is room for."""

import pytest

from jitrl.core.rules import (
    Signature,
    Standing,
    diversity,
    fits,
    leading,
    lowest,
    ranked,
    signature,
)


def test_a_rule_of_another_type_of_task_does_not_fit():
    task = signature("orders", "Cancel order 12")
    assert fits(Signature("orders", frozenset({"cancel"})), task) == 1.0
    assert fits(Signature("catalog", frozenset({"cancel"})), task) == 0.0
    assert fits(Signature("", frozenset({"cancel", "ship"})), task) == 0.5


def test_a_rule_is_about_what_all_of_its_goals_name():
    learned = signature("orders", "Cancel order 12", "Please cancel the order 99")
    assert learned.words == {"cancel", "order"}


def test_what_was_hardly_tried_is_told_before_what_did_as_well_for_long():
    known = [("old", Standing(0.8, uses=50, wins=40)), ("new", Standing(0.8))]
    assert ranked(known, c=0.5)[0] == "new"
    assert ranked(known, c=0.0) == ["new", "old"]


def test_five_whole_rules_of_forty_tokens_fit_into_two_hundred():
    forty, long = "x" * (4 * 39), "x" * (4 * 59)
    assert leading([forty] * 300, most=10, room=200) == [0, 1, 2, 3, 4]
    assert leading([forty] * 300, most=3, room=200) == [0, 1, 2]
    assert leading([forty, forty, forty, long, forty], most=9, room=170) == [0, 1, 2, 4]
    assert leading([forty], most=0, room=200) == []


@pytest.mark.parametrize(
    ("attempts", "share"), [(["ab", "ab"], 0.0), (["ab", "cd"], 1.0), (["ab"], 0.0), ([], 0.0)]
)
def test_attempts_that_do_the_same_are_not_diverse(attempts, share):
    assert diversity(attempts) == share


def test_the_lowest_share_is_rounded_down():
    bounds = [(0.1 * n, str(n)) for n in range(9)]
    assert lowest(bounds, 0.1) == []
    assert lowest(bounds, 0.25) == ["0", "1"]
