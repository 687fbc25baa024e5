"""Exact log-probabilities of many continuations of one prompt, with remembered beginnings.

A prompt runs in blocks of fixed size, whatever is remembered of it, and what is left of it runs
together with the trie of all continuations. So a score is the same to the last bit in every order
of questions and number of threads: a remembered block is what running it again would give.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from jitrl.errors import InputError
from jitrl.models import trie
from jitrl.models.llama import Llama

BLOCK = 128  # tokens that are remembered together; smaller ones cost more in passes than they save
_NODES = 256  # trie nodes in one pass: bounds the matrix of logits


class Continuations:
    """Scores continuations. Safe for threads: the weights are only read.

    Args:
        network: The loaded network.
        remember: Tokens of earlier prompts whose keys and values are kept, the latest used.
    """

    def __init__(self, network: Llama, remember: int = 2048) -> None:
        self.context = network.context
        self._network = network
        self._blocks = _Blocks(remember // BLOCK)

    def score(self, prompt: Sequence[int], candidates: Sequence[Sequence[int]]) -> list[np.ndarray]:
        """``log p(token | prompt, earlier tokens)`` of each token of each candidate, float64.

        Raises:
            InputError: If there is no prompt, an empty candidate, or more tokens than the
                network's context.
        """
        if not prompt or not candidates or not all(candidates):
            raise InputError("a prompt and continuations of at least one token each are needed")
        longest = len(prompt) + max(len(candidate) for candidate in candidates)
        if longest > self.context:
            raise InputError(
                f"prompt and longest action have {longest} tokens, the model's context is "
                f"{self.context}: shorten the observation, the notes or the history"
            )
        body = np.array(prompt[:-1], np.int64)
        past, scores = self._past(body), []
        for batch in trie.batches(candidates, _NODES):
            chosen = [candidates[i] for i in batch]
            scores += self._read(body, past, trie.build(prompt[-1], chosen), chosen)
        return scores

    def _past(self, body: np.ndarray) -> np.ndarray | None:
        """Keys and values of all whole blocks of ``body``."""
        past: np.ndarray | None = None
        for end in range(BLOCK, len(body) + 1, BLOCK):
            name = body[:end].tobytes()
            block = self._blocks.get(name)
            if block is None:
                places = np.arange(end - BLOCK, end)
                visible = np.tri(BLOCK, dtype=bool)
                passed = self._network.forward(body[places], places, visible, past, slice(0, 1))
                block = passed.memory
                self._blocks.keep(name, block)
            past = block if past is None else np.concatenate([past, block], axis=-1)
        return past

    def _read(
        self,
        body: np.ndarray,
        past: np.ndarray | None,
        tree: trie.TokenTrie,
        candidates: Sequence[Sequence[int]],
    ) -> list[np.ndarray]:
        known = 0 if past is None else past.shape[-1]
        rest = len(body) - known
        passed = self._network.forward(
            np.concatenate([body[known:], tree.tokens]),
            np.concatenate([np.arange(known, len(body)), len(body) + tree.depths]),
            tree.behind(rest),
            past,
            slice(rest, None),
        )
        readers = [node for path in tree.readers for node in path]
        tokens = [token for candidate in candidates for token in candidate]
        found = self._network.log_probabilities(passed.hidden, np.array(readers), np.array(tokens))
        return np.split(found, np.cumsum([len(candidate) for candidate in candidates])[:-1])


class _Blocks:
    """Keys and values of the blocks used last, by all the tokens up to their end."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: bytes) -> np.ndarray | None:
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
            return self._kept.get(name)

    def keep(self, name: bytes, block: np.ndarray) -> None:
        with self._lock:
            self._kept[name] = block
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
