"""What every request passes: a rate, and a body that is not too large and comes in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jitrl.service import problems

OPEN = ("/healthz", "/readyz")
"""Addresses for which nobody needs a key."""

_MOST = 10_000  # callers whose rates are known


class Strangers:
    """Bounds how often each address asks without a key, before anything is read of what it asks.

    Args:
        rate: Requests a second; 0 for no limit.
        is_known: Whether a request has a key that may be used.
    """

    def __init__(self, app: ASGIApp, *, rate: float, is_known: Callable[[Scope], bool]) -> None:
        self._app, self._rates, self._is_known = app, Rates(rate), is_known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 429."""
        if scope["type"] == "http" and scope["path"] not in OPEN and not self._is_known(scope):
            wait = self._rates.take((scope.get("client") or ("",))[0])
            if wait:
                headers = {"Retry-After": str(max(1, round(wait)))}
                detail = "too many requests without a key that may be used"
                await problems.answer(429, detail, headers=headers)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class Bodies:
    """Reads the body of each request before it is looked at.

    Args:
        largest: Bytes it may have.
        seconds: It may take to arrive.
        refuse: How a request is answered that does not pass.
        within: Beginning of the addresses for which it does so; what is sent below ``/v1/`` must
            say that it is JSON, too.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        largest: int,
        seconds: float,
        refuse: Callable[[int, str], Response] = problems.answer,
        within: str = "/",
    ) -> None:
        self._app, self._largest, self._seconds, self._within = app, largest, seconds, within
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 408, 413 or 415."""
        if scope["type"] != "http" or not scope["path"].startswith(self._within):
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._read(scope, receive)
        except TimeoutError:
            detail = f"the body did not arrive in {self._seconds:g} s"
            await self._refuse(408, detail)(scope, receive, send)
            return
        if body is None:
            detail = f"the body has more than {self._largest} bytes"
            await self._refuse(413, detail)(scope, receive, send)
            return
        if body and scope["path"].startswith("/v1/") and not _is_json(scope):
            detail = "the body must be JSON: Content-Type: application/json"
            await self._refuse(415, detail)(scope, receive, send)
            return
        await self._app(scope, _Again(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The whole body; ``None`` if it is too large."""
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > self._largest:
                return None
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return b"".join(parts)
            part = message.get("body", b"")
            parts.append(part)
            size += len(part)
            if size > self._largest:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)


class _Again:
    """Gives a body that was read, then what comes next."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


class Rates:
    """So many requests a second for each caller, and a burst of that many.

    Args:
        rate: Requests a second; 0 for no limit.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, caller: str) -> float:
        """Take one; 0, or the seconds until there is one again."""
        if not self._rate:
            return 0.0
        now, burst = time.monotonic(), max(1.0, self._rate)
        if len(self._left) >= _MOST and caller not in self._left:
            self._forget(now - burst / self._rate)
        left, at = self._left.get(caller, (burst, now))
        left = min(burst, left + (now - at) * self._rate)
        if left < 1.0:
            self._left[caller] = left, now
            return (1.0 - left) / self._rate
        self._left[caller] = left - 1.0, now
        return 0.0

    def _forget(self, before: float) -> None:
        """Forget those who have all of their burst again; all, if there are none."""
        kept = {caller: (left, at) for caller, (left, at) in self._left.items() if at > before}
        self._left = kept if len(kept) < _MOST else {}


def _is_json(scope: Scope) -> bool:
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    return bool(kinds) and kinds[0].partition(b";")[0].strip().lower() == b"application/json"
