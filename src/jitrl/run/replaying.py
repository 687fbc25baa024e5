"""Episodes of a run played once more, in an environment of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager

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
        is_replayable: Whether the environment declares that its episodes may be played again.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], Environment],
        run: Run,
        *,
        pages: bool,
        is_replayable: bool,
    ) -> None:
        self._name, self._make, self._run, self._pages = name, make, run, pages
        self._is_replayable = is_replayable

    def __call__(self) -> AbstractContextManager[Replay]:
        """An environment to replay in, made at the beginning of the block and closed at its end.

        Raises:
            ConfigError: If it does not declare that episodes may be played again.
        """
        if not self._is_replayable:
            raise ConfigError(
                f"environment {self._name!r} does not declare that its episodes may be played "
                'again; give the agent credit = "contrast" or "steps", or, if reset takes back all '
                "that an episode changed, set is_replayable = True on the environment's class"
            )
        return self._opened()

    @contextmanager
    def _opened(self) -> Iterator[Replay]:
        with closing(self._make()) as world:
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
