"""The pages behind an ``APIRouter``: who may see what is the business of whoever mounts it."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from jitrl import __version__
from jitrl.errors import JitRLError, StoreError
from jitrl.report.words import Language
from jitrl.service.pages.asking import Asked, View
from jitrl.service.pages.jobs import Jobs
from jitrl.service.pages.rendering import HEADERS, rendered
from jitrl.service.pages.viewers import Find, Viewer
from jitrl.service.pages.views import (
    checkup,
    costs,
    curve,
    decisions,
    episodes,
    evaluators,
    home,
    memory,
    rules,
)
from jitrl.service.pages.words import Words, preferred, terms

STATIC = Path(__file__).parent / "static"
_LARGEST = 2_000_000  # bytes of a form
_YEAR = 365 * 86400

TABS = ("curve", "decisions", "episodes", "memory", "rules", "evaluator", "cost", "doctor")
"""Views that the navigation leads to, in its order."""

VIEWS: Mapping[str, View] = {
    "curve": curve.view,
    "decisions": decisions.listing,
    "decision": decisions.one,
    "without": decisions.without,
    "others": decisions.others,
    "episodes": episodes.listing,
    "episode": episodes.one,
    "memory": memory.listing,
    "row": memory.one,
    "influence": memory.influenced,
    "awaited": memory.awaited,
    "rules": rules.listing,
    "rule": rules.one,
    "evaluator": evaluators.view,
    "cost": costs.view,
    "doctor": checkup.view,
}
POSTED: Mapping[str, View] = {
    "preview": memory.preview,
    "mark": memory.apply,
    "cancel": memory.cancel,
}
"""Views that change something, or take what does not fit into an address."""

_TAB = {
    "decision": "decisions",
    "episode": "episodes",
    "row": "memory",
    "rule": "rules",
    "preview": "memory",
    "mark": "memory",
    "cancel": "memory",
}


def router(
    find: Find, *, base: str = "", denied: Callable[[Request], Response] | None = None
) -> APIRouter:
    """The pages.

    Args:
        find: Who sent a request, and so what they may see; ``None`` if nothing.
        base: What all addresses begin with, as ``/ui``; "" for none.
        denied: Answers those who may see nothing; 401 with a few words if not given.
    """
    made, jobs = APIRouter(prefix=base, include_in_schema=False), Jobs()

    def refused(request: Request) -> Response:
        if denied is not None:
            return denied(request)
        return _problem(request, base, 401, "denied.title", "denied.said")

    @made.get("/static/{name:path}")
    def static(name: str) -> Response:
        return _file(name)

    @made.get("/")
    def start(request: Request) -> Response:
        if (moved := _preferring(request)) is not None:
            return moved
        viewer = find(request)
        if viewer is None:
            return refused(request)
        if len(viewer.shelf.places) == 1:
            only = quote(viewer.shelf.places[0].name, safe="")
            return RedirectResponse(f"{base}/p/{only}/curve", 303, HEADERS)
        values = {"cards": home.cards(viewer), **_frame(request, base, viewer)}
        return rendered("home.html", values)

    @made.get("/p/{place}/picture")
    def picture(request: Request, place: str, key: str, step: int, seed: int | None = None) -> Any:
        viewer = find(request)
        if viewer is None:
            return refused(request)
        try:
            of = viewer.shelf.place(place)
            with of.reading(seed) as opened:
                path = decisions.picture(of, opened.store.episode(key), step)
        except JitRLError:
            path = None
        if path is None:
            return Response(status_code=404, headers=HEADERS)
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return Response(path.read_bytes(), media_type=kind, headers=HEADERS)

    @made.get("/p/{place}/{view}")
    def show(request: Request, place: str, view: str) -> Response:
        if (moved := _preferring(request)) is not None:
            return moved
        viewer = find(request)
        if viewer is None:
            return refused(request)
        if view not in VIEWS:
            return _problem(request, base, 404, "missing.title", "missing.said", viewer)
        return _answer(request, base, viewer, jobs, place, view, VIEWS[view], {})

    @made.post("/p/{place}/{view}")
    async def change(request: Request, place: str, view: str) -> Response:
        viewer = find(request)
        if viewer is None:
            return refused(request)
        if view not in POSTED:
            return _problem(request, base, 404, "missing.title", "missing.said", viewer)
        size = request.headers.get("content-length", "")
        if not size.isdigit() or int(size) > _LARGEST:
            return _problem(request, base, 413, "large.title", "large.said", viewer)
        form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        if not viewer.proves(form.get("proof", [""])[0]) or not _is_own(request):
            return _problem(request, base, 403, "forged.title", "forged.said", viewer)
        if not viewer.may_curate:
            return _problem(request, base, 403, "reader.title", "reader.said", viewer)
        return await run_in_threadpool(
            _answer, request, base, viewer, jobs, place, view, POSTED[view], form
        )

    return made


def _answer(
    request: Request,
    base: str,
    viewer: Viewer,
    jobs: Jobs,
    name: str,
    view: str,
    made: View,
    form: Mapping[str, list[str]],
) -> Response:
    """A view, or what is wrong in words."""
    lang, words = _spoken(request)
    is_part = request.headers.get("hx-request") == "true"
    frame = _frame(request, base, viewer)
    try:
        place = viewer.shelf.place(name)
        given = dict(request.query_params)
        asked = Asked(viewer, place, view, base, lang, words, jobs, given, form)
        asked.to(view)  # refuses a seed that is no number, whatever the view makes of it
        shown = made(asked)
    except JitRLError as error:
        status = 404 if isinstance(error, StoreError) else 400
        values = {"title": words("problem.title"), "said": str(error), **frame}
        if is_part:
            return rendered("problem_part.html", values)  # htmx shows none but good ones
        return rendered("problem.html", values, status)
    frame |= {
        "place": place,
        "asked": asked,
        "tabs": TABS,
        "tab": _TAB.get(view, view),
        "seeds": place.seeds(),
        "explained": terms.OF.get(view, ()),
    }
    if both := frame.keys() & shown.values.keys():
        raise KeyError(f"view {view!r} and the frame of the page both name {sorted(both)}")
    return rendered(shown.template, {**frame, **shown.values}, shown.status)


def _frame(request: Request, base: str, viewer: Viewer | None) -> dict[str, Any]:
    """What every page has."""
    lang, words = _spoken(request)
    kept = [(k, v) for k, v in request.query_params.multi_items() if k not in ("lang", "theme")]
    path = _path(request) if request.method == "GET" else f"{base}/"

    def with_(name: str, value: str) -> str:
        return f"{path}?{urlencode([*kept, (name, value)])}"

    theme = request.cookies.get("jitrl_theme", "")
    return {
        "t": words,
        "lang": lang,
        "theme": theme if theme in ("light", "dark") else "",
        "with_": with_,
        "base": base,
        "viewer": viewer,
        "version": __version__,
    }


def _path(request: Request) -> str:
    """The path as an address has it: the name of a file may hold ``#``, ``?`` and ``%``."""
    return quote(request.scope["path"])


def _spoken(request: Request) -> tuple[Language, Words]:
    """The language that a browser asks for."""
    chosen = request.cookies.get("jitrl_lang", "")
    lang: Language = preferred(chosen, request.headers.get("accept-language", ""))
    return lang, Words(lang)


def _preferring(request: Request) -> Response | None:
    """The same address without a language or theme in it, which a cookie keeps; else ``None``."""
    chosen = {
        name: request.query_params[name]
        for name, known in (("lang", ("en", "zh")), ("theme", ("light", "dark", "auto")))
        if request.query_params.get(name) in known
    }
    if not chosen:
        return None
    kept = [(k, v) for k, v in request.query_params.multi_items() if k not in ("lang", "theme")]
    to = _path(request) + (f"?{urlencode(kept)}" if kept else "")
    answer = RedirectResponse(to, 303, HEADERS)
    for name, value in chosen.items():
        answer.set_cookie(f"jitrl_{name}", value, max_age=_YEAR, httponly=True, samesite="lax")
    return answer


def _is_own(request: Request) -> bool:
    """Whether a form was sent by a page of this very site, as far as the browser says."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    host = request.headers.get("host", "")
    return site == "same-origin" and (origin is None or urlsplit(origin).netloc == host)


def _problem(
    request: Request, base: str, status: int, title: str, said: str, viewer: Viewer | None = None
) -> Response:
    _, words = _spoken(request)
    values = {"title": words(title), "said": words(said), **_frame(request, base, viewer)}
    return rendered("problem.html", values, status)


def _file(name: str) -> Response:
    """A file of ``static``; its address holds the version, so it may be kept."""
    path = (STATIC / name).resolve()
    if not path.is_relative_to(STATIC) or not path.is_file():
        return Response(status_code=404, headers=HEADERS)
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    kind = kinds.get(path.suffix, "text/plain; charset=utf-8")
    headers = {**HEADERS, "Cache-Control": "private, max-age=3600"}
    return Response(path.read_bytes(), media_type=kind, headers=headers)
