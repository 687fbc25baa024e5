"""The overlay: what the present episode has shown so far, on top of the memory's graph.

It counts at once and is never written; when the episode is learned, the memory takes it in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jitrl.core.graph import Graph, backed_up

_ROUNDS = 3  # backward sweeps over the episode's own states after each step
_SETTLED = 1e-3


@dataclass(frozen=True, slots=True)
class Taken:
    """One (state, action) that this episode has taken; ``reward`` is 0 where none was shown."""

    state: int
    action: str
    times: int
    reward: float


class Overlay:
    """Steps of one running episode. States are the memory's ids, or negative ones of its own."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._times: dict[tuple[int, str], int] = {}
        self._reward: dict[tuple[int, str], float] = {}
        self._next: dict[tuple[int, str], int | None] = {}
        self._actions: dict[int, dict[str, None]] = {}
        self._own: dict[int, float] = {}
        self._order: dict[int, None] = {}
        self._value: dict[int, float] = {}
        self._novelty: dict[int, float] = {}
        self._repeats: dict[str, int] = {}
        self.history: list[tuple[int, str, int | None, float, float | None]] = []

    @property
    def repeats(self) -> Mapping[str, int]:
        """How often each action was taken, in any state."""
        return self._repeats

    def taken(self) -> Iterator[Taken]:
        """What was taken so far."""
        for (state, action), times in self._times.items():
            yield Taken(state, action, times, self._reward.get((state, action), 0.0))

    def times(self, state: int, action: str) -> int:
        """How often ``action`` was taken in ``state``."""
        return self._times.get((state, action), 0)

    def value(self, state: int) -> float:
        """V as the episode leaves it."""
        known = self._value.get(state)
        return self._graph.value(state) if known is None else known

    def novelty(self, state: int) -> float:
        """U as the episode leaves it."""
        known = self._novelty.get(state)
        return self._graph.novelty(state) if known is None else known

    def onward(self, state: int, action: str) -> float:
        """Novelty of the state that the action leads to; 0 where that is not known."""
        after = self._after(state, action)
        return 0.0 if after is None else self.novelty(after)

    def q(self, state: int, action: str) -> float:
        """Q of a known cell: what was taken in this episode is not expected to pay again."""
        cell = self._graph.cell(state, action)
        if (state, action) in self._times:
            after = self._next.get((state, action))
            reward = cell.again.mean if cell else 0.0
            return reward + (0.0 if after is None else self._graph.gamma * self.value(after))
        return backed_up(cell, self._graph.gamma, self.value) if cell else 0.0

    def step(
        self, state: int, action: str, after: int | None, novelty: float, reward: float | None
    ) -> None:
        """The episode took a step.

        An action whose known effect did not come (the floor was slippery) does not count as taken.

        Args:
            after: State that followed, if any is known.
            novelty: How new the newest action is that ``state`` still holds.
            reward: Centred, if it was shown.
        """
        self.history.append((state, action, after, novelty, reward))
        cell = self._graph.cell(state, action)
        self._own[state] = novelty
        expected = max(cell.next.values(), default=0) if cell else 0
        came = cell.next.get(after, 0) if cell and after is not None else 0
        if after is None or 2 * came >= expected:
            self._times[state, action] = self._times.get((state, action), 0) + 1
            self._repeats[action] = self._repeats.get(action, 0) + 1
            self._next[state, action] = after
            self._actions.setdefault(state, {})[action] = None
            if reward is not None:
                self._reward.setdefault((state, action), reward)
        self._order.pop(state, None)
        self._order[state] = None
        self._settle()

    def _after(self, state: int, action: str) -> int | None:
        if (state, action) in self._next:
            return self._next[state, action]
        cell = self._graph.cell(state, action)
        return cell.usual if cell else None

    def _settle(self) -> None:
        for _ in range(_ROUNDS):
            moved = 0.0
            for state in reversed(self._order):
                best, newest = -float("inf"), self._own[state]
                here = {c.action: None for c in self._graph.cells(state)}
                for action in here | self._actions.get(state, {}):
                    best = max(best, self.q(state, action))
                    newest = max(newest, self._graph.onward * self.onward(state, action))
                best = 0.0 if best == -float("inf") else best
                moved = max(moved, abs(best - self.value(state)), abs(newest - self.novelty(state)))
                self._value[state], self._novelty[state] = best, newest
            if moved < _SETTLED:
                return
