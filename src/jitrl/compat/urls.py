"""Page keys: a URL with ids and hashes taken out (released code, not in the paper)."""

from __future__ import annotations

import re
from urllib.parse import urlparse

SITES: tuple[tuple[int, str], ...] = (
    (8083, "shopping_admin"),
    (7770, "wikipedia"),
    (9999, "shopping"),
    (3000, "gitlab"),
    (8888, "reddit"),
    (8080, "map"),
)
"""Ports and the site each stands for; the first that fits wins."""

_LETTERS_AND_DIGITS = re.compile(r"[A-Za-z0-9]+")


def url_key(url: str | None) -> str:
    """Key under which the released code files a page (released code, not in the paper).

    ``site/segment/segment`` of the path alone. A port counts when ``:port`` stands anywhere in
    the text, so ``:30001`` and a query with ``:3000`` in it are both ``gitlab``. A segment
    ``filter`` ends the path; digits become ``ID``; what looks like a hash becomes ``HASH``, so
    that ``form_key`` stays and the key after it goes. An empty URL, ``None`` and ``N/A`` are
    ``unknown``. A URL that cannot be parsed is its own key.
    """
    if not url or url == "N/A":
        return "unknown"
    try:
        parts = urlparse(url)
        port = parts.port
    except ValueError:
        return url
    key = [_site(url, port)]
    for segment in parts.path.split("/"):
        if segment == "filter":
            break
        if segment:
            key.append(_segment_key(segment))
    return "/".join(key)


def _site(url: str, port: int | None) -> str:
    for number, name in SITES:
        if f":{number}" in url or port == number:
            return name
    return "unknown_site"


def _segment_key(segment: str) -> str:
    if segment.isdigit():
        return "ID"
    return "HASH" if _looks_like_hash(segment) else segment


def _looks_like_hash(segment: str) -> bool:
    if "+" in segment or "=" in segment:
        return True
    if segment.islower() or segment.isupper() or "_" in segment:
        return False
    size = len(segment)
    return size > 15 or (size > 12 and _LETTERS_AND_DIGITS.fullmatch(segment) is not None)
