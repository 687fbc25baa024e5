"""What goals have in common, as a pattern with gaps: *Put order ... on hold*.

A pattern is a text in which ``...`` stands for anything and a placeholder, ``{value 1}`` or
``{值1}``, for one value. The pattern of two goals keeps the words that both have in the same order,
so it is about the most special one that fits both (a least general generalisation); that of many is
folded together goal by goal. What fits it can then be checked on goals that are known.

Source: Plotkin, *A note on inductive generalization* (1970), for the idea.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from jitrl.core.rules import SAY_LITTLE, signature

GAP = "..."
PLACEHOLDER = re.compile(r"\{(?:value |值)\d+\}")

_PARTS = re.compile(rf"(\s*\.\.\.\s*|{PLACEHOLDER.pattern})")
_LONGEST = 80  # characters of a value
_TRIES = 200_000
_MOST = 400  # words and signs of a goal that patterns look at

_HAN = "\u3040-\u30ff\u4e00-\u9fff"
_TOKEN = re.compile(rf"(\s*)({PLACEHOLDER.pattern}|\.\.\.|[^\W_{_HAN}]+|\S)")
_IS_HAN = re.compile(f"[{_HAN}]")
_IS_WORD = re.compile(r"\w")


class _Token(NamedTuple):
    before: str
    text: str


def common(first: str, second: str) -> str:
    """The pattern of what two goals, or patterns, have in common; "" if that says nothing.

    A part that consists of words that say little, or of a single Chinese character, is left out.
    """
    a, b = _tokens(first), _tokens(second)
    blocks = SequenceMatcher(
        None, _keys(a, "a"), _keys(b, "b"), autojunk=False
    ).get_matching_blocks()
    pieces = [(block, a[block.a : block.a + block.size]) for block in blocks if block.size]
    kept = [(block, piece) for block, piece in pieces if _says(piece)]
    if not kept:
        return ""
    first_kept, last_kept = kept[0][0], kept[-1][0]
    texts = ["".join(token.before + token.text for token in piece).strip() for _, piece in kept]
    if first_kept.a or first_kept.b:
        texts.insert(0, "")
    if last_kept.a + last_kept.size < len(a) or last_kept.b + last_kept.size < len(b):
        texts.append("")
    return f" {GAP} ".join(texts).strip()


def values(pattern: str, goal: str) -> dict[str, str] | None:
    """What stands for each placeholder; ``None`` if the goal does not fit the pattern.

    A value is at most 80 characters long. What is not found in 200,000 tries does not fit.
    """
    parts, goal, seen = _compiled(pattern), goal.strip(), set[_Place]()
    waiting = [iter((_Place(0, 0, ()),))]
    for _ in range(_TRIES):
        place = next(waiting[-1], None)
        if place is None:
            waiting.pop()
            if not waiting:
                return None
        elif place.part == len(parts):
            if place.at == len(goal):
                return dict(place.known)
        else:
            again = parts[place.part].again
            same = place._replace(known=tuple(v for v in place.known if v[0] in again))
            if same not in seen:
                seen.add(same)
                waiting.append(_next(parts, place, goal))
    return None


def fits(pattern: str, goal: str) -> bool:
    """Whether a goal is one of those that a pattern speaks of; "" speaks of all."""
    return not pattern or values(pattern, goal) is not None


class _Part(NamedTuple):
    """One part of a pattern.

    Attributes:
        name: Of a placeholder; "" for a text.
        text: What a text looks like; ``None`` for a placeholder, or the end after a gap.
        is_open: Whether a gap is before it.
        is_closed: Whether a gap is behind it, so that its first place is as good as a later one.
        again: Placeholders from here on that stand for a value which is known by then.
    """

    name: str
    text: re.Pattern[str] | None
    is_open: bool
    is_closed: bool
    again: frozenset[str] = frozenset()


class _Place(NamedTuple):
    """How far a goal is read: the next part, where it may begin, and the values so far."""

    part: int
    at: int
    known: tuple[tuple[str, str], ...]


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> tuple[_Part, ...]:
    split = [part for part in _PARTS.split(pattern.strip()) if part]
    parts, is_open = list[_Part](), False
    for n, part in enumerate(split):
        after = split[n + 1].strip() if n + 1 < len(split) else None
        if part.strip() == GAP:
            is_open = True
            continue
        if PLACEHOLDER.fullmatch(part):
            parts.append(_Part(part, None, is_open, after == GAP))
        else:
            end = r"\Z" if after is None else ""
            parts.append(_Part("", re.compile(_bordered(part) + end), is_open, after == GAP))
        is_open = False
    if is_open:
        parts.append(_Part("", None, True, True))
    names = [part.name for part in parts]
    return tuple(
        part._replace(again=frozenset(names[:n]) & frozenset(names[n:]) - {""})
        for n, part in enumerate(parts)
    )


def _next(parts: Sequence[_Part], place: _Place, goal: str) -> Iterator[_Place]:
    """Where the next part may stand and end, in the order in which that is tried."""
    part, at = parts[place.part], place.at
    if part.text is not None:
        while at <= len(goal):
            found = part.text.search(goal, at) if part.is_open else part.text.match(goal, at)
            if found is None:
                return
            yield _Place(place.part + 1, found.end(), place.known)
            if not part.is_open or part.is_closed:
                return
            at = found.start() + 1
    elif not part.name:
        yield _Place(place.part + 1, len(goal), place.known)
    else:
        known = dict(place.known).get(part.name)
        for start in range(at, len(goal) if part.is_open else min(at + 1, len(goal))):
            if known is not None:
                if goal.startswith(known, start):
                    yield _Place(place.part + 1, start + len(known), place.known)
                continue
            for end in range(start + 1, min(start + _LONGEST, len(goal)) + 1):
                value = (part.name, goal[start:end])
                yield _Place(place.part + 1, end, (*place.known, value))


def filled(text: str, known: dict[str, str]) -> str:
    """A text with values in place of its placeholders."""
    return PLACEHOLDER.sub(lambda match: known.get(match[0], match[0]), text)


def key_words(pattern: str) -> tuple[str, ...]:
    """Words of a goal or a pattern that tell it from others, sorted; no values among them."""
    plain = PLACEHOLDER.sub(" ", pattern).replace(GAP, " ")
    return tuple(sorted(signature("", plain).words))


def _tokens(text: str) -> list[_Token]:
    """Words and signs of a text; of a very long one the first, and a gap."""
    found = [_Token(before, token) for before, token in _TOKEN.findall(text)]
    return found if len(found) <= _MOST else [*found[:_MOST], _Token(" ", GAP)]


def _keys(tokens: Sequence[_Token], side: str) -> list[str]:
    """What is compared of them; a gap is like no other."""
    return [
        f"{side}{n}\0" if token.text == GAP else token.text.casefold()
        for n, token in enumerate(tokens)
    ]


def _says(piece: Sequence[_Token]) -> bool:
    """Whether a run of tokens tells one goal from another."""
    texts = [token.text for token in piece]
    if any(PLACEHOLDER.fullmatch(text) for text in texts):
        return True
    han = [text for text in texts if _IS_HAN.match(text)]
    if len(han) > 1 and "".join(han) not in SAY_LITTLE:
        return True
    return any(
        _IS_WORD.match(text) and not _IS_HAN.match(text) and text.casefold() not in SAY_LITTLE
        for text in texts
    )


def _bordered(text: str) -> str:
    """A regular expression for a text that begins and ends with whole words, blanks around it."""
    words = text.split()
    blanks = r"\s+"
    source = f"(?i:{blanks.join(map(re.escape, words))})"
    if words and _is_latin(words[0][0]):
        source = rf"(?<![^\W_{_HAN}]){source}"
    if words and _is_latin(words[-1][-1]):
        source = rf"{source}(?![^\W_{_HAN}])"
    return rf"\s*{source}\s*" if words else r"\s+"


def _is_latin(character: str) -> bool:
    return character.isalnum() and not _IS_HAN.match(character)
