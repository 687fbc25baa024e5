"""What the store costs: `python -m jitrl.bench.speed.store --rows 0 --rows 100000`.

For each size of the memory: CPU time to append an episode of 30 rows (all of it: checks, packing,
file), with and without decisions; rows per second when all changes are read; CPU time of ``head``.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from jitrl.bench.speed.episodes import STEPS, Lived
from jitrl.core.credit import derive_rows
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import (
    Decision,
    Episode,
    Neighbor,
    Outcome,
    Scored,
    State,
    Transition,
    Weighed,
)

SCOPES = 20
NEW_STATES = 0.44
SAMPLES = 200
JOURNALED = {"no decisions": (0, 0), "8 candidates, 10 neighbors": (8, 10), "8, 30": (8, 30)}
"""Candidates and neighbors of each journaled decision."""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU milliseconds of one call over ``SAMPLES`` calls."""

    mean: float
    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One size of the memory.

    Attributes:
        append: What is journaled → cost of appending an episode of 30 rows.
        load: Rows per second of CPU time through ``changes(0)``.
        head: CPU microseconds of ``head``.
        bytes_per_row: Of the file before the timed episodes, which has no decisions.
        plain: CPU microseconds of a bare 30-row transaction at the same time: how fast the
            machine was just then (45 on an idle 2026 server core).
    """

    rows: int
    append: dict[str, Cost]
    load: float
    head: float
    bytes_per_row: float
    plain: float


class Source:
    """Makes episodes from a seed; about as many states recur as in web tasks."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._words = [f"word{i}" for i in range(3000)]
        self._states: dict[str, list[State]] = {}
        self._made = 0

    def episode(self, candidates: int, neighbors: int) -> Lived:
        """An episode that is paid at its end."""
        rng, self._made = self._rng, self._made + 1
        scope = f"site {rng.randrange(SCOPES)}"
        states = [self._state(scope) for _ in range(STEPS + 1)]
        steps = tuple(
            Transition(
                states[t],
                f"click(<link[Menu item {rng.randrange(500)}]>)",
                self._decision(candidates, neighbors) if candidates else None,
                None,
                states[t + 1] if t + 1 < STEPS else None,
            )
            for t in range(STEPS)
        )
        episode = Episode(f"e{self._made}", "task", scope, steps, outcome=Outcome(1.0))
        judgment = Scored((0.0,) * (STEPS - 1) + (1.0,), "outcome")
        return Lived(episode, judgment, derive_rows(episode, judgment, gamma=0.7))

    def _state(self, scope: str) -> State:
        rng, known = self._rng, self._states.setdefault(scope, [])
        if known and rng.random() > NEW_STATES:
            return rng.choice(known)
        text, goal = (" ".join(rng.choices(self._words, k=k)) for k in (40, 8))
        known.append(State(text, goal, "shop/orders/ID"))
        return known[-1]

    def _decision(self, candidates: int, neighbors: int) -> Decision:
        r = self._rng.random
        actions = [f"click(<link[Menu item {i}]>)" for i in range(max(candidates, neighbors))]
        weighed = [
            Weighed(a, r(), "model", r(), 3.0, r(), r(), r(), r(), r(), r(), r(), r(), r())
            for a in actions[:candidates]
        ]
        found = [
            Neighbor(a, r(), r(), 3.0, 2.0, r(), r(), r(), r(), 0, True, (101, 102, 103), 7)
            for a in actions[:neighbors]
        ]
        numbers = (r(), r(), r(), (r(),))
        return Decision(
            actions[0], tuple(weighed), tuple(found), *numbers, "0123456789abcdef", 1, "sequence"
        )


def measure(rows: int, folder: Path) -> Measured:
    """Fill a file with ``rows`` rows and time the store on it."""
    source = Source(rows)
    with SQLiteStore(folder / f"{rows}.db") as store:
        with store.batch():
            for _ in range(rows // STEPS):
                store.commit(*source.episode(0, 0))
        size = store.stats().bytes / max(rows, 1)
        loaded = rows // STEPS * STEPS
        seconds = _cpu(lambda: sum(len(c.rows) for c in store.changes(0)))
        head = _cpu(lambda: [store.head() for _ in range(10_000)]) / 10_000
        append = {}
        for name, (candidates, neighbors) in JOURNALED.items():
            episodes = [source.episode(candidates, neighbors) for _ in range(SAMPLES)]
            append[name] = _cost([_cpu(lambda e=e: store.commit(*e)) for e in episodes])  # type: ignore[misc]
    return Measured(rows, append, loaded / seconds, head * 1e6, size, _plain())


def _plain() -> float:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE r(id INTEGER PRIMARY KEY, a, b, c, d, e)")
    rows = [(None, 1, "click(<link[Menu item]>)", 0.3, 0.4, 1)] * STEPS

    def transaction() -> None:
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO r VALUES (?, ?, ?, ?, ?, ?)", rows)
        db.execute("COMMIT")

    times = sorted(_cpu(transaction) for _ in range(SAMPLES))
    db.close()
    return times[SAMPLES // 2] * 1e6


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _cost(seconds: list[float]) -> Cost:
    ms = sorted(1e3 * s for s in seconds)
    return Cost(sum(ms) / len(ms), ms[len(ms) // 2], ms[int(0.99 * len(ms))])


def main() -> None:
    """Measure each size and print a JSON line for it."""
    parser = argparse.ArgumentParser(prog="python -m jitrl.bench.speed.store", description=__doc__)
    parser.add_argument("--rows", type=int, action="append", help="rows in the file before")
    parser.add_argument("--folder", type=Path, help="where the files go (default: a temporary one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for rows in options.rows or [0, 100_000]:
            found = measure(rows, options.folder or Path(folder))
            sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
