"""Who asks, and what they may do."""

import base64
import binascii
from collections.abc import Awaitable, Callable

from fastapi import Request, Security
from fastapi.security import HTTPBearer
from starlette.requests import HTTPConnection
from starlette.types import Scope as ASGIScope

from jitrl.errors import JitRLError
from jitrl.service.guard import Rates
from jitrl.service.keys import Key, Keys, Scope
from jitrl.service.problems import Problem

_FOUND = "jitrl.key"  # in the scope of a request
_bearer = HTTPBearer(
    auto_error=False, scheme_name="key", description="A key from `jitrl serve keys add`."
)


class Access:
    """Finds the key of a request.

    Args:
        rate: Requests a second that each key has.
    """

    def __init__(self, keys: Keys, rate: float) -> None:
        self.keys, self._rates = keys, Rates(rate)

    def find(self, connection: HTTPConnection) -> Key | None:
        """The key of a request, whatever it may do; ``None`` without one that may be used.

        It is looked for once.

        Raises:
            ConfigError, StoreError: If the keys cannot be read.
        """
        if _FOUND not in connection.scope:
            connection.scope[_FOUND] = self._looked_up(connection)
        found: Key | None = connection.scope[_FOUND]
        return found

    def _looked_up(self, connection: HTTPConnection) -> Key | None:
        kind, _, text = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() == "basic":  # what browsers ask their users for; see the dashboard
            text = _password(text)
        elif kind.lower() != "bearer":
            text = ""
        return self.keys.find(text.strip()) if text else None

    def is_known(self, scope: ASGIScope) -> bool:
        """Whether a request has a key that may be used, or nobody can tell."""
        try:
            return self.find(HTTPConnection(scope)) is not None
        except JitRLError:  # whoever answers says so
            return True

    def key(self, request: Request, *scopes: Scope) -> Key:
        """The key of a request, if it may do one of ``scopes``.

        Raises:
            Problem: 401 without a key that may be used, 403 without a scope, 429 over the rate.
        """
        found = self.find(request)
        if found is None:
            detail = "give a key that may be used: Authorization: Bearer jitrl_…"
            raise Problem(401, detail, headers={"WWW-Authenticate": 'Bearer realm="jitrl"'})
        if not any(found.may(scope) for scope in scopes):
            raise Problem(403, f"this key lacks the scope {' or '.join(scopes)}")
        wait = self._rates.take(found.id)
        if wait:
            headers = {"Retry-After": str(max(1, round(wait)))}
            raise Problem(429, "this key has used up its rate", headers=headers)
        return found

    def of(self, *scopes: Scope) -> Callable[..., Awaitable[Key]]:
        """For routes: ``caller: Annotated[Key, Depends(access.of("decide"))]``."""

        async def caller(request: Request, _: object = Security(_bearer)) -> Key:
            return self.key(request, *scopes)

        return caller


def _password(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""
