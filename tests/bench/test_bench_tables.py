"""What tables of a bench say of means, and which arms they have."""

import pytest

from jitrl.bench.arms import chosen
from jitrl.bench.learning.arms import SETS
from jitrl.cli.bench.numbers import between, numbers, short
from jitrl.core.stats import ALIKE, Interval, NoInterval


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        (Interval(-0.25, 0.5), "[-.250, .500]"),
        (ALIKE, "[–]"),
        (NoInterval("5 clusters; 6 are needed"), "[n < 6]"),
    ],
)
def test_an_interval_that_is_missing_says_why(interval, said):
    assert between(interval) == said


def test_a_difference_that_rounds_to_nothing_has_no_minus():
    assert short(-0.0001, "+") == "+.000"


def test_an_arm_is_played_with_the_one_it_is_compared_with():
    arms = [arm.name for arm in chosen(SETS["robust"], "^default, oracle prior 0.5")]
    assert arms == ["default", "default, oracle prior 0.5", "static, oracle prior 0.5"]


def test_a_seed_named_twice_counts_once():
    assert numbers("40-42,41,7") == (40, 41, 42, 7)
