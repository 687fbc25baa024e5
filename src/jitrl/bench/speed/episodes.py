"""Records as episodes of thirty steps, as a store takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jitrl.bench.speed.records import Records, World
from jitrl.core.credit import derive_rows
from jitrl.types import Episode, Row, Scored, Transition

STEPS = 30


class Lived(NamedTuple):
    """An episode, its judgment and its rows."""

    episode: Episode
    scored: Scored
    rows: Sequence[Row]


def episode(
    world: World, records: Records, number: int, scope: str, gamma: float, prefix: str = "e"
) -> Lived:
    """The ``number``-th thirty records as an episode: 1 for the last step if solved, else 0."""
    first = number * STEPS
    site, task = int(records.site[first]), f"task-{records.task[first]}"
    places = range(first, first + STEPS)
    states = [world.state(records, place) for place in places]
    rewards = (*[0.0] * (STEPS - 1), float(records.is_solved[first]))
    steps = tuple(
        Transition(
            state, world.action(site, int(records.action[place])), reward=reward, next_state=ahead
        )
        for place, state, reward, ahead in zip(
            places, states, rewards, [*states[1:], None], strict=True
        )
    )
    lived, scored = Episode(f"{prefix}{number}", task, scope, steps), Scored(rewards, "bench")
    return Lived(lived, scored, derive_rows(lived, scored, gamma=gamma))
