"""Which rules are told: those that fit, the best of them, as many as there is room for."""

import pytest

from jitrl.core.rules import Signature, Standing, best, diversity, fits, lowest, signature


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
    assert best(known, c=0.5, most=1, room=lambda rule: True) == ["new"]
    assert best(known, c=0.0, most=2, room=lambda rule: True) == ["new", "old"]


def test_five_whole_rules_of_forty_tokens_fit_into_two_hundred():
    left = [200]

    def room(rule):
        left[0] -= 40
        return left[0] >= 0

    rules = [(f"{n:03}", Standing(0.9)) for n in range(300)]
    assert best(rules[::-1], c=0.5, most=10, room=room) == ["000", "001", "002", "003", "004"]


@pytest.mark.parametrize(
    ("attempts", "share"), [(["ab", "ab"], 0.0), (["ab", "cd"], 1.0), (["ab"], 0.0), ([], 0.0)]
)
def test_attempts_that_do_the_same_are_not_diverse(attempts, share):
    assert diversity(attempts) == share


def test_the_lowest_share_is_rounded_down():
    bounds = [(0.1 * n, str(n)) for n in range(9)]
    assert lowest(bounds, 0.1) == []
    assert lowest(bounds, 0.25) == ["0", "1"]
