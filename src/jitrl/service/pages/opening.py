"""The small application of `jitrl ui`: loopback alone, and a token that opens it once."""

from __future__ import annotations

import hmac
import secrets
import threading

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from jitrl.service.pages.places import Shelf
from jitrl.service.pages.rendering import HEADERS
from jitrl.service.pages.router import router
from jitrl.service.pages.viewers import Sessions, Viewer

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names of this machine that a browser may call it by: no other site's name may stand for it."""


class Ticket:
    """A token that lets in one browser, once."""

    def __init__(self) -> None:
        self.text = secrets.token_urlsafe(24)
        self._lock, self._is_used = threading.Lock(), False

    def take(self, given: str) -> bool:
        """Whether it is the token, and nobody used it before."""
        with self._lock:
            is_good = not self._is_used and hmac.compare_digest(given.encode(), self.text.encode())
            self._is_used = self._is_used or is_good
            return is_good


def app(shelf: Shelf, ticket: Ticket, *, principal: str = "", may_curate: bool = True) -> FastAPI:
    """The pages for whoever holds the ticket; no documentation, no other routes.

    Args:
        principal: Who is answerable for rows that are quarantined or restored.
        may_curate: Whether that may be done at all.
    """
    made = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    sessions = Sessions(f"jitrl_{secrets.token_hex(4)}")  # ports of a host share their cookies

    @made.middleware("http")
    async def on_loopback(request: Request, following: object) -> Response:
        host = request.headers.get("host", "")
        name = host.rpartition(":")[0] if ":" in host.rpartition("]")[2] else host
        if name not in LOOPBACK:
            return Response("jitrl ui answers to this machine alone", 421, HEADERS)
        answer: Response = await following(request)  # type: ignore[operator]
        return answer

    @made.get("/open/{token}")
    def opened(request: Request, token: str) -> Response:
        if sessions.find(request) is None and not ticket.take(token):
            return RedirectResponse("/", 303, HEADERS)
        answer = RedirectResponse("/", 303, HEADERS)
        if sessions.find(request) is None:
            number = sessions.open(Viewer(shelf, principal, may_curate))
            answer.set_cookie(sessions.cookie, number, httponly=True, samesite="lax")
        return answer

    made.include_router(router(sessions.find))
    return made
