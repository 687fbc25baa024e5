"""Estimates of what another policy would get: by hand, by simulation, and refused in time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.core.offpolicy import (
    Bounds,
    Weighted,
    doubly_robust,
    ips,
    overlap,
    preview,
    self_normalised,
    weights,
)
from jitrl.core.stats import Interval, NoInterval


def episode(ratio, reward, q=None, v=None, outside=None, cluster=""):
    nothing = [0.0] * len(ratio)
    columns = (ratio, reward, outside or nothing, q or nothing, v or nothing)
    return Weighted(*(np.array(column, float) for column in columns), cluster)


FIRST = episode([2.0, 0.5], [1.0, 3.0], q=[1.0, 1.0], v=[1.0, 1.0])
SECOND = episode([0.5, 2.0], [0.0, 2.0], q=[1.0, 1.0], v=[1.0, 1.0])


def test_weights_are_products_of_the_ratios_so_far():
    assert weights(FIRST.ratio).tolist() == [2.0, 1.0]


def test_ips_weighs_each_reward_by_what_led_to_it():
    assert (ips(FIRST), ips(SECOND)) == (2 * 1 + 1 * 3, 0.5 * 0 + 1 * 2)


def test_the_self_normalised_estimate_divides_by_the_weights_of_each_step():
    value, influence = self_normalised([FIRST, SECOND])
    assert value == pytest.approx((2 * 1 + 0.5 * 0) / 2.5 + (1 * 3 + 1 * 2) / 2)
    assert influence.sum() == pytest.approx(0.0)


def test_a_shorter_episode_keeps_its_last_weight_where_others_go_on():
    value, _ = self_normalised([episode([3.0], [1.0]), episode([1.0, 1.0], [0.0, 4.0])])
    assert value == pytest.approx(3 * 1 / 4 + 1 * 4 / 4)


def test_doubly_robust_corrects_the_model_by_what_the_episode_shows():
    assert doubly_robust(FIRST) == 2 * (1 - 1) + 1 * (3 - 1) + 1 * 1 + 2 * 1
    assert doubly_robust(SECOND) == 0.5 * (0 - 1) + 1 * (2 - 1) + 1 * 1 + 0.5 * 1


def test_a_model_that_is_right_leaves_nothing_to_the_weights():
    exact = episode([7.0, 0.3], [1.0, 3.0], q=[4.0, 3.0], v=[4.0, 3.0])
    assert doubly_robust(exact) == pytest.approx(4.0)


def test_effective_sample_size_counts_equal_weights_only():
    same = overlap([episode([1.0], [0.0])] * 10)
    assert (same.effective, same.weight, same.largest) == (10.0, 1.0, 0.1)
    one = overlap([episode([w], [0.0]) for w in (3.0, 1.0)])
    assert one.effective == pytest.approx(16 / 10)
    assert overlap([episode([0.0], [0.0])]).effective == 0.0


def test_what_was_never_possible_counts_by_the_chance_to_get_there():
    found = overlap([episode([0.5, 1.0], [0.0, 0.0], outside=[0.1, 0.4])])
    assert found.outside == pytest.approx(0.1 + 0.5 * 0.4)


@settings(max_examples=50)
@given(st.lists(st.lists(st.floats(-5, 5), min_size=1, max_size=4), min_size=6, max_size=12))
def test_the_same_policy_is_estimated_as_it_was(rewards):
    logged = [episode([1.0] * len(r), r) for r in rewards]
    found = preview(logged, Bounds(effective=1.0, largest=1.0))
    for estimate in (found.ips, found.snips, found.dr):
        assert estimate.value == pytest.approx(np.mean([sum(r) for r in rewards]), abs=1e-9)
        assert estimate.gain == pytest.approx(0.0, abs=1e-9)
    assert found.overlap.effective == pytest.approx(len(rewards))
    assert found.verdict == "no evidence"


def test_few_clusters_are_taken_apart_and_few_episodes_have_no_interval():
    few = [episode([1.0], [float(n)], cluster="one task") for n in range(5)]
    assert isinstance(preview(few).dr.interval, NoInterval)
    more = [episode([1 + n % 2 / 2], [float(n)], cluster="one task") for n in range(40)]
    assert isinstance(preview(more).dr.interval, Interval)


def test_episodes_that_all_end_alike_are_no_evidence_of_equality():
    found = preview([episode([1.0 + n % 2], [0.0]) for n in range(100)])
    assert isinstance(found.dr.interval, NoInterval)
    assert found.verdict == "no evidence"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ratio": [-1.0]}, "a chance is at least 0"),
        ({"ratio": [np.nan]}, "ratio is"),
        ({"ratio": [1.0, 1.0]}, "1 finite numbers"),
    ],
)
def test_what_cannot_be_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        preview([episode(**{"ratio": [1.0], "reward": [1.0]} | change)])
    with pytest.raises(ValueError, match="no episodes"):
        preview([])


# --- a world whose truth is known -------------------------------------------------------------

STATES, ACTIONS, STEPS = 4, 3, 3


class World:
    """States drawn afresh at each step but for the last action's part in it; noisy rewards."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.mean = rng.normal(0.5, 0.5, (STATES, ACTIONS))
        self.next = rng.dirichlet(np.ones(STATES), (STATES, ACTIONS))
        self.logged = softmax(rng.normal(0, 0.7, (STATES, ACTIONS)))
        self.rng = rng

    def tilted(self, by):
        """The logged policy, moved towards what pays."""
        return softmax(np.log(self.logged) + by * self.mean)

    def values(self, policy):
        """Exact Q and V of each step, by going backwards."""
        q, v = np.zeros((STEPS, STATES, ACTIONS)), np.zeros((STEPS + 1, STATES))
        for t in reversed(range(STEPS)):
            q[t] = self.mean + self.next @ v[t + 1]
            v[t] = (policy * q[t]).sum(axis=1)
        return q, v

    def play(self, target, episodes, *, model=0.0):
        """Logged episodes as ``target`` sees them; a share of the true Q and V as the model."""
        rng, (q, v) = self.rng, self.values(target)
        state = np.zeros(episodes, int)
        columns = np.zeros((5, episodes, STEPS))
        for t in range(STEPS):
            action = drawn(rng, self.logged[state])
            columns[0, :, t] = target[state, action] / self.logged[state, action]
            columns[1, :, t] = self.mean[state, action] + rng.normal(0, 0.3, episodes)
            columns[3, :, t] = model * q[t, state, action]
            columns[4, :, t] = model * v[t, state]
            state = drawn(rng, self.next[state, action])
        return [Weighted(*columns[:, n]) for n in range(episodes)]


def drawn(rng, chances):
    """One place of each row of chances."""
    return (chances.cumsum(axis=1) > rng.random((len(chances), 1))).argmax(axis=1)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("model", [0.0, 0.7])
def test_intervals_hold_the_truth_as_often_as_they_say(model):
    """95 % intervals of 120 logs of 200 episodes; at 95 % fewer than 106 has chance 1e-3."""
    world = World(1)
    target = world.tilted(1.0)
    truth = world.values(target)[1][0, 0] - world.values(world.logged)[1][0, 0]
    held = {"ips": 0, "snips": 0, "dr": 0}
    for _ in range(120):
        found = preview(world.play(target, 200, model=model))
        assert not found.refusal
        for name in held:
            interval = getattr(found, name).interval
            held[name] += interval.low <= truth <= interval.high
    assert min(held.values()) >= 106, held


def test_a_good_model_makes_the_estimate_steadier():
    world = World(1)
    logged = world.play(world.tilted(1.0), 400, model=1.0)
    plain, model = np.std([ips(e) for e in logged]), np.std([doubly_robust(e) for e in logged])
    assert model < 0.7 * plain


def test_a_policy_too_far_from_the_logged_one_is_refused():
    """Of 60 logs none lets through a policy that 200 episodes cannot speak for."""
    world = World(2)
    far = np.eye(ACTIONS)[np.full(STATES, int(world.logged.min(axis=0).argmin()))]
    for _ in range(60):
        found = preview(world.play(far, 200))
        assert found.verdict == "refused"
        assert "episodes count for" in found.refusal or "one episode" in found.refusal


def test_what_the_logged_policy_never_does_is_refused_and_otherwise_widens_the_interval():
    some = [episode([1.0], [float(n % 2)], outside=[0.03]) for n in range(100)]
    found = preview(some)
    assert found.refusal.startswith("in 3.0% of episodes it would do what the logged policy never")
    assert preview(some, Bounds(outside=0.05)).slack == pytest.approx(0.03)


def test_weights_that_fall_short_of_one_tell_of_ways_that_were_hardly_ever_logged():
    found = preview([episode([0.7 + n % 2 / 50], [1.0]) for n in range(100)])
    assert found.refusal.startswith("the weights average 0.71, so 29% of what it would do")


def test_no_gain_is_found_by_chance_more_often_than_one_time_in_twenty():
    world, wrong = World(3), 0
    for _ in range(120):
        shuffled = softmax(np.log(world.logged) + world.rng.normal(0, 0.02, (STATES, ACTIONS)))
        found = preview(world.play(shuffled, 150))
        truth = world.values(shuffled)[1][0, 0] - world.values(world.logged)[1][0, 0]
        wrong += (found.verdict == "better" and truth <= 0) or (
            found.verdict == "worse" and truth >= 0
        )
    assert wrong <= 12
