"""How good a judge must be before memory helps: judges of known reliability on the back office.

Each (arm, task, seed) has a memory of its own. Arms are paired by task and seed; differences are
bootstrapped by task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from jitrl.bench.attempts import attempt
from jitrl.bench.judge.arms import BIAS, LEVELS, SETS, Arm, What
from jitrl.bench.pool import Begun, Tell, by_arm, each, parts, silent, told, unsaid
from jitrl.bench.priors import Inclined
from jitrl.bench.report import Number, Report, mean_of
from jitrl.core.stats import Difference, paired_difference
from jitrl.envs.backoffice import Backoffice
from jitrl.errors import InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.evaluators.simulated import Simulated
from jitrl.language import counted
from jitrl.ports import Environment, Evaluator
from jitrl.types import TRUSTED_BASES, Episode, Judgment, Unscored

SCHEMA = "jitrl.bench.judge/2"
FINAL = 5
"""Attempts at the end that the final success is the mean of."""
_SHARE = 6  # tasks that a process plays in one go
LEAD, SD = 4.0, 1.5
"""Of the frozen model's prior, nats."""


@dataclass(frozen=True, slots=True)
class Result:
    """One arm.

    Attributes:
        final: Success in the last attempts, ``average`` in all of them.
        gain: Final success minus that of the same agent that learns nothing.
        over_static: The same minus that of the frozen model by itself.
        right: Share of the episodes whose reported outcome was right.
        false: Share of the reported successes that were failures.
        scores: Shape [tasks, seeds, attempts].
    """

    arm: Arm
    average: Number
    final: Number
    gain: Difference | None
    over_static: Difference | None
    right: float | None
    false: float | None
    scores: list[list[list[float]]]


@dataclass(frozen=True, slots=True)
class Job:
    """What one process plays in one go."""

    arm: Arm
    places: Sequence[int]
    seeds: Sequence[int]
    attempts: int


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a job: scores, shape [tasks, seeds, attempts], and what the judge said."""

    scores: list[list[list[float]]]
    right: int = 0
    reported: int = 0
    false: int = 0
    judged: int = 0


@dataclass(slots=True)
class Watched:
    """An evaluator whose verdicts are counted against the truth."""

    inner: Evaluator
    name: str = "watched"
    told: bool = False
    counts: list[int] = field(default_factory=lambda: [0, 0, 0, 0])

    def judge(self, episode: Episode) -> Judgment:
        """As the one inside."""
        judgment = self.inner.judge(episode)
        if "verdict" in judgment.info:
            is_reported, is_true = judgment.info["verdict"] == "success", episode.info["score"] >= 1
            seen = (is_reported == is_true, is_reported, is_reported and not is_true, True)
            self.counts = [n + more for n, more in zip(self.counts, seen, strict=True)]
        return judgment


class Nobody:
    """Scores nothing, so that nothing is learned."""

    name, told = "nobody", False

    def judge(self, episode: Episode) -> Judgment:
        """Never a score."""
        return Unscored("nobody judges here", self.name)


def measure(
    what: What = "outcome",
    *,
    tasks: int = 16,
    seeds: int = 5,
    attempts: int = 12,
    arms: Sequence[Arm] = (),
    workers: int = 1,
    tell: Tell = silent,
    begun: Begun = unsaid,
) -> Report[Result]:
    """Play all arms of ``what`` on the same tasks and seeds.

    Args:
        tasks: So many tasks, each of another template, spread evenly over all templates.
        seeds: So many seeds, each another frozen model with other errors.
        attempts: Episodes of each task and seed.
        arms: Those of ``what`` if empty.
        tell: Called with the share that is done.
        begun: Called with the number of episodes before the first.

    Raises:
        InputError: If there are fewer tasks.
    """
    arms, places = arms or SETS[what], _spread(tasks)
    jobs = [
        Job(arm, part, range(seeds), attempts) for arm in arms for part in parts(places, _SHARE)
    ]
    begun(len(arms) * len(places) * seeds * attempts)
    played = by_arm(jobs, each(run, jobs, workers, tell))
    tables = {name: np.concatenate([p.scores for p in of]) for name, of in played.items()}
    listed = Backoffice(instances=1).tasks()
    return Report(
        schema=SCHEMA,
        what=what,
        protocol={
            "environment": Backoffice.name,
            "tasks": [listed[place].id for place in places],
            "seeds": list(range(seeds)),
            "attempts": attempts,
            "final": FINAL,
            "prior": {"lead": LEAD, "sd": SD},
            "bias": BIAS,
            "memory": "one for each task and seed",
            "rewards": "after the episode",
        },
        results=tuple(_result(arm, tables, played[arm.name]) for arm in arms),
    )


def run(job: Job, tell: Tell = silent) -> Played:
    """Play one job."""
    world, arm = Backoffice(instances=1), job.arm
    listed = world.tasks()
    scores, counts = [], np.zeros(4, int)
    with closing(world):
        for place in told(job.places, tell):
            task, row = replace(listed[place], scope=listed[place].id), []
            path = world.oracle(task)
            for seed in job.seeds:
                evaluator = _evaluator(arm, seed)
                trusted = {*TRUSTED_BASES, "llm_judge"} if arm.trusted else TRUSTED_BASES
                episodes = attempt(
                    arm.agent,
                    {},
                    {"trusted": frozenset(trusted)},
                    world=cast(Environment, world),
                    task=task,
                    prior=Inclined(path, LEAD, SD, seed),
                    attempts=job.attempts,
                    seed=seed,
                    world_seed=place,
                    evaluator=evaluator,
                )
                row.append([float(e.info["score"]) for e in episodes])
                counts += getattr(evaluator, "counts", 0)
            scores.append(row)
    return Played(scores, *counts.tolist())


def _evaluator(arm: Arm, seed: int) -> Evaluator:
    if arm.judge == "environment":
        return EnvironmentRewards()
    if arm.judge == "nobody":
        return Nobody()
    assert not isinstance(arm.judge, str)
    inner = Simulated(**arm.judge, seed=seed)
    return Watched(inner, inner.name, inner.told)


def _spread(tasks: int) -> list[int]:
    """Places of ``tasks`` tasks among one of each template."""
    there = len(Backoffice(instances=1).tasks())
    if tasks > there:
        raise InputError(
            f"{counted(tasks, 'task')} asked for; there are {there}, each of another template"
        )
    return sorted({round(place) for place in np.linspace(0, there - 1, tasks)})


def _result(arm: Arm, tables: Mapping[str, np.ndarray], played: Sequence[Played]) -> Result:
    scores = tables[arm.name]
    last = scores[:, :, -FINAL:]
    right, reported, false, judged = (
        sum(getattr(p, name) for p in played) for name in ("right", "reported", "false", "judged")
    )
    return Result(
        arm=arm,
        average=mean_of(scores.mean(axis=2)),
        final=mean_of(last.mean(axis=2)),
        gain=_beyond(scores, tables.get(LEVELS[0].name)),
        over_static=_beyond(scores, tables.get(LEVELS[1].name)),
        right=right / judged if judged else None,
        false=false / reported if reported else None,
        scores=scores.tolist(),
    )


def _beyond(scores: np.ndarray, base: np.ndarray | None) -> Difference | None:
    if base is None or scores is base:
        return None
    return paired_difference(scores[:, :, -FINAL:], base[:, :, -FINAL:])
