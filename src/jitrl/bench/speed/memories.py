"""The memories that are measured: the same records, in one scope per site or all in one."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from jitrl.bench.pool import Tell
from jitrl.bench.speed.episodes import STEPS, episode
from jitrl.bench.speed.linear import LinearRow
from jitrl.bench.speed.records import SITES, Records, World
from jitrl.core.similarity import bags
from jitrl.memory.view import Lens, View
from jitrl.stores.sqlite import SQLiteStore

_BATCH = 250  # episodes in a transaction while a file is filled


@dataclass(slots=True)
class Memory:
    """A file, and a view of each of its scopes.

    Attributes:
        name: "scopes" (one for each site) or "one scope".
        load_s: CPU seconds that the views took to read the file.
        resident: Bytes of memory that they took; ``None`` where the system does not tell.
        rows: The rows that the linear scan reads; empty if it does not run.
    """

    name: str
    store: SQLiteStore
    lens: Lens
    views: dict[str, View] = field(default_factory=dict)
    load_s: float = 0.0
    resident: int | None = None
    rows: list[LinearRow] = field(default_factory=list)

    def scope(self, site: int) -> str:
        """The scope that holds the records of a site."""
        return str(site) if self.name == "scopes" else "all"

    def of(self, site: int) -> View:
        """The view of that scope."""
        scope = self.scope(site)
        if scope not in self.views:
            self.views[scope] = View(self.store, scope, self.lens)
        return self.views[scope]

    @property
    def largest(self) -> View:
        """The view with the most states."""
        return max(self.views.values(), key=lambda view: len(view.index))

    @property
    def file_bytes(self) -> int:
        """Size of the file and of what belongs to it."""
        return sum(f.stat().st_size for f in Path(self.store.path).parent.iterdir())


def commit(memory: Memory, world: World, records: Records, tell: Tell) -> None:
    """Write all ``records`` to the memory's file, as episodes."""
    count = len(records) // STEPS
    for first in range(0, count, _BATCH):
        with memory.store.batch():
            for number in range(first, min(first + _BATCH, count)):
                scope = memory.scope(int(records.site[number * STEPS]))
                lived = episode(world, records, number, scope, memory.lens.gamma)
                memory.store.commit(*lived)
        tell(min(first + _BATCH, count) / count)


def load(memory: Memory, tell: Tell) -> None:
    """Read the file into views of all scopes."""
    before, began = _resident(), time.thread_time()
    for site in range(SITES):
        memory.of(site).refresh()
        tell((site + 1) / SITES)
    memory.load_s = time.thread_time() - began
    after = _resident()
    memory.resident = None if before is None or after is None else after - before


def pretokenised(memory: Memory, world: World, records: Records) -> list[LinearRow]:
    """The records as rows of the linear scan; equal states share one set."""
    _, first, which = np.unique(records.keys(), return_index=True, return_inverse=True)
    features, numbers = [], []
    for record in first.tolist():
        state = world.state(records, record)
        features.append(frozenset(bags(state, memory.lens.retrieval).text))
        number = memory.of(int(records.site[record])).index.find(state)
        numbers.append(-1 if number is None else number)
    return [
        LinearRow(memory.scope(site), features[distinct], numbers[distinct])
        for site, distinct in zip(records.site.tolist(), which.tolist(), strict=True)
    ]


def _resident() -> int | None:
    """Bytes of this process that are in memory, where Linux tells."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return None
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
