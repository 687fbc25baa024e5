from dataclasses import replace

import pytest

from jitrl.analysis.price import Assumptions, account, measured
from jitrl.analysis.spend import Spend, Spent
from jitrl.errors import ConfigError

GIVEN = Assumptions(
    tokens_in=10_000,
    tokens_out=1_000,
    price_in=1.0,
    price_out=10.0,
    tasks=10,
    attempts=5,
    rounds=2,
    judging=0.3,
    learning=0.2,
    gpus=2,
    hours=10,
    gpu_price=3.0,
    served=600,
    load=0.5,
)


def test_both_bills_are_what_they_are_by_hand():
    found = account(GIVEN)
    assert found.attempts == 100
    assert found.memory.each == pytest.approx(0.02)  # 10k at $1 and 1k at $10 a million
    assert found.memory.once == pytest.approx(100 * 0.02 * 1.5)
    assert found.tuning.once == 60.0
    assert found.tuning.each == pytest.approx(0.01)  # $3 for 600 tasks at half load
    assert found.even == pytest.approx((60 - 3) / (0.02 - 0.01))


def test_at_the_even_volume_both_cost_the_same_and_beyond_it_tuning_is_cheaper():
    found = account(GIVEN)
    assert found.memory.total(found.even) == pytest.approx(found.tuning.total(found.even))
    assert found.cheaper(found.even / 2) == "memory"
    assert found.cheaper(found.even * 2) == "tuning"


@pytest.mark.parametrize(
    ("changed", "cheaper"),
    [({"load": 0.1}, "memory"), ({"rounds": 200, "price_in": 5.0}, "tuning")],
)
def test_one_way_may_be_cheaper_at_any_volume(changed, cheaper):
    found = account(replace(GIVEN, **changed))
    assert found.even is None
    assert {found.cheaper(volume) for volume in (0, 1e9)} == {cheaper}


EVEN = replace(GIVEN, judging=0.0, learning=0.0, hours=1 / 3, load=0.25)  # $2 once, $.02 each


@pytest.mark.parametrize(
    ("changed", "always"),
    [
        ({}, "same"),
        ({"hours": 0.3}, "tuning"),
        ({"hours": 0.4}, "memory"),
        ({"load": 0.5}, "tuning"),
        ({"load": 0.2}, "memory"),
    ],
)
def test_of_ways_that_cost_the_same_once_or_each_the_other_bill_decides(changed, always):
    found = account(replace(EVEN, **changed))
    assert (found.even, found.always, found.cheaper(1000)) == (None, always, always)


def test_where_both_have_cost_the_same_neither_is_cheaper():
    found = account(GIVEN)
    assert found.cheaper(found.even) == "same"


def test_learning_in_use_is_paid_for_each_task():
    assert account(replace(GIVEN, used=1.0)).memory.each == pytest.approx(0.02 * 1.5)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tasks": -1}, "tasks is -1"),
        ({"price_in": float("nan")}, "price_in is nan"),
        ({"load": 1.5}, "a share is at most 1"),
        ({"served": 0}, "served is 0"),
        ({"served": 1e-200}, "served is 1e-200"),
        ({"hours": 1e308}, "hours is 1e\\+308; it must be from 0 to 1e\\+12"),
    ],
)
def test_what_no_account_can_be_made_of_is_refused(changed, said):
    with pytest.raises(ConfigError, match=said):
        replace(GIVEN, **changed)


def test_judging_and_learning_are_a_share_of_what_is_paid_once():
    assert account(GIVEN).beside == pytest.approx(0.5 / 1.5)
    assert account(Assumptions()).beside <= 0.25


def test_a_run_gives_tokens_of_an_episode_and_shares_of_acting():
    phases = (
        Spend("act", 9, 0, 40_000, 4_000, 0.08),
        Spend("judge", 2, 0, 4_000, 400, 0.008),
        Spend("learn", 1, 0, 0, 400, 0.004),
    )
    found = measured(Spent(20, phases, False), GIVEN)
    assert (found.tokens_in, found.tokens_out) == (2_000, 200)
    assert (found.judging, found.learning) == pytest.approx((0.1, 0.05))
    assert found.tasks == GIVEN.tasks
