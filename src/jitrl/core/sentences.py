"""Sentences of a rulebook: what makes two of them one.

A text is kept as it was written, but for what stands around a sentence. Its id is a digest of what
is left without the forms of its characters, its bullets, courtesies and marks at either end.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_left
from typing import NamedTuple

from jitrl.core.clauses import Parts, split

LONGEST_TEXT = 10_000
"""Characters of a rule at most, with all it quotes: a text that is longer is a page by mistake."""

_SELECTORS = ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef")  # forms of the one before
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")  # letters that show nothing
_SEEN = frozenset("\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd") | {
    chr(code) for code in range(0x600, 0x606)
}  # signs of Arabic, Syriac and Kaithi that stand before a number
_FORMERLY = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
"""All that was taken for unseen in ids, until the others were too."""
_BULLET = re.compile(
    r"(?:[-*•·>#]+|\(?\d{1,2}[.):、）](?!\d)|rule\s*\d*\s*:|规则\s*\d*\s*[:：])\s*", re.I
)
_LEAD = re.compile(
    r"(?:(?:we|you|one|the (?:agent|assistant|model)) (?:should|must|need to|have to|ought to) "
    r"|please |(?:我们|你们?|您|大家|智能体|模型)(?:应该|应当|必须|需要|应|要)|请|应该|应当)",
    re.I,
)
_ENDS = " .!。！．｡;；,，、\"'“”‘’「」`*"
_PAIRS = {"“": "”", "「": "」", "‘": "’", '"': '"', "'": "'", "`": "`", "*": "*"}


def folded(text: str) -> str:
    """One form for characters that have several, single blanks, and nothing that is not seen."""
    return _folded(_visible(text))


def cleaned(text: str) -> str:
    """The sentence as it was written, without bullets, courtesies or quotes around the whole.

    "" if there is nothing else. Quotes and stops that belong to it stay.
    """
    text = " ".join(unicodedata.normalize("NFC", _visible(text)).split())
    spans = [_Span(0, len(text))]
    while (inner := _begun(text, _unwrapped(text, spans[-1]))) != spans[-1]:
        spans.append(inner)
    left = bisect_left(spans, True, key=lambda span: not _bare(text[slice(*span)]))
    return text[slice(*spans[left - 1])] if left else ""


def without_courtesies(text: str) -> str:
    """A sentence, or its order, without *please* and *you should*."""
    found = _LEAD.match(text)
    return text[found.end() :] if found else text


def rule_id(text: str) -> str:
    """The same for all texts that say the same in the same words."""
    return _digest(_bare(text))


def scoped_id(text: str, scope: str) -> str:
    """The id of a text in one scope, where a rule of another scope has ``rule_id(text)``."""
    return _digest(f"{scope}\n{_bare(text)}")


def is_id_of(id: str, text: str, scope: str) -> bool:
    """Whether a rule of this text and scope may have the id.

    Memories made before more of what is not seen was taken out of texts have ids with it in.
    """
    if id in (rule_id(text), scoped_id(text, scope)):
        return True
    former = _common(_folded(text.translate(_FORMERLY)))
    return id in (_digest(former), _digest(f"{scope}\n{former}"))


def parts(text: str) -> Parts | None:
    """Condition and order of a sentence; ``None`` if it has no condition.

    What stands in quotes or brackets belongs to one of them whole.
    """
    return split(cleaned(text))


def _bare(text: str) -> str:
    """What two texts have in common that are one rule."""
    return _common(folded(text))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _visible(text: str) -> str:
    """The text without what is not seen, such as marks of direction; blanks and lines stay."""
    return text if text.isascii() and text.isprintable() else "".join(filter(is_seen, text))


def is_seen(char: str) -> bool:
    """Whether a character shows something by itself; blanks and ends of lines count as seen."""
    if char in _FILLERS or any(first <= char <= last for first, last in _SELECTORS):
        return False
    return char.isspace() or char in _SEEN or unicodedata.category(char) not in ("Cc", "Cf")


class _Span(NamedTuple):
    """A part of a text, so that what stands around a sentence goes without a copy of the rest."""

    start: int
    end: int


def _common(text: str) -> str:
    """A folded text without what stands around it. Ids in memory files rest on each line."""
    before, span = None, _Span(0, len(text))
    while span != before:
        before = span
        span = _begun(text, _trimmed(text, span, _ENDS))
    return text[slice(*span)].casefold()


def _trimmed(text: str, span: _Span, marks: str = " ") -> _Span:
    """The part without these marks at either end."""
    start, end = span
    while start < end and text[start] in marks:
        start += 1
    while start < end and text[end - 1] in marks:
        end -= 1
    return _Span(start, end)


def _begun(text: str, span: _Span) -> _Span:
    """The part without a bullet and a courtesy."""
    for form in (_BULLET, _LEAD):
        if found := form.match(text, *span):
            span = _Span(found.end(), span.end)
    return _trimmed(text, span)


def _unwrapped(text: str, span: _Span) -> _Span:
    """The part without pairs of quotes that hold all of it."""
    start, end = span
    while end - start > 1 and text[end - 1] == (closing := _PAIRS.get(text[start])):
        if {text[start], closing} & set(text[start + 1 : end - 1].strip("*")):
            break
        start, end = _trimmed(text, _Span(start + 1, end - 1))
    return _Span(start, end)
