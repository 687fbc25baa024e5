"""The dashboard inside the service: a browser shows its key, and sees its tenant's memory."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from jitrl.service.problems import Problem
from jitrl.service.serving import Service

AT = "/ui"


def mount(app: FastAPI, service: Service) -> None:
    """Put the pages under `/ui`, if they are there.

    A browser asks its user for a name and a password, which is a key with the scope ``read``; with
    ``curate`` it may quarantine and restore.
    """
    if find_spec("jitrl.service.pages") is None:
        return
    pages, places, viewers = (
        import_module(f"jitrl.service.pages.{name}") for name in ("router", "places", "viewers")
    )
    known: dict[str, Any] = {}

    def find(request: Request) -> Any:
        """Who looks; ``None`` without a key that may."""
        try:
            key = service.access.key(request, "read")
        except Problem:
            return None
        if key.id not in known:
            of = places.Place(key.tenant, "memory", service.tenants.path(key.tenant))
            service.tenants.desk(key.tenant)  # makes the file
            known[key.id] = viewers.Viewer(
                places.Shelf((of,)), principal=key.name, may_curate=key.may("curate")
            )
        return known[key.id]

    def denied(request: Request) -> Response:
        """Have the browser ask for a key."""
        return Response(
            "give a key of the service as the password\n",
            401,
            {"WWW-Authenticate": 'Basic realm="jitrl", charset="UTF-8"'},
            "text/plain",
        )

    @app.get(AT, include_in_schema=False)
    def entrance() -> RedirectResponse:
        """Lead who leaves the last slash out to the pages."""
        return RedirectResponse(f"{AT.lstrip('/')}/", 308)

    app.include_router(pages.router(find, base=AT, denied=denied))
