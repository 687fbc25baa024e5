"""The words of the pages: each in English and Chinese, side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jitrl.core.stats import Interval, NoInterval
from jitrl.report.filling import Filling
from jitrl.report.sized import sized
from jitrl.report.words import Language
from jitrl.service.pages.foreign import apart
from jitrl.service.pages.words import curation, decisions, frame, judging, rules, terms

SAID: Mapping[str, tuple[str, str]] = {
    **frame.SAID,
    **decisions.SAID,
    **curation.SAID,
    **rules.SAID,
    **judging.SAID,
    **terms.SAID,
}
"""Key to what it says in English and in Chinese; braces are filled in."""

_LANGUAGES: tuple[Language, Language] = ("en", "zh")
_ONE = re.compile(r"(?<![\d.,/])1 (\w+?)(ies|(?<=ss)es|s)\b(?=[\s,.;:)]|$)")


class Sentence(str):
    """One of ours; subclassed because what is filled in is shown already, and must not be twice."""

    __slots__ = ()


class _Filled(Filling):
    """Subclassed because this is how the standard library lets values be shown."""

    def format_field(self, value: Any, format_spec: str) -> str:
        match value:
            case str():
                return self.keep(value if isinstance(value, Sentence) else apart(value))
            case float():
                return sized(value, format_spec)
        return format(value, format_spec)


class Words:
    """One language."""

    def __init__(self, lang: Language) -> None:
        self.lang = lang
        self._column = _LANGUAGES.index(lang)

    def __call__(self, key: str, **values: Any) -> Sentence:
        """What ``key`` says; in English, nouns after a 1 lose their plural.

        Raises:
            KeyError: If nothing is known under that key.
        """
        settle = _counted if self.lang == "en" and values else str
        return Sentence(_Filled().made(SAID[key][self._column], values, settle))

    def reason(self, reason: str) -> str:
        """Why a memory had no say; other reasons as they are."""
        key = f"reason.{reason}"
        return self(key) if key in SAID else reason

    def interval(self, of: Interval | NoInterval) -> str:
        """The ends, or that there are none."""
        match of:
            case Interval(low, high):
                return f"[{low:.3f}, {high:.3f}]"
            case NoInterval(is_constant=True):
                return f"({self('curve.alike')})"
            case NoInterval():
                return f"({self('curve.few')})"


def _counted(said: str) -> str:
    return _ONE.sub(lambda m: f"1 {m[1]}{'y' if m[2] == 'ies' else ''}", said)


def preferred(chosen: str, accepted: str) -> Language:
    """The language that was chosen, else the one that a browser likes best.

    Args:
        chosen: ``en``, ``zh`` or anything else for none.
        accepted: Its header ``Accept-Language``.
    """
    if chosen == "zh":
        return "zh"
    if chosen == "en":
        return "en"
    liked: list[tuple[float, int, Language]] = []
    for place, part in enumerate(accepted.split(",")):
        name, _, weight = part.strip().partition(";q=")
        main = name.lower().partition("-")[0]
        try:
            how = float(weight or 1)
        except ValueError:
            continue
        if main == "zh" and how > 0:
            liked.append((-how, place, "zh"))
        elif main in ("en", "*") and how > 0:
            liked.append((-how, place, "en"))
    return min(liked)[2] if liked else "en"
