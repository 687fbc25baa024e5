"""The description of the interface (OpenAPI), as FastAPI makes it, with what it leaves out."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from jitrl.service.problems import SCHEMA, TYPE


def install(app: FastAPI) -> None:
    """Let ``app`` describe itself, once."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _describe(app)
        return app.openapi_schema

    app.openapi = described


def _describe(app: FastAPI) -> dict[str, Any]:
    found: dict[str, Any] = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    schemas = found["components"]["schemas"]
    schemas["Problem"] = SCHEMA
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    problem = {TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path in found["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                kept = response.get("content", {})
                if int(status) >= 400 and TYPE in kept:
                    response["content"] = problem
    return found
