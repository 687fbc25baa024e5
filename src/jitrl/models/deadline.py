"""Ends a blocking call at a deadline, whatever it is waiting for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


def within(seconds: float, task: Callable[[], T]) -> T:
    """What ``task()`` returns or raises, if it does so in time.

    HTTP clients limit the silence between two bytes. A server that sends blank lines while it
    queues a request (some do, for minutes) never trips that. The task runs in a daemon thread,
    which is left behind at the deadline.

    Raises:
        TimeoutError: If it does not.
    """
    outcome: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcome.put((task(), None))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asked
            outcome.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        value, error = outcome.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no result within {seconds:.1f} s") from None
    if error is not None:
        raise error
    result: T = value
    return result
