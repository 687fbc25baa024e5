"""Ctrl-C that is heard wherever it strikes.

Python raises it between any two steps of the main thread, so also within what it calls by itself,
as where it drops what nobody holds any more. What is raised there is printed and forgotten, and the
command would go on.
"""

from __future__ import annotations

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def heard() -> Iterator[None]:
    """Raise a Ctrl-C once more, a moment later, if Python forgot it while the block runs."""
    before = sys.unraisablehook
    timers: list[threading.Timer] = []

    def again(unraisable: sys.UnraisableHookArgs, /) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            timer = threading.Timer(0.05, _interrupt)  # here it would be forgotten, too
            timer.daemon = True
            timers.append(timer)
            timer.start()
        else:
            before(unraisable)

    sys.unraisablehook = again
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in timers:
            timer.cancel()


def _interrupt() -> None:
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):  # also where it waits for something
        signal.pthread_kill(main, signal.SIGINT)
    else:
        interrupt_main()
