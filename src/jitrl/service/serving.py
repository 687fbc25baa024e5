"""What the routes of the service share: memories, callers, bounds, and threads that wait."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from jitrl.service.access import Access
from jitrl.service.desk import Desk
from jitrl.service.judging import MOST, PATIENCE, Judging, aside
from jitrl.service.keys import Keys
from jitrl.service.metrics import Metrics
from jitrl.service.tenants import KEYS, Tenants

T = TypeVar("T")

_log = logging.getLogger(__name__)

_SWEEP = 60.0  # seconds
_THRESHOLDS = 2_000, 5, 1_000_000  # garbage collection: what lasts is left to each sweep
_SWITCH = 0.0005  # seconds that a thread which computes may hold up those that answer


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the service takes from its callers.

    Attributes:
        body: Bytes of a request.
        arrival: Seconds in which a body has to arrive.
        rate: Requests a second for each key; 0 for no limit.
        strangers: Requests a second without a usable key, for each address; 0 for no limit.
        workers: Threads that write and look things up.
        judges: Episodes of a tenant that are judged at once, each in a thread of its own.
        patience: Seconds that the end of an episode waits for one of these.
        is_alone: Whether the process does nothing else. What lasts is then looked through for
            garbage once a minute, and once only: going through all of it would hold up answers.
            And threads take turns more often, as those that answer compute less than others.
    """

    body: int = 4 * 2**20
    arrival: float = 30.0
    rate: float = 1000.0
    strangers: float = 100.0
    workers: int = 2
    judges: int = MOST
    patience: float = PATIENCE
    is_alone: bool = False


class Service:
    """What the routes share.

    Attributes:
        failed: Tenants whose memory could not be opened; ``None`` while it is being tried.
    """

    def __init__(self, tenants: Tenants, bounds: Bounds) -> None:
        self.tenants, self.bounds = tenants, bounds
        self.access = Access(Keys(tenants.folder / KEYS), bounds.rate)
        self.metrics = Metrics(tenants)
        self.pool = ThreadPoolExecutor(bounds.workers, "jitrl-serve")
        self.failed: list[str] | None = None
        self._judging: dict[str, Judging] = {}

    async def done(self, call: Callable[[], T]) -> T:
        """What ``call`` gives, run where waiting for a disk keeps nobody else waiting."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, call)

    async def judged(self, tenant: str, call: Callable[[], T]) -> T:
        """What ``call`` gives, which may judge an episode of a tenant; errors as ``Judging``."""
        bounds = self.bounds
        judging = self._judging.setdefault(tenant, Judging(bounds.judges, bounds.patience))
        return await judging(call)

    async def desk(self, tenant: str) -> Desk:
        """The desk of a tenant.

        Raises:
            StoreError: If its memory cannot be used.
        """
        if (found := self.tenants.open_desk(tenant)) is not None:
            return found
        return await self.done(partial(self.tenants.desk, tenant))

    async def warm(self) -> None:
        """Read all memories, then close idle episodes now and then."""
        self.failed = await self.done(self.tenants.warm)
        if self.bounds.is_alone:
            gc.set_threshold(*_THRESHOLDS)
            sys.setswitchinterval(_SWITCH)
        sweeping: Future[int] | None = None
        while True:
            if self.bounds.is_alone:
                gc.collect()
                gc.freeze()
            await asyncio.sleep(_SWEEP)
            if sweeping is None or sweeping.done():  # a judge may be slow
                if sweeping is not None and (error := sweeping.exception()) is not None:
                    _log.error("sweep failed", exc_info=error)
                sweeping = aside(self.tenants.sweep, "jitrl-sweep")
