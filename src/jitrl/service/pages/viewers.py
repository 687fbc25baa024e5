"""Who looks at the pages: what they may see, and whether they may take rows back."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from fastapi import Request

from jitrl.service.pages.places import Shelf

COOKIE = "jitrl_session"
_LASTS = 12 * 3600.0  # seconds of a session
_MOST = 1_000  # sessions that are kept


@dataclass(frozen=True, slots=True)
class Viewer:
    """A browser that was let in.

    Attributes:
        principal: Who is answerable for what they change.
        may_curate: Whether they may quarantine and restore.
        secret: Known to their session alone; what is posted must prove that it knows it.
    """

    shelf: Shelf
    principal: str = ""
    may_curate: bool = False
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def proof(self) -> str:
        """What a form of theirs carries: nobody else's page can know it."""
        return hmac.new(self.secret.encode(), b"jitrl pages", sha256).hexdigest()

    def proves(self, given: str) -> bool:
        """Whether a form was one of theirs."""
        return hmac.compare_digest(given.encode(), self.proof.encode())


Find = Callable[[Request], Viewer | None]
"""Who sent a request; ``None`` if nobody may see anything."""


class Sessions:
    """Who was let in, by the number in a cookie. Kept in memory: a restart ends all sessions."""

    def __init__(self, cookie: str = COOKIE) -> None:
        self.cookie = cookie
        self._known: dict[str, tuple[float, Viewer]] = {}
        self._lock = threading.Lock()

    def open(self, viewer: Viewer) -> str:
        """A new session; returns what its cookie holds."""
        number = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._known) >= _MOST:
                self._known.pop(next(iter(self._known)))
            self._known[_digest(number)] = time.monotonic() + _LASTS, viewer
        return number

    def find(self, request: Request) -> Viewer | None:
        """Whose cookie a request has."""
        return self.of(request.cookies.get(self.cookie, ""))

    def of(self, number: str) -> Viewer | None:
        """Whose session it is."""
        with self._lock:
            ends, viewer = self._known.get(_digest(number), (0.0, None))
            if viewer is not None and time.monotonic() > ends:
                del self._known[_digest(number)]
                return None
        return viewer

    def close(self, number: str) -> None:
        """End a session; may be called twice."""
        with self._lock:
            self._known.pop(_digest(number), None)


def _digest(number: str) -> str:
    return sha256(number.encode()).hexdigest()
