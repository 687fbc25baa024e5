"""The memory's graph: which action led where and paid what, kept up as episodes are learned.

A *cell* is one action in one state. Its value is its reward plus the discounted value of the
states it led to; a state is worth its best cell. *Novelty* travels the same edges: a state is as
new as its newest action, or as what lies behind its actions, discounted.

Only what an episode touched is recomputed, and then what leads there, so that learning costs the
same however much is known.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jitrl.core.cells import Cells

_SETTLED = 1e-3  # smaller changes of V (parts of the reward range) and of U stay where they are
_SWEEP = 50  # states recomputed beyond an episode's own; the rest waits for the next episode
_NOTHING: Mapping[str, int] = {}


class Step(NamedTuple):
    """One learned step; ``state`` and ``next`` are ids, rewards and returns are centred.

    Attributes:
        next: State that followed; ``None`` at the end or where it is unknown.
        terminal: Whether the task ended here.
        novelty: How new the newest action was that the state still held, in [0, 1].
        row: Id of the memory row.
    """

    state: int
    action: str
    reward: float
    ret: float
    next: int | None
    terminal: bool
    novelty: float
    row: int = 0


class Graph:
    """Cells, values and novelty of one scope. State ids count from 0.

    Args:
        gamma: Discount of values.
        onward: Discount of novelty.
    """

    def __init__(self, gamma: float, onward: float) -> None:
        self.gamma, self.onward = gamma, onward
        self.reach = 0.0
        self.cells = Cells()
        self._at: dict[int, dict[str, int]] = {}
        self._before: dict[int, array[int]] = {}
        self._value, self._novelty, self._own = array("d"), array("d"), array("d")
        self._waiting: deque[int] = deque()
        self._queued: set[int] = set()
        self._highest: list[float] = []

    def at(self, state: int) -> Mapping[str, int]:
        """Action → cell of a state, in the order they were first seen."""
        return self._at.get(state, _NOTHING)

    def value(self, state: int) -> float:
        """V: return of the best known action; 0 for a state nothing is known of."""
        return self._value[state] if 0 <= state < len(self._value) else 0.0

    def novelty(self, state: int) -> float:
        """U in [0, 1]: newest thing here or beyond; 1 for a state nothing is known of."""
        return self._novelty[state] if 0 <= state < len(self._novelty) else 1.0

    def learn(self, steps: Sequence[Step]) -> None:
        """Take in one episode, and let its news travel backwards."""
        cells = self.cells
        paid: dict[int, list[float]] = {}
        for state, action, reward, ret, after, terminal, novelty, row in steps:
            self._make_room(state if after is None else max(state, after))
            here = self._at.setdefault(state, {})
            cell = here.get(action)
            if cell is None:
                cell = here[action] = cells.start(action)
            if cells.visit(cell, row, after, terminal):
                assert after is not None
                self._before.setdefault(after, array("i")).append(state)
            self._own[state] = novelty
            gains = paid.get(cell)
            if gains is None:
                cells.paid(cell, reward)
                paid[cell] = [ret]
            else:
                cells.paid_again(cell, reward)
                gains.append(ret)
        for cell, gains in paid.items():
            cells.returned(cell, sum(gains) / len(gains))
        self._stretch(max((abs(s.reward) for s in steps), default=0.0))
        self._settle(dict.fromkeys(step.state for step in reversed(steps)))

    def _make_room(self, state: int) -> None:
        """Columns reach up to ``state``."""
        for column, unknown in ((self._value, 0.0), (self._novelty, 1.0), (self._own, 0.0)):
            if state >= len(column):
                column.extend([unknown] * (state + 1 - len(column)))

    def _stretch(self, size: float) -> None:
        """The range of rewards that two episodes bear out (one, while there is only one)."""
        if size > 0.0:
            self._highest = sorted([*self._highest, size])[-2:]
            self.reach = self._highest[0]

    def _settle(self, fresh: Iterable[int]) -> None:
        """Recompute the ``fresh`` states, then what leads there and what still waits."""
        waiting, queued = self._waiting, self._queued
        ahead = list(fresh)
        queued.update(ahead)
        waiting.extendleft(reversed(ahead))
        left = len(ahead) + _SWEEP
        while left and waiting:
            state = waiting.popleft()
            if state not in queued:
                continue  # it came up earlier, as a fresh one
            queued.discard(state)
            left -= 1
            if self._recompute(state):
                for earlier in self._before.get(state, ()):
                    if earlier not in queued:
                        queued.add(earlier)
                        waiting.append(earlier)

    def _recompute(self, state: int) -> bool:
        """New Q, V and U of a state; whether they moved enough to tell those before it."""
        value, novelty = self._value, self._novelty
        best, beyond = self.cells.back_up(self._at[state].values(), self.gamma, value, novelty)
        newest = max(self._own[state], self.onward * beyond)
        moved = abs(best - value[state]) > _SETTLED * self.reach
        moved = moved or abs(newest - novelty[state]) > _SETTLED
        value[state], novelty[state] = best, newest
        return moved
