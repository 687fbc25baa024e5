"""Episodes of a run played once more, in an environment of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import numpy as np

from jitrl.config import Run
from jitrl.errors import ConfigError
from jitrl.ports import Environment, EpisodeAgent
from jitrl.ports.replay import Replay
from jitrl.run.loop import Trial, play, trial_of
from jitrl.types import Candidate, Episode, Prompt, Proposal


class Listed:
    """Proposes every action that a page lists, for agents that know what they want."""

    name = "listed"

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """All with the same logit; ``rng`` is not used."""
        return Proposal(tuple(Candidate(action, 0.0) for action in prompt.actions), "none", "none")


class Replayer:
    """Opens environments in which episodes of a run can be played again.

    Args:
        name: The environment's, for messages.
        make: Makes one.
        run: How episodes are played.
        pages: Keep what a model is shown of each page, for an evaluator that reads it.
    """

    def __init__(
        self, name: str, make: Callable[[], Environment], run: Run, *, pages: bool
    ) -> None:
        self._name, self._make, self._run, self._pages = name, make, run, pages

    @contextmanager
    def __call__(self) -> Iterator[Replay]:
        """An environment to replay in, closed at the end of the block.

        Raises:
            ConfigError: If what an episode changes there stays changed.
        """
        with closing(self._make()) as world:
            if getattr(world, "keeps_changes", False):
                raise ConfigError(
                    f"environment {self._name!r} cannot play an episode again, since what one "
                    'changes there stays changed; give the agent credit = "contrast" or "steps"'
                )
            tasks = world.tasks()

            def replay(key: str, agent: EpisodeAgent) -> Episode:
                return self._played(world, trial_of(key, tasks), agent)

            yield replay

    def _played(self, world: Environment, trial: Trial, agent: EpisodeAgent) -> Episode:
        return play(
            trial,
            world,
            Listed(),
            agent,
            rewards=self._run.rewards,
            max_steps=self._run.max_steps,
            pages=self._pages,
        )
