import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.core.stats import (
    ALIKE,
    Difference,
    Interval,
    NoInterval,
    bootstrap,
    curve,
    mean_interval,
    paired_difference,
    summary,
    unpaired_difference,
)


def scores(*rows):
    """One seed: a row of attempts for each task."""
    return np.array(rows, dtype=float)[:, None, :]


def test_the_summary_of_a_small_table_is_what_one_computes_by_hand():
    s = summary(scores([0, 0, 0, 1, 1, 0, 1], [0, 0, 0, 0, 0, 0, 0]))
    assert s.avg == pytest.approx(3 / 14)
    assert (s.final, s.first, s.last, s.best) == (0.5, 0.2, 0.3, 0.5)


def test_best_of_k_counts_a_task_once_however_often_it_was_solved():
    assert summary(scores([1, 1, 1], [0, 0, 1], [0, 0, 0])).best == pytest.approx(2 / 3)


def test_the_final_score_is_the_last_attempt_and_not_the_best():
    assert summary(scores([1, 0], [1, 0])).final == 0.0


@pytest.mark.parametrize("clusters", [6, 12, 30])
@pytest.mark.parametrize(
    ("draw", "mean"),
    [
        (lambda rng, n: rng.normal(0.1, 1.0, n), 0.1),
        (lambda rng, n: rng.choice([-1.0, 0.0, 1.0], n, p=[0.1, 0.5, 0.4]), 0.3),
        (lambda rng, n: rng.binomial(3, rng.beta(2, 2, n)) / 3 - rng.binomial(3, 0.3, n) / 3, 0.2),
    ],
    ids=["normal", "wins and losses", "rates of three seeds"],
)
def test_95_percent_intervals_cover_the_mean_in_92_to_98_percent_of_samples(clusters, draw, mean):
    rng, covered, trials = np.random.default_rng(0), 0, 600
    found = [bootstrap(draw(rng, clusters)[:, None], draws=1000, seed=i) for i in range(trials)]
    given = [interval for interval in found if interval != ALIKE]
    assert len(given) > 0.97 * trials
    covered = sum(i.low - 1e-9 <= mean <= i.high + 1e-9 for i in given)
    assert 0.92 <= covered / len(given) <= 0.98


def test_the_interval_is_that_of_another_bca_with_students_quantile_for_the_normal_one():
    values = np.random.default_rng(8).exponential(size=12)
    reach = np.sqrt(12 / 11) * scipy.stats.t.ppf(0.975, 11)
    reference = scipy.stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=10_000,
        confidence_level=2 * scipy.stats.norm.cdf(reach) - 1,
        method="BCa",
        rng=np.random.default_rng(9),
    ).confidence_interval
    found = bootstrap(values[:, None], seed=9)  # both draw alike
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-3)


def test_clusters_and_not_attempts_decide_how_sure_one_can_be():
    rng = np.random.default_rng(1)
    task = rng.normal(0, 1, (10, 1))
    few, many = (bootstrap(task + 1e-9 * rng.normal(size=(10, m))) for m in (1, 100))
    assert many.high - many.low == pytest.approx(few.high - few.low, rel=1e-3)


@pytest.mark.parametrize("clusters", [1, 2, 5])
def test_fewer_than_six_tasks_are_no_evidence_however_large_the_difference(clusters):
    ours, base = np.ones((clusters, 3, 4)), np.zeros((clusters, 3, 4))
    d = paired_difference(ours, base)
    assert (d.mean, d.verdict) == (1.0, "no evidence")
    assert d.interval == NoInterval(f"{clusters} cluster{'s'[: clusters - 1]}; 6 are needed")


def test_few_tasks_can_be_compared_over_seeds_instead():
    ours, base = np.ones((1, 8, 4)), np.zeros((1, 8, 4))
    d = paired_difference(ours, base, by="seed")
    assert (d.clusters, d.verdict) == (8, "better")


def test_equal_scores_are_no_evidence_and_claim_no_certainty():
    same = np.random.default_rng(3).random((9, 2, 5))
    d = paired_difference(same, same.copy())
    assert (d.interval, d.verdict) == (ALIKE, "no evidence")


def test_one_gain_on_every_task_is_better_by_exactly_that_whatever_the_rounding():
    base = np.random.default_rng(4).random((7, 2, 5))
    d = paired_difference(base + 0.1, base)
    assert (d.interval, d.verdict) == (ALIKE, "better")
    assert paired_difference(base - 0.1, base).verdict == "worse"


@pytest.mark.parametrize("score", [0.0, 1.0, 0.1])
def test_scores_that_are_all_alike_have_no_interval_that_claims_certainty(score):
    assert bootstrap(np.full((12, 3), score)) == ALIKE
    found = curve(scores(*[[0, 1, score], [0, 1, 1 - score]] * 6))
    assert found.band[:2] == (ALIKE, ALIKE)
    assert isinstance(found.band[2], Interval)


def test_equal_scores_but_for_rounding_are_no_evidence():
    base = np.random.default_rng(4).random((7, 2, 5))
    d = paired_difference((base + 0.3) - 0.3, base)
    assert (d.mean, d.verdict) == (0.0, "no evidence")


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        (Interval(0.01, 0.2), "better"),
        (Interval(-0.2, -0.01), "worse"),
        (Interval(0.0, 0.2), "no evidence"),
        (Interval(-0.2, 0.0), "no evidence"),
        (NoInterval("few"), "no evidence"),
        (ALIKE, "better"),
    ],
)
def test_a_verdict_needs_an_interval_that_leaves_out_zero(interval, verdict):
    assert Difference(0.1, interval, 9).verdict == verdict


def test_swapping_the_arms_mirrors_the_difference():
    rng = np.random.default_rng(5)
    a, b = rng.random((12, 2, 3)), rng.random((12, 2, 3))
    ab, ba = paired_difference(a, b), paired_difference(b, a)
    assert ab.mean == pytest.approx(-ba.mean)
    assert ab.interval.low == pytest.approx(-ba.interval.high, abs=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(-5, 5), st.floats(0.1, 10))
def test_shifting_and_scaling_the_scores_moves_the_interval_along(seed, shift, scale):
    values = np.random.default_rng(seed).normal(size=(8, 2))
    plain, moved = bootstrap(values, draws=500), bootstrap(scale * values + shift, draws=500)
    assert moved.low == pytest.approx(scale * plain.low + shift, abs=1e-6)
    assert moved.high == pytest.approx(scale * plain.high + shift, abs=1e-6)


def test_the_same_seed_gives_the_same_interval():
    cells = np.random.default_rng(6).normal(size=(10, 2))
    assert bootstrap(cells, seed=3) == bootstrap(cells, seed=3) != bootstrap(cells, seed=4)


def test_a_curve_has_a_mean_and_a_band_at_each_attempt():
    rng = np.random.default_rng(7)
    table = rng.random((10, 2, 4))
    found = curve(table)
    assert found.mean == pytest.approx(table.mean(axis=(0, 1)).tolist())
    assert all(b.low <= m <= b.high for m, b in zip(found.mean, found.band, strict=True))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((2, 2)), "shape"),
        (np.zeros((0, 2, 2)), "shape"),
        (scores([0, np.nan]), r"scores\[0, 0, 1\] is nan"),
    ],
)
def test_a_table_with_holes_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        summary(table)


def test_pairs_of_different_shape_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        paired_difference(np.zeros((2, 1, 3)), np.zeros((2, 1, 4)))


def test_an_end_that_is_zero_but_for_rounding_is_no_evidence():
    rng = np.random.default_rng(90)  # its lower end came to 1.2e-18
    ours, base = rng.random((12, 1, 1)) ** 3 * 0.4, rng.random((12, 1, 1)) ** 4 * 0.2
    ours = (rng.random((12, 5, 5)) < ours).astype(float)
    base = (rng.random((12, 5, 5)) < base).astype(float)
    found = paired_difference(ours, base)
    assert found.interval.low == 0.0
    assert found.verdict == "no evidence"


def test_shares_of_two_groups_differ_within_newcombes_interval():
    ours, base = np.repeat([1.0, 0.0], [56, 14]), np.repeat([1.0, 0.0], [48, 32])
    d = unpaired_difference(ours, base)
    assert d.mean == pytest.approx(0.2)
    # Newcombe (1998), table II, case (a), method 10
    assert (d.interval.low, d.interval.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert (d.clusters, d.verdict) == (70, "better")


def test_all_against_none_in_two_groups_is_better_with_an_interval():
    d = unpaired_difference(np.ones(9), np.zeros(6))
    assert d.verdict == "better"
    assert 0.0 < d.interval.low < d.interval.high == 1.0


def test_scores_of_two_groups_differ_within_welchs_interval():
    rng = np.random.default_rng(5)
    ours, base = rng.normal(1.0, 2.0, 20), rng.normal(0.0, 1.0, 9)
    reference = scipy.stats.ttest_ind(ours, base, equal_var=False).confidence_interval()
    found = unpaired_difference(ours, base).interval
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), rel=0.01)


def test_groups_of_less_than_six_or_all_alike_have_no_interval():
    assert unpaired_difference(np.ones(50), np.zeros(5)).verdict == "no evidence"
    assert unpaired_difference(np.ones(50), np.zeros(0)).mean == 0.0
    same = unpaired_difference(np.full(8, 0.3), np.full(7, 0.3))
    assert (same.interval, same.verdict) == (ALIKE, "no evidence")
    assert unpaired_difference(np.full(8, 0.5), np.full(7, 0.3)).verdict == "better"


@pytest.mark.parametrize(
    ("scores", "low", "high"),
    [
        ([1.0, 0.0] * 5, 0.2366, 0.7634),
        ([1.0] * 8, 0.6756, 1.0),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 0.35 - 0.1963, 0.35 + 0.1963),
    ],
    ids=["wilson", "all", "student"],
)
def test_the_mean_of_episodes_has_wilsons_or_students_interval(scores, low, high):
    found = mean_interval(np.array(scores))
    assert (found.low, found.high) == pytest.approx((low, high), abs=3e-4)


def test_few_episodes_or_such_that_are_alike_give_their_mean_no_interval():
    assert isinstance(mean_interval(np.ones(5)), NoInterval)
    assert mean_interval(np.full(8, 0.3)).is_constant
