"""What rules are worth, round by round, and what became of planted ones.

All arms of a seed play the same tasks with the same frozen model, each from its own book.
Differences are paired by template and seed, and bootstrapped by template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jitrl.bench.pool import (
    Begun,
    Tell,
    Timed,
    by_arm,
    each,
    kept,
    minutes,
    silent,
    timed,
    unsaid,
)
from jitrl.bench.report import Number, Report, mean_of
from jitrl.bench.rules.arms import Arm
from jitrl.bench.rules.asked import Asked, together
from jitrl.bench.rules.life import ROUND, Job, Life, episodes, run, there
from jitrl.bench.rules.planted import KINDS, Fate, Kind, shares
from jitrl.bench.rules.waiting import EFFECTS, STATUSES, median_and_ninth, tellings
from jitrl.bench.rules.worlds import INSTANCES, WorldName
from jitrl.core.effect import Effect
from jitrl.core.stats import Difference, paired_difference

SCHEMA = "jitrl.bench.rules/6"
RIGHT, HEEDS = 4.0, 3.0
"""What the made-up model knows, and how far it heeds its notes, nats."""
WORLD_SEED, TEMPLATES, ROUNDS = 1, 8, 5


@dataclass(frozen=True, slots=True)
class Planted:
    """What became of the planted rules of a kind.

    Attributes:
        rules: How many there were, in all seeds.
        admitted: How many the gates let in.
        told: How many are still told at the end.
        gone: Share that was retired after it was told at most so many times.
        uses: Episodes in which one of them was told, mean.
        left: Effects of those that are still told, the worst first; without those that were never
            drawn.
    """

    rules: int
    admitted: int
    told: int
    gone: Mapping[int, float]
    uses: float
    left: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """One arm.

    Attributes:
        n: Templates of all seeds, which the score is a mean of, and which are resampled.
        score: Mean of all rounds, with its interval.
        rounds: Mean of each round.
        last: Mean of the last round, with its interval.
        against: Name of the arm it is compared with.
        difference: Score minus that arm's.
        active, candidate: Rules at the end, mean over seeds.
        asked: What the settings decided in all seeds; ``None`` for an agent without rules.
    """

    arm: Arm
    n: int
    score: Number
    rounds: tuple[float, ...]
    last: Number
    against: str
    difference: Difference
    active: float
    candidate: float
    asked: Asked | None
    planted: Mapping[Kind, Planted]


def rules(
    what: str,
    arms: Sequence[Arm],
    *,
    seeds: Sequence[int] = tuple(range(5)),
    world: WorldName = "backoffice",
    world_seed: int = WORLD_SEED,
    right: float = RIGHT,
    heeds: float = HEEDS,
    templates: int = TEMPLATES,
    rounds: int = ROUNDS,
    folder: str = "",
    workers: int = 1,
    tell: Tell = silent,
    begun: Begun = unsaid,
) -> Report[Result]:
    """Live through rounds with each arm; the numbers do not depend on ``workers``.

    Args:
        seeds: Each draws its templates, and the mistakes of the frozen model.
        world, world_seed: Where it is played, and the seed that world is made of.
        right: What the frozen model knows of the right action, nats.
        heeds: Nats of an action that its notes name.
        templates: Of a seed, as far as the world has so many.
        rounds: Of ``ROUND`` attempts at each task.
        folder: Keeps the jobs that were played, so that the same call goes on; "" keeps none.
        begun: Called with the number of episodes before the first; those that are kept count.
    """
    templates = min(templates, there(world, world_seed))
    jobs = [
        Job(arm, seed, world, world_seed, right, heeds, templates, rounds)
        for arm in arms
        for seed in seeds
    ]
    begun(len(jobs) * episodes(jobs[0]))
    played = each(kept(timed(run), Timed[Life], folder), jobs, workers, tell)
    lives = by_arm(jobs, [done.result for done in played])
    return Report(
        schema=SCHEMA,
        what=what,
        protocol={
            "environment": world,
            "world_seed": world_seed,
            "model": "made up",
            "right": right,
            "heeds": heeds,
            "seeds": list(seeds),
            "templates": templates,
            "tasks_of_a_template": INSTANCES,
            "rounds": rounds,
            "attempts_of_a_round": ROUND,
            "evaluator": "environment (blind)",
            **_waiting(arms),
            "minutes_of_one_process": minutes(played),
        },
        results=tuple(_result(arm, arms, lives) for arm in arms),
    )


def _waiting(arms: Sequence[Arm]) -> dict[str, object]:
    """How often rules of an effect are told until they go: median, and 90 % of them at most."""
    if not any(arm.planted for arm in arms):
        return {}
    found = {
        status: {f"{of:+g}": list(median_and_ninth(tellings(of, status))) for of in EFFECTS}
        for status in STATUSES
    }
    return {"told_until_retired": found}


def _result(arm: Arm, arms: Sequence[Arm], played: Mapping[str, Sequence[Life]]) -> Result:
    lives = played[arm.name]
    names = {one.name for one in arms}
    against = arm.against if arm.against in names else arms[0].name
    ours, base = cells(lives), cells(played[against])
    fates = [fate for life in lives for fate in life.fates]
    asked = [life.asked for life in lives if life.asked is not None]
    return Result(
        arm=arm,
        n=len(ours),
        score=mean_of(ours.mean(axis=1, keepdims=True)),
        rounds=tuple(float(mean) for mean in ours.mean(axis=0)),
        last=mean_of(ours[:, -1:]),
        against=against,
        difference=paired_difference(ours[:, :, None], base[:, :, None]),
        active=float(np.mean([life.active for life in lives])),
        candidate=float(np.mean([life.candidate for life in lives])),
        asked=together(asked) if asked else None,
        planted={
            kind: _planted([fate for fate in fates if fate.kind == kind])
            for kind in KINDS
            if any(fate.kind == kind for fate in fates)
        },
    )


def cells(lives: Sequence[Life]) -> np.ndarray:
    """Scores of an arm, shape [templates of all seeds, rounds]."""
    return np.array([life.scores[name] for life in lives for name in sorted(life.scores)])


def _planted(fates: Sequence[Fate]) -> Planted:
    gone = [fate.gone for fate in fates]
    left = [of.effect for of in fates if of.gone is None and of.effect.uses]
    return Planted(
        rules=len(fates),
        admitted=sum(fate.admitted for fate in fates),
        told=gone.count(None),
        gone=shares(gone),
        uses=float(np.mean([fate.uses for fate in fates])),
        left=tuple(sorted(left, key=lambda one: one.mean)),
    )
