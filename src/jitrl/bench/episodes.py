"""Records as episodes of thirty steps, as a store takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jitrl.bench.records import Records, World
from jitrl.core.returns import returns_to_go
from jitrl.types import Episode, Row, Scored, Transition

STEPS = 30


class Lived(NamedTuple):
    """An episode, its judgment and its rows."""

    episode: Episode
    scored: Scored
    rows: list[Row]


def episode(
    world: World, records: Records, number: int, scope: str, gamma: float, prefix: str = "e"
) -> Lived:
    """The ``number``-th thirty records as an episode: 1 for the last step if solved, else 0."""
    steps = range(number * STEPS, (number + 1) * STEPS)
    site = int(records.site[steps[0]])
    states = [world.state(records, step) for step in steps]
    following = [*states[1:], None]
    actions = [world.action(site, int(records.action[step])) for step in steps]
    rewards = np.zeros(STEPS)
    rewards[-1] = records.is_solved[steps[0]]
    returns = returns_to_go(rewards, gamma).tolist()
    key, task = f"{prefix}{number}", f"task-{records.task[steps[0]]}"
    rows = [
        Row(
            episode=key,
            step=step,
            task=task,
            scope=scope,
            state=states[step],
            action=actions[step],
            reward=float(rewards[step]),
            ret=returns[step],
            next_state=following[step],
            terminal=step == STEPS - 1,
            evaluator="bench",
            told=False,
            basis="test",
            principal="",
            source=key,
            digest="bench",
        )
        for step in range(STEPS)
    ]
    transitions = tuple(
        Transition(row.state, row.action, reward=row.reward, next_state=row.next_state)
        for row in rows
    )
    scored = Scored(tuple(rewards.tolist()), "bench")
    return Lived(Episode(key, task, scope, transitions), scored, rows)
