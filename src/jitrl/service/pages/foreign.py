"""Texts that others wrote, as pages show them: nothing in them is hidden, and none runs on."""

from __future__ import annotations

import re
from unicodedata import category

_KEPT = "\n\r\t\u200c\u200d"  # lines, and the joiners of some scripts and of emoji
_JOINED = re.compile("(?<=[ -~])[\u200c\u200d]|[\u200c\u200d](?=[ -~])")  # they join no Latin
_FROM_RIGHT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def shown(text: str) -> str:
    r"""``text`` with characters that are not seen as their codes: ``pay(\u202enihton)``.

    Among them are marks of direction, which would show another text than the one that is there.
    """
    if text.isprintable():
        return text if text.isascii() else _JOINED.sub(_code, text)
    unseen = {ord(c): _coded(c) for c in set(text) if not (c in _KEPT or _is_seen(c))}
    return _JOINED.sub(_code, text.translate(unseen))


def apart(text: str) -> str:
    """``text`` to stand in a sentence, whose direction it leaves alone if its own is another."""
    return f"\u2068{text}\u2069" if _FROM_RIGHT.search(text) else text


def _is_seen(character: str) -> bool:
    return character.isprintable() or category(character) == "Zs"


def _code(found: re.Match[str]) -> str:
    return _coded(found[0])


def _coded(character: str) -> str:
    return character.encode("unicode_escape").decode()
