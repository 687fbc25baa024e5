"""Precision, recall and cost of each way to find decisive steps, on rounds where they are known.

All ways are put to the same rounds. Intervals are bootstrapped by task.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import get_args

import numpy as np

from jitrl.bench.credit.planted import BAD, GOOD, KINDS, WORLDS, Errors, Planter, Undrawn, WorldName
from jitrl.bench.credit.ways import ARMS, FULL, FULL_STEPS, Arm, Named, tried
from jitrl.bench.pool import (
    Begun,
    Tell,
    Timed,
    each,
    kept,
    minutes,
    parts,
    silent,
    timed,
    told,
    unsaid,
)
from jitrl.bench.report import Number, Report, mean_of
from jitrl.core.stats import ALIKE, FEWEST_CLUSTERS, Interval, too_few

SCHEMA = "jitrl.bench.credit/3"
ALL = "all"
_SHARE = 4  # tasks that a process works on in one go
_DRAWS = 10_000


@dataclass(frozen=True, slots=True)
class Result:
    """One way on rounds of one kind.

    Attributes:
        world, errors: The kind; ``all`` for what was pooled.
        precision: Share of the named steps of a round that are decisive; 0 where none was named.
        recall: Share of the decisive steps of a round that were named.
        first: Share of the rounds in which the step with most weight is decisive.
        named: Steps named in a round.
        replays, steps: Episodes played again in a round, and steps of the environment in them.
        calls, tokens: Of the model that scores steps, in a round; tokens it reads, about.
        cost: ``steps`` over those of substitution at every step, or ``tokens`` over those of a
            model that scores every attempt; ``None`` where there is nothing to compare.
    """

    world: str
    errors: str
    arm: Arm
    rounds: int
    precision: Number
    recall: Number
    first: Number
    named: float
    replays: float
    steps: float
    calls: float
    tokens: float
    cost: Number | None


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does in one go."""

    world: WorldName
    errors: Errors
    places: Sequence[int]
    seeds: Sequence[int]


Played = dict[str, list[list[Named]]]
"""Way to what it named in the rounds of each task; none where no round could be drawn."""


def measure(
    worlds: Sequence[WorldName] = tuple(WORLDS),
    *,
    tasks: int = 12,
    seeds: int = 5,
    folder: str = "",
    workers: int = 1,
    tell: Tell = silent,
    begun: Begun = unsaid,
) -> Report[Result]:
    """All ways on rounds of all kinds.

    Args:
        worlds: Where; all of them if several, pooled as well.
        tasks: Of each world, spread over its list.
        seeds: Rounds of each task and kind; those that cannot be drawn are left out, and counted.
        folder: Keeps the jobs that are done, so that the same call goes on; "" keeps none.
        begun: Called with the number of rounds before the first; those that are kept count.
    """
    jobs = list[Job]()
    listed = dict[str, list[str]]()
    for name in worlds:
        with closing(WORLDS[name]()) as world:
            places = Planter(world).tasks(tasks)
            listed[name] = [world.tasks()[place].id for place in places]
        jobs += [
            Job(name, errors, tuple(part), tuple(range(seeds)))
            for errors in KINDS[name]
            for part in parts(places, _SHARE)
        ]
    found: dict[tuple[str, str], Played] = {}
    begun(sum(len(job.places) * len(job.seeds) for job in jobs))
    played = each(kept(timed(run), Timed[Played], folder), jobs, workers, tell)
    for job, done in zip(jobs, played, strict=True):
        kind = found.setdefault((job.world, job.errors), {})
        for arm, rounds in done.result.items():
            kind.setdefault(arm, []).extend(rounds)
    pooled = dict(found)
    for name in worlds:
        pooled[name, ALL] = _pooled([found[name, errors] for errors in KINDS[name]])
    if len(worlds) > 1:
        every = [pooled[name, ALL] for name in worlds]
        pooled[ALL, ALL] = {
            arm.name: list(chain.from_iterable(one[arm.name] for one in every)) for arm in ARMS
        }
    return Report(
        schema=SCHEMA,
        what="credit",
        protocol={
            "tasks": listed,
            "seeds": list(range(seeds)),
            "undrawn": {
                f"{world}, {errors}": len(listed[world]) * seeds - sum(map(len, kind[FULL]))
                for (world, errors), kind in found.items()
            },
            "good": GOOD,
            "bad": BAD,
            "errors": {
                "one": "all bad attempts err at one step",
                "own": "each bad attempt errs at a step drawn anew",
                "two": "all bad attempts err at the same two steps",
            },
            "full": {"steps": FULL, "tokens": FULL_STEPS},
            "minutes_of_one_process": minutes(played),
        },
        results=tuple(
            _result(world, errors, arm, kind)
            for (world, errors), kind in pooled.items()
            for arm in ARMS
        ),
    )


def run(job: Job, tell: Tell = silent) -> Played:
    """Put all ways to the rounds of a job."""
    found: Played = {arm.name: [] for arm in ARMS}
    with closing(WORLDS[job.world]()) as world:
        planter = Planter(world)
        for place in told(job.places, tell):
            for arm in ARMS:
                found[arm.name].append([])
            for seed in job.seeds:
                kind = get_args(Errors).index(job.errors)
                try:
                    drawn = planter.round(
                        place, job.errors, np.random.default_rng([seed, kind, place])
                    )
                except Undrawn:  # as at a task of three steps, of which two should go wrong
                    continue
                for arm in ARMS:
                    chance = np.random.default_rng([seed, kind, place, 1])
                    found[arm.name][-1].append(tried(arm, world, drawn, chance))
    return found


def _pooled(kinds: Sequence[Played]) -> Played:
    """The rounds of each task together, whatever their errors."""
    return {
        arm.name: [
            list(chain.from_iterable(rounds))
            for rounds in zip(*(kind[arm.name] for kind in kinds), strict=True)
        ]
        for arm in ARMS
    }


def _result(world: str, errors: str, arm: Arm, kind: Played) -> Result:
    table = [rounds for rounds in kind[arm.name] if rounds]

    def cells(what: Callable[[Named], float]) -> np.ndarray:
        return np.array([[float(np.mean([what(one) for one in rounds]))] for rounds in table])

    return Result(
        world=world,
        errors=errors,
        arm=arm,
        rounds=sum(map(len, table)),
        precision=mean_of(cells(lambda one: one.right / one.named if one.named else 0.0)),
        recall=mean_of(cells(lambda one: one.right / one.decisive)),
        first=mean_of(cells(lambda one: one.first)),
        named=float(cells(lambda one: one.named).mean()),
        replays=float(cells(lambda one: one.replays).mean()),
        steps=float(cells(lambda one: one.steps).mean()),
        calls=float(cells(lambda one: one.calls).mean()),
        tokens=float(cells(lambda one: one.tokens).mean()),
        cost=_cost(arm, kind),
    )


def _cost(arm: Arm, kind: Played) -> Number | None:
    """What a way costs as a share of what looking at every step does."""
    full, unit = (FULL_STEPS, "tokens") if arm.reliability else (FULL, "steps")
    ours, whole = (
        np.array([sum(getattr(one, unit) for one in rounds) for rounds in kind[name]], float)
        for name in (arm.name, full)
    )
    return ratio(ours, whole) if whole.sum() else None


def ratio(ours: np.ndarray, whole: np.ndarray) -> Number:
    """``sum(ours) / sum(whole)``, shapes [tasks], with an interval, tasks resampled."""
    share = float(ours.sum() / whole.sum())
    if len(ours) < FEWEST_CLUSTERS:
        return Number(share, too_few(len(ours)))
    if np.allclose(ours, share * whole):
        return Number(share, ALIKE)
    picked = np.random.default_rng(0).integers(len(ours), size=(_DRAWS, len(ours)))
    shares = ours[picked].sum(axis=1) / whole[picked].sum(axis=1)
    low, high = np.quantile(shares, (0.025, 0.975))
    return Number(share, Interval(float(low), float(high)))
