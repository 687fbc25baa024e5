"""Graded checks: shares, weights, and hard ones that nothing outweighs."""

import math

import pytest
from judged import episode

from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.checks import Checks, complete, flawless
from jitrl.types import Scored, Unscored


def judged(checks, **options):
    return Checks(**options).judge(episode(checks=checks))


def test_what_the_environment_checked_is_weighed_and_rewards_the_last_step():
    judgment = judged({"wanted": 0.5, "clean": True}, weights={"wanted": 3.0})
    assert judgment.rewards == (0.0, (3 * 0.5 + 1) / 4)
    assert (judgment.evaluator, judgment.basis, judgment.told) == ("checks", "state_check", False)
    assert judgment.info == {"checks": {"wanted": 0.5, "clean": 1.0}}


def test_a_failed_hard_check_counts_as_if_there_were_nothing_else():
    checks = {"wanted": 1.0, "clean": 0.25, "safe": False}
    assert sum(judged(checks, hard=("clean",)).rewards) == 0.25
    worst = judged(checks, hard=("clean", "safe"), weights={"wanted": 100.0})
    assert sum(worst.rewards) == 0.0
    assert worst.info["failed"] == ["clean", "safe"]


def test_a_hard_check_that_is_met_is_one_of_many():
    assert sum(judged({"clean": 1.0, "wanted": 0.5}, hard=("clean",)).rewards) == 0.75


def test_what_was_not_checked_is_not_a_zero():
    assert Checks().judge(episode()) == Unscored(
        "this environment gives no checks; name a function of your own: --set "
        "memory.evaluator_options=function=package.module:name",
        "checks",
    )
    assert Checks(lambda _: None, name="own").judge(episode()) == Unscored(
        "nothing was checked", "own"
    )
    missing = judged({"wanted": 1.0}, hard=("clean",))
    assert missing.reason == "check 'clean' was not made"
    assert isinstance(judged({}), Unscored)
    assert isinstance(judged({"wanted": 1.0}, weights={"wanted": 0.0}), Unscored)


def test_a_function_gives_one_share_or_many():
    def filled(lived):
        return complete(("name", "price"), {"name": "Tom", "price": ""})

    judgment = Checks(filled).judge(episode())
    assert judgment == Scored((0.0, 0.5), "filled", "test", False, {"checks": {"filled": 0.5}})
    both = Checks(lambda lived: {"filled": 0.5, "clean": flawless(1)}, name="mine")
    assert both.judge(episode()).rewards == (0.0, 0.5)


def test_a_function_that_cannot_tell_says_none():
    assert isinstance(Checks(lambda lived: None).judge(episode()), Unscored)


@pytest.mark.parametrize("value", [1.5, -0.1, math.nan, "1", [1.0]])
def test_a_share_outside_its_range_is_an_error(value):
    with pytest.raises(InputError, match="share in"):
        Checks(lambda lived: {"filled": value}).judge(episode())


@pytest.mark.parametrize("weight", [-1.0, 1e308, 10**400, math.inf, math.nan])
def test_a_weight_is_at_least_0_and_sums_of_weights_stay_finite(weight):
    with pytest.raises(ConfigError, match="'clean'"):
        Checks(weights={"clean": weight})


def test_shares_are_graded():
    assert complete((), {}) == 1.0
    assert complete(("a", "b", "c"), {"a": 0, "b": None}) == pytest.approx(1 / 3)
    assert [flawless(n) for n in (0, 1, 3)] == [1.0, 0.5, 0.25]
    assert flawless(4, tolerable=4) == 0.5
    with pytest.raises(InputError):
        flawless(-1)
