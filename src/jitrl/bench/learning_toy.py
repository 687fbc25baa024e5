"""Learning on the hidden protocol, whose best expected return is known, with a slip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from jitrl.bench.attempts import attempt
from jitrl.bench.learning_arms import RULE_A, TUNED_PAPER
from jitrl.bench.learning_pool import Tell, each, parts
from jitrl.core.stats import Interval, NoInterval, bootstrap
from jitrl.envs.toy import Toy, ToyPrior
from jitrl.ports import Environment

RULES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "default": ("jitrl", {}),
    "kernel mean, sampled": ("jitrl", RULE_A),
    "paper rule, best tuned": ("jitrl", TUNED_PAPER),
    "released-web": ("jitrl", {"preset": "released-web"}),
    "ucb": ("ucb", {}),
    "thompson": ("thompson", {}),
}
"""Agent and settings of its memory by name."""

_EPISODES = 100
_SLIP = 0.1  # probability that another action than the chosen one is executed
_SHARE = 10  # protocols that a process plays in one go


@dataclass(frozen=True, slots=True)
class Protocol:
    """One agent on many hidden protocols.

    Attributes:
        ceiling: Expected return of the best policy.
        first_ten, last_ten: Mean score of the first and the last ten episodes.
        interval: Of ``last_ten``, protocols resampled.
    """

    agent: str
    slip: float
    protocols: int
    episodes: int
    ceiling: float
    first_ten: float
    last_ten: float
    interval: Interval | NoInterval


@dataclass(frozen=True, slots=True)
class Job:
    """What one process plays in one go: an agent on protocols with these seeds."""

    agent: str
    memory: Mapping[str, Any]
    slip: float
    seeds: Sequence[int]
    episodes: int


def measure(
    *,
    seeds: int = 200,
    workers: int = 1,
    tell: Tell = lambda share: None,
) -> list[Protocol]:
    """The default rule and the baselines on the same protocols.

    Args:
        seeds: So many protocols, each with its own prior.
    """
    shares = parts(range(seeds), _SHARE)
    jobs = [
        Job(agent, memory, _SLIP, share, _EPISODES)
        for agent, memory in RULES.values()
        for share in shares
    ]
    played = each(run, jobs, workers, tell)
    found = []
    for i, name in enumerate(RULES):
        mine = played[i * len(shares) : (i + 1) * len(shares)]
        found.append(summed(name, _SLIP, np.concatenate(mine)))
    return found


def run(job: Job) -> list[list[float]]:
    """Scores, shape [seeds, episodes]; each protocol has a memory of its own."""
    return [_learn(job, seed) for seed in job.seeds]


def _learn(job: Job, seed: int) -> list[float]:
    world, prior = Toy("protocol", seed=seed, slip=job.slip), ToyPrior(seed=seed)
    episodes = attempt(
        job.agent,
        {},
        job.memory,
        world=cast(Environment, world),
        task=world.tasks()[0],
        prior=prior,
        attempts=job.episodes,
        seed=seed,
        world_seed=0,
    )
    return [float(e.info["score"]) for e in episodes]


def summed(name: str, slip: float, scores: np.ndarray) -> Protocol:
    """What ``scores`` [seeds, episodes] of one agent say."""
    world = Toy("protocol", slip=slip)
    return Protocol(
        agent=name,
        slip=slip,
        protocols=scores.shape[0],
        episodes=scores.shape[1],
        ceiling=world.best_return(world.tasks()[0]),
        first_ten=float(scores[:, :10].mean()),
        last_ten=float(scores[:, -10:].mean()),
        interval=bootstrap(scores[:, -10:].mean(axis=1, keepdims=True)),
    )
