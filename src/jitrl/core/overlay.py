"""The overlay: what the present episode has shown so far, on top of the memory's graph.

It counts at once and is never written; when the episode is learned, the memory takes it in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jitrl.core.graph import Graph

_SWEEP = 30  # states recomputed after a step, beyond three times those visited, at most
_SETTLED = 1e-6  # smaller changes of V and U stay where they are


@dataclass(frozen=True, slots=True)
class Taken:
    """One (state, action) that this episode has taken.

    Attributes:
        reward: The first one that was shown, centred; ``None`` where none was.
    """

    state: int
    action: str
    times: int
    reward: float | None


_NOTHING: Mapping[str, Taken] = {}


class Overlay:
    """Steps of one running episode. States are the memory's ids, or negative ones of its own."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._taken: dict[int, dict[str, Taken]] = {}
        self._after: dict[tuple[int, str], int | None] = {}
        self._before: dict[int, dict[int, None]] = {}
        self._own: dict[int, float] = {}
        self._value: dict[int, float] = {}
        self._novelty: dict[int, float] = {}
        self._repeats: dict[str, int] = {}

    @property
    def repeats(self) -> Mapping[str, int]:
        """How often each action was taken, in any state."""
        return self._repeats

    def states(self) -> list[int]:
        """States in which something was taken, in the order they were first left."""
        return list(self._taken)

    def taken_in(self, state: int) -> Mapping[str, Taken]:
        """Action → what was taken in ``state`` so far."""
        return self._taken.get(state, _NOTHING)

    def value(self, state: int) -> float:
        """V as the episode leaves it."""
        known = self._value.get(state)
        return self._graph.value(state) if known is None else known

    def novelty(self, state: int) -> float:
        """U as the episode leaves it."""
        known = self._novelty.get(state)
        return self._graph.novelty(state) if known is None else known

    def onward(self, state: int, action: str, cell: int | None) -> float:
        """Novelty that lies behind the action; 0 where that is not known.

        Args:
            cell: What the graph knows of it.
        """
        if (state, action) in self._after:
            after = self._after[state, action]
            return 0.0 if after is None else self.novelty(after)
        return 0.0 if cell is None else self._graph.cells.beyond(cell, self.novelty)

    def q(self, state: int, action: str, cell: int | None) -> float:
        """Q of an action: what was taken in this episode is not expected to pay again."""
        graph = self._graph
        if (state, action) in self._after:
            after = self._after[state, action]
            reward = 0.0 if cell is None else graph.cells.again(cell)
            return reward + (0.0 if after is None else graph.gamma * self.value(after))
        if cell is None:
            return 0.0
        return graph.cells.revalued(cell, graph.gamma, self._value, graph.value)

    def changed(self, cells: Sequence[int], states: Sequence[int]) -> Iterable[int]:
        """Places of those cells whose Q or onward novelty the episode has changed.

        Args:
            states: Those of the ``cells``.
        """
        here = [k for k, state in enumerate(states) if state in self._own]
        return dict.fromkeys((*here, *self._graph.cells.leading_to(cells, self._own)))

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
        graph = self._graph
        if state not in self._own:
            for known in graph.at(state).values():
                for following, _ in graph.cells.next(known):
                    self._before.setdefault(following, {})[state] = None
        self._own[state] = novelty
        cell = graph.at(state).get(action)
        came = expected = 0
        if cell is not None and after is not None:
            came = graph.cells.led(cell, after)
            expected = graph.cells.led(cell, graph.cells.usual[cell])
        if 2 * came >= expected:
            self._count(state, action, reward)
            self._after[state, action] = after
            if after is not None:
                self._before.setdefault(after, {})[state] = None
        self._settle(state)

    def _count(self, state: int, action: str, reward: float | None) -> None:
        here = self._taken.setdefault(state, {})
        known = here.get(action)
        times = known.times + 1 if known else 1
        shown = reward if known is None or known.reward is None else known.reward
        here[action] = Taken(state, action, times, shown)
        self._repeats[action] = self._repeats.get(action, 0) + 1

    def _settle(self, state: int) -> None:
        """Recompute ``state``, and what leads to it among the states of this episode."""
        waiting = deque([state])
        for _ in range(_SWEEP + 3 * len(self._own)):
            if not waiting:
                return
            state = waiting.popleft()
            if self._recompute(state):
                waiting += [s for s in self._before.get(state, ()) if s not in waiting]

    def _recompute(self, state: int) -> bool:
        """New V and U of a state of this episode; whether they moved."""
        values, newest, onward = [], self._own[state], self._graph.onward
        cells = self._graph.at(state)
        for action in dict.fromkeys((*cells, *self.taken_in(state))):
            cell = cells.get(action)
            values.append(self.q(state, action, cell))
            newest = max(newest, onward * self.onward(state, action, cell))
        best = max(values, default=0.0)
        moved = max(abs(best - self.value(state)), abs(newest - self.novelty(state)))
        self._value[state], self._novelty[state] = best, newest
        return moved > _SETTLED
