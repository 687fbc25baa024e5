"""Episodes of the proxy: they begin and are stored in threads, so that no other request waits."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from jitrl.errors import InputError, JitRLError
from jitrl.integrations.guide import Guide, GuidedEpisode

T = TypeVar("T")

_log = logging.getLogger(__name__)


class UnderWay:
    """Episodes under way, by key; one that nobody asks for is kept without an outcome.

    All but ``close`` belongs to the thread of the event loop.

    Args:
        idle: Seconds after which that is so.
        most: Episodes at once; the one that was quiet longest is closed for one more.
    """

    def __init__(self, guide: Guide, *, idle: float, most: int) -> None:
        self._guide, self._idle, self._most = guide, idle, most
        self._open: dict[str, tuple[float, Future[GuidedEpisode]]] = {}
        self._ending: dict[str, Future[None]] = {}
        self._refused: set[str] = set()
        self._begins = ThreadPoolExecutor(1, "jitrl-begin")  # what is owed is learned before
        self._ends = ThreadPoolExecutor(1, "jitrl-end")

    async def at(self, key: str, text: str, task: str | None, scope: str | None) -> GuidedEpisode:
        """The episode of that key; it begins if it is not under way.

        Raises:
            InputError: If it cannot begin under that key, task or scope, or is over.
        """
        if (ending := self._ending.get(key)) is not None:
            await _done(ending)  # else it would not be known that it is over
        quiet = time.monotonic() - self._idle
        for one in [one for one, (at, _) in self._open.items() if at < quiet]:
            self._leave(one)
        _, episode = self._open.pop(key, (0.0, None))
        if episode is None:
            begin = partial(_begin, self._guide, text, task=task, scope=scope, key=key)
            episode = self._begins.submit(begin)
        self._open[key] = time.monotonic(), episode  # the newest is the last
        while len(self._open) > self._most:
            self._leave(next(iter(self._open)))
        try:
            return await _done(episode)
        finally:
            if episode.done() and episode.exception() and self._has(key, episode):
                self.drop(key)

    async def get(self, key: str) -> GuidedEpisode | None:
        """The episode of that key, if it is under way; one that is just ending is stored then."""
        if (ending := self._ending.get(key)) is not None:
            await _done(ending)
        _, episode = self._open.get(key, (0.0, None))
        if episode is None:
            return None
        return await _done(episode)

    def refused(self, key: str, error: InputError) -> None:
        """Say why requests of a key are answered by the model alone; once for each key."""
        if len(self._refused) > self._most:
            self._refused.clear()
        _log.log(
            logging.DEBUG if key in self._refused else logging.WARNING,
            "degraded key=%s %s",
            key,
            error,
        )
        self._refused.add(key)

    def drop(self, key: str) -> None:
        """The episode of that key is over."""
        self._open.pop(key, None)

    def close(self) -> None:
        """Keep all of them without an outcome; returns once they are stored."""
        for key in list(self._open):
            self._leave(key)
        self._begins.shutdown()
        self._ends.shutdown()

    def _has(self, key: str, episode: Future[GuidedEpisode]) -> bool:
        return self._open.get(key, (0.0, None))[1] is episode

    def _leave(self, key: str) -> None:
        _, episode = self._open.pop(key)
        ending = self._ending[key] = self._ends.submit(_end, key, episode)
        ending.add_done_callback(partial(self._ended, key))

    def _ended(self, key: str, ending: Future[None]) -> None:
        if self._ending.get(key) is ending:
            self._ending.pop(key, None)


def _begin(guide: Guide, text: str, **about: Any) -> GuidedEpisode:
    """A new episode, if there is none of that key; as the service has it, what is over stays over.

    Raises:
        InputError: If there is one, or a value cannot be used.
    """
    key = about["key"]
    try:
        guide.memory.store.outline(key)
    except JitRLError:  # there is none, or the memory cannot be read, which it will say itself
        return guide.episode(text, **about)
    raise InputError(
        f"episode {key!r} is over, so the model answers alone; send a new key for each run"
    )


def _end(key: str, episode: Future[GuidedEpisode]) -> None:
    """Keep an episode without an outcome, once it has begun."""
    try:
        episode.result().finish(status="truncated")
    except InputError as error:  # it never began, or was told its outcome meanwhile
        _log.warning("not kept without an outcome key=%s %s", key, error)


async def _done(future: Future[T]) -> T:
    """What comes of a thread; a caller that goes away ends it for nobody else."""
    return await asyncio.shield(asyncio.wrap_future(future))
