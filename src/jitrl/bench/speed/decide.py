"""The benchmark: fills memories, asks them, appends to them, and says what it cost."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jitrl import presets
from jitrl.bench import machine
from jitrl.bench.pool import Tell
from jitrl.bench.speed import appends
from jitrl.bench.speed.appends import Appended, Indexed
from jitrl.bench.speed.episodes import STEPS
from jitrl.bench.speed.memories import Memory, commit, load, pretokenised
from jitrl.bench.speed.queries import Answered, ask
from jitrl.bench.speed.records import Records, World, facts
from jitrl.core.similarity import Retrieval
from jitrl.memory.index import Kernel
from jitrl.memory.view import Lens
from jitrl.stores.sqlite import SQLiteStore

SCHEMA = "jitrl.bench/1"
_FEW = 200_000  # up to so many rows the linear scan runs, and all of them in one scope
_APPENDED = 100  # episodes appended to each memory before and after it is filled

Stages = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Filled:
    """A memory that holds all records.

    Attributes:
        states: Distinct states, in all scopes and in the largest.
        file_bytes_per_row: On disk, with journal and indexes.
        resident_bytes_per_row: In memory, all views; ``None`` where the system does not tell.
        index_bytes_per_state: Of that, the index.
        load_s: CPU seconds to read the file into the views.
    """

    memory: str
    states: int
    largest_scope_states: int
    file_bytes_per_row: float
    resident_bytes_per_row: float | None
    index_bytes_per_state: float
    load_s: float


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured."""

    schema: str
    machine: dict[str, Any]
    settings: dict[str, Any]
    records: dict[str, int]
    memories: list[Filled]
    answers: list[Answered]
    appended: list[Appended]
    indexed: Indexed


def measure(
    records: int,
    *,
    preset: str,
    thresholds: list[float],
    queries: int,
    repeats: int,
    linear: int | None,
    kernel: Kernel,
    seed: int,
    tell: Stages,
) -> Report:
    """Run the benchmark.

    Args:
        records: Rows of the memory; rounded down to whole episodes.
        linear: Queries that the linear scan answers, too; ``None`` means 200, or none where there
            are more than 200,000 rows.
        kernel: For the part that measures an index alone; the memories use numpy.
        tell: Is told the stage and the share of it that is done.
    """
    few = records <= _FEW
    scanned = linear if linear is not None else 200 if few else 0
    scanned = min(scanned, queries)
    named = presets.load(preset)
    lens = Lens(named.rule, named.retrieval, named.gamma)
    world = World(records)
    stored = world.draw(records // STEPS * STEPS, seed, run=STEPS)
    fresh = world.draw(_APPENDED * STEPS, seed + 1, run=STEPS)
    with ExitStack() as stack:
        stack.enter_context(_uncollected())
        memories = []
        for name in ("scopes", "one scope") if few else ("scopes",):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            store = stack.enter_context(SQLiteStore(Path(folder) / "memory.db"))
            memories.append(Memory(name, store, lens))
        appended = []
        for memory in memories:
            appended.append(
                appends.append(memory, world, fresh, 0, "first", _stage(tell, "appending"))
            )
            memory.views.clear()
            commit(memory, world, stored, _stage(tell, f"filling {memory.name}"))
            load(memory, _stage(tell, f"loading {memory.name}"))
            if scanned:
                memory.rows = pretokenised(memory, world, fresh) + pretokenised(
                    memory, world, stored
                )
        filled = [_filled(memory, len(stored) + len(fresh)) for memory in memories]
        answers = ask(
            world,
            world.draw(queries, seed + 2),
            memories,
            thresholds,
            repeats=repeats,
            linear=scanned,
            tell=_stage(tell, "asking"),
        )
        late = world.draw(_APPENDED * STEPS, seed + 3, run=STEPS)
        appended += [
            appends.append(m, world, late, len(stored), "last", _stage(tell, "appending again"))
            for m in memories
        ]
        indexed = _index_alone(
            world, stored, lens.retrieval, kernel, thresholds[0], repeats, _stage(tell, "indexing")
        )
    return Report(
        SCHEMA,
        machine.facts(),
        {
            "preset": preset,
            "queries": queries,
            "repeats": repeats,
            "linear_queries": scanned,
            "seed": seed,
            "thresholds": thresholds,
        },
        facts(stored),
        filled,
        answers,
        appended,
        indexed,
    )


def _index_alone(
    world: World,
    stored: Records,
    retrieval: Retrieval,
    kernel: Kernel,
    threshold: float,
    repeats: int,
    tell: Tell,
) -> Indexed:
    """The index of the largest site, without the rest of a memory."""
    site = int(np.bincount(stored.site).argmax())
    asked = world.draw(5000, 4)
    states, queries = (
        [world.state(records, i) for i in np.flatnonzero(records.site == site).tolist()]
        for records in (stored, asked)
    )
    distinct = list(dict.fromkeys(states))
    return appends.index(retrieval, kernel, distinct, queries, threshold, repeats, tell)


def _filled(memory: Memory, rows: int) -> Filled:
    """What a memory of ``rows`` rows takes."""
    indexes = [view.index for view in memory.views.values()]
    states = sum(map(len, indexes))
    return Filled(
        memory.name,
        states,
        len(memory.largest.index),
        memory.file_bytes / rows,
        None if memory.resident is None else memory.resident / rows,
        sum(index.nbytes for index in indexes) / states,
        memory.load_s,
    )


def _stage(tell: Stages, name: str) -> Tell:
    """Progress of one stage."""
    return lambda share: tell(name, share)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector off, as ``timeit`` does: it would walk the bench's own objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
