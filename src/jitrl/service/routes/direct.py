"""The short way to an answer, for what is asked far more often than all else.

FastAPI finds out for each request anew what a function wants, from where each value comes and how
its answer is written, which is a third of what HTTP takes for a decision. A route of the
short way is described, matched and refused like any other, but says itself what it reads.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

T = TypeVar("T", bound=BaseModel)


def directly(ask: Callable[[Request], Awaitable[BaseModel]]) -> type[APIRoute]:
    """A class of routes for POST, which ``ask`` answers; their function is their description."""

    class Direct(APIRoute):
        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["method"] != "POST":
                await super().handle(scope, receive, send)
                return
            made = await ask(Request(scope, receive))
            content = made.__pydantic_serializer__.to_json(made)
            await Response(content, media_type="application/json")(scope, receive, send)

    return Direct


async def json_of(request: Request) -> Any:
    """What the body says; ``None`` without one.

    Raises:
        RequestValidationError: If it is no JSON.
        HTTPException: 400 if it cannot be read otherwise.
    """
    body = await request.body()
    try:
        return json.loads(body) if body else None
    except json.JSONDecodeError as error:
        said = {"type": "json_invalid", "loc": ("body", error.pos), "msg": "JSON decode error"}
        raise RequestValidationError([said]) from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(400) from error


def checked(
    request: Request, path: Mapping[str, TypeAdapter[Any]], body: type[T], said: Any
) -> tuple[dict[str, Any], T]:
    """The values in the address, and the body.

    Args:
        path: Values in the address, and what each may be.
        said: As ``json_of`` found it.

    Raises:
        RequestValidationError: If one of them cannot be used.
    """
    wrong: list[dict[str, Any]] = []
    values, made = {}, None
    for name, kind in path.items():
        try:
            values[name] = kind.validate_python(request.path_params[name])
        except ValidationError as error:
            wrong += _at(error, "path", name)
    if said is None:
        wrong.append({"type": "missing", "loc": ("body",), "msg": "Field required"})
    else:
        try:
            made = body.__pydantic_validator__.validate_python(said)
        except ValidationError as error:
            wrong += _at(error, "body")
    if made is None or wrong:
        raise RequestValidationError(wrong)
    return values, made


def _at(error: ValidationError, *place: str) -> list[dict[str, Any]]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [{**one, "loc": (*place, *one["loc"])} for one in found]
