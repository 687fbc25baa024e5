"""The short way to an answer, for what is asked far more often than all else.

FastAPI finds out for each request anew what a function wants, from where each value comes and how
its answer is written. A route of the short way is described, matched and refused like any other,
but says itself what it reads.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
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
            content = made.model_dump_json()
            await Response(content, media_type="application/json")(scope, receive, send)

    return Direct


async def read(request: Request) -> dict[str, Any]:
    """What is in the address (``path``), and what the ``body`` says, if there is one.

    Raises:
        RequestValidationError: If it is no JSON.
        HTTPException: 400 if it cannot be read otherwise.
    """
    path, body = {"path": request.path_params}, await request.body()
    try:
        return path | {"body": json.loads(body)} if body else path
    except json.JSONDecodeError as error:
        said = {"type": "json_invalid", "loc": ("body", error.pos), "msg": "JSON decode error"}
        raise RequestValidationError([said]) from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(400) from error


def checked(kind: type[T], said: dict[str, Any]) -> T:
    """What was ``read``, as a ``kind`` of request.

    Raises:
        RequestValidationError: If a value cannot be used.
    """
    try:
        return kind.model_validate(said, from_attributes=True)  # as the framework does
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        raise RequestValidationError(wrong) from error
