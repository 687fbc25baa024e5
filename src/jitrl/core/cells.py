"""Cells: what was seen of each action in each state.

A decision reads hundreds of cells at once, scattered over a large memory. So the numbers it needs
lie together, ``WIDTH`` of them for each cell, and what only learning needs lies apart.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from operator import mul

import numpy as np

from jitrl.types import ROWS

VISITS, SOURCES, ENDS, SEEN, REWARD, RET, Q, ONWARD = range(8)
"""Places of a cell's numbers: rows; distinct sources; rows that ended their task; rows whose end or
next state is known; what it pays the first time in an episode; return-to-go; backed-up value, and
novelty that lies behind it, both as of the last time its state was recomputed."""
WIDTH = 8
"""Numbers of a cell."""

_INFINITE = float("inf")
_NONE = -1


class Means:
    """Means that one voice cannot move.

    From three values on, the extremes count as their neighbors:
    ``(second max + … + second min) / n``, the second ones twice. A value that only one source has
    seen does not count against two that agree. Add values one source at a time.
    """

    __slots__ = ("_high", "_higher", "_low", "_lower", "_n", "_within")

    def __init__(self) -> None:
        self._n, self._within = array("i"), array("d")
        self._high, self._higher = array("d"), array("d")
        self._low, self._lower = array("d"), array("d")

    def start(self) -> int:
        """One more mean, of nothing yet; returns its place."""
        self._n.append(0)
        self._within.append(0.0)
        for highest in (self._high, self._higher):
            highest.append(-_INFINITE)
        for lowest in (self._low, self._lower):
            lowest.append(_INFINITE)
        return len(self._n) - 1

    def add(self, i: int, x: float) -> float:
        """One more source says ``x``; returns the mean."""
        n = self._n[i] = self._n[i] + 1
        high, low = self._higher[i], self._lower[i]
        # The extremes are never part of the sum: a huge one would take its digits along.
        if n >= 3:
            self._within[i] += high if x > high else low if x < low else x
        if x > high:
            self._high[i], self._higher[i] = high, x
        elif x > self._high[i]:
            self._high[i] = x
        if x < low:
            self._low[i], self._lower[i] = low, x
        elif x < self._low[i]:
            self._low[i] = x
        if n >= 3:
            return (self._within[i] + self._high[i] + self._low[i]) / n
        return x if n == 1 else (self._higher[i] + self._lower[i]) / 2.0


class Cells:
    """One action in one state each; a cell is a place here, counted from 0.

    Attributes:
        action: Canonical text of each; equal texts are one object.
        usual: The state it led to most often (the first among equals); -1 if to none.
    """

    def __init__(self) -> None:
        self.action: list[str] = []
        self.usual = array("i")
        self._texts: dict[str, str] = {}
        self._numbers, self._rows = array("d"), array("q")
        self._reward, self._ret = Means(), Means()
        self._times = array("i")
        self._next: dict[int, dict[int, int]] = {}  # of cells that led to several states
        self._again = Means()
        self._again_of: dict[int, tuple[int, float]] = {}

    def number(self, i: int, which: int) -> float:
        """One number of a cell, ``VISITS`` … ``ONWARD``."""
        return self._numbers[WIDTH * i + which]

    def numbers(self, cells: np.ndarray) -> np.ndarray:
        """All numbers of ``cells``, shape [WIDTH, K]."""
        return _columns(self._numbers, WIDTH, cells)

    def rows(self, cells: np.ndarray) -> np.ndarray:
        """Ids of the newest rows of ``cells``, newest last, 0 for none; shape [ROWS, K]."""
        return _columns(self._rows, ROWS, cells)

    def start(self, action: str) -> int:
        """A new cell, of which nothing was seen yet; returns its place."""
        self.action.append(self._texts.setdefault(action, action))
        self._numbers.extend((0.0,) * WIDTH)
        self._rows.extend((0,) * ROWS)
        self.usual.append(_NONE)
        self._times.append(0)
        self._reward.start()
        return self._ret.start()

    def visit(self, i: int, row: int, after: int | None, terminal: bool) -> bool:
        """Count one row of a cell; whether it led to a state that it had not led to before."""
        numbers, at, newest = self._numbers, WIDTH * i, ROWS * i
        numbers[at + VISITS] += 1.0
        if terminal:
            numbers[at + ENDS] += 1.0
        if terminal or after is not None:
            numbers[at + SEEN] += 1.0
        self._rows[newest : newest + ROWS - 1] = self._rows[newest + 1 : newest + ROWS]
        self._rows[newest + ROWS - 1] = row
        return after is not None and self._lead(i, after)

    def _lead(self, i: int, state: int) -> bool:
        usual, several = self.usual[i], self._next.get(i)
        if several is None:
            if usual in (_NONE, state):
                self.usual[i], self._times[i] = state, self._times[i] + 1
                return usual == _NONE
            several = self._next[i] = {usual: self._times[i]}
        times = several[state] = several.get(state, 0) + 1
        if times > self._times[i]:
            self.usual[i], self._times[i] = state, times
        elif times == self._times[i]:
            self.usual[i] = max(several, key=several.__getitem__)
        return times == 1

    def paid(self, i: int, reward: float) -> None:
        """A source got ``reward`` for it, the first time in an episode."""
        self._numbers[WIDTH * i + SOURCES] += 1.0
        self._numbers[WIDTH * i + REWARD] = self._reward.add(i, reward)

    def returned(self, i: int, ret: float) -> None:
        """A source's return-to-go from it, the mean over an episode's visits."""
        self._numbers[WIDTH * i + RET] = self._ret.add(i, ret)

    def paid_again(self, i: int, reward: float) -> None:
        """An episode took it once more, and got ``reward``."""
        known = self._again_of.get(i)
        at = self._again.start() if known is None else known[0]
        self._again_of[i] = at, self._again.add(at, reward)

    def again(self, i: int) -> float:
        """What it pays after the first time in an episode (a coin is picked up once); 0 untried."""
        return self._again_of.get(i, (0, 0.0))[1]

    def next(self, i: int) -> Iterable[tuple[int, int]]:
        """States it led to, with how often, in the order they were first seen."""
        several = self._next.get(i)
        if several is not None:
            return several.items()
        return () if self.usual[i] == _NONE else ((self.usual[i], self._times[i]),)

    def led(self, i: int, state: int) -> int:
        """How often it led to ``state``."""
        several = self._next.get(i)
        if several is not None:
            return several.get(state, 0)
        return self._times[i] if self.usual[i] == state else 0

    def leading_to(self, cells: Sequence[int], states: Container[int]) -> list[int]:
        """Places in ``cells`` of those that led to one of ``states``."""
        usual, several = self.usual, self._next
        return [
            k
            for k, i in enumerate(cells)
            if usual[i] in states or (i in several and any(s in states for s in several[i]))
        ]

    def revalued(
        self, i: int, gamma: float, value: Mapping[int, float], before: Callable[[int], float]
    ) -> float:
        """Q where some states are worth other than when it was backed up.

        Args:
            value: V of those states.
            before: V of a state as it was then.
        """
        several = self._next.get(i)
        if several is None:
            changed: Iterable[int] = (self.usual[i],) if self.usual[i] in value else ()
        else:
            changed = value.keys() & several.keys()
        q = self.number(i, Q)
        for state in changed:
            share = self.led(i, state) / self.number(i, SEEN)
            q += gamma * share * (value[state] - before(state))
        return q

    def beyond(self, i: int, novelty: Callable[[int], float]) -> float:
        """Novelty of its usual next state, times the share of times the task went on.

        So what a rare accident opened hardly counts. 0 if it led to no state.

        Args:
            novelty: U of a state id.
        """
        if self.usual[i] == _NONE:
            return 0.0
        seen = self.number(i, SEEN)
        return novelty(self.usual[i]) * (seen - self.number(i, ENDS)) / seen

    def back_up(
        self, here: Iterable[int], gamma: float, value: array[float], novelty: array[float]
    ) -> tuple[float, float]:
        """Recompute ``Q`` and ``ONWARD`` of a state's cells; returns the highest of each.

        ``Q = R + gamma * E[V(next)]``, where a task's end is worth 0; for ``ONWARD`` see ``beyond``
        (written out here, as this runs for a hundred states an episode).

        Args:
            here: At least one cell.
            value, novelty: V and U by state id.
        """
        best, newest = -_INFINITE, 0.0
        numbers, usual, several, worth = self._numbers, self.usual, self._next, value.__getitem__
        for i in here:
            at, state = WIDTH * i, usual[i]
            q, beyond = numbers[at + REWARD], 0.0
            if state != _NONE:
                seen, after = numbers[at + SEEN], several.get(i)
                if after is None:
                    ahead = self._times[i] * value[state]
                else:
                    ahead = sum(map(mul, after.values(), map(worth, after)))
                q += gamma * ahead / seen
                beyond = novelty[state] * (seen - numbers[at + ENDS]) / seen
            numbers[at + Q], numbers[at + ONWARD] = q, beyond
            if q > best:
                best = q
            if beyond > newest:
                newest = beyond
        return best, newest


def _columns(numbers: array[float] | array[int], width: int, cells: np.ndarray) -> np.ndarray:
    """``width`` numbers of each cell, shape [width, K]."""
    if not len(cells):
        return np.zeros((width, 0), numbers.typecode)
    every = np.frombuffer(numbers, numbers.typecode).reshape(-1, width)
    return np.ascontiguousarray(every.take(cells, axis=0).T)
