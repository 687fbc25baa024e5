"""The memory's graph: which action led where and paid what, kept up as episodes are learned.

A *cell* is one action in one state. Its value is its reward plus the discounted value of the
states it led to; a state is worth its best cell. *Novelty* travels the same edges: a state is as
new as its newest action, or as what lies behind its actions, discounted.

Only what an episode touched is recomputed, and then what leads there, so that learning costs the
same however much is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

_SETTLED = 1e-3  # smaller changes of V (parts of the reward range) and of U stay where they are
_SWEEP = 100  # states recomputed beyond an episode's own; the rest waits for the next episode
_ROWS = 8
_INFINITE = float("inf")


class Location:
    """A mean that one voice cannot move: from three on, the extremes count as their neighbors.

    ``(sum - max - min + second max + second min) / n``: a value that only one source has seen does
    not count against two that agree. Add values one source at a time.
    """

    __slots__ = ("high", "higher", "low", "lower", "mean", "n", "total")

    def __init__(self) -> None:
        self.n, self.total, self.mean = 0, 0.0, 0.0
        self.high = self.higher = -_INFINITE
        self.low = self.lower = _INFINITE

    def add(self, x: float) -> None:
        """One more source says ``x``; ``mean`` is the robust mean from here on."""
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
        within = self.total
        if self.n >= 3:
            within += self.high + self.low - self.higher - self.lower
        self.mean = within / self.n


class Cell:
    """One action in one state.

    Attributes:
        visits: Rows.
        ends: Rows that ended their task.
        reward: What it pays the first time in an episode; ``reward.n`` counts its sources.
        again: What it pays after that (a coin is picked up once); ``None`` if never taken twice.
        ret: Return-to-go.
        next: State it led to → how often.
        usual: The state it led to most often (the first among equals); ``None`` if to none.
        seen: Rows whose end or next state is known.
        rows: Ids of the newest rows.
    """

    __slots__ = (
        "action", "again", "ends", "next", "ret", "reward", "rows", "seen", "usual", "visits",
    )  # fmt: skip

    def __init__(self, action: str) -> None:
        self.action = action
        self.visits = self.ends = self.seen = 0
        self.reward, self.ret = Location(), Location()
        self.again: Location | None = None
        self.next: dict[int, int] = {}
        self.usual: int | None = None
        self.rows: tuple[int, ...] = ()

    def lead(self, state: int) -> bool:
        """It led to ``state`` once more; whether that is new."""
        times = self.next[state] = self.next.get(state, 0) + 1
        if self.usual is None or times > self.next[self.usual]:
            self.usual = state
        elif times == self.next[self.usual]:
            self.usual = max(self.next, key=self.next.__getitem__)
        return times == 1

    def onward(self, novelty: Callable[[int], float]) -> float:
        """Novelty of its usual next state, times the share of times the task went on.

        So what a rare accident opened hardly counts. 0 if it led to no state.

        Args:
            novelty: U of a state id.
        """
        if self.usual is None:
            return 0.0
        return novelty(self.usual) * (self.seen - self.ends) / self.seen


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
        self._before: dict[int, list[int]] = {}
        self._value: dict[int, float] = {}
        self._novelty: dict[int, float] = {}
        self._own: dict[int, float] = {}
        self._waiting: deque[int] = deque()
        self._queued: set[int] = set()
        self._highest: list[float] = []

    def cells(self, state: int) -> Collection[Cell]:
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
            cells = self._cells.setdefault(step.state, {})
            cell = cells.get(step.action)
            if cell is None:
                cell = cells[step.action] = Cell(step.action)
            cell.visits += 1
            cell.ends += step.terminal
            cell.seen += step.terminal + (step.next is not None)
            cell.rows = (*cell.rows[1 - _ROWS :], step.row)
            if step.next is not None and cell.lead(step.next):
                self._before.setdefault(step.next, []).append(step.state)
                self._value.setdefault(step.next, 0.0)
                self._novelty.setdefault(step.next, 1.0)
            self._own[step.state] = step.novelty
            gains = paid.get((step.state, step.action))
            if gains is None:
                cell.reward.add(step.reward)
                paid[step.state, step.action] = [step.ret]
            else:
                cell.again = cell.again or Location()
                cell.again.add(step.reward)
                gains.append(step.ret)
        for (state, action), gains in paid.items():
            self._cells[state][action].ret.add(sum(gains) / len(gains))
        self._stretch(max((abs(s.reward) for s in steps), default=0.0))
        self._settle(dict.fromkeys(step.state for step in reversed(steps)))

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
        """New V and U of a state; whether they moved enough to tell those before it."""
        value, novelty, gamma = self._value.__getitem__, self._novelty.__getitem__, self.gamma
        best, newest = -_INFINITE, self._own.get(state, 0.0)
        for cell in self._cells[state].values():
            q = backed_up(cell, gamma, value)
            if q > best:
                best = q
            beyond = self.onward * cell.onward(novelty)
            if beyond > newest:
                newest = beyond
        moved = abs(best - self.value(state)) > _SETTLED * self.reach
        moved = moved or abs(newest - self.novelty(state)) > _SETTLED
        self._value[state], self._novelty[state] = best, newest
        return moved


def backed_up(cell: Cell, gamma: float, value: Callable[[int], float]) -> float:
    """``Q = R + gamma * E[V(next)]`` of a cell; a task's end is worth 0.

    Args:
        value: V of a state id.
    """
    if not cell.next:
        return cell.reward.mean
    total = 0.0
    for state, times in cell.next.items():
        total += times * value(state)
    return cell.reward.mean + gamma * total / cell.seen
