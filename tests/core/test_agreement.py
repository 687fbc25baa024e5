"""Agreement of two raters: by hand, and what must not matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from jitrl.core.agreement import SAME, kappa, kappa_interval, pearson, spearman
from jitrl.core.stats import Interval, NoInterval


def pairs(a, b, c, d):
    return [("s", "s")] * a + [("s", "f")] * b + [("f", "s")] * c + [("f", "f")] * d


def test_kappa_by_hand():
    # observed .7; by chance .5 * .6 + .5 * .4 = .5
    assert kappa(pairs(20, 5, 10, 15)) == pytest.approx(0.4)
    assert kappa(pairs(5, 0, 0, 5)) == 1.0
    assert kappa(pairs(0, 5, 5, 0)) == -1.0


def test_where_there_is_nothing_to_agree_on_there_is_no_kappa():
    assert kappa([]) is None
    assert kappa(pairs(7, 0, 0, 0)) is None


def test_the_interval_takes_tasks_as_a_whole_and_needs_six_of_them():
    clusters = {f"t{i}": pairs(3, i % 2, 1, 3) for i in range(8)}
    found = kappa_interval(clusters)
    assert isinstance(found, Interval)
    everything = kappa([pair for cluster in clusters.values() for pair in cluster])
    assert found.low < everything < found.high
    assert kappa_interval(clusters) == found
    assert isinstance(kappa_interval({f"t{i}": pairs(1, 0, 0, 1) for i in range(5)}), NoInterval)
    assert isinstance(kappa_interval({f"t{i}": pairs(1, 0, 0, 0) for i in range(9)}), NoInterval)
    assert kappa_interval({f"t{i}": pairs(1, 0, 0, 1) for i in range(9)}) is SAME


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_order_and_names_do_not_matter_and_1_is_the_most(said):
    found = kappa(said)
    assert kappa([(b, a) for a, b in reversed(said)]) == pytest.approx(found)
    assert kappa([(a * 2, b * 2) for a, b in said]) == pytest.approx(found)
    assert found is None or -1.0 - 1e-9 <= found <= 1.0 + 1e-9


numbers = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=3, max_size=30)


@given(numbers)
def test_correlations_are_those_of_scipy(said):
    x, y = zip(*said, strict=True)
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert pearson(x, y) is spearman(x, y) is None
        return
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
