"""Texts that others wrote, as pages show them: nothing in them is hidden, and none runs on."""

from __future__ import annotations

import re
from unicodedata import category

from jitrl.core.sentences import is_seen

_KEPT = "\n\r\t\u200c\u200d\ufe0e\ufe0f"  # lines, and what joins or forms letters and emoji
_BLANK = "\u2800"  # a sign of Braille without a dot
_NO_USE = re.compile(  # runs of joiners, those beside Latin and Chinese, forms of no symbol
    "[\u200c\u200d]{2,}|(?<=[ -~\u4e00-\u9fff])[\u200c\u200d]|[\u200c\u200d](?=[ -~\u4e00-\u9fff])"
    r"|(?<![^\w\s\u200c-\u200d\ufe0e-\ufe0f])[\ufe0e\ufe0f](?!\u20e3)"
)
_FROM_RIGHT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def shown(text: str) -> str:
    r"""``text`` with characters that are not seen as their codes: ``pay(\u202enihton)``.

    Among them are marks of direction, which would show another text than the one that is there.
    """
    if text.isascii() and text.isprintable():
        return text
    unseen = {ord(c): _coded(c) for c in set(text) if not (c in _KEPT or _is_seen(c))}
    return _NO_USE.sub(_code, text.translate(unseen))


def apart(text: str) -> str:
    """``text`` shown in a sentence, whose direction it leaves alone if its own is another."""
    said = shown(text)
    return f"\u2068{said}\u2069" if _FROM_RIGHT.search(said) else said


def _is_seen(character: str) -> bool:
    is_printed = character.isprintable() or category(character) == "Zs"
    return is_printed and is_seen(character) and character != _BLANK


def _code(found: re.Match[str]) -> str:
    return "".join(map(_coded, found[0]))


def _coded(character: str) -> str:
    return character.encode("unicode_escape").decode()
