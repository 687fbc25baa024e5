"""Token trie: candidate continuations of one prompt laid out so that one pass reads them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class TokenTrie:
    """Shared prefixes of several token sequences. Node 0 is the last token of the prompt.

    A node stands for a proper prefix of at least one candidate; the model's prediction there is
    read for the tokens that follow. Last tokens need no node: nothing is read after them.

    Attributes:
        tokens: Token of each node, shape [N].
        depths: Distance from node 0, shape [N].
        visible: ``visible[i, j]`` when node ``j`` is ``i`` or one of its ancestors, shape [N, N].
        readers: For each candidate the nodes that predict its tokens, in order.
    """

    tokens: np.ndarray
    depths: np.ndarray
    visible: np.ndarray
    readers: tuple[tuple[int, ...], ...]

    def behind(self, count: int) -> np.ndarray:
        """Visibility where ``count`` tokens of the prompt come before, [count + N, count + N]."""
        whole = np.tri(count + len(self.tokens), dtype=bool)
        whole[count:, count:] = self.visible
        return whole


def build(last: int, candidates: Sequence[Sequence[int]]) -> TokenTrie:
    """The trie of ``candidates`` under a prompt that ends with token ``last``.

    Raises:
        ValueError: If a candidate has no token.
    """
    tokens, depths, parents = [last], [0], [0]
    children: dict[tuple[int, int], int] = {}
    readers = []
    for index, candidate in enumerate(candidates):
        if not candidate:
            raise ValueError(f"candidates[{index}] has no token")
        path = [0]
        for token in candidate[:-1]:
            edge = (path[-1], token)
            if edge not in children:
                children[edge] = len(tokens)
                tokens.append(token)
                depths.append(depths[edge[0]] + 1)
                parents.append(edge[0])
            path.append(children[edge])
        readers.append(tuple(path))
    visible = np.eye(len(tokens), dtype=bool)
    for node in range(1, len(tokens)):  # a parent comes before its children
        visible[node] |= visible[parents[node]]
    return TokenTrie(np.array(tokens), np.array(depths), visible, tuple(readers))


def batches(candidates: Sequence[Sequence[int]], nodes: int) -> list[range]:
    """Consecutive runs of candidates whose tries have at most about ``nodes`` nodes each."""
    runs, start, size = [], 0, 0
    for index, candidate in enumerate(candidates):
        if index > start and size + len(candidate) > nodes:
            runs.append(range(start, index))
            start, size = index, 0
        size += len(candidate)
    return [*runs, range(start, len(candidates))]
