"""Who runs: an episode comes as it starts, or after a restart, and goes once it is stored."""

from __future__ import annotations

import logging
import os
import threading
import time
from functools import partial

from jitrl.api import JitRL
from jitrl.ports import Receipt
from jitrl.service import ahead
from jitrl.service.errors import Full
from jitrl.service.judging import aside
from jitrl.service.lane import Lane
from jitrl.service.lived import ServedEpisode
from jitrl.service.running import Running
from jitrl.service.seats import Limits, Seat
from jitrl.stores.lookup import Lookup
from jitrl.stores.running import RunningJournal
from jitrl.types import EpisodeStatus, Outcome

_log = logging.getLogger(__name__)

_SLOW = 300.0  # seconds that a sweep waits for one episode to be judged
_PATIENCE = 30.0  # seconds that the end waits for what is being judged


class Roster:
    """The episodes of a memory that run. Safe for threads.

    Args:
        memory: What they decide with, and are stored in.
        limits: How many may run, and for how long one may be idle.
        journal: Keeps them, so that ``resume`` of a later process finds them.

    Attributes:
        lane: Where they decide.
    """

    def __init__(
        self, memory: JitRL, limits: Limits, journal: RunningJournal | None = None
    ) -> None:
        self.memory, self.limits, self._journal = memory, limits, journal
        self.lane = Lane("jitrl-decide", limits.workers)
        self._running: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._agent = memory.agent
        self._agent.fits_aside = True  # see ``ahead``
        self._agent.judging = self.lane.let_go

    def __len__(self) -> int:
        return len(self._running)

    def get(self, key: str) -> Running | None:
        """The episode of a key, if it runs."""
        return self._running.get(key)

    def begin(
        self, task: str, scope: str, key: str | None, principal: str, goal: str | None, family: str
    ) -> Seat:
        """Have an episode run, or find the one that runs under its key; its texts are clean.

        Args:
            key: Made up if ``None``.

        Raises:
            Conflict: If the key was given to another task or scope.
            Full: If too many episodes run.
        """
        with self._lock:
            if key is not None and key in self._running:
                return self._running[key].seat().checked(task, scope)
            if len(self._running) >= self.limits.running:
                raise Full(f"{len(self._running)} episodes run, which is all that may; close some")
            if key is None:  # made up, and may be too long for an address
                key = f"{time.time_ns():x}-{os.urandom(6).hex()}"
            episode = ServedEpisode(self.memory, task, scope, key, goal, family)
            running = Running(episode, principal, self._journal)
            if self._journal is not None:  # nobody finds it before, so no step comes first there
                self._journal.begin(key, task, scope, principal, goal, family)
            self._running[key] = running
        return running.seat(is_new=True)

    def resume(self, lookup: Lookup) -> int:
        """Go on with the episodes that a process before had running; returns how many.

        Args:
            lookup: Finds those of them that it stored.
        """
        if self._journal is None:
            return 0
        for kept in list(self._journal.kept()):
            if lookup.episode(kept.key) is not None:  # stored, but not yet deleted
                self._journal.end(kept.key)
                continue
            about = kept.task, kept.scope, kept.key, kept.goal, kept.family
            episode = ServedEpisode(self.memory, *about)
            running = Running(episode, kept.principal, self._journal)
            running.resume(kept)
            with self._lock:
                self._running.setdefault(kept.key, running)
        return len(self._running)

    def finish(
        self,
        running: Running,
        outcome: Outcome | None,
        status: EpisodeStatus,
        is_trusted: bool = False,
    ) -> Receipt:
        """Judge and store an episode, which then runs no more. Errors as ``Running.finish``."""
        episode = running.episode
        try:
            with self.lane.hold():
                return running.finish(outcome, status, is_trusted)
        finally:
            if episode.receipt is not None:
                with self._lock:
                    self._running.pop(episode.key, None)
                if self._journal is not None:
                    self._journal.end(episode.key)
                self.lane.later(episode.scope, ahead.pieces(self._agent, episode.scope))

    def sweep(self, idle: float | None = None, patience: float = _SLOW) -> list[str]:
        """Close the episodes that nobody asked for; returns their keys.

        Args:
            idle: Seconds that they were quiet; that of the limits if ``None``.
            patience: Seconds that one of them may be judged; past these its judge hangs, and the
                others are left for the next time, as theirs may hang as well.
        """
        last = time.monotonic() - (self.limits.idle if idle is None else idle)
        with self._lock:
            all_running = list(self._running.values())
            quiet = [r for r in all_running if r.touched <= last and not r.is_ending]
        for running in all_running:
            running.catch_up()
        closed = []
        for number, running in enumerate(quiet, start=1):
            key, ended = running.episode.key, partial(self.finish, running, None, "truncated")
            try:
                error = aside(ended, "jitrl-judge").exception(patience)
            except TimeoutError:
                left = len(quiet) - number
                _log.error("sweep stopped, as a judge hangs: key=%s left=%d", key, left)
                break
            if error is None:
                closed.append(key)
            else:  # a judge may raise anything, and others are to be closed
                _log.error("sweep failed key=%s", key, exc_info=error)
        return closed

    def end(self) -> None:
        """Decide no more; what is being judged is waited for.

        What runs is closed as truncated unless a later process goes on with it.

        May be called twice.
        """
        self.lane.close()
        if self._journal is None:
            last = time.monotonic() + _PATIENCE
            for running in list(self._running.values()):
                if not running.is_settled(max(0.0, last - time.monotonic())):
                    _log.warning("lost, as its judge still hangs: key=%s", running.episode.key)
            self.sweep(0.0, _PATIENCE)
