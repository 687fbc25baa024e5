"""What it costs to learn: an episode of thirty rows, and a state in the index."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.bench.pool import Tell
from jitrl.bench.speed.episodes import STEPS, episode
from jitrl.bench.speed.memories import Memory
from jitrl.bench.speed.records import Records, World
from jitrl.bench.speed.timing import Clock, Quantiles, quantiles
from jitrl.core.similarity import Retrieval
from jitrl.memory.index import Kernel, StateIndex
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
    """An index alone, of the largest scope's states; CPU microseconds for a state.

    Attributes:
        kernel: What scans its signatures.
        add_first, add_last: The first and the last tenth; ``worst`` of them is the longest pause.
        bytes_per_state: Arrays and dictionaries.
        threshold: Least similarity of what is searched.
        search: Queries of the largest scope's distribution.
    """

    kernel: Kernel
    states: int
    add_first: Quantiles
    add_last: Quantiles
    bytes_per_state: float
    threshold: float
    search: Quantiles


def append(
    memory: Memory,
    world: World,
    records: Records,
    rows_before: int,
    prefix: str,
    tell: Tell,
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


def index(
    retrieval: Retrieval,
    kernel: Kernel,
    states: list[State],
    queries: list[State],
    threshold: float,
    repeats: int,
    tell: Tell,
) -> Indexed:
    """Add ``states`` to a new index, then search it."""
    new, added, asked = StateIndex(retrieval, kernel), Clock(), Clock()
    for number, state in enumerate(states):
        added.time(lambda: new.add(state))  # noqa: B023 - called at once
        tell((number + 1) / len(states))
    new.search(queries[0], threshold)  # numba compiles
    for _ in range(repeats):
        for state in queries:
            asked.time(lambda: new.search(state, threshold))  # noqa: B023
    tenth = max(1, len(states) // 10)
    return Indexed(
        kernel,
        len(new),
        quantiles(added.cpu[:tenth]),
        quantiles(added.cpu[-tenth:]),
        new.nbytes / len(new),
        threshold,
        quantiles(asked.cpu, repeats),
    )
