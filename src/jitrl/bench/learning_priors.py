"""Frozen models that know nothing, the wrong thing, or the right one with a given probability."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence

import numpy as np

from jitrl.bench.learning_arms import Prior
from jitrl.types import Candidate, Prompt, Proposal


class Known:
    """A prior that depends on a game's winning path.

    Args:
        kind: ``uniform``; ``misleading`` favors an action that is not on the path, always the
            same among the same actions; ``oracle`` favors the next action of the path, where it
            is offered, and nothing elsewhere.
        p: Probability of the favored action; the others share the rest.
        path: Actions that win the game.
    """

    def __init__(self, kind: Prior, p: float = 0.0, path: Sequence[str] = ()) -> None:
        self.name = kind if kind == "uniform" else f"{kind}/p={p:g}"
        self._kind, self._p, self._path = kind, p, tuple(path)

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """Every action of the prompt with its logit; ``rng`` is not used."""
        favored = self._favored(prompt)
        rest = math.log((1.0 - self._p) / max(1, len(prompt.actions) - 1)) if favored else 0.0
        candidates = tuple(
            Candidate(action, math.log(self._p) if action == favored else rest)
            for action in prompt.actions
        )
        return Proposal(candidates, self._kind, self.name)

    def _favored(self, prompt: Prompt) -> str | None:
        if self._kind == "misleading":
            wrong = [a for a in prompt.actions if a not in self._path] or prompt.actions
            return min(wrong, key=lambda a: (zlib.crc32(a.encode()), a))
        if self._kind == "oracle":
            ahead = next_on_path(self._path, prompt.history)
            return ahead if ahead in prompt.actions else None
        return None


def next_on_path(path: Sequence[str], history: Sequence[str]) -> str | None:
    """The first action of ``path`` that ``history`` has not taken in its turn."""
    done = 0
    for action in history:
        if done < len(path) and action == path[done]:
            done += 1
    return path[done] if done < len(path) else None
