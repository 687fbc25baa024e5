"""First episodes of text games, with a memory of the other games of the kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import cast

from jitrl.bench.attempts import lived
from jitrl.bench.pool import Tell, silent, told
from jitrl.bench.priors import Known
from jitrl.bench.transfer.arms import DEFAULT, Arm
from jitrl.bench.transfer.firsts import First, Test, first, learner
from jitrl.envs.textworld_express import TextWorldExpress
from jitrl.ports import Environment
from jitrl.run.loop import Trial
from jitrl.stores.sqlite import SQLiteStore

ATTEMPTS = 25
"""Episodes of each game in the memory."""


@dataclass(frozen=True, slots=True)
class Job:
    """One kind of game and one seed.

    Attributes:
        games: Seeds of the games.
    """

    arms: tuple[Arm, ...]
    seed: int
    kind: str
    games: tuple[int, ...]


def episodes(job: Job) -> int:
    """How many a job plays: those that make its memory, and the first ones."""
    return len(job.games) * (ATTEMPTS + len(job.arms))


def run(job: Job, tell: Tell = silent) -> list[First]:
    """Live through every game, then play each one's first episode without its own rows."""
    with closing(TextWorldExpress(games=(job.kind,))) as world:
        tests = []
        for number in job.games:
            task = world.task(f"{job.kind}:{number}")
            tests.append(Test(task, number, task.id, job.kind))
        with closing(SQLiteStore(":memory:")) as store:
            for test in told(tests, lambda share: tell(0.8 * share)):
                _live(job, world, test, tests, store)
            return list(_measured(job, world, tests, store))


def _live(
    job: Job, world: TextWorldExpress, test: Test, tests: list[Test], store: SQLiteStore
) -> None:
    """A game from nothing on: what is measured must not depend on the order of games."""
    agent = learner(DEFAULT, store)
    others = frozenset(other.task.id for other in tests if other is not test)
    for attempt in range(ATTEMPTS):
        trial = Trial(test.task, test.index, attempt, job.seed)
        lived(agent, trial, cast(Environment, world), Known("uniform"), exclude=others)


def _measured(
    job: Job, world: TextWorldExpress, tests: list[Test], store: SQLiteStore
) -> Iterator[First]:
    with closing(SQLiteStore(":memory:")) as nothing:
        for arm in job.arms:
            memory = nothing if arm.learned == "nothing" else store
            for test in tests:
                yield first(
                    arm,
                    learner(arm, memory),
                    test,
                    "unseen",
                    world=cast(Environment, world),
                    prior=Known("uniform"),
                    seed=job.seed,
                    exclude=frozenset({test.task.id}),
                )
