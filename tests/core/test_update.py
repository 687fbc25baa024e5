"""The update: worked examples, and what holds for any neighbors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.core.joining import candidates_with_memory
from jitrl.core.rule import UpdateRule
from jitrl.core.update import (
    decide,
    explore_probability,
    kl_divergence,
    normalized,
    propensities,
    softmax,
)
from jitrl.presets import NAMES, load
from jitrl.types import Candidate, Decision, Neighbor, Neighborhood

ACTIONS = ("open", "close", "wait", "leave")
QUIET = {"novelty": 0.0, "repeat": 0.0, "repeat_action": 0.0}
PAPER = replace(load("paper-web").rule, explore=0.0, choose="argmax")

neighbor = st.builds(
    Neighbor,
    action=st.sampled_from(ACTIONS),
    similarity=st.floats(0.7, 1.0),
    ret=st.floats(-3, 3),
    visits=st.integers(1, 5).map(float),
    sources=st.just(1.0),
    value=st.floats(-3, 3),
    reward=st.floats(-1, 1),
    terminal=st.sampled_from([0.0, 0.5, 1.0]),
    onward=st.floats(0, 1),
    taken=st.integers(0, 2),
    trusted=st.booleans(),
    rows=st.just(()),
    state=st.just(0),
)
neighbors = st.lists(neighbor, max_size=12)
logits = st.lists(st.floats(-4, 4), min_size=4, max_size=4)


def proposed(z: list[float]) -> list[Candidate]:
    return [Candidate(a, x) for a, x in zip(ACTIONS, z, strict=False)]


def made(z: list[float], near: Any, rule: UpdateRule, seed: int = 0, **more: Any) -> Decision:
    return decide(proposed(z), near, rule, np.random.default_rng(seed), **more)


def near(found: list[Neighbor], reach: float = 1.0, **more: Any) -> Neighborhood:
    return Neighborhood(tuple(found), reach=reach, **more)


def chances(decision: Decision) -> np.ndarray:
    return np.array([c.probability for c in decision.candidates])


@given(logits, st.sampled_from(NAMES))
def test_an_empty_memory_gives_the_prior_exactly(z: list[float], name: str) -> None:
    rule = load(name).rule
    decision = made(z, (), rule)
    prior = softmax(np.array(z) / rule.temperature_prior)
    assert chances(decision).tolist() == prior.tolist()
    assert all(c.correction == 0.0 for c in decision.candidates)
    assert (decision.kl, decision.reason) == (0.0, "empty")


@given(logits, neighbors)
def test_beta_zero_without_exploration_gives_the_prior_exactly(
    z: list[float], found: list[Neighbor]
) -> None:
    rule = UpdateRule(beta=0.0, untrusted=0.0, **QUIET)
    decision = made(z, near(found), rule)
    assert chances(decision).tolist() == softmax(np.array(z)).tolist()


@given(logits, neighbors, st.floats(0, 20))
def test_a_correction_is_at_most_beta(z: list[float], found: list[Neighbor], beta: float) -> None:
    rule = UpdateRule(beta=beta, untrusted=0.0, **QUIET)
    for c in made(z, near(found, reach=0.5), rule).candidates:
        assert abs(c.correction) <= beta + 1e-9


@given(logits, neighbors, st.randoms())
def test_the_order_of_neighbors_does_not_matter(
    z: list[float], found: list[Neighbor], random: Any
) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    for rule in (UpdateRule(), PAPER):
        a, b = (made(z, near(some), rule) for some in (found, shuffled))
        np.testing.assert_allclose(
            [(c.q, c.corrected) for c in a.candidates],
            [(c.q, c.corrected) for c in b.candidates],
            atol=1e-6,
        )


@settings(max_examples=60)
@given(logits, neighbors, st.floats(-5, 5), st.sampled_from(NAMES))
def test_returns_moved_by_a_constant_change_no_probability_if_all_was_tried(
    z: list[float], found: list[Neighbor], constant: float, name: str
) -> None:
    everything = [Neighbor(a, 1.0, 0.25 * i, value=0.25 * i) for i, a in enumerate(ACTIONS)]
    all_tried = [n._replace(trusted=True) for n in [*found, *everything]]
    moved = [
        n._replace(ret=n.ret + constant, value=None if n.value is None else n.value + constant)
        for n in all_tried
    ]
    rule = load(name).rule
    a, b = (made(z, near(some), rule) for some in (all_tried, moved))
    np.testing.assert_allclose(chances(a), chances(b), atol=1e-6)


def test_advantages_of_two_and_minus_four_are_scaled_as_each_rule_says() -> None:
    advantage = np.array([2.0, -4.0])
    paper, _ = normalized(advantage, load("paper-web").rule, 0.0)
    released, _ = normalized(advantage, load("released-web").rule, 0.0)
    np.testing.assert_allclose(paper, [0.5, -1.0], atol=1e-8)
    assert released.tolist() == [1.0, -2.0]
    negative, _ = normalized(np.array([-2.0, -4.0]), load("released-web").rule, 0.0)
    assert negative.tolist() == [-0.5, -1.0]
    assert normalized(np.zeros(2), PAPER, 0.0)[0].tolist() == [0.0, 0.0]
    assert normalized(advantage, replace(PAPER, normalize="none"), 0.0) == (advantage, 1.0)


def test_a_tiny_difference_stays_tiny_under_the_floor() -> None:
    scaled, scale = normalized(np.array([0.001, -0.001]), UpdateRule(), 1.0)
    assert scale == pytest.approx(0.3)
    assert np.abs(scaled).max() < 0.004


@given(logits, st.floats(-3, 3), st.integers(2, 6), st.sampled_from(["default", "paper-web"]))
def test_equal_mean_returns_leave_the_choice_to_the_prior_whatever_the_rounding(
    z: list[float], ret: float, times: int, name: str
) -> None:
    rule = replace(load(name).rule, choose="argmax", **QUIET)
    found = [Neighbor(a, 1.0, ret) for a in ACTIONS for _ in range(1 + times * (a == "open"))]
    decision = made(z, near(found, reach=abs(ret)), rule)
    np.testing.assert_allclose(chances(decision), softmax(np.array(z)), atol=1e-5)


def test_q_and_v_are_means_of_returns() -> None:
    found = [Neighbor("open", 1.0, 3.0), Neighbor("open", 0.9, 1.0), Neighbor("close", 1.0, -1.0)]
    decision = decide(proposed([0.0, 0.0]), found, PAPER, np.random.default_rng(0))
    assert decision.value == pytest.approx(1.0)
    assert [c.q for c in decision.candidates] == pytest.approx([2.0, -1.0])
    assert [c.advantage for c in decision.candidates] == pytest.approx([1.0, -2.0])
    assert [c.correction for c in decision.candidates] == pytest.approx([0.5, -1.0])
    assert [c.visits for c in decision.candidates] == [2.0, 1.0]
    assert decision.action == "open"


def test_shrinking_pulls_a_lone_visit_towards_v() -> None:
    rule = replace(PAPER, shrink=1.0)
    found = [Neighbor("open", 1.0, 3.0), *[Neighbor("close", 1.0, 0.0)] * 2]
    decision = decide(proposed([0.0, 0.0]), found, rule, np.random.default_rng(0))
    assert decision.value == pytest.approx(1.0)
    assert [c.q for c in decision.candidates] == pytest.approx([(3 + 1) / 2, (0 + 1) / 3])


def test_less_similar_rows_weigh_less_under_a_kernel() -> None:
    found = [Neighbor("open", 1.0, 1.0), Neighbor("open", 0.97, 0.0)]
    flat, kernel = (
        decide(proposed([0.0]), found, replace(PAPER, kernel=k), np.random.default_rng(0))
        for k in (None, 0.03)
    )
    assert flat.candidates[0].q == pytest.approx(0.5)
    assert kernel.candidates[0].q == pytest.approx(1 / (1 + np.exp(-1)))


def test_the_graphs_value_and_the_mean_return_share_q() -> None:
    found = [Neighbor("open", 1.0, 1.0, value=3.0)]
    for share, q in ((0.0, 1.0), (0.25, 1.5), (1.0, 3.0)):
        rule = replace(PAPER, backup=share)
        assert made([0.0], found, rule).candidates[0].q == pytest.approx(q)


def test_an_untried_action_draws_for_its_bonus_and_gets_nothing_otherwise() -> None:
    found = [Neighbor("open", 1.0, 2.0), Neighbor("open", 1.0, 2.0)]
    rule = replace(PAPER, explore=1.0, bonus=5.0)
    decision = decide(proposed([0.0, 0.0]), found, rule, np.random.default_rng(0))
    assert len(decision.draws) == 2
    assert decision.candidates[1].q == pytest.approx(2.0 + 5.0 / 2)
    decision = decide(proposed([0.0, 0.0]), found, PAPER, np.random.default_rng(0))
    assert decision.candidates[1].q == 0.0
    shared = replace(PAPER, untried="share", optimism=0.5)
    decision = decide(proposed([0.0, 0.0]), found, shared, np.random.default_rng(0))
    assert decision.candidates[1].q == pytest.approx(1.0)
    assert len(decision.draws) == 1


def test_the_released_baseline_is_the_plain_mean_of_all_q_once_something_is_untried() -> None:
    rule = replace(PAPER, baseline="actions")
    found = [Neighbor("open", 1.0, 3.0), Neighbor("open", 1.0, 3.0), Neighbor("close", 1.0, 0.0)]
    decision = decide(proposed([0.0, 0.0, 0.0]), found, rule, np.random.default_rng(0))
    assert decision.value == pytest.approx(1.0)
    decision = decide(proposed([0.0, 0.0]), found, rule, np.random.default_rng(0))
    assert decision.value == pytest.approx(2.0)


def test_how_memory_only_actions_join_is_a_setting() -> None:
    z, tried = (
        [Candidate("open", 1.0), Candidate("close", -2.0)],
        {"wait": [2.0, 0.0], "leave": [1.0, -3.0]},
    )

    def joined(kind: Any, allowed: Any = None, **changes: Any) -> list[tuple[str, float]]:
        rule = replace(PAPER, memory_only=kind, **changes)
        found = candidates_with_memory(z, tried, rule, allowed)
        assert found[:2] == z
        assert all(c.source == "memory" for c in found[2:])
        return [(c.action, c.logit) for c in found[2:]]

    assert joined("never") == []
    assert joined("zero") == [("wait", 0.0), ("leave", 0.0)]
    assert joined("positive") == [("wait", 0.0)]
    assert joined("lowest") == []
    assert joined("lowest", {"leave", "open"}) == [("leave", -2.0)]
    assert joined("zero", {"leave"}) == [("leave", 0.0)]
    assert joined("zero", prior="confidence")[0][1] < -100


def test_lambda_of_the_released_text_side_falls_with_certainty() -> None:
    rule = load("released-text").rule
    assert explore_probability({}, rule) == 0.8
    assert explore_probability({"a": [5.0]}, rule) == 0.8
    assert explore_probability({"a": [-1.0, -1.0]}, rule) == 0.8
    sure = explore_probability({"a": [4.0] * 8}, rule)
    assert sure == pytest.approx(1 / (1 + 4.0**0.65 * 2))
    assert explore_probability({"a": [100.0] * 8}, rule) == 0.05
    assert explore_probability({"a": [1.0]}, PAPER) == 0.0


@settings(max_examples=60)
@given(logits, neighbors, st.floats(0.0, 2.0))
def test_the_kl_cap_holds_and_is_used_up(z: list[float], found: list[Neighbor], cap: float) -> None:
    free = made(z, near(found), UpdateRule())
    decision = made(z, near(found), UpdateRule(kl_cap=cap))
    assert decision.kl <= cap + 1e-9
    if free.kl > cap + 1e-9:
        assert decision.kl == pytest.approx(cap, abs=1e-6)
    else:
        assert decision.kl == pytest.approx(free.kl, abs=1e-9)
    prior = np.array([c.prior for c in decision.candidates])
    assert decision.kl == pytest.approx(kl_divergence(chances(decision), prior), abs=1e-9)


@pytest.mark.parametrize("choose", ["sample", "argmax"])
def test_propensities_are_the_frequencies_with_which_actions_are_chosen(choose: Any) -> None:
    rule = UpdateRule(choose=choose, temperature=0.7, beta=1.0, **QUIET)
    found = near([Neighbor("open", 1.0, 0.2), Neighbor("close", 1.0, 0.2)])
    rng, runs, counts = np.random.default_rng(0), 4000, dict.fromkeys(ACTIONS, 0)
    for _ in range(runs):
        decision = decide(proposed([0.5, 0.5, 0.0, -1.0]), found, rule, rng)
        counts[decision.action] += 1
    for c in decision.candidates:
        noise = 4 * np.sqrt(c.propensity * (1 - c.propensity) / runs)
        assert abs(counts[c.action] / runs - c.propensity) <= noise, c
    assert sum(c.propensity for c in decision.candidates) == pytest.approx(1.0)
    if choose == "argmax":  # the two best are equal and share
        assert sorted(c.propensity for c in decision.candidates) == [0.0, 0.0, 0.5, 0.5]


@given(logits, neighbors, st.integers(0, 1000))
def test_what_was_chosen_could_be_chosen(z: list[float], found: list[Neighbor], seed: int) -> None:
    for name in NAMES:
        decision = made(z, near(found), load(name).rule, seed)
        assert decision.chosen.propensity > 0
        assert sum(c.propensity for c in decision.candidates) == pytest.approx(1.0)
        assert made(z, near(found), load(name).rule, seed) == decision


def test_a_draw_at_the_very_end_takes_the_last_action_that_can_be_taken() -> None:
    class Last:
        def random(self) -> float:
            return 1.0 - 2.0**-53

    decision = decide(proposed([5.0, 0.0]), (), UpdateRule(), Last())  # type: ignore[arg-type]
    assert decision.action == "open"
    assert propensities(np.array([0.0, 0.0]), UpdateRule()).tolist() == [0.5, 0.5]


def test_novelty_falls_with_tries_and_where_tries_ended_the_task() -> None:
    rule = UpdateRule(beta=0.0, repeat=0.0, repeat_action=0.0)
    found = [Neighbor("open", 1.0, 0.0, visits=3.0), Neighbor("close", 1.0, 0.0, terminal=1.0)]
    new = {c.action: c.novelty for c in made([0.0] * 4, near(found), rule).candidates}
    assert new["open"] == pytest.approx(1 / 4)
    assert new["close"] == pytest.approx((1 - 1 / 2) / 2)
    assert new["wait"] == new["leave"] == 1.0


def test_repeats_cost_in_the_same_state_and_elsewhere() -> None:
    rule = UpdateRule(beta=0.0, novelty=0.0, repeat=3.0, repeat_action=2.0, warmup=1.0)
    found = near([Neighbor("open", 1.0, 0.0, taken=2)], repeats={"open": 2, "wait": 1})
    bonus = {c.action: c.bonus for c in made([0.0] * 4, found, rule).candidates}
    assert bonus == {"open": -8.0, "close": 0.0, "wait": -2.0, "leave": 0.0}


def test_untrusted_rows_nudge_by_their_voice_and_no_more() -> None:
    rule = UpdateRule(untrusted=0.2, **QUIET)
    voices = [Neighbor("open", 1.0, 3.0, visits=50.0, trusted=False)] * 2
    decision = made([0.0] * 4, near(voices), rule)
    assert [c.bonus for c in decision.candidates] == pytest.approx([0.4, 0.0, 0.0, 0.0])
    assert decision.value == 0.0
    against = made([0.0] * 4, near([voices[0]._replace(ret=-0.5)]), rule)
    assert against.candidates[0].bonus == pytest.approx(-0.1)


def test_one_planted_row_hardly_moves_the_default_and_turns_the_paper() -> None:
    planted = [Neighbor("close", 1.0, 3.0, trusted=False)]
    z = [0.9, 0.1]
    before = softmax(np.array(z))[0]
    assert before == pytest.approx(0.69, abs=0.005)
    paper = decide(proposed(z), planted, PAPER, np.random.default_rng(0))
    assert paper.candidates[0].probability == pytest.approx(0.45, abs=0.005)
    default = decide(proposed(z), near(planted), load("default").rule, np.random.default_rng(0))
    assert before - default.candidates[0].probability < 0.05


@pytest.mark.parametrize(
    ("candidates", "says"),
    [
        ([], "no candidates; a decision needs at least one"),
        ([Candidate("a", 0.0), Candidate("a", 1.0)], "candidate 'a' occurs twice"),
        ([Candidate("a", float("nan"))], "logit of 'a' is nan; it must be a finite number"),
        ([Candidate("a", float("inf"))], "logit of 'a' is inf"),
        ([Candidate("a", 1e300)], r"logit of 'a' is 1e\+300; .* at most 1e\+100"),
        ([Candidate("", 0.0)], "a candidate has no action"),
    ],
)
def test_candidates_that_cannot_be_weighed_are_refused(
    candidates: list[Candidate], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        decide(candidates, (), UpdateRule(), np.random.default_rng(0))


def test_huge_logits_and_ten_thousand_candidates_are_weighed() -> None:
    many = [Candidate(str(i), 1e100 if i == 7 else -1e100) for i in range(10_000)]
    decision = decide(many, [Neighbor("9", 1.0, 1.0)], UpdateRule(), np.random.default_rng(0))
    assert len(decision.candidates) == 10_000
    assert np.isfinite([c.probability for c in decision.candidates]).all()


@pytest.mark.parametrize("preset", ["default", "paper-text", "released-web", "released-text"])
@pytest.mark.parametrize("temperature", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("cap", [None, 0.02])
def test_where_it_samples_the_numbers_are_those_of_the_policy_it_samples(
    preset: str, temperature: float, cap: float | None
) -> None:
    rule = load(preset).changed({"choose": "sample", "temperature": temperature, "kl_cap": cap})
    near = [Neighbor(a, 1.0, r) for a, r in (("open", 0.0), ("close", 1.0), ("close", 1.0))]
    decision = decide(proposed([0.3, 0.2, -4.0]), near, rule.rule, np.random.default_rng(0))
    policy = np.array([c.propensity for c in decision.candidates])
    assert [c.probability for c in decision.candidates] == pytest.approx(policy.tolist())
    alone = decide(proposed([0.3, 0.2, -4.0]), (), rule.rule, np.random.default_rng(0))
    prior = np.array([c.propensity for c in alone.candidates])
    assert decision.kl == pytest.approx(kl_divergence(policy, prior))
    assert cap is None or decision.kl <= cap + 1e-12
