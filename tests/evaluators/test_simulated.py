"""A judge of known reliability errs as often as it says, and always alike."""

import numpy as np
import pytest
from judged import LOST, WON, episode

from jitrl.errors import ConfigError
from jitrl.evaluators.simulated import Simulated, worth
from jitrl.types import Unscored


def said(outcome, **options):
    """Share of 2,000 episodes with this outcome that are reported as successes."""
    judge = Simulated(**options)
    judged = [judge.judge(episode(key=f"e{i}", outcome=outcome)) for i in range(2_000)]
    assert all(j.told and j.basis == "llm_judge" for j in judged)
    return np.mean([j.info["verdict"] == "success" for j in judged])


@pytest.mark.parametrize("p", [0.7, 0.9, 1.0])
@pytest.mark.parametrize("b", [0.0, 0.3])
def test_it_is_right_as_often_as_it_says(p, b):
    options = {"reliability": p, "bias": b}
    assert said(WON, **options) == pytest.approx(p, abs=0.03)
    assert said(LOST, **options) == pytest.approx(1 - p * (1 - b), abs=0.03)


def test_the_same_seed_and_episode_give_the_same_error():
    first, again, other = (Simulated(reliability=0.5, seed=s) for s in (1, 1, 2))
    lived = [episode(key=f"e{i}", outcome=WON) for i in range(50)]
    assert [first.judge(e) for e in lived] == [again.judge(e) for e in lived]
    assert [first.judge(e) for e in lived] != [other.judge(e) for e in lived]


def test_its_name_says_how_good_it_is_and_that_it_is_told():
    judge = Simulated(reliability=0.8, bias=0.2)
    assert judge.name == "simulated(outcome, p=0.8, b=0.2)"
    assert judge.told


def test_an_episode_without_an_outcome_is_not_scored():
    assert isinstance(Simulated().judge(episode()), Unscored)


def test_the_outcome_it_reports_is_the_last_steps_reward():
    assert Simulated().judge(episode(rewards=[0.0, 1.0])).rewards == (0.0, 1.0)
    assert Simulated().judge(episode(rewards=[0.5, 0.0])).rewards == (0.0, 0.0)
    assert Simulated(success=0.5).judge(episode(rewards=[0.5, 0.0])).rewards == (0.0, 1.0)


def test_steps_of_a_success_are_good_unless_they_were_come_back_from():
    lived = episode(("a", "b", "a", "c", "end"), outcome=WON)
    assert worth(lived, is_success=True).tolist() == [0, 0, 1, 1]
    judged = Simulated(kind="steps", weight=0.5).judge(lived)
    assert judged.rewards == (0.0, 0.0, 0.5, 1.5)


def test_one_that_is_told_errs_on_steps_alone():
    judge = Simulated(kind="told", reliability=0.0, weight=0.5)
    assert judge.judge(episode(outcome=WON)).rewards == (-0.5, 0.5)
    judged = judge.judge(episode(outcome=LOST))
    assert judged.info["verdict"] == "failure"
    assert judged.basis == "state_check"


def test_the_step_that_ended_a_failure_is_bad():
    lived = episode(("a", "b", "c"), outcome=LOST)
    assert worth(lived, is_success=False).tolist() == [0, -1]
    assert Simulated(kind="steps", weight=0.5).judge(lived).rewards == (0.0, -0.5)


def test_signs_of_steps_are_right_as_often_as_it_says():
    judge = Simulated(kind="steps", reliability=0.8, weight=1.0)
    pages = [str(t) for t in range(51)]
    judged = [judge.judge(episode(pages, key=f"e{i}", outcome=WON)) for i in range(40)]
    signs = np.array([j.rewards[:-1] for j in judged])
    assert (signs == 1.0).mean() == pytest.approx(0.8, abs=0.03)
    assert set(np.unique(signs)) == {-1.0, 1.0}


@pytest.mark.parametrize("options", [{"reliability": 1.1}, {"bias": -0.1}])
def test_probabilities_are_probabilities(options):
    with pytest.raises(ConfigError):
        Simulated(**options)
