"""Learning results on text games: the same game again and again, a memory for each.

Each (arm, game, seed) has a memory of its own in which nothing but its own episodes count. Arms
are paired by game and seed; differences are bootstrapped by game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from jitrl.bench.attempts import attempt
from jitrl.bench.learning.arms import SCHEMA, Arm
from jitrl.bench.pool import Begun, Tell, by_arm, each, parts, silent, told, unsaid
from jitrl.bench.priors import Known
from jitrl.bench.report import Number, Report, mean_of
from jitrl.core.stats import Difference, paired_difference, summary
from jitrl.envs.textworld_express import TextWorldExpress
from jitrl.ports import Environment

GAMES = ("twc", "cook", "coin")
SEEDS = tuple(range(40, 58))
_SHARE = 9  # games that a process plays in one go


@dataclass(frozen=True, slots=True)
class Result:
    """One arm.

    Attributes:
        arm: Its settings.
        avg, first_five, last_five: Scores over all, the first five and the last five attempts.
        best: The best attempt of each game and seed.
        against: Name of the arm that differences refer to; "" for the first.
        differences: This arm minus that one: ``avg``, ``first_five``, ``last_five``; ``best`` is
            its best attempt minus the other's average.
        by_game: Average, first five and last five of each kind of game.
        scores: Shape [games, seeds, attempts].
    """

    arm: Arm
    avg: Number
    first_five: Number
    last_five: Number
    best: Number
    against: str
    differences: Mapping[str, Difference]
    by_game: Mapping[str, tuple[float, float, float]]
    scores: list[list[list[float]]]


@dataclass(frozen=True, slots=True)
class Job:
    """What one process plays in one go."""

    arm: Arm
    games: Sequence[str]
    seeds: tuple[int, ...]


def measure(
    what: str,
    arms: Sequence[Arm],
    *,
    game_seeds: Sequence[int] = SEEDS,
    seeds: Sequence[int] = (0, 1),
    workers: int = 1,
    tell: Tell = silent,
    begun: Begun = unsaid,
) -> Report[Result]:
    """Play all ``arms`` on the same games and seeds; the numbers do not depend on ``workers``.

    Args:
        what: Name of the run, for the record.
        game_seeds: Which games of each kind in ``GAMES``.
        seeds: Seeds of all other chance.
        tell: Called with the share that is done.
        begun: Called with the number of episodes before the first.

    Raises:
        MissingExtra: If textworld-express or Java is not installed.
    """
    ids = [f"{kind}:{seed}" for kind in GAMES for seed in game_seeds]
    jobs = [Job(arm, part, tuple(seeds)) for arm in arms for part in parts(ids, _SHARE)]
    TextWorldExpress(games=GAMES)  # what is missing is said before a bar is shown
    begun(sum(arm.attempts for arm in arms) * len(ids) * len(seeds))
    played = by_arm(jobs, each(run, jobs, workers, tell))
    tables = {name: np.concatenate(scores) for name, scores in played.items()}
    return Report(
        schema=SCHEMA,
        what=what,
        protocol={
            "environment": TextWorldExpress.name,
            "games": list(GAMES),
            "game_seeds": list(game_seeds),
            "seeds": list(seeds),
            "steps": 25,
            "memory": "one for each game and seed",
            "evaluator": "environment (blind)",
        },
        results=tuple(_result(arm, arms[0], tables, ids) for arm in arms),
    )


def run(job: Job, tell: Tell = silent) -> list[list[list[float]]]:
    """Scores of a job, shape [games, seeds, attempts]."""
    arm = job.arm
    kinds = tuple(dict.fromkeys(id.partition(":")[0] for id in job.games))
    world = TextWorldExpress(games=kinds, slip=arm.slip, reward_shift=arm.shift)
    with closing(world):
        return [
            [_learn(arm, world, id, seed) for seed in job.seeds] for id in told(job.games, tell)
        ]


def _learn(arm: Arm, world: TextWorldExpress, id: str, seed: int) -> list[float]:
    """Scores of all attempts at one game, from an empty memory on."""
    task = replace(world.task(id), scope=id)
    path = world.gold(task) if arm.prior != "uniform" else ()
    episodes = attempt(
        arm.agent,
        arm.options,
        arm.memory,
        world=cast(Environment, world),
        task=task,
        prior=Known(arm.prior, arm.p, path),
        attempts=arm.attempts,
        seed=seed,
        world_seed=int(task.params["seed"]),
        rewards=arm.rewards,
    )
    return [e.info["score"] - arm.shift * len(e.steps) for e in episodes]


PARTS: Mapping[str, slice] = {
    "avg": slice(None),
    "first_five": slice(None, 5),
    "last_five": slice(-5, None),
}


def _result(arm: Arm, first: Arm, tables: Mapping[str, np.ndarray], ids: Sequence[str]) -> Result:
    scores = tables[arm.name]
    base = arm.against or first.name
    kinds = np.array([id.partition(":")[0] for id in ids])
    numbers = {part: mean_of(scores[:, :, cut].mean(axis=2)) for part, cut in PARTS.items()}
    other = tables[base]
    differences = {}
    if base != arm.name:
        shared = min(scores.shape[2], other.shape[2])
        for part, cut in PARTS.items():
            ours, theirs = scores[:, :, :shared][:, :, cut], other[:, :, :shared][:, :, cut]
            differences[part] = paired_difference(ours, theirs)
        best = scores.max(axis=2, keepdims=True)
        differences["best"] = paired_difference(best, other.mean(axis=2, keepdims=True))
    return Result(
        arm=arm,
        **numbers,
        best=mean_of(scores.max(axis=2)),
        against="" if base == arm.name else base,
        differences=differences,
        by_game={kind: _three(scores[kinds == kind]) for kind in dict.fromkeys(kinds.tolist())},
        scores=np.round(scores, 4).tolist(),
    )


def _three(scores: np.ndarray) -> tuple[float, float, float]:
    means = summary(scores)
    return means.avg, means.first, means.last
