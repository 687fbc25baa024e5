"""The way of a good attempt with one step of a bad one in it, as an agent that plays it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jitrl.errors import JitRLError
from jitrl.ports import Receipt
from jitrl.types import Decision, Episode, Prompt, Proposal, Row, State, Task

_SPARE = 10  # steps beyond those of both attempts together


class Lost(JitRLError):
    """Neither attempt knows how to go on from here."""


@dataclass(frozen=True, slots=True)
class Swap:
    """What is done instead.

    Attributes:
        place: Of the good attempt's way, where it is done.
        action: What the bad attempt did there.
        after: What the bad attempt did from then on, shape [T].
    """

    place: int
    action: str
    after: Sequence[Row] = ()


class Following:
    """Goes the way of a good attempt but for one step.

    After the swap it does what the good attempt did wherever that was in the same state, and on a
    page of the same place its next action that can be taken; elsewhere it does what the bad attempt
    did there, so that a detour leads back as it did. Where neither helps, the way is lost.

    Args:
        way: Steps of the good attempt.
        swap: What is done instead; ``None``: nothing, the way itself is gone.
    """

    name = "following"

    def __init__(self, way: Sequence[Row], swap: Swap | None = None) -> None:
        self._way, self._swap = way, swap
        self._known = {row.state: place for place, row in enumerate(way)}
        self._after = {row.state: row.action for row in swap.after} if swap else {}
        self._left = len(way) + len(self._after) + _SPARE
        self._at = 0
        self._is_swapped = swap is None

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """The episode starts; nothing is drawn."""

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt as it is."""
        return prompt

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """The next step of the way.

        Raises:
            Lost: If neither attempt knows one.
        """
        self._left -= 1
        can = {candidate.action for candidate in proposal.candidates}
        action = self._next(state, can) if self._left >= 0 else None
        if action is None or (can and action not in can):
            raise Lost(f"no way on from {state.place or state.text!r}")
        return Decision(action, (), mode="off", reason="off")

    def _next(self, state: State, can: set[str]) -> str | None:
        if self._swap is not None and not self._is_swapped and self._at == self._swap.place:
            self._is_swapped = True
            self._at += 1
            return self._swap.action
        at = self._known.get(state) if self._is_swapped else self._at
        if at is None:
            at = next(
                (
                    place
                    for place in range(self._at, len(self._way))
                    if self._way[place].state.place == state.place
                    and self._way[place].action in can
                ),
                None,
            )
        if at is None:
            return self._after.get(state)
        if at >= len(self._way):
            return None
        self._at = at + 1
        return self._way[at].action

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """Nothing follows from it."""

    def learn(self, episode: Episode) -> Receipt:
        """Nothing is learned: it was played to see what a step costs."""
        return Receipt(episode.key, 0, 0)
