"""A frozen model that is often right, and wrong in the same places each time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitrl.bench.learning_priors import next_on_path
from jitrl.envs.toy import ToyPrior
from jitrl.types import Candidate, Prompt, Proposal


class Inclined:
    """Prefers the next action of a winning path, but for noise that never changes.

    ``z = lead * (1 if next else 0) + sd * n``, where n is a normal deviate that is always the same
    for the same goal, page and action, as the errors of a model are that does not learn.

    Args:
        path: Actions that win the task.
        lead: What the next one of them is ahead, nats.
        sd: Standard deviation of the noise, nats.
        seed: Another seed is another model.
    """

    def __init__(self, path: Sequence[str], lead: float, sd: float, seed: int) -> None:
        self.name = f"inclined/lead={lead:g}/sd={sd:g}/seed={seed}"
        self._path, self._lead, self._noise = tuple(path), lead, ToyPrior(sd, seed)

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """Every action of the prompt with its logit; ``rng`` is not used."""
        right = next_on_path(self._path, prompt.history)
        candidates = tuple(
            Candidate(c.action, self._lead * (c.action == right) + c.logit)
            for c in self._noise.propose(prompt, rng).candidates
        )
        return Proposal(candidates, "inclined", self.name)
