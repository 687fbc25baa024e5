"""Work that takes longer than an answer may: it goes on in a thread, and pages ask after it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jitrl.errors import InputError, JitRLError

_KEPT = 32  # jobs that are remembered
_AT_ONCE = 2

Tell = Callable[[int, int], None]


class Dropped(Exception):
    """Nobody waits for the job any more."""


@dataclass(slots=True)
class Job:
    """One piece of work, and what came of it.

    Attributes:
        about: What it is about, as whoever asked for it says.
        done, total: How far it is.
        result: What it gave; ``None`` until then.
        error: Why it gave nothing.
    """

    id: str
    owner: str
    about: dict[str, Any]
    done: int = 0
    total: int = 0
    result: Any = None
    error: str = ""
    is_over: bool = False
    is_dropped: bool = False
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self.started

    def tell(self, done: int, total: int) -> None:
        """How far it is; ends it where nobody waits any more."""
        if self.is_dropped:
            raise Dropped
        self.done, self.total = done, total


class Jobs:
    """The jobs of all viewers; each sees their own."""

    def __init__(self) -> None:
        self._known: dict[str, Job] = {}
        self._lock, self._room = threading.Lock(), threading.Semaphore(_AT_ONCE)

    def start(self, owner: str, about: dict[str, Any], work: Callable[[Tell], Any]) -> Job:
        """Begin ``work``, which is given a function that it tells how far it is."""
        job = Job(secrets.token_urlsafe(12), owner, about)
        with self._lock:
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known))).is_dropped = True
            self._known[job.id] = job
        threading.Thread(target=self._run, args=(job, work), daemon=True).start()
        return job

    def shared(
        self, owner: str, about: dict[str, Any], work: Callable[[Tell], Any], patience: float
    ) -> Job:
        """A job about the same as one that is known, or a new one; waits for it a little."""
        with self._lock:
            known = [
                job
                for job in self._known.values()
                if job.owner == owner and job.about == about and not (job.error or job.is_dropped)
            ]
        job = known[-1] if known else self.start(owner, about, work)
        until = time.monotonic() + patience
        while not job.is_over and time.monotonic() < until:
            time.sleep(0.01)
        return job

    def _run(self, job: Job, work: Callable[[Tell], Any]) -> None:
        with self._room:
            try:
                job.result = work(job.tell)
            except Dropped:
                job.error = "given up"
            except JitRLError as error:
                job.error = str(error)
            except BaseException as error:
                job.error = f"{type(error).__name__}: {error}"
                raise
            finally:
                job.is_over = True

    def find(self, owner: str, id: str) -> Job:
        """A job of theirs.

        Raises:
            InputError: If there is none of that id.
        """
        with self._lock:
            job = self._known.get(id)
        if job is None or job.owner != owner:
            raise InputError("this replay is not known any more; begin it again")
        return job

    def drop(self, owner: str, id: str) -> None:
        """Give up a job."""
        self.find(owner, id).is_dropped = True
