"""Previews against the truth: what logged decisions say of a setting, and what it then really got.

A memory is filled and then stands still. Episodes are logged on it under one setting; from these
alone every other setting is estimated. Then each is really played on the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
import numpy as np

from jitrl.agents.corrected import Corrected
from jitrl.bench.pool import Begun, Tell, each, silent, unsaid
from jitrl.bench.priors import Noisy
from jitrl.bench.report import Report
from jitrl.config import Memory
from jitrl.core.offpolicy import Preview, preview
from jitrl.core.stats import Interval
from jitrl.envs.backoffice import Backoffice
from jitrl.envs.toy import Toy
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory.preview import logged
from jitrl.models.scripted import Scripted
from jitrl.ports import Environment, Proposer
from jitrl.run.loop import Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode, Task

SCHEMA = "jitrl.bench.preview/1"

WORLDS: dict[str, Callable[[], Any]] = {
    "toy": partial(Toy, "protocol", tasks=10, size=2),
    "backoffice": Backoffice,
}
_TASKS = {"toy": 10, "backoffice": 6}
_STEPS = {"toy": 6, "backoffice": 10}
_NOISE = 1.0
_RIGHT = 4.0
"""What the prior of the back office knows of the right action, nats; else no task is done."""
_LOGGED: Mapping[str, Any] = {
    "choose": "sample",
    "temperature": 0.5,
    "beta": 2.0,
    "novelty": 1.0,
}
"""The rule that is logged: it samples, or nothing could be said of any other."""

TARGETS: dict[str, Mapping[str, Any]] = {
    "the same": {},
    "beta 3": {"rule": {"beta": 3.0}},
    "temperature 0.4": {"rule": {"temperature": 0.4}},
    "novelty 0": {"rule": {"novelty": 0.0}},
    "the best action": {"rule": {"choose": "argmax"}},
    "no memory": {"mode": "off"},
}
"""Settings that are previewed: what differs from the logged one."""


@dataclass(frozen=True, slots=True)
class Case:
    """One setting on one memory.

    Attributes:
        truth: What it really got more than the logged setting, per episode.
        error: Standard error of that.
        held: Whether the interval of the gain, with the truth's own error, holds it; ``None``
            where the preview refused.
    """

    world: str
    seed: int
    target: str
    found: Preview
    truth: float
    error: float
    held: bool | None


@dataclass(frozen=True, slots=True)
class Job:
    """One memory, and all settings on it."""

    world: str
    seed: int
    episodes: int
    truth: int


def measure(
    worlds: Sequence[str] = tuple(WORLDS),
    *,
    seeds: int = 5,
    episodes: int = 20,
    truth: int = 40,
    workers: int = 1,
    tell: Tell = silent,
    begun: Begun = unsaid,
) -> Report[Case]:
    """Preview and truth of every target, on so many memories of each world.

    Args:
        episodes: Logged episodes of each task.
        truth: Episodes of each task that are really played under a target.
    """
    jobs = [Job(world, seed, episodes, truth) for world in worlds for seed in range(seeds)]
    begun(sum(_TASKS[j.world] * (j.episodes + j.truth * (len(TARGETS) + 1)) for j in jobs))
    cases = [case for some in each(run, jobs, workers, tell) for case in some]
    return Report(
        schema=SCHEMA,
        what="preview",
        protocol={
            "worlds": list(worlds),
            "seeds": seeds,
            "episodes": episodes,
            "truth": truth,
            "logged": dict(_LOGGED),
        },
        results=tuple(cases),
    )


def run(job: Job, tell: Tell = silent) -> list[Case]:
    """All targets on one memory."""
    with closing(SQLiteStore(":memory:")) as store:
        return _cases(store, job, tell)


def _cases(store: SQLiteStore, job: Job, tell: Tell) -> list[Case]:
    world: Environment = WORLDS[job.world]()
    tasks = list(world.tasks())[: _TASKS[job.world]]
    limit = _STEPS[job.world]

    def believing(task: Task) -> Proposer:
        if isinstance(world, Backoffice):
            return Noisy(world, task, _RIGHT, job.seed)
        return Scripted(noise=_NOISE, seed=job.seed)

    models = [believing(task) for task in tasks]

    def played(agent: Corrected, task: int, attempt: int, until: int | None) -> Episode:
        trial = Trial(tasks[task], task, attempt, job.seed)
        acting = agent.episode(until=until)
        return acting.noted(play(trial, world, models[task], acting, max_steps=limit))

    agent = Corrected(store, EnvironmentRewards(), _settings({}))
    for attempt in range(3):
        for task in range(len(tasks)):
            agent.learn(played(agent, task, attempt, None))
    frozen = store.head()
    for attempt in range(3, 3 + job.episodes):
        for task in range(len(tasks)):
            agent.learn(played(agent, task, attempt, frozen))
    tell(0.2)

    def truly(target: Mapping[str, Any], first: int) -> np.ndarray:
        acting = Corrected(store, EnvironmentRewards(), _settings(target))
        scores = [
            [_score(played(acting, task, first + n, frozen)) for n in range(job.truth)]
            for task in range(len(tasks))
        ]
        return np.array(scores)

    base = truly({}, 10_000)
    out = []
    for number, (name, target) in enumerate(TARGETS.items()):
        settings = _settings(target)
        sight = Corrected(store, EnvironmentRewards(), settings)
        said = logged(store.records(), store, sight, at=frozen, is_off=settings.mode == "off")
        found = preview(said.episodes)
        real = truly(target, 20_000 + 1_000 * number)
        gain = float(real.mean() - base.mean())
        error = float(np.sqrt((real.var(axis=1) + base.var(axis=1)).sum() / job.truth)) / len(tasks)
        out.append(Case(job.world, job.seed, name, found, gain, error, _held(found, gain, error)))
        tell(0.2 + 0.8 * (number + 1) / len(TARGETS))
    return out


def _held(found: Preview, gain: float, error: float) -> bool | None:
    interval = found.dr.interval
    if found.refusal or not isinstance(interval, Interval):
        return None
    middle, half = (interval.low + interval.high) / 2, (interval.high - interval.low) / 2
    reach = float(np.hypot(half, 1.96 * error)) + found.slack
    return bool(abs(gain - middle) <= reach)


def _settings(target: Mapping[str, Any]) -> Memory:
    rule = {**_LOGGED, **target.get("rule", {})}
    return msgspec.convert({**target, "rule": rule}, Memory)


def _score(episode: Episode) -> float:
    return float(episode.info["score"])
