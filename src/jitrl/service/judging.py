"""Ends of runs, which may be judged: each in a thread of its own, and so many at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from jitrl.service.errors import Full

T = TypeVar("T")

MOST, PATIENCE = 16, 5.0


class Judging:
    """Has the runs of one memory judged; for one event loop.

    Args:
        most: Runs that are judged at once.
        patience: Seconds that the end of one more waits for one of these.
    """

    def __init__(self, most: int = MOST, patience: float = PATIENCE) -> None:
        self._most, self._patience = most, patience
        self._room = asyncio.Semaphore(most)

    async def __call__(self, call: Callable[[], T]) -> T:
        """What ``call`` gives, which may judge: however slow, nothing else waits for it.

        Raises:
            Full: If too many runs are being judged; nothing was done.
        """
        try:
            async with asyncio.timeout(self._patience):
                await self._room.acquire()
        except TimeoutError:
            raise Full(
                f"{self._most} episodes are being judged, which is all that may at once; "
                "end this one later"
            ) from None
        ended = asyncio.wrap_future(aside(call, "jitrl-judge"))
        ended.add_done_callback(lambda _: self._room.release())
        return await asyncio.shield(ended)  # it goes on if the caller hangs up


def aside(call: Callable[[], T], name: str) -> Future[T]:
    """What ``call`` gives, run in a thread of its own, for which no process waits at its end."""
    given: Future[T] = Future()

    def run() -> None:
        try:
            found = call()
        except BaseException as error:  # noqa: BLE001 - handed on to who waits
            given.set_exception(error)
        else:
            given.set_result(found)

    threading.Thread(target=run, name=name, daemon=True).start()
    return given
