"""The index of states by the cosine of their vectors."""

from __future__ import annotations

import threading

import numpy as np

from jitrl.core.similarity import Retrieval, group
from jitrl.core.vectors import cosines, vectors
from jitrl.memory.index import ABOVE_ZERO, Similar
from jitrl.memory.index_rows import Rows
from jitrl.memory.state_ids import StateIds, key
from jitrl.ports import Embedder
from jitrl.types import State


class VectorIndex:
    """An ``Index`` by cosines.

    States are embedded by the first search after they were added, all that are new together. If the
    embedder fails then, they are embedded by the next search.
    """

    def __init__(self, retrieval: Retrieval, embedder: Embedder) -> None:
        self.retrieval, self.embedder = retrieval, embedder
        self._ids = StateIds()
        self._new: dict[int, State] = {}
        self._lock = threading.Lock()
        self._vectors: Rows | None = None
        self._places = Rows((), np.int32)
        self._known_places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, state: State) -> int | None:
        """As ``Index.find``."""
        return self._ids.find(key(state))

    def add(self, state: State) -> int:
        """As ``Index.add``."""
        digest = key(state)
        known = self._ids.find(digest)
        if known is not None:
            return known
        self._new[len(self._ids)] = state
        return self._ids.give(digest)

    def search(self, state: State, floor: float | None = None) -> Similar:
        """As ``Index.search``."""
        retrieval = self.retrieval
        least = max(retrieval.threshold if floor is None else floor, ABOVE_ZERO)
        rows, count = self._embedded()
        if rows is None:
            return Similar(np.empty(0, np.int64), np.empty(0))
        query = vectors([state], retrieval, self.embedder.embed)[0]
        similarities = np.minimum(cosines(rows.data[:count], query), retrieval.cap)
        place = self._known_places.get(group(state, retrieval), -1)
        similarities[self._places.data[:count] != place] = 0.0
        same = self.find(state)
        if same is not None and same < count:
            similarities[same] = 1.0
        ids = (similarities >= least).nonzero()[0]
        order = np.lexsort((-ids, -similarities[ids]))
        return Similar(ids[order], similarities[ids[order]])

    @property
    def nbytes(self) -> int:
        """As ``Index.nbytes``."""
        held = 0 if self._vectors is None else self._vectors.nbytes
        return held + self._places.nbytes + self._ids.nbytes

    def _embedded(self) -> tuple[Rows | None, int]:
        """The vectors of all states that were added, and how many there are."""
        with self._lock:
            done = 0 if self._vectors is None else len(self._vectors)
            new = range(done, len(self._ids))
            if new:
                states = [self._new[number] for number in new]
                found = vectors(states, self.retrieval, self.embedder.embed)
                if self._vectors is None:
                    self._vectors = Rows((found.shape[1],), np.float32)
                for number, state, vector in zip(new, states, found, strict=True):
                    if len(self._places) == number:  # else an interrupt came right after it
                        known = self._known_places
                        self._places.append(
                            known.setdefault(group(state, self.retrieval), len(known))
                        )
                    self._vectors.append(vector)
                for number in new:
                    del self._new[number]
            return self._vectors, new.stop
