"""What goals have in common, as a pattern with gaps: *Put order ... on hold*.

A pattern is a text in which ``...`` stands for anything and a placeholder, ``{value 1}`` or
``{值1}``, for one value. The pattern of two goals keeps the words that both have in the same order,
so it is about the most special one that fits both (a least general generalisation); that of many is
folded together goal by goal. What fits it can then be checked on goals that are known.

Source: Plotkin, *A note on inductive generalization* (1970), for the idea.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from jitrl.core.rules import SAY_LITTLE, signature

GAP = "..."
PLACEHOLDER = re.compile(r"\{(?:value |值)\d+\}")

_PARTS = re.compile(rf"(\s*\.\.\.\s*|{PLACEHOLDER.pattern})")
_LONGEST = 80  # characters of a value
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

    A value is at most 80 characters long.
    """
    source, groups = _expression(pattern)
    found = source.fullmatch(goal)
    return None if found is None else {name: found[group] for name, group in groups.items()}


def fits(pattern: str, goal: str) -> bool:
    """Whether a goal is one of those that a pattern speaks of; "" speaks of all."""
    return not pattern or values(pattern, goal) is not None


@lru_cache(maxsize=4096)
def _expression(pattern: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """What a goal must match, and the group of each placeholder.

    A text after a gap is taken where it first stands, and never looked for again: that finds
    whatever can be found, as gaps take anything, and takes no longer in long goals. Beside a
    placeholder, all places are tried.
    """
    parts = [part for part in _PARTS.split(pattern) if part]
    names = list(dict.fromkeys(PLACEHOLDER.findall(pattern)))
    groups = {name: f"v{n}" for n, name in enumerate(names)}
    known = set[str]()
    source, is_open = "", False
    for n, part in enumerate(parts):
        if part.strip() == GAP:
            is_open = True
        elif part in groups:
            group = groups[part]
            source += ".*?" if is_open else ""
            source += f"(?P={group})" if group in known else f"(?P<{group}>.{{1,{_LONGEST}}}?)"
            known.add(group)
            is_open = False
        else:
            after = parts[n + 1] if n + 1 < len(parts) else ""
            text = _bordered(part)
            if is_open and not after:
                source += f".*{text}"
            elif is_open and after.strip() == GAP:
                source += f"(?>.*?{text})"
            else:
                source += (".*?" if is_open else "") + text
            is_open = False
    return re.compile(source + (".*" if is_open else ""), re.S), groups


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
    return rf"\s*{source}\s*" if words else r"\s*"


def _is_latin(character: str) -> bool:
    return character.isalnum() and not _IS_HAN.match(character)
