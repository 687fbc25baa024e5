"""What every request passes: a body that is not too large and comes in time, and a rate per key."""

from __future__ import annotations

import asyncio
import time
from collections.abc import MutableMapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jitrl.service import problems


class Bodies:
    """Reads the body of each request before it is looked at.

    Args:
        largest: Bytes it may have.
        seconds: It may take to arrive.
    """

    def __init__(self, app: ASGIApp, *, largest: int, seconds: float) -> None:
        self._app, self._largest, self._seconds = app, largest, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 408 or 413."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._read(scope, receive)
        except TimeoutError:
            detail = f"the body did not arrive in {self._seconds:g} s"
            await problems.answer(408, detail)(scope, receive, send)
            return
        if body is None:
            detail = f"the body has more than {self._largest} bytes"
            await problems.answer(413, detail)(scope, receive, send)
            return
        if body and scope["path"].startswith("/v1/") and not _is_json(scope):
            detail = "the body must be JSON: Content-Type: application/json"
            await problems.answer(415, detail)(scope, receive, send)
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
    """So many requests a second for each key, and a burst of that many.

    Args:
        rate: Requests a second; 0 for no limit.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._left: MutableMapping[str, tuple[float, float]] = {}

    def take(self, key: str) -> float:
        """Take one; 0, or the seconds until there is one again."""
        if not self._rate:
            return 0.0
        now, burst = time.monotonic(), max(1.0, self._rate)
        left, at = self._left.get(key, (burst, now))
        left = min(burst, left + (now - at) * self._rate)
        if left < 1.0:
            self._left[key] = left, now
            return (1.0 - left) / self._rate
        self._left[key] = left - 1.0, now
        return 0.0


def _is_json(scope: Scope) -> bool:
    kinds = [value for name, value in scope["headers"] if name == b"content-type"]
    return bool(kinds) and kinds[0].partition(b";")[0].strip().lower() == b"application/json"
