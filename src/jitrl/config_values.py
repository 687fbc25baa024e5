"""Values of settings: what a text stands for, and whether a value is allowed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from jitrl.errors import ConfigError, brief


def plain(text: str) -> Any:
    """A number, truth value, null, list or table if ``text`` is one in JSON, else the text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text


def read(text: str, hint: Any, what: str) -> Any:
    """What ``text`` stands for where a value of type ``hint`` is wanted; it is not checked yet.

    Args:
        what: Where it was given, and the setting, for messages.

    Raises:
        ConfigError: If a table is wanted and the text is none.
    """
    kinds = {type(kind) for kind in _alternatives(inspect.type_info(hint))}
    value, parts = plain(text), [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(value, dict | list):
        return value
    if inspect.DictType in kinds:
        return _table(text, parts, what)
    if kinds & {inspect.VarTupleType, inspect.FrozenSetType}:
        is_count = inspect.IntType in kinds and text.strip().isdigit()
        return text if is_count else parts
    return text


def convert(value: Any, hint: Any, what: str, *, strict: bool = True) -> Any:
    """``value`` as ``hint`` wants it.

    Args:
        strict: Whether a text stands for nothing but itself.

    Raises:
        ConfigError: If it is of another type, out of range, not finite, or cannot be written down.
    """
    try:
        found = msgspec.convert(value, hint, strict=strict)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise ConfigError(f"{what} is {brief(value)}: {error}{allowed(hint)}") from error
    for part in _parts(found):
        if isinstance(part, float) and not math.isfinite(part):
            raise ConfigError(
                f"{what} is {brief(value)}; a number must be finite, and a limit that is not "
                "wanted is left out"
            )
        if isinstance(part, str) and any("\ud800" <= letter <= "\udfff" for letter in part):
            raise ConfigError(
                f"{what} is {brief(value)}; it has half of a surrogate pair and cannot be "
                "written down"
            )
    return found


def allowed(hint: Any) -> str:
    """``; allowed: en, zh`` where only some words are, else nothing."""
    words = _words(inspect.type_info(hint))
    return f"; allowed: {', '.join(words)}" if words else ""


def takes_list(hint: Any) -> bool:
    """Whether a list may be given."""
    kinds = _alternatives(inspect.type_info(hint))
    return any(isinstance(kind, inspect.CollectionType | inspect.TupleType) for kind in kinds)


def _table(text: str, parts: list[str], what: str) -> dict[str, Any]:
    pairs = [part.partition("=") for part in parts]
    if text.lstrip().startswith(("{", "[")) or not all(key and equals for key, equals, _ in pairs):
        raise ConfigError(f"{what} is {brief(text)}; a table is written a=1,b=x or as JSON")
    return {key: plain(raw) for key, _, raw in pairs}


def _parts(value: Any) -> Iterator[Any]:
    """``value``, or all that a list or table holds, however deep."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from (key, *_parts(item))
    elif isinstance(value, list | tuple | frozenset):
        for item in value:
            yield from _parts(item)
    else:
        yield value


def _alternatives(info: inspect.Type) -> tuple[inspect.Type, ...]:
    """What a value may be, with the notes on constraints taken off."""
    if isinstance(info, inspect.Metadata):
        return _alternatives(info.type)
    if isinstance(info, inspect.UnionType):
        return tuple(kind for option in info.types for kind in _alternatives(option))
    return (info,)


def _words(info: inspect.Type) -> tuple[str, ...]:
    """The words that are allowed, where only some are."""
    if isinstance(info, inspect.LiteralType):
        return tuple(str(value) for value in info.values)
    if isinstance(info, inspect.CollectionType):
        return _words(info.item_type)
    rest = _alternatives(info)
    return () if rest == (info,) else tuple(word for kind in rest for word in _words(kind))
