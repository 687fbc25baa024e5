"""How alike two states are: for one pair at a time, what an index finds for many at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jitrl.core.similarity import Bags, Retrieval, alike, bags
from jitrl.core.vectors import cosine, vectors
from jitrl.ports import Embedder
from jitrl.types import State

Measure = Callable[[State, State], float]
"""Similarity of two states, in [0, 1]; 1.0 if, and only if, they are the same."""


class Overlap:
    """By common features; those of each state are made once."""

    def __init__(self, retrieval: Retrieval) -> None:
        self._retrieval = retrieval
        self._bags: dict[State, Bags] = {}

    def __call__(self, a: State, b: State) -> float:
        """As ``core.similarity.similarity``."""
        for state in (a, b):
            if state not in self._bags:
                self._bags[state] = bags(state, self._retrieval)
        return alike(a, b, self._bags[a], self._bags[b], self._retrieval)


class Cosine:
    """By vectors; each state is embedded once."""

    def __init__(self, retrieval: Retrieval, embedder: Embedder) -> None:
        self._retrieval, self._embedder = retrieval, embedder
        self._vectors: dict[State, np.ndarray] = {}

    def __call__(self, a: State, b: State) -> float:
        """As ``core.vectors.cosine``.

        Raises:
            ModelError: If the embedder failed.
        """
        new = [state for state in dict.fromkeys((a, b)) if state not in self._vectors]
        if new:
            found = vectors(new, self._retrieval, self._embedder.embed)
            self._vectors.update(zip(new, found, strict=True))
        return cosine(a, b, self._vectors[a], self._vectors[b], self._retrieval)
