"""One vote for each source in a neighborhood, whatever it has to say there.

A source is an episode where its basis is trusted, and a principal otherwise. Of each action it
speaks of, its nearest row counts (the newest among equals); all of them together weigh as one row.
Untrusted sources never take a place among the k nearest that a trusted one could have.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from jitrl.memory.view import Lens
from jitrl.types import Neighbor, Row


class Near(NamedTuple):
    """A row in the neighborhood; ``state`` is the memory's id of its state."""

    row: Row
    similarity: float
    state: int


class Voted(NamedTuple):
    """Who has a vote, in the order given, and how many rows had none left."""

    neighbors: list[Neighbor]
    silenced: int


def of_rows(near: Iterable[Near], lens: Lens) -> Voted:
    """Single rows, nearest first: at most k trusted ones, and as many others.

    A row weighs 1 by the number of actions that its source has a say in.
    """
    k = math.inf if lens.retrieval.k is None else lens.retrieval.k
    left = {True: k, False: k}
    kept: list[tuple[Near, bool]] = []
    seen = set[tuple[str, str]]()
    silenced = 0
    for one in near:
        vote, trusted = (one.row.source, one.row.action), one.row.basis in lens.trusted
        if vote in seen:
            silenced += 1
        elif left[trusted] > 0:
            seen.add(vote)
            left[trusted] -= 1
            kept.append((one, trusted))
        if max(left.values()) <= 0:
            break
    says = Counter(one.row.source for one, _ in kept)
    return Voted(
        [
            Neighbor(
                one.row.action,
                one.similarity,
                one.row.ret,
                visits=1.0 / says[one.row.source],
                sources=1.0 / says[one.row.source],
                trusted=trusted,
                rows=(one.row.id,),
                state=one.state,
            )
            for one, trusted in kept
        ],
        silenced,
    )


def of_voices(voices: Sequence[tuple[str, Neighbor]]) -> Voted:
    """What untrusted sources say, nearest first, each with its vote divided among its actions."""
    kept: dict[tuple[str, str], Neighbor] = {}
    silenced = 0
    for source, neighbor in voices:
        if (source, neighbor.action) in kept:
            silenced += int(neighbor.visits)
        else:
            kept[source, neighbor.action] = neighbor
    says = Counter(source for source, _ in kept)
    return Voted(
        [n._replace(sources=1.0 / says[source]) for (source, _), n in kept.items()], silenced
    )
