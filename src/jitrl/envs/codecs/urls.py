"""URL keys: an address with everything that is only an identity taken out."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import parse_qsl, unquote

_ORIGIN = re.compile(r"\A\s*(?:(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*|[A-Za-z][A-Za-z0-9+.-]*:)")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:[T ][\d:.,+Z-]*)?")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?=.*\d)[0-9a-fA-F]{8,}|[0-9a-fA-F]{32,}")
_TOKEN = re.compile(r"[\w+/=~.-]{16,}")
_NUMBER = re.compile(r"(?<![^\W_])\d{3,}(?![^\W_])")
_RUNS = re.compile(r"[a-z]+|[A-Z]+|\d+")
_MAX_SEGMENT = 80


def url_key(url: str, *, site: str = "", keep: Collection[str] = ()) -> str:
    """Place of a URL: ``site/path`` with ``{id}``, ``{date}`` and ``{hash}`` for identities.

    The host and port are dropped (``site`` names the site, wherever it is served), so is the
    query, apart from the parameters named in ``keep``. A fragment that is a route (``#/orders/7``)
    continues the path. Never raises.

    Args:
        keep: Names of query parameters that tell pages apart, such as ``tab``.
    """
    rest = _ORIGIN.sub("", url, count=1)
    rest, _, fragment = rest.partition("#")
    path, _, query = rest.partition("?")
    if fragment.startswith(("/", "!/")):
        path = f"{path}/{fragment.lstrip('!').partition('?')[0]}"
    parts = [site] if site else []
    parts += [_segment(unquote(segment, errors="replace")) for segment in path.split("/")]
    key = "/".join(part for part in parts if part)
    if keep:
        pairs = [(k, v) for k, v in parse_qsl(query[:4096], errors="replace") if k in keep]
        key += "?" + "&".join(f"{k}={_segment(v)}" for k, v in sorted(pairs)) if pairs else ""
    return key


def _segment(text: str) -> str:
    """One part of a path; an identity becomes a placeholder."""
    text = text.strip()
    if text.isdecimal() or _UUID.fullmatch(text):
        return "{id}"
    if _DATE.fullmatch(text):
        return "{date}"
    if _HEX.fullmatch(text) or _is_opaque(text):
        return "{hash}"
    text = _NUMBER.sub("{id}", _UUID.sub("{id}", _DATE.sub("{date}", text)))
    return re.sub(r"\s+", " ", text) if len(text) <= _MAX_SEGMENT else "{long}"


def _is_opaque(text: str) -> bool:
    """Whether letters of both cases and digits change so often that nobody wrote it by hand."""
    if "=" in text and not re.search(r"\s", text):
        return True
    if not _TOKEN.fullmatch(text) or not re.search(r"\d", text) or text.lower() == text:
        return False
    return len(_RUNS.findall(text)) >= len(text) / 3
