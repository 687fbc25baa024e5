"""Which spaces of a text no line may end at: inside intervals, between a number and its unit."""

from __future__ import annotations

import re

NO_BREAK = "\u00a0"
_INTERVAL = re.compile(r"\[(?:n < \d+|[^][\n ]+, [^][\n ]+|\d+ %)\]")
_UNIT = re.compile(r"(?<=\d) (?=(?:%|s|min|[\u4e00-\u9fff])(?:[^a-zA-Z]|$))")


def unbroken(text: str) -> str:
    """``text`` with no-break spaces there; each in the place of one space."""
    text = _INTERVAL.sub(lambda found: found[0].replace(" ", NO_BREAK), text)
    return _UNIT.sub(NO_BREAK, text)
