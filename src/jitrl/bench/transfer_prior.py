"""A frozen model that half knows a back office: the right action, and noise that it repeats."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from jitrl.core.features import goal_of
from jitrl.envs.backoffice import Backoffice
from jitrl.errors import InputError
from jitrl.types import Candidate, Prompt, Proposal, Task

_OF_TEMPLATE, _OF_TASK = 1.1, 0.5
_NORMAL = NormalDist()


class Noisy:
    """``z(a) = right [a is right] + 1.1 N(template, masked a) + .5 N(task, page, a)``.

    N are normal deviates, the same whenever the model is asked the same: an action that it
    mistakes in one task of a template it mistakes in the others, too.

    Args:
        right: What it knows, nats.
        seed: Another seed makes other mistakes.
    """

    name = "noisy"

    def __init__(self, world: Backoffice, task: Task, right: float, seed: int) -> None:
        self._world, self._task, self._right, self._seed = world, task, right, str(seed)

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """Every action of the prompt with its logit; ``rng`` is not used."""
        try:
            right = self._world.oracle_action()
        except InputError:  # it knows no way on from here
            right = None
        goal, template = goal_of(prompt.goal), self._task.params["template"]
        candidates = tuple(
            Candidate(
                action,
                self._right * (action == right)
                + _OF_TEMPLATE * _deviate(self._seed, template, goal.masked(action).text)
                + _OF_TASK * _deviate(self._seed, self._task.id, prompt.observation, action),
            )
            for action in prompt.actions
        )
        return Proposal(candidates, self.name, self.name)


@lru_cache(maxsize=65536)
def _deviate(*of: str) -> float:
    """A normal deviate, the same for the same texts."""
    digest = hashlib.blake2b("\x1f".join(of).encode(), digest_size=6).digest()
    return _NORMAL.inv_cdf((int.from_bytes(digest, "big") + 0.5) / 2.0**48)
