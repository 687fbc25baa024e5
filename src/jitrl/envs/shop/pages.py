"""What the site's pages are relieved of: outside scripts, thumbnails, and what costs time."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.views import serve
from django.http import HttpResponse, HttpResponseRedirect

from jitrl.envs.shop.data import SHOPPER_SESSION, STAFF_SESSION

_OUTSIDE = re.compile(
    rb'<(script|link)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"[^>]*>(?:</script>)?'
)
_LEAN = re.compile(r".*/(?:jquery\.min|bootstrap\.bundle\.min|ui|dashboard)\.js")
_STYLE = """.dropdown-menu:not(.show), .modal:not(.show), .tab-pane:not(.active), .d-md-none,
.collapse:not(.show, .navbar-collapse), .navbar-toggler, .sr-only, .d-none:not(.d-md-block) {
  display: none;
}
.star-rating i::before { content: "*"; }"""
_STUB = """for (const name of ["inputmask", "select2", "sortable", "tinymce"]) {
  jQuery.fn[name] = function () { return this; };
}"""


def offline(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Middleware that leaves out scripts and styles from other hosts."""

    def respond(request: Any) -> Any:
        response = get_response(request)
        if request.path.startswith("/static/"):
            response["Cache-Control"] = "public, max-age=31536000, immutable"
        elif not response.streaming and response.get("Content-Type", "").startswith("text/html"):
            response.content = _OUTSIDE.sub(b"", response.content)
        return response

    return respond


def static(request: Any, path: str) -> Any:
    """A static file; the lean site has neither images and fonts nor editors and date pickers.

    Of its styles those are left that hide things.
    """
    if not settings.LEAN or _LEAN.fullmatch(path):
        return serve(request, path, insecure=True)
    if path.endswith("jquery.tinymce.min.js"):
        return HttpResponse(_STUB, content_type="text/javascript")
    if path.endswith(("css/styles.css", "css/dashboard.css")):
        return HttpResponse(_STYLE, content_type="text/css")
    kind = "text/javascript" if path.endswith(".js") else "text/css"
    return HttpResponse("", content_type=kind)


def enter(request: Any, who: str) -> Any:
    """Start an episode: forget all cookies, log ``who`` in, show the first page."""
    path, session = {
        "staff": ("/dashboard/", STAFF_SESSION),
        "shopper": ("/catalogue/", SHOPPER_SESSION),
    }[who]
    response = HttpResponseRedirect(path)
    for name in request.COOKIES.keys() - {settings.SESSION_COOKIE_NAME}:
        response.delete_cookie(name)
    response.set_cookie(settings.SESSION_COOKIE_NAME, session, httponly=True)
    return response


class Thumbnails:
    """A thumbnailer that shows no image."""

    def generate_thumbnail(self, source: Any, **options: Any) -> SimpleNamespace:
        """An image without content."""
        return SimpleNamespace(url="data:,", width=1, height=1)

    def delete_thumbnails(self, source: Any) -> None:
        """There are none."""
