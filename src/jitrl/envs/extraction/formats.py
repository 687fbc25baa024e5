"""Formats: how a form wants a value, and the normalisers that write a span of a document so."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from jitrl.envs.extraction.reading import CODES, Value, read

TITLES = ("Prof.", "Dr.", "Dr", "Mr", "Mrs", "Ms", "Mme", "M.", "Shri", "Smt.", "Mevr.", "Dhr.")
TITLES_ZH = ("博士", "教授", "经理", "主任", "老师")

_DATES = ("day first", "month first", "year first", "numerals", "republic", "no year")
_SUMS = ("point", "comma", "full width", "ten thousands", "thousands", "formal")
_RATES, _TIMES = ("point", "comma", "numerals"), ("whole day", "half day")

READINGS: Mapping[str, tuple[str, ...]] = {
    "iso": _DATES,
    "joined": _DATES,
    "number": _SUMS,
    "cents": _SUMS,
    "percent": _RATES,
    "fraction": _RATES,
    "colon": _TIMES,
    "no colon": _TIMES,
    "e164": tuple(CODES),
}
"""Formats that need the text to be read first, and the ways to read it; a language has some."""


def render(format: str, value: Value) -> str:
    """A value in one of the formats of ``READINGS``."""
    match value:
        case datetime.date():
            return value.isoformat() if format == "iso" else value.strftime("%Y%m%d")
        case datetime.time():
            return value.strftime("%H:%M" if format == "colon" else "%H%M")
        case Decimal():
            if format == "number":
                return f"{value:.2f}"
            if format == "percent":
                return _plain(value)
            return _plain(value * 100 if format == "cents" else value / 100)
    return value


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _untitled(text: str) -> str:
    words = text.split()
    while words and words[0] in TITLES:
        words = words[1:]
    text = " ".join(words)
    return next((text.removesuffix(t) for t in TITLES_ZH if text.endswith(t)), text)


TEXTUAL: Mapping[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "untitled": _untitled,
    "capitals": lambda text: _untitled(text).upper(),
    "family": lambda text: _untitled(text)[:1],
    "upper": str.upper,
    "squeezed": lambda text: re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text)),
    "digits": lambda text: re.sub(r"\D", "", unicodedata.normalize("NFKC", text)),
    "half width": lambda text: unicodedata.normalize("NFKC", text),
    "bare": lambda text: re.sub(r"\s*[(（].*[)）]", "", text),
}
"""Formats that take the text as it is written."""


@dataclass(frozen=True, slots=True)
class Normaliser:
    """A way to write a span.

    Attributes:
        label: What it is called in actions.
        kind: The kind of value it is meant for; "" for all.
        format: A format of ``READINGS`` or ``TEXTUAL``.
        reading: How the text is read first; "" for formats that need none.
    """

    label: str
    kind: str
    format: str
    reading: str = ""

    @property
    def action(self) -> str:
        """The canonical action."""
        return f'write("{self.label}")'

    def made(self, text: str, year: int) -> str | None:
        """What it makes of a span; ``None`` where it makes nothing of it."""
        return _made(self, text, year)


@lru_cache(maxsize=65536)
def _made(normaliser: Normaliser, text: str, year: int) -> str | None:
    if not normaliser.reading:
        return TEXTUAL[normaliser.format](text) or None
    value = read(normaliser.kind, normaliser.reading, text, year)
    return None if value is None else render(normaliser.format, value)
