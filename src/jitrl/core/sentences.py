"""Sentences of a rulebook: what makes two of them one.

A text is kept as it was written, but for what stands around a sentence. Its id is a digest of what
is left without the forms of its characters, its bullets, courtesies and marks at either end.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from jitrl.core.clauses import Parts, split

_SELECTORS = ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef")  # forms of the one before
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")  # letters that show nothing
_SEEN = frozenset("\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd") | {
    chr(code) for code in range(0x600, 0x606)
}  # signs of Arabic, Syriac and Kaithi that stand before a number
_FORMERLY = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
"""All that was taken for unseen in ids, until the others were too."""
_BULLET = re.compile(
    r"^(?:[-*•·>#]+|\(?\d{1,2}[.):、）](?!\d)|rule\s*\d*\s*:|规则\s*\d*\s*[:：])\s*", re.I
)
_LEAD = re.compile(
    r"^(?:(?:we|you|one|the (?:agent|assistant|model)) (?:should|must|need to|have to|ought to) "
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
    kept, left = "", text
    while left != kept and _bare(left):
        kept = left
        left = _LEAD.sub("", _BULLET.sub("", _unwrapped(kept))).strip()
    return kept


def without_courtesies(text: str) -> str:
    """A sentence, or its order, without *please* and *you should*."""
    return _LEAD.sub("", text)


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
    return text if text.isascii() and text.isprintable() else "".join(filter(_is_seen, text))


def _is_seen(char: str) -> bool:
    if char in _FILLERS or any(first <= char <= last for first, last in _SELECTORS):
        return False
    return char.isspace() or char in _SEEN or unicodedata.category(char) not in ("Cc", "Cf")


def _common(text: str) -> str:
    """A folded text without what stands around it. Ids in memory files rest on each line."""
    before = None
    while text != before:
        before = text
        text = _LEAD.sub("", _BULLET.sub("", text.strip(_ENDS))).strip()
    return text.casefold()


def _unwrapped(text: str) -> str:
    """The text without pairs of quotes that hold all of it."""
    inner = text[1:-1]
    closing = _PAIRS.get(text[:1])
    if closing is None or not text[1:].endswith(closing):
        return text
    if {text[0], closing} & set(inner.strip("*")):
        return text
    return _unwrapped(inner.strip())
