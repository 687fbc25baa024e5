"""`/healthz`, `/readyz`, `/metrics`: the service about itself."""

# Annotations are evaluated when a route is made: they name what `router` makes.

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from jitrl.service.bodies import Health
from jitrl.service.keys import Key
from jitrl.service.metrics import TYPE
from jitrl.service.problems import responses
from jitrl.service.serving import Service


def router(service: "Service") -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["service"])
    watcher = Annotated[Key, Depends(service.access.of("metrics"))]

    @routes.get(
        "/healthz",
        response_model=Health,
        responses=responses(405, 500),
        summary="Whether the process lives.",
    )
    async def healthz() -> Health:
        return Health(status="ok")

    @routes.get(
        "/readyz",
        response_model=Health,
        responses={
            503: {"model": Health, "description": "It is starting, or a memory is unusable."},
            **responses(405, 500),
        },
        summary="Whether all memories are read and can be used.",
    )
    async def readyz(response: Response) -> Health:
        if service.failed is None:
            response.status_code = 503
            return Health(status="starting", detail="memories are being read")
        if service.failed:
            response.status_code = 503
            return Health(status="failing", detail=f"{len(service.failed)} memories are unusable")
        return Health(status="ok")

    @routes.get(
        "/metrics",
        response_class=Response,
        responses={
            200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
            **responses(401, 403, 405, 429, 500),
        },
        summary="Counters and times for Prometheus, of all tenants.",
    )
    async def metrics(caller: watcher) -> Response:
        return Response(await service.done(service.metrics.text), media_type=TYPE)

    return routes
