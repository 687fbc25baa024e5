"""The MCP server inside the service, at `/mcp`: an agent shows its key and asks its memory."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from jitrl.errors import MissingExtra
from jitrl.service.adviser import Advice, Adviser, Reported
from jitrl.service.problems import Problem
from jitrl.service.running import SELF
from jitrl.service.serving import Service

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

AT = "/mcp"
_ADVISER, _TENANT = "jitrl.adviser", "jitrl.tenant"


def mount(app: FastAPI, service: Service) -> AbstractAsyncContextManager[None]:
    """Put the tools under `/mcp`, if the package is there; returns what has to run meanwhile.

    Each request stands for itself (no sessions), so that a restart of the service is not noticed.
    """
    try:
        from jitrl.service.mcp import Asked, server
    except MissingExtra:
        return nullcontext()
    from mcp.server.transport_security import TransportSecuritySettings

    def of(asked: Asked) -> Any:
        return asked.request_context.request.scope

    made = server(
        lambda asked: of(asked)[_ADVISER],
        lambda asked, call: service.judged(of(asked)[_TENANT], call),
    )
    made.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=service.bounds.body,
        # A page of another site in a browser has no key, wherever its name leads.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    endpoint = _Keyed(service, made.session_manager)
    app.router.routes.append(Route(AT, endpoint, methods=["POST"]))
    return made.session_manager.run()


class _Keyed:
    """Lets agents in by their key."""

    def __init__(self, service: Service, manager: StreamableHTTPSessionManager) -> None:
        self._service, self._manager = service, manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with a key that may decide and report.

        Raises:
            Problem: As ``Access.key``.
            StoreError: If the memory cannot be used.
        """
        key = self._service.access.key(Request(scope), "decide")
        if not key.may("report:self"):
            raise Problem(403, "this key lacks the scope report:self")
        desk = await self._service.desk(key.tenant)
        count = partial(self._count, key.tenant)
        scope[_TENANT] = key.tenant
        scope[_ADVISER] = Adviser(desk, principal=key.name, count=count)
        await self._manager.handle_request(scope, receive, send)

    def _count(self, tenant: str, said: Advice | Reported) -> None:
        metrics = self._service.metrics
        if isinstance(said, Advice):
            result = said.degraded or ("memory" if said.changed else "model")
            metrics.decisions.labels(tenant, result).inc()
        else:
            metrics.outcomes.labels(tenant, SELF).inc()
