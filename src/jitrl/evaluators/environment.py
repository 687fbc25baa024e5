"""The environment's own step rewards as the judgment."""

from __future__ import annotations

import math

from jitrl.errors import InputError
from jitrl.types import Episode, Judgment, Scored, Unscored


def given_rewards(episode: Episode) -> tuple[float, ...]:
    """Rewards the episode was given, shape [T]; its outcome is added to the last one.

    A step without a reward counts 0 here, so callers must first know that the episode was given
    something at all.

    Raises:
        InputError: If a reward or the outcome is not finite.
    """
    rewards = [0.0 if step.reward is None else float(step.reward) for step in episode.steps]
    for t, reward in enumerate(rewards):
        if not math.isfinite(reward):
            raise InputError(
                f"step {t} of episode {episode.key!r} has reward {reward}; rewards must be finite"
            )
    if episode.outcome is not None:
        value = float(episode.outcome.value)
        if not math.isfinite(value):
            raise InputError(
                f"episode {episode.key!r} has outcome {value}; an outcome must be finite"
            )
        rewards[-1] += value
    return tuple(rewards)


class EnvironmentRewards:
    """Scores an episode by the rewards that the environment gave at its steps.

    An outcome, where there is one, is added to the last step's reward, and the judgment then
    rests on what the outcome rests on.
    """

    name = "environment"
    told = False
    relays = True

    def judge(self, episode: Episode) -> Judgment:
        """Rewards per step; ``Unscored`` if the episode was given neither rewards nor an outcome.

        Raises:
            InputError: If a reward or the outcome is not finite.
        """
        outcome = episode.outcome
        if not episode.steps:
            return Unscored("the episode has no steps", self.name)
        if outcome is None:
            if all(step.reward is None for step in episode.steps):
                return Unscored("neither rewards nor an outcome were given", self.name)
            if episode.status == "aborted":
                return Unscored("the episode was aborted", self.name)
            return Scored(given_rewards(episode), self.name, "state_check", self.told)
        return Scored(given_rewards(episode), self.name, outcome.basis, outcome.told)
