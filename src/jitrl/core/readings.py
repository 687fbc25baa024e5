"""Readings: what actions told that changed nothing, and what that asks of other actions.

A reading lasts: a recipe counts after the book is shut. It is no part of a state, so states that
are met again stay the same, whatever was read before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from jitrl.core.similarity import words

_ARTICLES = frozenset(("the", "a", "an", "some"))


def collected(texts: Iterable[str]) -> str:
    """All that was read as one text, oldest first; nothing stands there twice."""
    return "\n".join(dict.fromkeys(texts))


def read_before(readings: Iterable[Sequence[Any]], step: int) -> str:
    """What was read before a step.

    Args:
        readings: Pairs of a step and what its action told.
    """
    return collected(text for at, text in readings if at < step)


@lru_cache(maxsize=65536)
def asked(read: str, label: str) -> tuple[str, ...]:
    """The words that stand before a label, one for each place where the readings name it.

    In ``fry the red onion`` that is ``fry``; "" at the start of a line. Articles do not count.
    """
    sought, found = words(label), dict[str, None]()
    for line in _lines(read) if sought else ():
        for at in range(len(line) - len(sought) + 1):
            if list(line[at : at + len(sought)]) == sought:
                before = (word for word in reversed(line[:at]) if word not in _ARTICLES)
                found[next(before, "")] = None
    return tuple(found)


@lru_cache(maxsize=1024)
def _lines(read: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(words(line)) for line in read.splitlines())
