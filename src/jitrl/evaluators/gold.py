"""The outcome that an episode is known to have had, for evaluators that are told it."""

from __future__ import annotations

from jitrl.evaluators.environment import given_rewards
from jitrl.types import Episode


def gold(episode: Episode) -> float | None:
    """Sum of the rewards and the outcome that the episode was given; ``None`` if it got neither.

    Raises:
        InputError: If one of them is not finite.
    """
    if not episode.steps:
        return None
    if episode.outcome is None and all(step.reward is None for step in episode.steps):
        return None
    return sum(given_rewards(episode))
