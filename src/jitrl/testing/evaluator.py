"""Contract of evaluators, as checks that any implementation can be put to."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

from jitrl.ports import Evaluator
from jitrl.types import BASES, Episode, Outcome, Scored, State, Transition, Unscored

Factory = Callable[[], Evaluator]


def an_evaluator_says_who_it_is(make: Factory) -> None:
    """It has a name, says whether it is told the outcome, and signs its judgments."""
    evaluator = make()
    assert evaluator.name, "the evaluator has no name"
    assert isinstance(evaluator.told, bool), f"told is {evaluator.told!r}"
    for episode in _episodes():
        assert evaluator.judge(episode).evaluator == evaluator.name


def a_judgment_has_a_reward_for_each_step_or_a_reason(make: Factory) -> None:
    """Rewards are finite and as many as steps; there is no third way."""
    for episode in _episodes():
        judged = make().judge(episode)
        json.dumps(judged.info, allow_nan=False)  # it goes into the journal
        if isinstance(judged, Unscored):
            assert judged.reason, "Unscored without a reason"
            continue
        assert isinstance(judged, Scored), f"{judged!r} is neither Scored nor Unscored"
        assert len(judged.rewards) == len(episode.steps), "not one reward per step"
        assert all(math.isfinite(r) for r in judged.rewards), "a reward is not finite"
        assert judged.basis in BASES, f"unknown basis {judged.basis!r}"


def an_episode_without_steps_is_not_scored(make: Factory) -> None:
    """There is nothing to give a reward to, whatever the outcome."""
    episode = Episode("empty", "task", "", (), outcome=Outcome(1.0))
    assert isinstance(make().judge(episode), Unscored)


CHECKS: tuple[Callable[[Factory], None], ...] = (
    an_evaluator_says_who_it_is,
    a_judgment_has_a_reward_for_each_step_or_a_reason,
    an_episode_without_steps_is_not_scored,
)


def _episodes() -> list[Episode]:
    """Every mixture of rewards and outcomes, ended, cut off and aborted."""
    return [
        Episode(
            f"{status}-{len(rewards)}-{outcome is None}",
            "task",
            "",
            tuple(Transition(State(f"s{t}"), "go", reward=r) for t, r in enumerate(rewards)),
            status,
            outcome,
        )
        for status in ("terminated", "truncated", "aborted")
        for rewards in ((None,), (None, None, None), (0.0, 0.5), (None, -1.0, None))
        for outcome in (None, Outcome(0.0), Outcome(1.0, "human", told=True))
    ]
