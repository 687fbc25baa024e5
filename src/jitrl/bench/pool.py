"""Jobs in processes: how far they are, what came of them in their order, and keeping it."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from jitrl.bench.machine import facts
from jitrl.errors import StoreError

Job = TypeVar("Job")
Result = TypeVar("Result")
Item = TypeVar("Item")

Tell = Callable[[float], None]
"""Called with the share that is done, of all jobs or of one."""
Begun = Callable[[int], None]
"""Called once, before anything is played, with the number of episodes that will be."""
Work = Callable[[Job, Tell], Result]
"""A function of a module, so that a fresh process can import it; it tells how far its job is."""


class Arm(Protocol):
    """What is compared."""

    @property
    def name(self) -> str: ...


class OfArm(Protocol):
    """A job of one arm."""

    @property
    def arm(self) -> Arm: ...


def silent(share: float) -> None:
    """Tells nobody."""


def unsaid(episodes: int) -> None:
    """Says nothing before the first one."""


def told(items: Sequence[Item], tell: Tell) -> Iterator[Item]:
    """``items`` one by one, each counted once it is worked on."""
    for number, item in enumerate(items, 1):
        yield item
        tell(number / len(items))


def each(work: Work[Job, Result], jobs: Sequence[Job], workers: int, tell: Tell) -> list[Result]:
    """``work`` done on every job; with one worker in this process.

    If a job fails, those that have not begun are left out.
    """
    tell(0.0)
    if workers == 1:
        results = []
        for place, job in enumerate(jobs):
            results.append(work(job, lambda share: tell((place + share) / len(jobs))))  # noqa: B023 - only now
            tell(len(results) / len(jobs))
        return results
    context = multiprocessing.get_context("spawn")
    shares = context.Array("d", len(jobs), lock=False)
    others = set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, context, _lend, (shares,)) as pool:
        with _unheard():
            played = [pool.submit(_lent, work, place, job) for place, job in enumerate(jobs)]
        waiting = set(played)
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=1.0, return_when=FIRST_EXCEPTION)
                tell(sum(shares) / len(jobs))
                for one in done:
                    one.result()
        except KeyboardInterrupt:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
    return [one.result() for one in played]


@contextmanager
def _unheard() -> Iterator[None]:
    """Processes that start meanwhile do not hear Ctrl-C: this one ends them, and says so once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_shares: MutableSequence[float] = []
"""Of the pool's jobs, in one of its processes."""


def _lend(shares: MutableSequence[float]) -> None:
    global _shares
    _shares = shares


def _lent(work: Work[Job, Result], place: int, job: Job) -> Result:
    result = work(job, partial(_shares.__setitem__, place))
    _shares[place] = 1.0
    return result


@dataclass(frozen=True, slots=True)
class Timed(Generic[Result]):
    """What came of a job, and the seconds that it took a process."""

    result: Result
    seconds: float


def timed(work: Work[Job, Result]) -> Work[Job, Timed[Result]]:
    """``work`` with its time; kept ones keep it, so that it is known however often one goes on."""
    return partial(_timed, work)


def _timed(work: Work[Job, Result], job: Job, tell: Tell) -> Timed[Result]:
    begun = time.perf_counter()
    return Timed(work(job, tell), time.perf_counter() - begun)


def minutes(played: Sequence[Timed[Result]]) -> float:
    """What all jobs took together, had one process done them."""
    return round(sum(one.seconds for one in played) / 60.0, 2)


def parts(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """``items`` in parts of ``size``, each for one process; the last may be smaller."""
    return [items[first : first + size] for first in range(0, len(items), size)]


def by_arm(jobs: Sequence[OfArm], played: Sequence[Result]) -> dict[str, list[Result]]:
    """What came of the jobs of each arm, by its name."""
    found: dict[str, list[Result]] = {}
    for job, one in zip(jobs, played, strict=True):
        found.setdefault(job.arm.name, []).append(one)
    return found


def kept(work: Work[Job, Result], of: type[Result], folder: str) -> Work[Job, Result]:
    """``work``, which reads from ``folder`` what it did there before, and writes what it does.

    Args:
        of: What a job comes to.
        folder: Where; "" keeps nothing. A file is named after the job and the versions it ran on.
    """
    return partial(_kept, work, of, folder) if folder else work


def _kept(work: Work[Job, Result], of: type[Result], folder: str, job: Job, tell: Tell) -> Result:
    versions = {name: facts()[name] for name in ("jitrl", "numpy")}
    raw = msgspec.json.encode([versions, type(job).__name__, job])
    path = Path(folder) / f"{hashlib.blake2b(raw, digest_size=8).hexdigest()}.json"
    if path.exists():
        try:
            found = msgspec.json.decode(path.read_bytes(), type=of)
        except msgspec.DecodeError as error:
            raise StoreError(f"{path} is not what a job wrote: {error}; remove it") from error
        if not found:
            raise StoreError(f"{path} is not what a job wrote: it holds nothing; remove it")
        return found
    played = work(job, tell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}")
        half.write_bytes(msgspec.json.encode(played))
        half.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error
    return played
