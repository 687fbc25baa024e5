"""Learning on the hidden protocol, whose best expected return is known, with a slip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from jitrl.bench.attempts import attempt
from jitrl.bench.learning.arms import MAIN, Arm
from jitrl.bench.pool import Begun, Tell, by_arm, each, parts, silent, told, unsaid
from jitrl.core.stats import Interval, NoInterval, bootstrap
from jitrl.envs.toy import Toy, ToyPrior
from jitrl.ports import Environment

_NAMES = (
    *("default", "kernel mean, sampled", "paper rule, best tuned"),
    *("released-web", "ucb", "thompson"),
)
ARMS = tuple(arm for arm in MAIN if arm.name in _NAMES)

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
    """What one process plays in one go: an arm on protocols with these seeds."""

    arm: Arm
    seeds: Sequence[int]
    slip: float = _SLIP
    episodes: int = _EPISODES


def measure(
    *, seeds: int = 200, workers: int = 1, tell: Tell = silent, begun: Begun = unsaid
) -> list[Protocol]:
    """The default rule and the baselines on the same protocols.

    Args:
        seeds: So many protocols, each with its own prior.
        begun: Called with the number of episodes before the first.
    """
    jobs = [Job(arm, share) for arm in ARMS for share in parts(range(seeds), _SHARE)]
    begun(sum(len(job.seeds) * job.episodes for job in jobs))
    played = by_arm(jobs, each(run, jobs, workers, tell))
    return [summed(name, _SLIP, np.concatenate(scores)) for name, scores in played.items()]


def run(job: Job, tell: Tell = silent) -> list[list[float]]:
    """Scores, shape [seeds, episodes]; each protocol has a memory of its own."""
    return [_learn(job, seed) for seed in told(job.seeds, tell)]


def _learn(job: Job, seed: int) -> list[float]:
    world = Toy("protocol", seed=seed, slip=job.slip)
    episodes = attempt(
        job.arm.agent,
        job.arm.options,
        job.arm.memory,
        world=cast(Environment, world),
        task=world.tasks()[0],
        prior=ToyPrior(seed=seed),
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
