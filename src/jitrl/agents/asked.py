"""Asking the model that writes: what it said, or that it failed; an episode is never lost to it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from jitrl.errors import ModelError
from jitrl.ports import Writer
from jitrl.types import Writing

Author = Literal["rules", "model"]
T = TypeVar("T")

FAILED = "lesson_failed"
"""Under this name ``Episode.info`` says why a lesson is missing."""

_log = logging.getLogger(__name__)


def asked(
    writer: Writer, writing: Writing, read: Callable[[str], T], kept: Callable[[T], Any], name: str
) -> Mapping[str, Any]:
    """What the writer wrote, as a lesson: under ``name``, or under ``FAILED`` the reason.

    Args:
        read: Makes the answer out; raises ``ValueError`` if it cannot.
        kept: Makes plain values of it.

    Raises:
        BudgetExceeded: If the call would pass a limit.
    """

    def readable(text: str) -> T:
        found = read(text)
        msgspec.json.encode(kept(found))  # JSON may hold half of a surrogate pair, a journal not
        return found

    try:
        return {name: kept(writer.write(writing, readable)), "lesson_by": writer.name}
    except ModelError as error:
        _log.warning("no lesson written by=%s: %s", writer.name, error)
        return {FAILED: str(error), "lesson_by": writer.name}


def read_text(text: str, most: int) -> str:
    """An answer in words, cut to ``most`` characters.

    Raises:
        ValueError: If it is empty.
    """
    said = text.strip()
    if not said:
        raise ValueError("the answer is empty")
    return said if len(said) <= most else f"{said[: most - 1]}…"


def read_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer, whatever stands around it.

    Raises:
        ValueError: If there is none.
    """
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first:
        raise ValueError("the answer holds no JSON object")
    found = json.loads(text[first : last + 1])
    if not isinstance(found, dict):
        raise ValueError("the answer is no JSON object")
    return found


def read_field(found: Mapping[str, Any], name: str, kind: type[T]) -> T:
    """A field of a JSON object.

    Raises:
        ValueError: If it is missing or of another kind.
    """
    value = found.get(name)
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise ValueError(f"{name!r} is {value!r}; it must be of type {kind.__name__}")
    return value
