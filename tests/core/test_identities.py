"""The identities of the closed form, checked against independent optimisers (eqs. 8 and 9)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from jitrl.core.rule import UpdateRule
from jitrl.core.update import capped, kl_divergence, softmax

SIZE = 5
LOGITS = arrays(float, SIZE, elements=st.floats(-3, 3))
ADVANTAGES = arrays(float, SIZE, elements=st.floats(-1, 1))
BETA = st.floats(0.1, 10)


def improved_policy(prior: np.ndarray, advantage: np.ndarray, beta: float) -> np.ndarray:
    """What a decision makes of them (eqs. 8 and 9)."""
    return capped(np.log(prior), beta * advantage, UpdateRule())[1]


def objective(policy: np.ndarray, prior: np.ndarray, advantage: np.ndarray, beta: float) -> float:
    """F = E_pi[A] - KL(pi || prior) / beta."""
    return float(policy @ advantage) - float((policy * np.log(policy / prior)).sum()) / beta


def mirror_ascent(prior: np.ndarray, advantage: np.ndarray, beta: float) -> np.ndarray:
    """The maximum of F by exponentiated gradients, from the uniform policy."""
    policy = np.full(len(prior), 1 / len(prior))
    for _ in range(200):
        gradient = advantage - (np.log(policy / prior) + 1) / beta
        policy = policy * np.exp(0.5 * beta * (gradient - gradient.max()))
        policy /= policy.sum()
    return policy


@settings(max_examples=50)
@given(LOGITS, ADVANTAGES, BETA)
def test_the_closed_form_is_what_mirror_ascent_finds(
    logits: np.ndarray, advantage: np.ndarray, beta: float
) -> None:
    prior = softmax(logits)
    closed, found = improved_policy(prior, advantage, beta), mirror_ascent(prior, advantage, beta)
    np.testing.assert_allclose(closed, found, atol=1e-12)
    best = objective(closed, prior, advantage, beta)
    assert best == pytest.approx(objective(found, prior, advantage, beta), abs=1e-12)


def test_a_general_optimiser_finds_nothing_better_than_the_closed_form() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        prior, advantage, beta = softmax(rng.normal(size=SIZE)), rng.normal(size=SIZE), 2.0
        best = objective(improved_policy(prior, advantage, beta), prior, advantage, beta)
        found = minimize(
            lambda z, p=prior, a=advantage: -objective(softmax(z), p, a, 2.0),
            np.zeros(SIZE),
            method="BFGS",
            options={"gtol": 1e-10},
        )
        assert -found.fun <= best + 1e-12
        assert -found.fun == pytest.approx(best, abs=1e-9)


@given(LOGITS, LOGITS, ADVANTAGES, BETA)
def test_what_a_policy_falls_short_by_is_its_kl_to_the_best_over_beta(
    logits: np.ndarray, others: np.ndarray, advantage: np.ndarray, beta: float
) -> None:
    prior, policy = softmax(logits), softmax(others)
    best = improved_policy(prior, advantage, beta)
    gap = objective(best, prior, advantage, beta) - objective(policy, prior, advantage, beta)
    assert gap == pytest.approx(kl_divergence(policy, best) / beta, abs=1e-11)
    assert gap >= -1e-12


@given(LOGITS, ADVANTAGES, BETA, st.floats(-100, 100))
def test_v_cancels_in_the_softmax(
    logits: np.ndarray, q: np.ndarray, beta: float, value: float
) -> None:
    prior = softmax(logits)
    np.testing.assert_allclose(
        improved_policy(prior, q, beta), improved_policy(prior, q - value, beta), atol=1e-12
    )


@given(LOGITS, ADVANTAGES, BETA, st.floats(0, 1), arrays(float, SIZE, elements=st.floats(-1, 1)))
def test_an_error_of_tau_in_the_advantages_costs_at_most_two_tau(
    logits: np.ndarray, advantage: np.ndarray, beta: float, tau: float, noise: np.ndarray
) -> None:
    prior = softmax(logits)
    misled = improved_policy(prior, advantage + tau * noise, beta)
    best = improved_policy(prior, advantage, beta)
    loss = objective(best, prior, advantage, beta) - objective(misled, prior, advantage, beta)
    assert loss <= 2 * tau + 1e-12


def test_the_two_tau_bound_is_of_the_right_size() -> None:
    prior, tau = np.array([0.5, 0.5]), 0.1
    misled = improved_policy(prior, np.array([tau, -tau]), 200.0)  # the truth is 0 and 0.19
    best = improved_policy(prior, np.array([0.0, 0.19]), 200.0)
    assert (
        objective(best, prior, np.array([0.0, 0.19]), 200.0)
        - objective(misled, prior, np.array([0.0, 0.19]), 200.0)
        > 1.8 * tau
    )


def test_kl_is_zero_for_equal_policies_and_counts_only_where_the_first_has_mass() -> None:
    p = np.array([0.5, 0.5, 0.0])
    assert kl_divergence(p, p) == 0.0
    assert kl_divergence(p, np.array([0.25, 0.25, 0.5])) == pytest.approx(np.log(2))
