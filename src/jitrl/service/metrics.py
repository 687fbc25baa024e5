"""What Prometheus is told: requests, decisions, what was degraded, what runs."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jitrl.service.tenants import Tenants

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of one service.

    Attributes:
        decisions: By tenant and what came of it: ``memory`` (another action than the model's own),
            ``model`` (the same), ``deadline`` or ``error`` (degraded).
        outcomes: By tenant and basis.
    """

    def __init__(self, tenants: Tenants) -> None:
        self._tenants = tenants
        self._registry = CollectorRegistry()
        self.requests = Histogram(
            "jitrl_request_seconds",
            "Seconds from a request to its answer.",
            ("route", "method", "status"),
            registry=self._registry,
            buckets=_SECONDS,
        )
        self.decisions = Counter(
            "jitrl_decisions", "Decisions.", ("tenant", "result"), registry=self._registry
        )
        self.outcomes = Counter(
            "jitrl_outcomes", "Outcomes told.", ("tenant", "basis"), registry=self._registry
        )
        self._running = Gauge(
            "jitrl_running_episodes", "Episodes that run.", ("tenant",), registry=self._registry
        )
        self._version = Gauge(
            "jitrl_memory_version", "Newest version.", ("tenant",), registry=self._registry
        )

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        for tenant, desk in self._tenants.open().items():
            self._running.labels(tenant).set(len(desk.roster))
            self._version.labels(tenant).set(desk.lookup.head())
        return generate_latest(self._registry)


class Timed:
    """Notes how long each request took, by its route."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, began = "500", time.perf_counter()

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            route = getattr(scope.get("route"), "path_format", "other")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            taken = time.perf_counter() - began
            self._metrics.requests.labels(route, method, status).observe(taken)
