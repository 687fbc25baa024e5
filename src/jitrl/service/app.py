"""The HTTP service: ``create_app`` makes the application that `jitrl serve` runs."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from fastapi import FastAPI

import jitrl
from jitrl.service import browsers, description, mcp_http, problems
from jitrl.service.access import Access
from jitrl.service.desk import Desk
from jitrl.service.guard import Bodies, Strangers
from jitrl.service.keys import Keys
from jitrl.service.metrics import Metrics, Timed
from jitrl.service.routes import deciding, looking, state
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
        is_alone: Whether the process does nothing else. What lasts is then looked through for
            garbage once a minute, and once only: going through all of it would hold up answers.
            And threads take turns more often, as those that answer compute less than others.
    """

    body: int = 4 * 2**20
    arrival: float = 30.0
    rate: float = 1000.0
    strangers: float = 100.0
    workers: int = 2
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

    async def done(self, call: Callable[[], T]) -> T:
        """What ``call`` gives, run where waiting for a disk keeps nobody else waiting."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, call)

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
        while True:
            if self.bounds.is_alone:
                gc.collect()
                gc.freeze()
            await asyncio.sleep(_SWEEP)
            await self.done(self.tenants.sweep)


def create_app(tenants: Tenants, *, bounds: Bounds | None = None) -> FastAPI:
    """The application for a folder of memories and the keys in it.

    Starting it reads all memories; ending it closes them. Episodes that run then go on when it is
    started again.
    """
    service = Service(tenants, bounds or Bounds())

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(service.warm())
        try:
            async with serving:
                yield
        finally:
            warming.cancel()
            with suppress(asyncio.CancelledError):
                await warming
            service.pool.shutdown()
            tenants.close()

    app = FastAPI(
        title="jitrl",
        version=jitrl.__version__,
        summary="Decisions of a frozen agent, corrected by what it lived through.",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
        redirect_slashes=False,
    )
    app.state.service = service
    routers = [routes.router(service) for routes in (deciding, looking, state)]
    problems.install(app, routers)
    app.add_middleware(Bodies, largest=service.bounds.body, seconds=service.bounds.arrival)
    app.add_middleware(Strangers, rate=service.bounds.strangers, is_known=service.access.is_known)
    app.add_middleware(Timed, metrics=service.metrics)
    for router in routers:
        app.include_router(router)
    browsers.mount(app, service)
    serving = mcp_http.mount(app, service)
    description.install(app)
    return app
