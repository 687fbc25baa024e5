"""Attempts at tasks, each learned from; those at one task from an empty memory on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from jitrl import registry
from jitrl.config import Memory, Rewards
from jitrl.errors import ConfigError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.ports import Agent, Environment, Evaluator, Proposer, Store, Writer
from jitrl.run.loop import Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode, Task


def attempt(
    agent: str,
    options: Mapping[str, Any],
    memory: Mapping[str, Any],
    *,
    world: Environment,
    task: Task,
    prior: Proposer,
    attempts: int,
    seed: int,
    world_seed: int,
    rewards: Rewards = "after",
    evaluator: Evaluator | None = None,
) -> list[Episode]:
    """Episodes of one agent, which learns from each of them; nothing else is in its memory.

    Args:
        agent, options: Entry point of ``jitrl.agents`` and its own options.
        memory: Settings of the memory that differ from the default ones.
        seed: Of all chance but the world's.
        rewards: When the agent learns of rewards.
        evaluator: Who scores the episodes; the environment's own rewards if ``None``.
    """
    with closing(SQLiteStore(":memory:")) as store:
        learner = opened(agent, options, memory, store, evaluator)
        return [
            lived(learner, Trial(task, world_seed, number, seed), world, prior, rewards=rewards)
            for number in range(attempts)
        ]


def opened(
    agent: str,
    options: Mapping[str, Any],
    memory: Mapping[str, Any],
    store: Store,
    evaluator: Evaluator | None = None,
) -> Agent:
    """An agent on a store, as ``attempt`` takes its name, options, memory and evaluator."""
    made: Agent = registry.create(
        "agents",
        agent,
        options,
        store=store,
        evaluator=evaluator or EnvironmentRewards(),
        settings=Memory(**memory),
        writer=_nobody,
    )
    return made


def _nobody() -> Writer:
    raise ConfigError("a bench has no model that writes; take the author `rules`")


def lived(
    agent: Agent,
    trial: Trial,
    world: Environment,
    prior: Proposer,
    *,
    rewards: Rewards = "after",
    exclude: frozenset[str] = frozenset(),
) -> Episode:
    """One episode, played and learned from.

    Args:
        exclude: Tasks that are left out of the memory.
    """
    acting = agent.episode(exclude=exclude)
    episode = play(trial, world, prior, acting, rewards=rewards)
    acting.learn(episode)
    return episode
