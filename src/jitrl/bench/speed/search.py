"""What a search costs by words and by vectors, over the same states."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jitrl.bench import machine
from jitrl.bench.speed.records import World
from jitrl.bench.speed.timing import Clock, Quantiles, quantiles
from jitrl.core.similarity import Retrieval
from jitrl.memory.index import StateIndex
from jitrl.memory.index_vectors import VectorIndex
from jitrl.models.vectors import Remembered
from jitrl.ports import Embedder
from jitrl.types import State

SCHEMA = "jitrl.bench.search/1"
_RECORDS = 100_000  # the world is that of so many rows

Tell = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Searched:
    """One index, asked for all queries in turn; CPU microseconds.

    Attributes:
        by: "words", or the name of the embedder.
        states: Distinct states in the index.
        embedded: Of them, those whose text was embedded; the vectors of the rest are drawn.
        width: Numbers in a vector; 0 for words.
        bytes_per_state: Held by the index.
        search: A query whose features are counted, or whose vector is known.
        embedding: A text that was never embedded before; ``None`` for words.
    """

    by: str
    states: int
    embedded: int
    width: int
    bytes_per_state: float
    search: Quantiles
    embedding: Quantiles | None


@dataclass(frozen=True, slots=True)
class Report:
    """All that was measured."""

    schema: str
    machine: dict[str, Any]
    settings: dict[str, Any]
    searched: list[Searched]


class _Drawn:
    """An embedder that draws vectors of texts at random, once ``real`` of them were embedded."""

    def __init__(self, embedder: Embedder, real: int) -> None:
        self.name, self.clock, self.width = embedder.name, Clock(), 0
        self._embedder, self._left = embedder, real

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """As :meth:`Embedder.embed`."""
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> np.ndarray:
        if self._left > 0:
            self._left -= 1
            made: np.ndarray = self.clock.time(lambda: self._embedder.embed([text])[0])
            self.width = len(made)
            return made
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        drawn = np.random.default_rng(int.from_bytes(digest)).normal(size=self.width)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def measure(
    sizes: Sequence[int],
    embedders: Sequence[Embedder],
    *,
    retrieval: Retrieval,
    texts: int,
    queries: int,
    repeats: int,
    tell: Tell,
) -> Report:
    """Fill an index of each size by words and by each embedder, and search it.

    Args:
        sizes: Numbers of states.
        texts: States that are embedded, at most; the vectors of others are drawn at random, which
            changes what is found, and little of what a search costs.
        queries: New states, and as many of the stored ones, if the smallest index has so many.
        tell: Is told the stage and the share of it that is done.
    """
    states, asked = distinct(max(sizes) + queries), min(queries, min(sizes))
    searched = []
    for size in sizes:
        stored, new = states[:size], states[len(states) - queries :]
        queried = [*stored[:asked], *new]
        words = StateIndex(replace(retrieval, kind="set"))
        for state in stored:
            words.add(state)
        times = _times(lambda s: words.search(s), queried, repeats)  # noqa: B023 - called at once
        searched.append(Searched("words", size, 0, 0, words.nbytes / size, times, None))
        tell(f"words, {size:,} states", 1.0)
        for embedder in embedders:
            drawn = _Drawn(embedder, texts)
            index = VectorIndex(
                replace(retrieval, kind="embedding"), Remembered(drawn, ":memory:", recent=1 << 20)
            )
            for number, state in enumerate(stored):
                index.add(state)
                if number % 50 == 49 or number == size - 1:
                    index.search(state, 1.0)
                    tell(f"{embedder.name.split()[0]}, {size:,} states", (number + 1) / size)
            for state in queried:
                index.search(state, 1.0)  # from here on, their vectors are known
            times = _times(lambda s: index.search(s), queried, repeats)  # noqa: B023
            searched.append(
                Searched(
                    embedder.name,
                    size,
                    min(texts, size),
                    drawn.width,
                    index.nbytes / size,
                    times,
                    quantiles(drawn.clock.cpu),
                )
            )
    settings: dict[str, float] = {"texts": texts, "queries": queries, "repeats": repeats}
    settings["old_queries"] = asked
    settings["threshold"] = retrieval.threshold
    return Report(SCHEMA, machine.facts(), settings, searched)


def distinct(count: int) -> list[State]:
    """The first ``count`` distinct states of the records, of all sites."""
    world = World(_RECORDS)
    found: dict[State, None] = {}
    for state in _drawn(world):
        found[state] = None
        if len(found) == count:
            return list(found)
    raise AssertionError("unreachable: the records never end")


def _drawn(world: World) -> Iterator[State]:
    seed = 0
    while True:
        records = world.draw(1000, seed)
        yield from (world.state(records, i) for i in range(len(records)))
        seed += 1


def _times(search: Callable[[State], Any], queries: Sequence[State], repeats: int) -> Quantiles:
    clock = Clock()
    for _ in range(repeats):
        for state in queries:
            clock.time(lambda: search(state))  # noqa: B023 - called at once
    return quantiles(clock.cpu, repeats)
