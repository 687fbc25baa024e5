"""A lane: calls that run one after the other in a thread, and side by side only past a slow one.

Calls that compute hold Python's interpreter lock: threads of them that run side by side get less
done than one, and each answer takes longer. So there is another thread only while the calls that
run are held up, as where a memory is read again, or say that they take long, as where lessons are
fitted.

What nobody waits for yet is done in small pieces, as soon as there is nothing else to do for a
moment.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

_log = logging.getLogger(__name__)

Call = Callable[[], Sequence[Callable[[], None]] | None]
"""Returns what is left of it and takes long, so that others may pass; ``None`` if nothing is."""


class _Waiting(NamedTuple):
    call: Call
    key: str | None
    is_piece: bool = False


class _Running(NamedTuple):
    began: float
    key: str | None
    is_piece: bool = False


class Lane:
    """Runs calls in the order they came. Safe for threads.

    Args:
        name: Of its threads.
        most: Threads at once.
        patience: Seconds that a call may run before another one may pass it.
        idle: Seconds after which a thread that has nothing to do ends, unless it is the last.
        pause: Seconds without a call after which a piece of what is done later may begin.
    """

    def __init__(
        self,
        name: str,
        most: int,
        *,
        patience: float = 0.1,
        idle: float = 1.0,
        pause: float = 0.003,
    ) -> None:
        self._name, self._most, self._patience, self._idle = name, most, patience, idle
        self._pause, self._last = pause, -math.inf  # when something ended that others wait for
        self._calls: deque[_Waiting] = deque()
        self._later: dict[str, Iterator[None]] = {}
        self._turn = threading.Condition()
        self._running: dict[int, _Running] = {}  # by thread
        self._threads = self._waiting = self._held = 0
        self._is_over = False

    def submit(self, call: Call, key: str | None = None) -> None:
        """Have ``call`` run; what it raises is logged.

        Args:
            key: What it needs for itself: it passes no call of the same key, however slow.

        Raises:
            RuntimeError: If the lane was closed.
        """
        with self._turn:
            if self._is_over:
                raise RuntimeError(f"lane {self._name!r} was closed")
            self._calls.append(_Waiting(call, key))
            self._wake()

    def later(self, key: str, pieces: Iterator[None]) -> None:
        """Have ``pieces`` done one by one while no call runs or waits; what they raise is logged.

        What is left of others under the same key is dropped, and all that is left at the end.
        """
        with self._turn:
            if not self._is_over:
                self._later[key] = pieces
                self._wake()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Begin no piece of what is done later while the block runs, which others wait for."""
        with self._turn:
            self._held += 1
        try:
            yield
        finally:
            with self._turn:
                self._held -= 1
                self._last = time.monotonic()
                if self._later:
                    self._wake()

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Let pieces begin while the block runs, inside one that holds the lane."""
        with self._turn:
            self._held -= 1
            if self._later:
                self._wake()
        try:
            yield
        finally:
            with self._turn:
                self._held += 1

    def close(self, patience: float | None = None) -> None:
        """Wait for the calls that run; those that wait are dropped. May be called twice.

        Args:
            patience: Seconds to wait; ``None``: for as long as they run.
        """
        with self._turn:
            self._is_over = True
            self._calls.clear()
            self._later.clear()
            self._turn.notify_all()
            self._turn.wait_for(lambda: not self._running, patience)

    def _wake(self) -> None:
        """Have a thread look for a call, another one if all are held up."""
        if self._waiting:
            self._turn.notify()
        elif self._threads == 0 or (
            self._threads < self._most
            and len(self._running) == self._threads
            and self._is_held_up()
        ):
            self._threads += 1
            threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _is_held_up(self) -> bool:
        """Whether each call that runs has been at it for too long."""
        late = time.monotonic() - self._patience
        return all(running.began < late for running in self._running.values())

    def _work(self) -> None:
        while (call := self._next()) is not None:
            try:
                for rest in call() or ():
                    self._let_pass()
                    rest()
            except Exception:  # noqa: BLE001 - the thread serves all others, too
                _log.exception("a call failed in lane %r", self._name)

    def _let_pass(self) -> None:
        """What this thread runs takes long."""
        me = threading.get_ident()
        with self._turn:
            self._running[me] = self._running[me]._replace(began=-math.inf)
            if self._calls:
                self._wake()

    def _next(self) -> Call | None:
        """The next call, once there is one; ``None`` if this thread is to end."""
        me = threading.get_ident()
        with self._turn:
            if (ended := self._running.pop(me, None)) is not None:
                if not ended.is_piece:
                    self._last = time.monotonic()
                if self._is_over:
                    self._turn.notify_all()
            self._waiting += 1
            while (found := self._first() or self._piece()) is None and not self._is_over:
                is_quiet = not self._turn.wait(self._rest())
                if is_quiet and self._threads > 1 and not self._calls and not self._later:
                    break
            self._waiting -= 1
            if found is None:
                self._threads -= 1
                return None
            self._running[me] = _Running(time.monotonic(), found.key, found.is_piece)
            return found.call

    def _first(self) -> _Waiting | None:
        """The first call that may run now; it waits no more."""
        if not (self._calls and self._is_held_up()):
            return None
        taken = {running.key for running in self._running.values()} - {None}
        found = next((waiting for waiting in self._calls if waiting.key not in taken), None)
        if found is not None:
            self._calls.remove(found)
        return found

    def _piece(self) -> _Waiting | None:
        """The next piece of what is done later, if it may be done now."""
        if not self._may_begin() or time.monotonic() < self._last + self._pause:
            return None
        key, pieces = next(iter(self._later.items()))
        return _Waiting(partial(self._advance, key, pieces), key, is_piece=True)

    def _may_begin(self) -> bool:
        """Whether a piece of what is done later may begin, once nothing came for a moment."""
        return bool(self._later) and not (self._held or self._calls or self._running)

    def _rest(self) -> float:
        """Seconds after which to look again though nobody wakes the thread."""
        if not self._may_begin():
            return self._idle
        return max(self._last + self._pause - time.monotonic(), 0.0)

    def _advance(self, key: str, pieces: Iterator[None]) -> None:
        is_over = True
        try:
            for _ in pieces:
                is_over = False
                break
        finally:
            with self._turn:
                if is_over and self._later.get(key) is pieces:
                    del self._later[key]
