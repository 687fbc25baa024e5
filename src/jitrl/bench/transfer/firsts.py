"""First attempts, of which nothing is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jitrl.bench.arms import TABLES
from jitrl.bench.attempts import opened
from jitrl.bench.transfer.arms import Arm
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


def learner(arm: Arm, store: SQLiteStore) -> Agent:
    """The agent of an arm on a memory."""
    return opened(arm.agent, TABLES.get(arm.agent, {}), arm.memory, store)


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
