"""A lane: calls that run one after the other in a thread, and side by side only past a slow one.

Calls that compute hold Python's interpreter lock: threads of them that run side by side get less
done than one, and each answer takes longer. So there is another thread only while the calls that
run are held up, as where a memory is read again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

_log = logging.getLogger(__name__)


class Lane:
    """Runs calls in the order they came. Safe for threads.

    Args:
        name: Of its threads.
        most: Threads at once.
        patience: Seconds that a call may run before another one may pass it.
        idle: Seconds after which a thread that has nothing to do ends, unless it is the last.
    """

    def __init__(self, name: str, most: int, *, patience: float = 0.1, idle: float = 1.0) -> None:
        self._name, self._most, self._patience, self._idle = name, most, patience, idle
        self._calls: deque[Callable[[], None]] = deque()
        self._turn = threading.Condition()
        self._running: dict[int, float] = {}  # thread → when its call began
        self._threads = self._waiting = 0
        self._is_over = False

    def submit(self, call: Callable[[], None]) -> None:
        """Have ``call`` run; what it raises is logged.

        Raises:
            RuntimeError: If the lane was closed.
        """
        with self._turn:
            if self._is_over:
                raise RuntimeError(f"lane {self._name!r} was closed")
            self._calls.append(call)
            if self._waiting:
                self._turn.notify()
            elif self._threads == 0 or (self._threads < self._most and self._is_held_up()):
                self._threads += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def close(self) -> None:
        """Wait for the calls that run; those that wait are dropped. May be called twice."""
        with self._turn:
            self._is_over = True
            self._calls.clear()
            self._turn.notify_all()
            self._turn.wait_for(lambda: not self._running)

    def _is_held_up(self) -> bool:
        """Whether every thread has been at its call for too long."""
        late = time.monotonic() - self._patience
        return len(self._running) == self._threads and max(self._running.values()) < late

    def _work(self) -> None:
        while (call := self._next()) is not None:
            try:
                call()
            except Exception:  # noqa: BLE001 - the thread serves all others, too
                _log.exception("a call failed in lane %r", self._name)

    def _next(self) -> Callable[[], None] | None:
        """The next call, once there is one; ``None`` if this thread is to end."""
        me = threading.get_ident()
        with self._turn:
            if self._running.pop(me, None) is not None and self._is_over:
                self._turn.notify_all()
            self._waiting += 1
            while not (self._calls or self._is_over):
                if not self._turn.wait(self._idle) and not self._calls and self._threads > 1:
                    break
            self._waiting -= 1
            if not self._calls:
                self._threads -= 1
                return None
            self._running[me] = time.monotonic()
            return self._calls.popleft()
