"""Templates filled in: escaped, in two languages, with nothing that a strict policy refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from jitrl.report.sized import sized
from jitrl.service.pages.foreign import shown
from jitrl.service.pages.words import Sentence

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Of every answer: scripts and styles come from files of this package alone."""


@cache
def environment() -> Environment:
    """The templates; a name that is not there is an error."""
    made = Environment(
        loader=PackageLoader("jitrl.service.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finished,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "percent": percent,
        "fixed": fixed,
        "signed": signed,
        "short": short,
        "grouped": grouped,
        "when": when,
        "json": as_json,
        "as_is": as_is,
        "one_line": one_line,
    }
    return made


def _finished(value: Any) -> Any:
    """What a template puts into a page, before it is escaped."""
    if isinstance(value, Path):
        return shown(str(value))
    is_foreign = isinstance(value, str) and not isinstance(value, Markup | Sentence)
    return shown(value) if is_foreign else value


def as_is(text: str) -> Markup:
    """A text that a form sends back, character by character."""
    return escape(text)


def percent(share: float) -> str:
    """A share, with a decimal where it is near one of its ends; only 0 and 1 are 0% and 100%."""
    if share in (0, 1) or 0.0995 <= share <= 0.9949:
        return f"{share:.0%}"
    return "<0.1%" if share < 0.0005 else ">99.9%" if share > 0.9995 else f"{share:.1%}"


def fixed(value: float | None, digits: int = 2) -> str:
    """So many decimals, without -0."""
    return "–" if value is None else sized(round(value, digits) + 0.0, f".{digits}f")


def signed(value: float | None, digits: int = 2) -> str:
    """As ``fixed``, with its sign."""
    return "–" if value is None else sized(round(value, digits) + 0.0, f"+.{digits}f")


def short(value: float | None) -> str:
    """A number as short as it can be told."""
    return "–" if value is None else f"{value:.4g}"


def grouped(number: int) -> str:
    """Digits in groups of three."""
    return f"{number:,}"


def as_json(value: Any) -> Markup:
    """JSON, to be put into an attribute."""
    return escape(json.dumps(value, ensure_ascii=False, allow_nan=False))


def one_line(text: str) -> str:
    """A text whose lines stand in one."""
    return " · ".join(line.strip() for line in text.splitlines() if line.strip())


def when(seconds: float) -> str:
    """A moment, in UTC; "–" for none."""
    if not seconds:
        return "–"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return f"{seconds:g} s"


def rendered(template: str, values: Mapping[str, Any], status: int = 200) -> Response:
    """The answer."""
    if status == 204:
        return Response(status_code=204, headers=HEADERS)
    text = environment().get_template(template).render(values)
    return HTMLResponse(text, status_code=status, headers=HEADERS)
