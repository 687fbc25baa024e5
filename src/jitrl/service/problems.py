"""Errors as callers see them: ``application/problem+json`` (RFC 9457), whatever went wrong."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match

from jitrl.errors import InputError, JitRLError
from jitrl.service.errors import Conflict, NotAllowed, Unknown

_log = logging.getLogger(__name__)

TYPE = "application/problem+json"
_RETRY = "1"  # seconds

MEANINGS = {
    400: "The body is no JSON.",
    401: "There is no usable key in `Authorization: Bearer`.",
    403: "The key may not do this.",
    404: "There is nothing of that id; what belongs to another tenant is not told apart.",
    405: "The address has other methods.",
    408: "The body did not arrive in time.",
    409: "It does not go together with what was said before.",
    413: "The body is larger than the service takes.",
    415: "The body is not `application/json`.",
    422: "A value cannot be used.",
    429: "The key, or whoever asks without one, has used up its rate.",
    500: "An error of the service, which has been logged.",
    503: "The memory cannot be used now.",
}
"""What each status says, for the description of the interface."""

SCHEMA = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["where", "message"],
                "properties": {"where": {"type": "string"}, "message": {"type": "string"}},
            },
        },
    },
}


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How these statuses are declared."""
    headers = {
        401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
        405: {"Allow": {"schema": {"type": "string"}}},
        429: {"Retry-After": {"schema": {"type": "string"}}},
        503: {"Retry-After": {"schema": {"type": "string"}}},
    }
    return {
        status: {
            "description": MEANINGS[status],
            "content": {TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            **({"headers": headers[status]} if status in headers else {}),
        }
        for status in statuses
    }


class Problem(Exception):
    """A request that is answered with a problem, raised where it is noticed."""

    def __init__(self, status: int, detail: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


def answer(
    status: int,
    detail: str,
    *,
    headers: dict[str, str] | None = None,
    errors: list[dict[str, str]] | None = None,
) -> JSONResponse:
    """A problem as a response."""
    title = HTTPStatus(status).phrase
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail.encode("utf-8", "replace").decode(),
    }
    if errors:
        body["errors"] = errors
    headers = dict(headers or {})
    if status in (429, 503):
        headers.setdefault("Retry-After", _RETRY)
    return JSONResponse(body, status, headers, media_type=TYPE)


def status_of(error: JitRLError) -> int:
    """The status that an error of this package is answered with."""
    match error:
        case NotAllowed():
            return 403
        case Unknown():
            return 404
        case Conflict():
            return 409
        case InputError():
            return 422
        case _:
            return 503


def install(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Answer each error of ``app``, which has these routers, with a problem."""
    routes = [route for router in routers for route in router.routes]

    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return _http(request, error, routes)

    app.exception_handler(Problem)(_raised)
    app.exception_handler(JitRLError)(_ours)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(http)
    app.exception_handler(Exception)(_unexpected)


async def _raised(request: Request, error: Problem) -> JSONResponse:
    return answer(error.status, error.detail, headers=error.headers)


async def _ours(request: Request, error: JitRLError) -> JSONResponse:
    status = status_of(error)
    if status == 503:
        _log.error("unavailable path=%s error=%s", request.url.path, error)
    return answer(status, f"{error}")


async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    found = [
        {"where": ".".join(str(part) for part in one["loc"]), "message": str(one["msg"])}
        for one in error.errors()
    ]
    if any(one["type"] == "json_invalid" for one in error.errors()):
        return answer(400, "the body is no JSON", errors=_plain(found))
    detail = "; ".join(f"{one['where']}: {one['message']}" for one in found[:3])
    return answer(422, detail, errors=_plain(found[:20]))


def _plain(errors: list[dict[str, str]]) -> list[dict[str, str]]:
    return [
        {what: text.encode("utf-8", "replace").decode() for what, text in one.items()}
        for one in errors
    ]


def _http(request: Request, error: HTTPException, routes: Sequence[BaseRoute]) -> JSONResponse:
    headers = dict(error.headers or {})
    if error.status_code == 405:
        if found := _methods(request, routes):
            headers["Allow"] = ", ".join(sorted(found))
        return answer(405, f"{request.method} is not for this address", headers=headers)
    if error.status_code == 404:
        return answer(404, f"there is nothing at {request.url.path[:200]}")
    if error.status_code == 400 and error.__cause__ is not None:  # the body could not be read
        return answer(400, f"the body is no JSON{_fault(error.__cause__)}", headers=headers)
    return answer(error.status_code, f"{error.detail}", headers=headers)


def _fault(error: BaseException) -> str:
    """What is wrong with a body that cannot be read."""
    match error:
        case UnicodeDecodeError():
            return " in UTF-8"
        case RecursionError():
            return " that can be read: it is nested too deeply"
        case ValueError():
            return " that can be read: a number in it has too many digits"
        case _:
            return ""


def _methods(request: Request, routes: Sequence[BaseRoute]) -> set[str]:
    """The methods that the address has, over all routes that match it."""
    found: set[str] = set()
    for route in routes:
        match, _ = route.matches(request.scope)
        if match is not Match.NONE:
            found |= set(getattr(route, "methods", None) or ())
    return found


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    _log.error("unexpected error path=%s", request.url.path, exc_info=error)
    return answer(500, "an error of the service; its log has it")
