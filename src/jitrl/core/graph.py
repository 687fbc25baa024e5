"""The memory's graph: which action led where and paid what, kept up as episodes are learned.

A *cell* is one action in one state. Its value is its reward plus the discounted value of the
states it led to; a state is worth its best cell. *Novelty* travels the same edges: a state is as
new as its newest action, or as what lies behind its actions, discounted.

Only what an episode touched is recomputed, and then what leads there, so that learning costs the
same however much is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_SETTLED = (
    1e-3  # changes of V (in parts of the reward range) and of U below this stay where they are
)
_SWEEP = 400  # states recomputed for one episode at most; the rest waits for the next episode
_ROWS = 8


class Location:
    """A mean that one voice cannot move: from three on, the extremes count as their neighbors.

    ``(sum - max - min + second max + second min) / n``: a value that only one source has seen does
    not count against two that agree. Add values one source at a time.
    """

    __slots__ = ("high", "higher", "low", "lower", "n", "total")

    def __init__(self) -> None:
        self.n, self.total = 0, 0.0
        self.high = self.higher = float("-inf")
        self.low = self.lower = float("inf")

    def add(self, x: float) -> None:
        """One more source says ``x``."""
        self.n += 1
        self.total += x
        if x > self.higher:
            self.high, self.higher = self.higher, x
        elif x > self.high:
            self.high = x
        if x < self.lower:
            self.low, self.lower = self.lower, x
        elif x < self.low:
            self.low = x

    @property
    def mean(self) -> float:
        """The robust mean; 0 before the first value."""
        if self.n < 3:
            return self.total / self.n if self.n else 0.0
        return (self.total - self.higher - self.lower + self.high + self.low) / self.n


class Cell:
    """One action in one state.

    ``reward`` is what it pays the first time in an episode, ``again`` what it pays after that: a
    coin is picked up once.
    """

    __slots__ = ("action", "again", "ends", "next", "ret", "reward", "rows", "sources", "visits")

    def __init__(self, action: str) -> None:
        self.action = action
        self.visits = self.sources = self.ends = 0
        self.reward, self.again, self.ret = Location(), Location(), Location()
        self.next: dict[int, int] = {}
        self.rows: tuple[int, ...] = ()

    @property
    def usual(self) -> int | None:
        """The state it led to most often (the first among equals); ``None`` if to none."""
        return max(self.next, key=self.next.__getitem__) if self.next else None


@dataclass(frozen=True, slots=True)
class Step:
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
    """Cells, values and novelty of one scope.

    Args:
        gamma: Discount of values.
        onward: Discount of novelty.
    """

    def __init__(self, gamma: float, onward: float) -> None:
        self.gamma, self.onward = gamma, onward
        self.reach = 0.0
        self._cells: dict[int, dict[str, Cell]] = {}
        self._before: dict[int, set[int]] = {}
        self._value: dict[int, float] = {}
        self._novelty: dict[int, float] = {}
        self._own: dict[int, float] = {}
        self._waiting: deque[int] = deque()
        self._queued: set[int] = set()
        self._highest: list[float] = []

    def cells(self, state: int) -> Iterable[Cell]:
        """Cells of a state, in the order they were first seen."""
        return self._cells.get(state, {}).values()

    def cell(self, state: int, action: str) -> Cell | None:
        """The cell, or ``None`` if nothing is known of it."""
        return self._cells.get(state, {}).get(action)

    def value(self, state: int) -> float:
        """V: return of the best known action; 0 for a state nothing is known of."""
        return self._value.get(state, 0.0)

    def novelty(self, state: int) -> float:
        """U in [0, 1]: newest thing here or beyond; 1 for a state nothing is known of."""
        return self._novelty.get(state, 1.0)

    def learn(self, steps: Sequence[Step]) -> None:
        """Take in one episode, and let its news travel backwards."""
        paid: dict[tuple[int, str], list[float]] = {}
        for step in steps:
            cell = self._cells.setdefault(step.state, {}).setdefault(step.action, Cell(step.action))
            cell.visits += 1
            cell.ends += step.terminal
            cell.rows = (*cell.rows[1 - _ROWS :], step.row)
            if step.next is not None:
                cell.next[step.next] = cell.next.get(step.next, 0) + 1
                self._before.setdefault(step.next, set()).add(step.state)
            self._own[step.state] = step.novelty
            gains = paid.get((step.state, step.action))
            if gains is None:
                cell.sources += 1
                cell.reward.add(step.reward)
                paid[step.state, step.action] = [step.ret]
            else:
                cell.again.add(step.reward)
                gains.append(step.ret)
        for (state, action), gains in paid.items():
            self._cells[state][action].ret.add(sum(gains) / len(gains))
        self._stretch(max((abs(s.reward) for s in steps), default=0.0))
        for step in reversed(steps):
            self._queue(step.state)
        self._settle()

    def _stretch(self, size: float) -> None:
        """The range of rewards that two episodes bear out (one, while there is only one)."""
        if size > 0.0:
            self._highest = sorted([*self._highest, size])[-2:]
            self.reach = self._highest[0]

    def _queue(self, state: int) -> None:
        if state not in self._queued:
            self._queued.add(state)
            self._waiting.append(state)

    def _settle(self) -> None:
        for _ in range(_SWEEP):
            if not self._waiting:
                return
            state = self._waiting.popleft()
            self._queued.discard(state)
            if self._recompute(state):
                for earlier in self._before.get(state, ()):
                    self._queue(earlier)

    def _recompute(self, state: int) -> bool:
        """New V and U of a state; whether they moved enough to tell those before it."""
        best, newest = -float("inf"), self._own.get(state, 0.0)
        for cell in self._cells[state].values():
            best = max(best, backed_up(cell, self.gamma, self.value))
            usual = cell.usual
            if usual is not None:
                newest = max(newest, self.onward * self.novelty(usual))
        moved = abs(best - self.value(state)) > _SETTLED * self.reach
        moved = moved or abs(newest - self.novelty(state)) > _SETTLED
        self._value[state], self._novelty[state] = best, newest
        return moved


def backed_up(
    cell: Cell, gamma: float, value: Callable[[int], float], *, again: bool = False
) -> float:
    """``Q = R + gamma * E[V(next)]`` of a cell; a task's end is worth 0.

    Args:
        value: V of a state id.
        again: Whether this episode has taken it before, so that it pays what it pays again.
    """
    reward = cell.again.mean if again else cell.reward.mean
    seen = cell.ends + sum(cell.next.values())
    if not seen:
        return reward
    return reward + gamma * sum(n * value(s) for s, n in cell.next.items()) / seen
