"""How the client asks over HTTP: what can be sent, tries, waits, and what an answer means."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec

from jitrl.errors import InputError, MissingExtra, brief
from jitrl.service.unheard import Refused, Unreachable, detail_of, wait_of

try:
    import httpx
except ImportError as error:
    raise MissingExtra("the client needs httpx: pip install 'jitrl[server]'") from error

T = TypeVar("T")

_PORTS = 65535


class Wire:
    """The way to a service, for any number of threads.

    Args:
        timeout: Seconds for an answer.
        patience: Seconds within which a busy service is asked once more.
        transport: How ``httpx`` sends; its own way if ``None``.

    Raises:
        InputError: If nothing can be asked at that address, or with that key.
    """

    def __init__(
        self, address: str, key: str, timeout: float, patience: float, transport: Any = None
    ) -> None:
        self._address, self._patience = _checked(address), patience
        if not (isinstance(key, str) and key.isascii() and key.isprintable() and key.strip()):
            raise InputError(
                "key is empty or holds characters that no key has; give it as `jitrl serve keys "
                "add` printed it"
            )
        self._http = httpx.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {key}"},
            timeout=timeout,
            transport=transport,
        )

    def close(self) -> None:
        """Hang up; may be called twice."""
        self._http.close()

    def get(self, path: str, asked: Mapping[str, Any], kind: type[T]) -> T:
        """Ask with the values that are not ``None``. Errors as ``post``."""
        known = {name: value for name, value in asked.items() if value is not None}
        return self._sent("GET", path, kind, params=known)

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        kind: type[T],
        *,
        tries: int = 1,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> T:
        """Say ``body``.

        Args:
            tries: How often it is sent where no answer comes.
            timeout: Seconds for an answer, in place of the usual ones.

        Raises:
            Refused: If the caller got something wrong.
            Unreachable: If no answer came that says anything.
        """
        try:
            content = json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, TypeError, RecursionError) as error:
            said = _unsendable(body) or f"body: {error}"
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, said) from error
        how: dict[str, Any] = {"content": content}
        if timeout is not None:
            how["timeout"] = timeout
        heads = {"Content-Type": "application/json"} | dict(headers or {})
        return self._sent("POST", path, kind, tries, headers=heads, **how)

    def _sent(
        self,
        method: str,
        path: str,
        kind: type[T],
        tries: int = 1,
        *,
        may_wait: bool = True,
        **how: Any,
    ) -> T:
        for left in reversed(range(tries)):
            try:
                answer = self._http.request(method, path, **how)
                break
            except httpx.InvalidURL as error:
                raise Refused(
                    HTTPStatus.BAD_REQUEST, f"{brief(path)} is no address: {error}"
                ) from error
            except httpx.RequestError as error:
                if not left:
                    said = f"{type(error).__name__}: {error}"
                    raise Unreachable(f"{self._address} gave no answer: {said}") from error
        status = answer.status_code
        is_busy = status == HTTPStatus.TOO_MANY_REQUESTS
        if may_wait and is_busy and 0 < (wait := wait_of(answer)) <= self._patience:
            time.sleep(wait)  # nothing was done, so it may be asked again
            return self._sent(method, path, kind, tries, may_wait=False, **how)
        if answer.is_success:
            try:
                return msgspec.json.decode(answer.content, type=kind)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                said = f"{self._address} answered what is no {kind}: {error}"
                raise Unreachable(said) from error
        if answer.is_server_error or is_busy:
            raise Unreachable(f"{detail_of(answer)} ({status})")
        if not answer.is_client_error:
            to = brief(answer.headers.get("Location", ""))
            raise Unreachable(f"{self._address} sends on to {to}; give that address ({status})")
        raise Refused(status, detail_of(answer))


def _checked(address: str) -> str:
    """The address, if something can be asked there."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, TypeError):
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or (url.port or 0) > _PORTS:
        raise InputError(
            f"address is {brief(address)}; it must be as `jitrl serve` prints it: "
            "http://127.0.0.1:8321"
        )
    return address


def _unsendable(value: Any, place: str = "body") -> str:
    """What of a body is no JSON; "" if that is not found."""
    if isinstance(value, dict):
        keys = (_unsendable(key, f"a name in {place}") for key in value)
        parts = (_unsendable(part, f"{place}.{brief(key)}") for key, part in value.items())
        return next((said for said in (*keys, *parts) if said), "")
    if isinstance(value, list | tuple):
        parts = (_unsendable(part, f"{place}[{i}]") for i, part in enumerate(value))
        return next((said for said in parts if said), "")
    if isinstance(value, float) and not math.isfinite(value):
        return f"{place} is {value}; it must be a finite number"
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        return f"{place} is {brief(value)}; it holds half a character (a surrogate)"
    if value is None or isinstance(value, str | int | float):
        return ""
    return f"{place} is {brief(value)}; a {type(value).__name__} cannot be sent"
