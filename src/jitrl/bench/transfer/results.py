"""Transfer results: what a memory of other tasks is worth at the first attempt at a new one.

Every arm plays the same first attempts from the same memory, and learns nothing from them.
Differences are paired by task and seed, and bootstrapped by template or game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jitrl.bench.learning.games import GAMES, SEEDS
from jitrl.bench.pool import Begun, Tell, each, kept, silent, unsaid
from jitrl.bench.report import Number, Report, mean_of
from jitrl.bench.transfer import backoffice as offices
from jitrl.bench.transfer import text as rooms
from jitrl.bench.transfer.arms import Arm, Prior
from jitrl.bench.transfer.firsts import First, Split
from jitrl.core.stats import Difference, paired_difference
from jitrl.envs.textworld_express import TextWorldExpress

SCHEMA = "jitrl.bench.transfer/2"
SHOP = 1


@dataclass(frozen=True, slots=True)
class Group:
    """A family of tasks, or a kind of game: as in ``Result``."""

    score: float
    against_cold: Difference


@dataclass(frozen=True, slots=True)
class Result:
    """One arm on one split.

    Attributes:
        score: Mean over templates or games, tasks and seeds, with its interval.
        attempts: First attempts that it is the mean of.
        strength: Mean of c at the first step.
        against_cold: Minus the arm without a memory that is told rewards at the same time.
        against_default: Minus the default, told rewards at the same time.
        better, equal, worse: Templates or games whose mean is above, at, or below the cold one's.
        by_group: Each family or kind of game.
    """

    arm: Arm
    split: Split
    score: Number
    attempts: int
    strength: float
    against_cold: Difference
    against_default: Difference
    better: int
    equal: int
    worse: int
    by_group: Mapping[str, Group]


@dataclass(frozen=True, slots=True, kw_only=True)
class Firsts(Report[Result]):
    """A report with every first attempt; a subclass, since it is one document."""

    firsts: tuple[First, ...]


def backoffice(
    what: str,
    arms: Sequence[Arm],
    *,
    seeds: Sequence[int] = tuple(range(10)),
    shop: int = SHOP,
    prior: Prior = "noisy",
    right: float = offices.RIGHT,
    templates: int = 0,
    folder: str = "",
    workers: int = 1,
    tell: Tell = silent,
    begun: Begun = unsaid,
) -> Firsts:
    """Tasks of the back office; the numbers do not depend on ``workers``.

    Args:
        seeds: Each draws its tasks, their order, and the mistakes of the frozen model.
        shop: Seed of the shop.
        right: What the noisy prior knows, nats.
        templates: How many, as far as the shop has so many; 0 for all.
        folder: Keeps the jobs that were played, so that the same call goes on; "" keeps none.
        begun: Called with the number of episodes before the first; those that are kept count.
    """
    job, there = offices.Job, offices.there(shop)
    templates = min(templates, there)
    jobs = [job(tuple(arms), seed, shop, prior, right, templates) for seed in seeds]
    begun(len(jobs) * offices.episodes(jobs[0]))
    played = each(kept(offices.run, list[First], folder), jobs, workers, tell)
    protocol = {
        "environment": "backoffice",
        "shop": shop,
        "prior": prior,
        **({"right": right} if prior != "uniform" else {}),
        "seeds": list(seeds),
        "templates": templates or there,
        "tasks_of_a_template": offices.TRAIN,
        "attempts": offices.ATTEMPTS,
        "tests_of_a_template": offices.TESTS,
        "evaluator": "environment (blind)",
    }
    return _report(what, arms, protocol, played)


def text(
    what: str,
    arms: Sequence[Arm],
    *,
    games: Sequence[str] = GAMES,
    game_seeds: Sequence[int] = SEEDS,
    seeds: Sequence[int] = (0, 1),
    folder: str = "",
    workers: int = 1,
    tell: Tell = silent,
    begun: Begun = unsaid,
) -> Firsts:
    """Text games, one left out at a time.

    Args:
        games: Kinds of games; each has a memory of its own.
        folder, begun: As in ``backoffice``.

    Raises:
        MissingExtra: If textworld-express or Java is not installed.
    """
    numbers = tuple(game_seeds)
    jobs = [rooms.Job(tuple(arms), seed, kind, numbers) for kind in games for seed in seeds]
    TextWorldExpress(games=games)  # what is missing is said before a bar is shown
    begun(sum(rooms.episodes(job) for job in jobs))
    played = each(kept(rooms.run, list[First], folder), jobs, workers, tell)
    protocol = {
        "environment": "textworld-express",
        "games": list(games),
        "game_seeds": list(numbers),
        "prior": "uniform",
        "seeds": list(seeds),
        "attempts": rooms.ATTEMPTS,
        "evaluator": "environment (blind)",
    }
    return _report(what, arms, protocol, played)


def _report(
    what: str, arms: Sequence[Arm], protocol: dict[str, Any], played: Sequence[Sequence[First]]
) -> Firsts:
    firsts = tuple(one for of_job in played for one in of_job)
    splits = dict.fromkeys(one.split for one in firsts)
    return Firsts(
        schema=SCHEMA,
        what=what,
        protocol=protocol,
        results=tuple(_result(arm, arms, split, firsts) for split in splits for arm in arms),
        firsts=firsts,
    )


def _result(arm: Arm, arms: Sequence[Arm], split: Split, firsts: Sequence[First]) -> Result:
    peers = {a.learned: a.name for a in reversed(arms) if a.rewards == arm.rewards}
    mine = [one for one in firsts if one.arm == arm.name and one.split == split]
    ours = cells(firsts, arm.name, split)
    cold = cells(firsts, peers["nothing"], split)
    change = ours.mean(axis=1) - cold.mean(axis=1)
    groups = dict.fromkeys(one.group for one in mine)
    by_group = {}
    for group in groups:
        of = [one for one in firsts if one.group == group]
        scores = cells(of, arm.name, split)
        base = cells(of, peers["nothing"], split)
        by_group[group] = Group(float(scores.mean()), _difference(scores, base))
    return Result(
        arm=arm,
        split=split,
        score=mean_of(ours),
        attempts=ours.size,
        strength=float(np.mean([one.strength for one in mine])),
        against_cold=_difference(ours, cold),
        against_default=_difference(ours, cells(firsts, peers["as it is"], split)),
        better=int((change > 1e-9).sum()),
        equal=int((np.abs(change) <= 1e-9).sum()),
        worse=int((change < -1e-9).sum()),
        by_group=by_group,
    )


def cells(firsts: Sequence[First], arm: str, split: Split) -> np.ndarray:
    """Scores of an arm, shape [clusters, tests]; each cluster has equally many.

    In a cluster they are sorted by seed, then in the order they were played, so that arms that
    were given the same tests are paired.
    """
    rows: dict[str, list[First]] = {}
    for one in firsts:
        if one.arm == arm and one.split == split:
            rows.setdefault(one.cluster, []).append(one)
    return np.array(
        [
            [one.score for one in sorted(rows[name], key=lambda one: one.seed)]
            for name in sorted(rows)
        ]
    )


def _difference(ours: np.ndarray, base: np.ndarray) -> Difference:
    return paired_difference(ours[:, :, None], base[:, :, None])
