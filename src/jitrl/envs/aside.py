"""Programs that run beside ours, as games in Java and browsers, and Ctrl-C.

A terminal tells all processes of its foreground group. A program that ends by itself breaks the
step that is being played, and libraries that talk to one do not bear that the talk breaks off. So
it does not hear Ctrl-C, and ours acts on it between two questions.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

if sys.platform == "win32":
    APART: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    APART = {"process_group": 0}

popen = partial(subprocess.Popen, **APART)
"""``subprocess.Popen`` of a program in a process group of its own."""


@contextmanager
def whole() -> Iterator[None]:
    """Let Ctrl-C wait until the block, or the function it decorates, is over, but not a second one.

    Only the main thread is interrupted at all, so in others there is nothing to do.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard: list[FrameType | None] = []

    def hear(number: int, frame: FrameType | None) -> None:
        if heard:
            before(number, frame)
        heard.append(frame)

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if len(heard) == 1:
            before(signal.SIGINT, heard[0])
