"""Jobs of the transfer results: first attempts, and keeping those that were played."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Protocol, TypeVar

import msgspec

from jitrl.bench.attempts import opened
from jitrl.bench.machine import facts
from jitrl.bench.transfer_arms import Arm
from jitrl.errors import StoreError
from jitrl.ports import Agent, Environment, Proposer
from jitrl.run.loop import Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Task

Split = Literal["seen", "unseen"]
NUMBER = 100_000
"""Number of a measured attempt: none in the memory has the same, so none shares its chance."""


@dataclass(frozen=True, slots=True)
class First:
    """A first attempt at a task.

    Attributes:
        arm: Name of the arm.
        split: Whether the memory holds other tasks of the kind.
        cluster: What is resampled: template or game.
        group: What a table lists apart: family or kind of game.
        seed: Of the run.
        strength: c of the lesson at the first step; 0 if there was none.
    """

    arm: str
    split: Split
    cluster: str
    group: str
    task: str
    seed: int
    score: float
    strength: float


class Job(Protocol):
    """What one process plays in one go."""

    @property
    def arms(self) -> Sequence[Arm]: ...

    @property
    def seed(self) -> int: ...


AnyJob = TypeVar("AnyJob", bound=Job)


def learner(arm: Arm, store: SQLiteStore) -> Agent:
    """The agent of an arm on a memory."""
    return opened(arm.agent, {}, arm.memory, store)


@dataclass(frozen=True, slots=True)
class Test:
    """A task whose first attempt is measured.

    Attributes:
        index: Its place in the environment.
    """

    task: Task
    index: int
    cluster: str
    group: str


def first(
    arm: Arm,
    agent: Agent,
    test: Test,
    split: Split,
    *,
    world: Environment,
    prior: Proposer,
    seed: int,
    exclude: frozenset[str] = frozenset(),
) -> First:
    """Play one; nothing is learned from it.

    Args:
        exclude: Tasks that are left out of the memory.
    """
    trial = Trial(test.task, test.index, NUMBER, seed)
    episode = play(trial, world, prior, agent.episode(exclude=exclude), rewards=arm.rewards)
    decision = episode.steps[0].decision
    lesson = None if decision is None else decision.lesson
    return First(
        arm.name,
        split,
        test.cluster,
        test.group,
        test.task.id,
        seed,
        float(episode.info["score"]),
        0.0 if lesson is None else lesson.strength,
    )


def kept(work: Callable[[AnyJob], list[First]], folder: str) -> Callable[[AnyJob], list[First]]:
    """``work``, which reads from ``folder`` what it did there before, and writes what it does.

    Args:
        folder: Where; "" keeps nothing. A file is named after the job and the versions it ran on.
    """
    return partial(_kept, work, folder) if folder else work


def _kept(work: Callable[[AnyJob], list[First]], folder: str, job: AnyJob) -> list[First]:
    versions = {name: facts()[name] for name in ("jitrl", "numpy")}
    raw = msgspec.json.encode([versions, type(job).__name__, job])
    path = Path(folder) / f"{hashlib.blake2b(raw, digest_size=8).hexdigest()}.json"
    try:
        if path.exists():
            found = msgspec.json.decode(path.read_bytes(), type=list[First])
            if {one.arm for one in found} != {arm.name for arm in job.arms}:
                raise StoreError(f"{path} is not what a job wrote: arms are missing; remove it")
            return found
        played = work(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}")
        half.write_bytes(msgspec.json.encode(played))
        half.replace(path)
    except msgspec.DecodeError as error:
        raise StoreError(f"{path} is not what a job wrote: {error}; remove it") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be used: {error.strerror}") from error
    return played
