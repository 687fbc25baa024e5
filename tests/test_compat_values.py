"""Similarity, returns, V, Q and A beyond the golden cases, each worked out by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.compat.returns import correct_return, released_return_text, released_return_web
from jitrl.compat.similarity import ngram_jaccard, set_jaccard, similarity_threshold, words
from jitrl.compat.text import exploration_probability, released_beta
from jitrl.compat.values import (
    Candidate,
    Neighbor,
    Values,
    best,
    choose,
    choose_without_noise,
    evaluate,
    rank,
)
from jitrl.errors import InputError


def judge(
    neighbors: list[tuple[str, float]],
    candidates: list[str],
    draws: list[float] | None = None,
    *,
    exploration: float = 0.05,
    alpha: float = 1.0,
) -> Values:
    return evaluate(
        [Neighbor(action, ret) for action, ret in neighbors],
        candidates,
        iter(draws or []),
        exploration=exploration,
        alpha=alpha,
    )


def test_words_are_lower_case_and_wholly_alphanumeric() -> None:
    text = "  The CAT's top-1 Café, ÉTÉ ٣ ² a_b\tend.\r\nEnd"
    assert words(text) == ["the", "été", "٣", "²", "end"]


def test_set_jaccard_counts_each_word_once_and_an_empty_side_as_0() -> None:
    assert set_jaccard(["a", "a", "b"], ["a", "c"]) == 1 / 3
    assert set_jaccard([], []) == set_jaccard(["a"], []) == 0


@pytest.mark.parametrize(
    ("a", "b", "n", "expected"),
    [
        ("a a b", "a b b", 1, 2 / 4),
        ("a b c d e", "a b c d f", 4, 1 / 3),
        # Fewer than n words: the words themselves, whatever their order.
        ("a b c", "c a", 4, 2 / 3),
        ("a b c", "a b c d", 4, 0),
        ("a b c d", "a b c d", 4, 1),
        ("a b! c", "A C", 4, 1),
        ("", "", 4, 0),
        ("?", "?", 1, 0),
    ],
)
def test_ngram_jaccard_counts_how_often(a: str, b: str, n: int, expected: float) -> None:
    assert ngram_jaccard(a, b, n) == ngram_jaccard(b, a, n) == expected


def test_the_threshold_falls_by_a_tenth_over_twenty_steps() -> None:
    found = [similarity_threshold(0.8, t) for t in (0, 10, 20, 99)]
    assert found == pytest.approx([0.8, 0.75, 0.7, 0.7])
    assert found[2] == found[3]
    # From left to right: in another order the last bit differs.
    assert similarity_threshold(0.8, 14) == 0.8 - (0.1 * 14) / 20 != 0.8 - 0.1 * (14 / 20)


def test_a_zero_is_replaced_by_the_own_reward() -> None:
    for released in (released_return_web, released_return_text):
        assert released(3, [3, 0, 0], 0.5) == 5.25
        assert released(2, [0, 0, 3], 0.5) == 2 + 1 + 0.75
        assert released(0, [3, 0, 0], 0.5) == 3
        assert released(1, [], 0.5) == 0
    assert correct_return([3, None, 0, 2], 0.5) == 3.25


def test_a_missing_reward_is_replaced_on_the_web_and_an_error_in_text() -> None:
    assert released_return_web(2, [None, 4], 0.5) == 4
    assert released_return_web(None, [0, 4, None], 0.5) == 2
    for own, rewards in ((2, [None, 4]), (2, [4, None]), (None, [4, 0])):
        with pytest.raises(TypeError):
            released_return_text(own, rewards, 0.5)
    # An own reward that stands in for nothing is not missed.
    assert released_return_text(None, [4, 4], 0.5) == 6


@given(st.lists(st.integers(1, 3)), st.sampled_from([0.0, 0.1, 0.5, 0.95, 1.0]))
def test_without_zeros_the_released_return_is_the_correct_one(
    rewards: list[int], gamma: float
) -> None:
    own = rewards[0] if rewards else 0
    assert released_return_web(own, rewards, gamma) == correct_return(rewards, gamma)
    assert released_return_text(own, rewards, gamma) == correct_return(rewards, gamma)


def test_tried_actions_get_their_mean_and_the_largest_advantage_becomes_1() -> None:
    values = judge([("a", 4.0), ("b", -2.0), ("a", 2.0), ("c", 0.0)], ["b", "a"])
    assert values.v == 1.0
    assert values.q == {"a": 3.0, "b": -2.0, "c": 0.0}
    assert values.a == {"a": 2.0, "b": -3.0, "c": -1.0}
    assert values.scaled == {"a": 1.0, "b": -1.5, "c": -0.5}
    assert values.draws == ()


def test_without_a_positive_advantage_the_smallest_sets_the_scale() -> None:
    assert judge([("a", 1.0), ("b", 1.0)], []).scaled == {"a": 0.0, "b": 0.0}
    # Rounding alone: six times 3.3, summed and divided by six, is more than 3.3.
    noise = judge([("a", 3.3)] * 5 + [("b", 3.3)], [])
    assert noise.scaled == {"a": -1.0, "b": -1.0}


@pytest.mark.parametrize(
    ("draw", "exploration", "alpha", "q"),
    [
        (0.04, 0.05, 1.0, 3.5),
        (0.05, 0.05, 1.0, 0.0),
        (0.04, 0.05, 5.0, 5.5),
        (0.04, 0.0, 1.0, 0.0),
        (0.999, 1.0, 0.0, 3.0),
    ],
)
def test_an_untried_candidate_gets_a_bonus_below_lambda_else_0(
    draw: float, exploration: float, alpha: float, q: float
) -> None:
    rows = [("a", 4.0), ("b", 2.0)]
    values = judge(rows, ["c"], [draw, 0.5], exploration=exploration, alpha=alpha)
    assert values.q == {"a": 4.0, "b": 2.0, "c": q}
    assert values.v == (4.0 + 2.0 + q) / 3
    assert values.draws == (draw,)


def test_v_is_weighted_by_rows_until_something_is_untried() -> None:
    rows = [("a", 4.0), ("a", 4.0), ("a", 4.0), ("b", 0.0)]
    assert judge(rows, ["a"]).v == 3.0
    assert judge(rows, ["c", "a", "c", "d"], [0.5, 0.0]).q == {"a": 4, "b": 0, "c": 0, "d": 3.25}
    assert judge(rows, ["c", "a", "c", "d"], [0.5, 0.0]).v == 7.25 / 4


def test_a_missing_draw_is_a_clear_error() -> None:
    with pytest.raises(InputError, match="'d' is untried and needs draw 2; there is none"):
        judge([("a", 1.0)], ["c", "d"], [0.5])


def test_the_first_of_equal_scores_wins_and_none_is_an_error() -> None:
    values = judge([("a", 1.0), ("b", 1.0)], [])
    ranked = rank([Candidate("x", "b", 0.5), Candidate("y", "a", 0.5)], values, 1.0)
    assert [(each.n, each.score) for each in ranked] == [(1, 0.5), (2, 0.5)]
    assert best(ranked) == "x"
    with pytest.raises(InputError, match="nothing to choose from"):
        best([])


def test_rounding_decides_where_the_prior_should() -> None:
    values = judge([("a", 3.2)] * 3 + [("b", 3.2)], [])
    priors = {"a": 0.1, "b": 0.9}
    assert (choose(priors, values), choose_without_noise(priors, values)) == ("a", "b")
    apart = judge([("a", 3.2)] * 3 + [("b", 3.1)], [])
    assert (choose(priors, apart), choose_without_noise(priors, apart)) == ("a", "a")


RETURNS = st.floats(-10, 10, allow_nan=False)
ROWS = st.lists(st.tuples(st.sampled_from("abc"), RETURNS), min_size=1, max_size=12)


@given(ROWS, st.lists(st.sampled_from("abcdef")), st.lists(st.floats(0, 0.999), min_size=6))
def test_scaled_advantages_never_exceed_1_and_follow_q(
    rows: list[tuple[str, float]], candidates: list[str], draws: list[float]
) -> None:
    values = judge(rows, candidates, draws)
    tried = dict.fromkeys(action for action, _ in rows)
    untried = [c for c in dict.fromkeys(candidates) if c not in tried]
    assert list(values.q) == [*tried, *untried]
    assert len(values.draws) == len(untried)
    assert max(values.scaled.values()) in (1.0, 0.0) or max(values.a.values()) <= 0
    order = sorted(values.q, key=lambda action: values.q[action])
    assert all(values.scaled[low] <= values.scaled[high] for low, high in pairwise(order))


@given(ROWS, st.integers(-3, 3))
def test_returns_times_a_power_of_two_change_no_scaled_advantage(
    rows: list[tuple[str, float]], power: int
) -> None:
    rows = [(action, float(round(ret))) for action, ret in rows]
    doubled = [(action, ret * 2.0**power) for action, ret in rows]
    assert judge(rows, []).scaled == judge(doubled, []).scaled


def test_beta_rises_with_finished_episodes_up_to_one_and_a_half() -> None:
    assert [released_beta(e) for e in (0, 1, 10, 50, 51, 500)] == [1.0, 1.01, 1.1, 1.5, 1.5, 1.5]


def test_lambda_falls_with_the_most_trusted_action() -> None:
    def chance(*groups: list[float], rate: float = 1.0) -> float:
        return exploration_probability({str(i): group for i, group in enumerate(groups)}, rate)

    assert chance([9.0], [5.0]) == 0.8
    # One action, mean 2, sd 0: conf 2 * max(2/4, 1); a single row of 9 does not count.
    assert chance([2.0, 2.0], [9.0]) == 1 / 3
    # Mean 2, population sd 2: conf 1 for two rows, 2 for eight.
    assert chance([0.0, 4.0]) == 0.5
    assert chance([0.0, 4.0] * 4) == 1 / 3
    assert chance([0.0, 4.0], [3.0, 3.0], [-9.0, -9.0]) == 1 / 4
    # A mean that is not positive: conf 0, so 1, cut to .8; great trust is cut to .05.
    assert chance([-3.0, 3.0]) == chance([-3.0, -3.0]) == 0.8
    assert chance([99.0, 99.0]) == 0.05
    assert chance([4.0, 4.0], rate=0.5) == 1 / 3


@given(st.lists(st.lists(RETURNS, min_size=1, max_size=9), max_size=4), st.floats(0, 2))
def test_lambda_stays_in_its_bounds(groups: list[list[float]], rate: float) -> None:
    chance = exploration_probability({str(i): g for i, g in enumerate(groups)}, rate)
    assert 0.05 <= chance <= 0.8
    assert math.isfinite(chance)
