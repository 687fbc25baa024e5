"""Rounds of attempts in a world with a made-up model that heeds what its notes name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from random import Random
from typing import cast

import numpy as np

from jitrl.agents.rulebook.book import Rulebook
from jitrl.bench.attempts import lived, opened
from jitrl.bench.pool import Tell, silent, told
from jitrl.bench.priors import Noisy
from jitrl.bench.rules.arms import Arm
from jitrl.bench.rules.asked import Asked, asked, full, is_let_in
from jitrl.bench.rules.planted import KINDS, PLANTER, Fate, planted
from jitrl.bench.rules.worlds import INSTANCES, WorldName, opened_world
from jitrl.core.gates import Gates, measure
from jitrl.core.gates import drawn as drawn_uses
from jitrl.ports import Environment, Proposer
from jitrl.run.loop import Trial
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Prompt, Proposal, RuleStatus, Task

ROUND = 8
"""Attempts at a task that the results call a round, whatever the agent calls one."""


@dataclass(frozen=True, slots=True)
class Job:
    """One arm with one seed.

    Attributes:
        world: Where it is played.
        world_seed: Seed of the world.
        right: What the frozen model knows of the right action, nats.
        heeds: Nats of an action that its notes name.
        templates: How many, drawn by the seed.
    """

    arm: Arm
    seed: int
    world: WorldName
    world_seed: int
    right: float
    heeds: float
    templates: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Life:
    """What came of a job.

    Attributes:
        scores: By template: mean of each round.
        active, candidate: Rules at the end.
        fates: Of the planted ones.
        asked: What its settings decided; ``None`` for an agent without rules.
    """

    scores: dict[str, list[float]]
    active: int
    candidate: int
    fates: tuple[Fate, ...]
    asked: Asked | None


class Heeding:
    """A frozen model that gains ``heeds`` nats for each action that the notes of a prompt name."""

    def __init__(self, believes: Proposer, heeds: float) -> None:
        self._believes, self._heeds = believes, heeds
        self.name = f"{believes.name}/heeds={heeds:g}"

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """What the other one believes, with that added; ``rng`` is its."""
        asked = self._believes.propose(prompt, rng)
        candidates = tuple(
            replace(c, logit=c.logit + self._heeds * (c.action in prompt.notes))
            for c in asked.candidates
        )
        return replace(asked, candidates=candidates)


def drawn(tasks: Sequence[Task], job: Job) -> list[tuple[int, Task]]:
    """``INSTANCES`` tasks of each of the job's templates, with their places."""
    by = _enough(tasks)
    names = Random(job.seed).sample(sorted(by), min(job.templates, len(by)))
    return [one for name in names for one in by[name]]


def there(name: WorldName, seed: int) -> int:
    """How many templates of a world have enough tasks."""
    with closing(opened_world(name, seed)) as world:
        return len(_enough(world.tasks()))


def _enough(tasks: Sequence[Task]) -> dict[str, list[tuple[int, Task]]]:
    """``INSTANCES`` tasks of each template that has so many, with their places."""
    by: dict[str, list[tuple[int, Task]]] = {}
    for index, task in enumerate(tasks):
        by.setdefault(str(task.params["template"]), []).append((index, task))
    return {name: of[:INSTANCES] for name, of in by.items() if len(of) >= INSTANCES}


def episodes(job: Job) -> int:
    """How many a job plays."""
    with closing(opened_world(job.world, job.world_seed)) as world:
        return len(drawn(world.tasks(), job)) * job.rounds * ROUND


def run(job: Job, tell: Tell = silent) -> Life:
    """Live through the rounds; each round has ``ROUND`` attempts at each task, in turn."""
    with (
        closing(opened_world(job.world, job.world_seed)) as world,
        closing(SQLiteStore(":memory:")) as store,
    ):
        tasks = drawn(world.tasks(), job)
        if job.arm.planted:
            is_tested = job.arm.options.get("gates", True) is not False and not job.arm.is_trusted
            status: RuleStatus = "candidate" if is_tested else "active"
            kind = job.arm.planted
            for one in planted(world, [task for _, task in tasks], status, job.seed, kind):
                store.add_rules([one.rule], one.evidence, principal=f"{PLANTER}/{kind}")
        agent = opened(job.arm.agent, job.arm.options, {}, store)
        scores: dict[str, list[list[float]]] = {}
        steps = filled = 0
        for number in told(range(job.rounds * ROUND), tell):
            for index, task in tasks:
                model = Heeding(Noisy(world, task, job.right, job.seed), job.heeds)
                trial = Trial(task, index, number, job.seed)
                episode = lived(agent, trial, cast(Environment, world), model)
                rounds = scores.setdefault(str(task.params["template"]), [])
                if number // ROUND == len(rounds):
                    rounds.append([])
                rounds[-1].append(float(episode.info["score"]))
                if isinstance(agent, Rulebook):
                    steps += len(episode.steps)
                    filled += full(episode, agent.telling.told)
        kinds = [rule.status for rule in store.rules()]
        return Life(
            {name: [float(np.mean(of)) for of in rounds] for name, rounds in scores.items()},
            kinds.count("active"),
            kinds.count("candidate"),
            fates(store),
            asked(agent, store, [task for _, task in tasks], steps, filled)
            if isinstance(agent, Rulebook)
            else None,
        )


def fates(store: SQLiteStore) -> tuple[Fate, ...]:
    """What became of the planted rules."""
    found, uses = list[Fate](), store.rule_uses()
    kinds = {f"{PLANTER}/{kind}": kind for kind in KINDS}
    for rule in store.rules():
        kind = kinds.get(rule.principal)
        if kind is None:
            continue
        history = store.rule_history(rule.id)
        gone = [change.version for change in history if change.status == "retired"]
        seen = [use.version for use in uses.get(rule.id, ()) if use.use.told]
        found.append(
            Fate(
                kind,
                len(seen),
                is_let_in(history),
                sum(version < gone[0] for version in seen) if gone else None,
                measure(drawn_uses(uses.get(rule.id, ())), Gates()),
            )
        )
    return tuple(found)
