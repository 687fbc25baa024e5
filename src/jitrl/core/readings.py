"""Readings: what actions told that changed nothing, and what that asks of other actions.

A reading lasts: a recipe counts after the book is shut. It is no part of a state, so states that
are met again stay the same, whatever was read before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from jitrl.core.similarity import words

_ARTICLES = frozenset(("the", "a", "an", "some"))


def collected(texts: Iterable[str]) -> str:
    """All that was read as one text, oldest first; nothing stands there twice."""
    return "\n".join(dict.fromkeys(texts))


def readings(info: Mapping[str, Any], steps: int) -> list[tuple[int, str]]:
    """Pairs of a step and what its action told, as an episode's ``info["readings"]`` has them.

    What is no such pair is left out; ``fault`` says what that is.

    Args:
        steps: How many the episode has.
    """
    found = info.get("readings")
    pairs = found if isinstance(found, list | tuple) else ()
    return [(pair[0], pair[1]) for pair in pairs if _is_reading(pair, steps)]


def fault(info: Mapping[str, Any], steps: int) -> str:
    """What of ``info["readings"]`` is no reading, and the form it needs; "" if nothing is."""
    if "readings" not in info:
        return ""
    found = info["readings"]
    form = f"it must be [[step, text], …] with steps from 0 to {steps - 1}"
    if not isinstance(found, list | tuple):
        return f"info.readings is {found!r:.60}; {form}"
    for i, pair in enumerate(found):
        if not _is_reading(pair, steps):
            return f"info.readings[{i}] is {pair!r:.60}; {form}"
    return ""


def read_before(found: Iterable[tuple[int, str]], step: int) -> str:
    """What was read before a step.

    Args:
        found: As ``readings`` gives them.
    """
    return collected(text for at, text in found if at < step)


def _is_reading(pair: object, steps: int) -> bool:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return False
    step, text = pair
    return type(step) is int and 0 <= step < steps and isinstance(text, str)


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
