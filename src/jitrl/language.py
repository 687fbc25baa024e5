"""Which language a goal is in: prompts, notes and judges speak it, too. How English counts."""

from __future__ import annotations

import re

_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")


def is_chinese(goal: str) -> bool:
    """Whether a goal has Chinese characters and no kana, as Japanese has."""
    return bool(_HAN.search(goal)) and not _KANA.search(goal)


def counted(number: int, what: str) -> str:
    """The number with its noun: ``1 row``, ``2,000 rows``, ``2 memories``."""
    if number == 1:
        return f"1 {what}"
    ends_y = what.endswith("y") and what[-2:-1] not in "aeiou"
    return f"{number:,} {f'{what[:-1]}ies' if ends_y else f'{what}s'}"


def singular(text: str) -> str:
    """English with the nouns that this package counts in the singular after a lone 1.

    For texts that a template made, as ``1 model calls, 2 episodes``.
    """
    return _LONE.sub(r"1 \1\2", text)


_COUNTED = (
    "action arm attempt call candidate character choice decision distillation episode judge kind "
    "label lesson neighbor record row rule scope seed state step task template text time token use"
)
_LONE = re.compile(rf"(?<![\w.,:/#-])1 ((?:[a-z]+ )?)({_COUNTED.replace(' ', '|')})s\b")
