"""First attempts in the back office, with a memory of other tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from random import Random
from typing import cast

from jitrl.bench.attempts import lived
from jitrl.bench.learning_priors import Known
from jitrl.bench.transfer_arms import DEFAULT, Arm, Prior
from jitrl.bench.transfer_jobs import First, Test, first, learner
from jitrl.bench.transfer_memory import tampered
from jitrl.bench.transfer_prior import Noisy
from jitrl.envs.backoffice import Backoffice
from jitrl.ports import Environment, Proposer
from jitrl.run.loop import Trial
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Task

INSTANCES = 8
TRAIN, TESTS, ATTEMPTS = 3, 2, 5
RIGHT = 2.3
"""What the noisy prior knows, nats: such that without a memory .3 of first attempts succeed."""


@dataclass(frozen=True, slots=True)
class Job:
    """One seed: a memory, and first attempts of all arms.

    Attributes:
        shop: Seed of the shop.
        prior: What the frozen model believes.
        right: What the noisy one knows, nats.
        templates: How many templates; 0 for all.
    """

    arms: tuple[Arm, ...]
    seed: int
    shop: int
    prior: Prior
    right: float = RIGHT
    templates: int = 0


@dataclass(frozen=True, slots=True)
class Draw:
    """Tasks of a run seed.

    Attributes:
        train: Lived through, in this order.
        tests: Fresh ones.
        of: Tasks of each template.
    """

    train: Sequence[Test]
    tests: Sequence[Test]
    of: dict[str, frozenset[str]]


def drawn(tasks: Sequence[Task], seed: int, templates: int = 0) -> Draw:
    """``TRAIN`` tasks of each template that has enough of them, mixed, and ``TESTS`` others."""
    rng, by = Random(seed), dict[str, list[Test]]()
    for index, task in enumerate(tasks):
        template = str(task.params["template"])
        by.setdefault(template, []).append(Test(task, index, template, task.family))
    enough = {name: known for name, known in by.items() if len(known) >= TRAIN + TESTS}
    train, tests = list[Test](), list[Test]()
    for name in list(enough)[: templates or None]:
        mixed = rng.sample(enough[name], TRAIN + TESTS)
        train += mixed[:TRAIN]
        tests += mixed[TRAIN:]
    rng.shuffle(train)
    return Draw(train, tests, {name: frozenset(t.task.id for t in of) for name, of in by.items()})


def run(job: Job) -> list[First]:
    """Build the memory of a seed, and measure first attempts of all arms."""
    with closing(Backoffice(instances=INSTANCES, seed=job.shop)) as world:
        draw = drawn(world.tasks(), job.seed, job.templates)
        with closing(SQLiteStore(":memory:")) as store:
            live(job, world, draw.train, store)
            found = list[First]()
            for learned in dict.fromkeys(arm.learned for arm in job.arms):
                arms = [arm for arm in job.arms if arm.learned == learned]
                if learned == "as it is":
                    found += _measured(job, arms, world, draw, store)
                    continue
                with closing(
                    SQLiteStore(":memory:")
                    if learned == "nothing"
                    else tampered(store, learned, job.seed)
                ) as other:
                    found += _measured(job, arms, world, draw, other)
        return found


def prior_of(job: Job, world: Backoffice, task: Task) -> Proposer:
    """The frozen model, as it looks at a task."""
    if job.prior == "uniform":
        return Known("uniform")
    return Noisy(world, task, job.right, job.seed)


def live(job: Job, world: Backoffice, train: Sequence[Test], store: SQLiteStore) -> None:
    """Attempt the tasks, one after the other, and learn from each attempt."""
    agent = learner(DEFAULT, store)
    for test in train:
        for attempt in range(ATTEMPTS):
            trial = Trial(test.task, test.index, attempt, job.seed)
            lived(agent, trial, cast(Environment, world), prior_of(job, world, test.task))


def _measured(
    job: Job, arms: Sequence[Arm], world: Backoffice, draw: Draw, store: SQLiteStore
) -> Iterator[First]:
    played = cast(Environment, world)
    for arm in arms:
        agent = learner(arm, store)
        for test in draw.tests:
            prior = prior_of(job, world, test.task)
            yield first(arm, agent, test, "seen", world=played, prior=prior, seed=job.seed)
        for template in dict.fromkeys(test.cluster for test in draw.tests):
            agent = learner(arm, store)  # anew, so that views without a template are not held
            for test in draw.tests:
                if test.cluster == template:
                    yield first(
                        arm,
                        agent,
                        test,
                        "unseen",
                        world=played,
                        prior=prior_of(job, world, test.task),
                        seed=job.seed,
                        exclude=draw.of[template],
                    )
