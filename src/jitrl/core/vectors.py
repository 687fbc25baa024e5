"""Similarity of states by embedding: the texts that stand for a state, and cosines of vectors.

A state becomes one vector whose product with another state's is their similarity. Where text and
context are compared apart, with weight w, it is made of two, ``sqrt(1 - w) * text`` and
``sqrt(w) * context``, so that one product gives ``(1 - w) * cos(text) + w * cos(context)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from jitrl.core.similarity import Retrieval, group
from jitrl.types import State

Embed = Callable[[Sequence[str]], np.ndarray]
"""Texts to float32 vectors of length 1 (or 0, which is similar to nothing), shape [N, D]."""


def texts(state: State, retrieval: Retrieval) -> tuple[str, str]:
    """What is embedded: place, context and text, each on lines of its own.

    The place is left out where it is matched. With a weight for the context, that is the second
    text; else the second is empty.
    """
    place = "" if group(state, retrieval) else state.place
    if retrieval.context_weight is None:
        return "\n".join(filter(None, (place, state.context, state.text))), ""
    return "\n".join(filter(None, (place, state.text))), state.context


def vectors(states: Sequence[State], retrieval: Retrieval, embed: Embed) -> np.ndarray:
    """The vectors of ``states``, float32, shape [N, D]; [N, 2 D] if the context has a weight."""
    pairs = [texts(state, retrieval) for state in states]
    whole = embed([text for text, _ in pairs])
    if retrieval.context_weight is None:
        return whole
    apart = embed([context for _, context in pairs])
    weight = retrieval.context_weight
    shares = np.sqrt(np.array([1.0 - weight, weight], np.float32))
    return np.concatenate([shares[0] * whole, shares[1] * apart], axis=1)


def cosines(stored: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Products of unit vectors [N, D] with one of them [D], float64, shape [N].

    The same two vectors give the same number, however many others are beside them: a product of
    BLAS would add up in an order that depends on the number of rows, and a tie could turn.
    """
    found: np.ndarray = np.einsum("ij,j->i", stored, query).astype(np.float64)
    return found


def cosine(a: State, b: State, x: np.ndarray, y: np.ndarray, retrieval: Retrieval) -> float:
    """Similarity in [0, 1] of two states whose vectors are ``x`` and ``y``, shape [D] each.

    1.0 if, and only if, they are the same state: two that embed alike have ``retrieval.cap``.
    """
    if a == b:
        return 1.0
    if group(a, retrieval) != group(b, retrieval):
        return 0.0
    return max(0.0, min(float(cosines(x[None], y)[0]), retrieval.cap))
