"""The evaluators that only read what an episode was given."""

from __future__ import annotations

import math

import pytest

from jitrl.errors import InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.evaluators.outcome import TerminalOutcome
from jitrl.types import Episode, Outcome, Scored, State, Transition, Unscored


def episode(*rewards: float | None, outcome: Outcome | None = None, status: str = "terminated"):
    steps = tuple(Transition(State(f"s{t}"), "go", reward=r) for t, r in enumerate(rewards))
    return Episode("e1", "t1", "", steps, status, outcome)  # type: ignore[arg-type]


WON = Outcome(1.0, "human", told=True)


def test_step_rewards_are_the_judgment():
    assert EnvironmentRewards().judge(episode(0.5, None, 0.0)) == Scored(
        (0.5, 0.0, 0.0), "environment", "state_check", False
    )


def test_an_outcome_is_added_to_the_last_step_and_rewards_are_kept():
    for evaluator in (EnvironmentRewards(), TerminalOutcome()):
        judged = evaluator.judge(episode(0.5, 0.25, outcome=WON))
        assert judged == Scored((0.5, 1.25), evaluator.name, "human", True)


def test_a_failure_is_a_zero_and_not_an_absence():
    judged = TerminalOutcome().judge(episode(None, None, outcome=Outcome(0.0)))
    assert judged == Scored((0.0, 0.0), "outcome", "test", False)


def test_what_was_not_given_is_not_a_zero():
    assert TerminalOutcome().judge(episode(1.0, 0.0)) == Unscored("no outcome yet", "outcome")
    for evaluator in (EnvironmentRewards(), TerminalOutcome()):
        assert isinstance(evaluator.judge(episode(None, None)), Unscored)
        assert isinstance(evaluator.judge(episode(outcome=WON)), Unscored)


def test_an_aborted_episode_is_scored_only_by_an_outcome():
    aborted = episode(1.0, 0.0, status="aborted")
    assert isinstance(EnvironmentRewards().judge(aborted), Unscored)
    scored = episode(1.0, 0.0, status="aborted", outcome=WON)
    assert isinstance(EnvironmentRewards().judge(scored), Scored)


def test_a_truncated_episode_keeps_its_rewards():
    assert isinstance(EnvironmentRewards().judge(episode(1.0, status="truncated")), Scored)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_an_error(bad: float):
    for evaluator in (EnvironmentRewards(), TerminalOutcome()):
        with pytest.raises(InputError, match="finite"):
            evaluator.judge(episode(0.0, bad, outcome=WON))
        with pytest.raises(InputError, match="finite"):
            evaluator.judge(episode(0.0, outcome=Outcome(bad)))
