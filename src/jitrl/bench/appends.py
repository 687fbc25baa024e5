"""What it costs to learn: an episode of thirty rows, and a state in the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jitrl.bench.episodes import STEPS, episode
from jitrl.bench.memories import Memory
from jitrl.bench.records import Records, World
from jitrl.bench.timing import Clock, Quantiles, quantiles
from jitrl.memory.index import StateIndex
from jitrl.types import State


@dataclass(frozen=True, slots=True)
class Appended:
    """Episodes of thirty rows, one after the other, microseconds for an episode.

    Attributes:
        rows_before: Rows in the memory before the first of them.
        new_states: Mean number of states per episode that the memory did not hold.
        store_cpu, store_wall: The commit to the file.
        view_cpu: The view's taking it in: reading it back, index, graph.
        together_cpu: Both.
    """

    memory: str
    rows_before: int
    episodes: int
    new_states: float
    store_cpu: Quantiles
    store_wall: Quantiles
    view_cpu: Quantiles
    together_cpu: Quantiles


@dataclass(frozen=True, slots=True)
class Indexed:
    """States added to an index one by one, microseconds for a state.

    Attributes:
        first, last: The first and the last tenth; ``worst`` of them is the longest pause.
        bytes_per_state: Of the index: arrays and dictionaries.
    """

    states: int
    first: Quantiles
    last: Quantiles
    bytes_per_state: float


def append(
    memory: Memory,
    world: World,
    records: Records,
    rows_before: int,
    prefix: str,
    tell: Callable[[float], None],
) -> Appended:
    """Commit ``records`` as episodes and let the view of their scope take them in, one by one."""
    store, view = Clock(), Clock()
    before = sum(len(each.index) for each in memory.views.values())
    episodes = len(records) // STEPS
    for number in range(episodes):
        site = int(records.site[number * STEPS])
        lived = episode(world, records, number, memory.scope(site), memory.lens.gamma, prefix)
        of = memory.of(site)
        store.time(lambda: memory.store.commit(*lived))  # noqa: B023 - called at once
        view.time(of.refresh)
        tell((number + 1) / episodes)
    after = sum(len(each.index) for each in memory.views.values())
    return Appended(
        memory.name,
        rows_before,
        episodes,
        (after - before) / episodes,
        quantiles(store.cpu),
        quantiles(store.wall),
        quantiles(view.cpu),
        quantiles([a + b for a, b in zip(store.cpu, view.cpu, strict=True)]),
    )


def index(memory: Memory, states: list[State], tell: Callable[[float], None]) -> Indexed:
    """Add ``states`` to an index of their own."""
    new, clock = StateIndex(memory.lens.retrieval), Clock()
    for number, state in enumerate(states):
        clock.time(lambda: new.add(state))  # noqa: B023 - called at once
        if number % 1000 == 0:
            tell(number / len(states))
    tell(1.0)
    tenth = max(1, len(states) // 10)
    return Indexed(
        len(new),
        quantiles(clock.cpu[:tenth]),
        quantiles(clock.cpu[-tenth:]),
        new.nbytes / len(new),
    )
