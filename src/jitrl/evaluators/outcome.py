"""One terminal outcome as the judgment."""

from __future__ import annotations

from jitrl.evaluators.environment import given_rewards
from jitrl.types import Episode, Judgment, Scored, Unscored


class TerminalOutcome:
    """Scores an episode by how it ended; rewards given at its steps are kept."""

    name = "outcome"
    told = False

    def judge(self, episode: Episode) -> Judgment:
        """Rewards per step; ``Unscored`` as long as no outcome is known.

        Raises:
            InputError: If a reward or the outcome is not finite.
        """
        outcome = episode.outcome
        if not episode.steps:
            return Unscored("the episode has no steps", self.name)
        if outcome is None:
            return Unscored("no outcome yet", self.name)
        return Scored(given_rewards(episode), self.name, outcome.basis, outcome.told)
