"""Returns: worked examples, and what a constant does to them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.core.returns import discount_mass, returns_to_go, substituted_returns

REWARDS = st.lists(st.floats(-10, 10), max_size=30)
GAMMA = st.floats(0, 1)


def test_a_reward_followed_by_zeros_is_counted_once() -> None:
    assert returns_to_go([3.0, 0.0, 0.0], 0.5).tolist() == [3.0, 0.0, 0.0]


def test_a_late_reward_is_discounted_once_a_step() -> None:
    assert returns_to_go([0.0, 0.0, 3.0], 0.5).tolist() == [0.75, 1.5, 3.0]


def test_the_released_code_puts_a_steps_own_reward_in_the_place_of_later_zeros() -> None:
    assert substituted_returns([3.0, 0.0, 0.0], 0.5)[0] == 5.25
    assert substituted_returns([0.0, 0.0, 3.0], 0.5).tolist() == [0.75, 1.5, 3.0]


@given(REWARDS, GAMMA)
def test_a_return_is_its_reward_and_the_discounted_rest(rewards: list[float], gamma: float) -> None:
    gains = returns_to_go(rewards, gamma)
    assert len(gains) == len(rewards)
    for t, reward in enumerate(rewards):
        rest = gains[t + 1] if t + 1 < len(rewards) else 0.0
        assert gains[t] == reward + gamma * rest


@given(REWARDS, GAMMA, st.floats(-5, 5))
def test_a_constant_on_rewards_moves_returns_by_the_discount_mass(
    rewards: list[float], gamma: float, constant: float
) -> None:
    moved = returns_to_go(np.asarray(rewards) + constant, gamma)
    expected = returns_to_go(rewards, gamma) + constant * discount_mass(len(rewards), gamma)
    np.testing.assert_allclose(moved, expected, atol=1e-9)


def test_the_discount_mass_is_the_geometric_sum() -> None:
    for t, mass in enumerate(discount_mass(6, 0.7)):
        assert mass == pytest.approx((1 - 0.7 ** (6 - t)) / (1 - 0.7))


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan")])
def test_a_gamma_outside_zero_and_one_is_refused(gamma: float) -> None:
    with pytest.raises(ValueError, match=r"gamma must be in \[0, 1\], got"):
        returns_to_go([1.0], gamma)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_reward_that_is_no_number_is_named_by_its_place(bad: float) -> None:
    for returns in (returns_to_go, substituted_returns):
        with pytest.raises(ValueError, match=r"rewards\[1\] is (nan|inf); an unscored step"):
            returns([0.0, bad], 0.5)
