"""First attempts in the back office, with a memory of other tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from random import Random
from typing import cast

from jitrl.bench.attempts import lived
from jitrl.bench.pool import Tell, silent, told
from jitrl.bench.priors import Known, Noisy, Stated
from jitrl.bench.transfer.arms import DEFAULT, Arm, Learned, Prior
from jitrl.bench.transfer.firsts import First, Test, first, learner
from jitrl.bench.transfer.tampered import tampered
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
    rng, by = Random(seed), _by_template(tasks)
    enough = {name: known for name, known in by.items() if len(known) >= TRAIN + TESTS}
    train, tests = list[Test](), list[Test]()
    for name in list(enough)[: templates or None]:
        mixed = rng.sample(enough[name], TRAIN + TESTS)
        train += mixed[:TRAIN]
        tests += mixed[TRAIN:]
    rng.shuffle(train)
    return Draw(train, tests, {name: frozenset(t.task.id for t in of) for name, of in by.items()})


def there(shop: int) -> int:
    """How many templates of a shop have enough tasks."""
    with closing(Backoffice(instances=INSTANCES, seed=shop)) as world:
        known = _by_template(world.tasks()).values()
    return sum(len(of) >= TRAIN + TESTS for of in known)


def _by_template(tasks: Sequence[Task]) -> dict[str, list[Test]]:
    by = dict[str, list[Test]]()
    for index, task in enumerate(tasks):
        template = str(task.params["template"])
        by.setdefault(template, []).append(Test(task, index, template, task.family))
    return by


def episodes(job: Job) -> int:
    """How many a job plays: those that make its memory, and first ones, of both splits."""
    with closing(Backoffice(instances=INSTANCES, seed=job.shop)) as world:
        draw = drawn(world.tasks(), job.seed, job.templates)
    return len(draw.train) * ATTEMPTS + 2 * len(job.arms) * len(draw.tests)


def run(job: Job, tell: Tell = silent) -> list[First]:
    """Build the memory of a seed, and measure first attempts of all arms."""
    with (
        closing(Backoffice(instances=INSTANCES, seed=job.shop)) as world,
        closing(SQLiteStore(":memory:")) as store,
    ):
        draw = drawn(world.tasks(), job.seed, job.templates)
        live(job, world, draw.train, store, lambda share: tell(share / 2))
        found, of = list[First](), 2 * len(job.arms) * len(draw.tests)
        for learned in dict.fromkeys(arm.learned for arm in job.arms):
            arms = [arm for arm in job.arms if arm.learned == learned]
            with _memory(store, learned, job.seed) as memory:
                for one in _measured(job, arms, world, draw, memory):
                    found.append(one)
                    tell((1 + len(found) / of) / 2)
        return found


def _memory(store: SQLiteStore, learned: Learned, seed: int) -> AbstractContextManager[SQLiteStore]:
    """What arms are given of what is in ``store``."""
    if learned == "as it is":
        return nullcontext(store)
    is_empty = learned == "nothing"
    return closing(SQLiteStore(":memory:") if is_empty else tampered(store, learned, seed))


def prior_of(job: Job, world: Backoffice, task: Task) -> Proposer:
    """The frozen model, as it looks at a task."""
    if job.prior == "uniform":
        return Known("uniform")
    noisy = Noisy(world, task, job.right, job.seed)
    return Stated(noisy) if job.prior == "stated" else noisy


def live(
    job: Job, world: Backoffice, train: Sequence[Test], store: SQLiteStore, tell: Tell = silent
) -> None:
    """Attempt the tasks, one after the other, and learn from each attempt."""
    agent = learner(DEFAULT, store)
    for test in told(train, tell):
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
