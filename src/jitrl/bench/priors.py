"""Frozen models that are made up: what they know of the right action is known, and their errors."""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Literal, Protocol

import numpy as np

from jitrl.core.features import goal_of
from jitrl.envs.toy import ToyPrior
from jitrl.errors import InputError
from jitrl.models.stated import logit_of
from jitrl.ports import Proposer
from jitrl.types import Candidate, Prompt, Proposal, Task

Belief = Literal["uniform", "misleading", "oracle"]
_OF_TEMPLATE, _OF_TASK = 1.1, 0.5
_NORMAL = NormalDist()


class Known:
    """A prior that depends on a game's winning path.

    Args:
        kind: ``uniform``; ``misleading`` favors an action that is not on the path, always the
            same among the same actions; ``oracle`` favors the next action of the path, where it
            is offered, and nothing elsewhere.
        p: Probability of the favored action; the others share the rest.
        path: Actions that win the game.
    """

    def __init__(self, kind: Belief, p: float = 0.0, path: Sequence[str] = ()) -> None:
        self.name = kind if kind == "uniform" else f"{kind}/p={p:g}"
        self._kind, self._p, self._path = kind, p, tuple(path)

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """Every action of the prompt with its logit; ``rng`` is not used."""
        favored = self._favored(prompt)
        rest = math.log((1.0 - self._p) / max(1, len(prompt.actions) - 1)) if favored else 0.0
        candidates = tuple(
            Candidate(action, math.log(self._p) if action == favored else rest)
            for action in prompt.actions
        )
        return Proposal(candidates, self._kind, self.name)

    def _favored(self, prompt: Prompt) -> str | None:
        if self._kind == "misleading":
            wrong = [a for a in prompt.actions if a not in self._path] or prompt.actions
            return min(wrong, key=lambda a: (zlib.crc32(a.encode()), a))
        if self._kind == "oracle":
            ahead = next_on_path(self._path, prompt.history)
            return ahead if ahead in prompt.actions else None
        return None


def next_on_path(path: Sequence[str], history: Sequence[str]) -> str | None:
    """The first action of ``path`` that ``history`` has not taken in its turn."""
    done = 0
    for action in history:
        if done < len(path) and action == path[done]:
            done += 1
    return path[done] if done < len(path) else None


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


class Guided(Protocol):
    """A world that knows the way."""

    def oracle_action(self) -> str:
        """The right action from where the episode stands.

        Raises:
            InputError: If it knows none.
        """
        ...


class Noisy:
    """``z(a) = right [a is right] + 1.1 N(template, masked a) + .5 N(task, page, a)``.

    N are normal deviates, the same whenever the model is asked the same: an action that it
    mistakes in one task of a template it mistakes in the others, too.

    Args:
        right: What it knows, nats.
        seed: Another seed makes other mistakes.
    """

    name = "noisy"

    def __init__(self, world: Guided, task: Task, right: float, seed: int) -> None:
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


class Stated:
    """Another frozen model's beliefs, had it stated them as confidences: whole tens from 0 to 100.

    ``z = logit(clip(c / 100, .02, .98))`` of the confidence c, as the scorer ``verbalized`` has it.
    """

    name = "stated"

    def __init__(self, believes: Proposer) -> None:
        self._believes = believes

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """Every action of the prompt with its logit."""
        asked = self._believes.propose(prompt, rng).candidates
        z = np.array([c.logit for c in asked])
        chance = np.exp(z - z.max())
        stated = 10.0 * np.round(10.0 * chance / chance.sum())
        candidates = tuple(
            Candidate(c.action, logit_of(float(confidence)))
            for c, confidence in zip(asked, stated, strict=True)
        )
        return Proposal(candidates, self.name, self.name)


@lru_cache(maxsize=65536)
def _deviate(*of: str) -> float:
    """A normal deviate, the same for the same texts."""
    digest = hashlib.blake2b("\x1f".join(of).encode(), digest_size=6).digest()
    return _NORMAL.inv_cdf((int.from_bytes(digest, "big") + 0.5) / 2.0**48)
