"""What may be typed: values that a goal names, written as a field of a page takes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

_QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」|『([^』\n]+)』"
    r"|‘([^’\n]+)’(?!\w)|(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w))+)'(?!\w)"
)
_DATE = re.compile(r"(?:(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?|(\d{1,2})/(\d{1,2})/(\d{4}))")
_TIME = re.compile(r"(\d{1,2})[:.](\d{2})\s*([AaPp])?\.?(?:[Mm]\b)?")
_EXACT = {
    "number": re.compile(r"-?\d+(?:\.\d+)?"),
    "month": re.compile(r"\d{4}-\d{2}"),
    "week": re.compile(r"\d{4}-W\d{2}"),
    "datetime-local": re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}"),
    "color": re.compile(r"#[0-9a-f]{6}"),
}


def quoted_values(goal: str) -> tuple[str, ...]:
    """What stands in quotation marks in a goal, in order, without repeats.

    Marks of several languages are known; an apostrophe within a word opens nothing.
    """
    found = ("".join(filter(None, match.groups())).strip() for match in _QUOTED.finditer(goal))
    return tuple(dict.fromkeys(filter(None, found)))


def fitting(kind: str, values: Iterable[str]) -> Sequence[str]:
    """Those of ``values`` that a field of the input type ``kind`` takes, as it wants them.

    Dates (``12/31/2020``, ``2020年12月31日``) and times (``3:45 PM``) are rewritten for it.
    """
    found: Iterable[str | None] = values
    if kind == "date":
        found = map(_iso_date, values)
    elif kind == "time":
        found = map(_iso_time, values)
    elif kind in _EXACT:
        found = (value for value in values if _EXACT[kind].fullmatch(value))
    return tuple(dict.fromkeys(filter(None, found)))


def _iso_date(text: str) -> str | None:
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, us_month, us_day, us_year = (int(part or 0) for part in match.groups())
    try:
        return date(year or us_year, month or us_month, day or us_day).isoformat()
    except ValueError:
        return None


def _iso_time(text: str) -> str | None:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    hour, minute, half = int(match[1]), int(match[2]), (match[3] or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + 12 * (half == "p")
    return f"{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None
