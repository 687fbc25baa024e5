import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.agents.batches import (
    Lived,
    Plan,
    expected_scores,
    failure_weights,
    group_advantages,
    grouped,
    replayed,
    supervised,
)
from jitrl.training import Example
from jitrl.types import Prompt


def episode(task, score, steps=2):
    asked = [Prompt(task, f"page {t}", (), ("a", "b")) for t in range(steps)]
    return Lived(task, tuple(Example(p, (0.0, 0.0), 0, reference=-0.7) for p in asked), score)


def goals(batch):
    return [example.prompt.goal for example in batch]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_advantages_of_a_group_are_deviations_in_units_of_its_spread():
    assert group_advantages(np.array([1.0, 0.0, 0.0, 1.0])) == pytest.approx([1, -1, -1, 1], 1e-4)
    assert group_advantages(np.array([1.0, 0.0, 0.0])) == pytest.approx(
        [1.41421, -0.70711, -0.70711], 1e-4
    )


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.floats(-3, 3))
def test_a_constant_added_to_all_scores_of_a_group_changes_no_advantage(scores, constant):
    plain = group_advantages(np.array(scores))
    assert plain.sum() == pytest.approx(0.0, abs=1e-6)
    if np.std(scores) > 1e-3 or np.std(scores) == 0.0:
        moved = group_advantages(np.array(scores) + constant)
        assert moved == pytest.approx(plain, abs=1e-3)


def test_nothing_is_imitated_after_a_failure(rng):
    assert supervised([episode("x", 1.0), episode("x", 0.0)], Plan(), rng) == []


def test_a_success_is_imitated_whole_with_older_successes_drawn_beside_it(rng):
    lived = [episode("old", 1.0, 9), episode("bad", 0.0, 9), episode("new", 1.0, 3)]
    batches = supervised(lived, Plan(epochs=5, batch=8), rng)
    assert len(batches) == 5
    for batch in batches:
        assert goals(batch) == ["new"] * 3 + ["old"] * 5
        assert all(example.advantage == 1.0 for example in batch)
    assert len({tuple(e.prompt.observation for e in batch) for batch in batches}) > 1


def test_a_group_is_the_latest_attempts_at_the_newest_task(rng):
    lived = [episode("x", 1.0), episode("y", 1.0), episode("x", 0.0), episode("x", 0.0)]
    (batch,) = grouped(lived, Plan(epochs=1, batch=50), rng)
    assert goals(batch) == ["x"] * 50
    assert {round(e.advantage, 3) for e in batch} == {-0.707, 1.414}
    assert grouped(lived, Plan(group=2), rng) == []  # the two latest failed alike


def test_a_group_of_equal_scores_teaches_nothing(rng):
    assert grouped([episode("x", 1.0)], Plan(), rng) == []
    assert grouped([episode("x", 0.0), episode("x", 0.0)], Plan(), rng) == []


def test_long_episodes_weigh_no_more_than_short_ones_in_a_group(rng):
    lived = [episode("x", 1.0, 1), episode("x", 0.0, 20)]
    drawn = [e for batch in grouped(lived, Plan(epochs=400, batch=2), rng) for e in batch]
    assert np.mean([e.advantage > 0 for e in drawn]) == pytest.approx(0.5, abs=0.06)


def test_tasks_that_failed_of_late_are_replayed_more():
    lived = [episode("x", 0.0), *[episode("x", 1.0)] * 3, episode("y", 1.0), episode("y", 0.0)]
    assert failure_weights(lived, 0.5) == pytest.approx({"x": 0.1, "y": 0.6})


def test_a_task_is_expected_to_score_its_mean_with_one_more_of_the_mean_of_all():
    lived = [episode("x", 1.0), episode("y", 0.0), episode("y", 1.0), episode("y", 0.0)]
    assert expected_scores(lived) == pytest.approx({"x": 1.5 / 2, "y": 1.5 / 4})


def test_replay_holds_the_newest_episode_and_successes_near_the_present_policy(rng):
    lived = [episode("x", 1.0, 3), episode("y", 0.0, 30), episode("x", 0.0, 3)]
    batches = replayed(lived, Plan(epochs=3, batch=6), rng, lambda e: -0.9)
    assert len(batches) == 3
    assert batches[0] == batches[1] == batches[2]
    assert goals(batches[0]) == ["x"] * 6
    assert [e.advantage for e in batches[0]] == pytest.approx([-4 / 9] * 3 + [5 / 9] * 3)
    assert {e.reference for e in batches[0]} == {-0.9}


@pytest.mark.parametrize("chance", [0.99, 0.001])
def test_what_the_policy_finds_too_easy_or_too_hard_is_not_replayed(chance, rng):
    lived = [episode("x", 1.0, 3), episode("y", 0.0, 2)]
    (batch,) = replayed(lived, Plan(epochs=1), rng, lambda e: float(np.log(chance)))
    assert goals(batch) == ["y"] * 2


def test_there_is_no_replay_before_the_first_success(rng):
    assert replayed([episode("x", 0.0)], Plan(), rng, lambda e: -1.0) == []
