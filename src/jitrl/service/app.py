"""The HTTP service: ``create_app`` makes the application that `jitrl serve` runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI

import jitrl
from jitrl.service import browsers, description, mcp_http, problems
from jitrl.service.guard import Bodies, Strangers
from jitrl.service.metrics import Timed
from jitrl.service.routes import deciding, looking, state
from jitrl.service.serving import Bounds, Service
from jitrl.service.tenants import Tenants


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
    for router in routers:  # included, each request would look for its route twice
        app.router.routes.extend(router.routes)
    browsers.mount(app, service)
    serving = mcp_http.mount(app, service)
    description.install(app)
    return app
