"""Every text of a record, however deep it is, through one function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any, TypeVar, cast

from jitrl.core.sentences import cleaned, rule_id, scoped_id
from jitrl.types import Neighbors, Rule

T = TypeVar("T")

_EXACT = frozenset({"seed"})
"""Fields that hold the state of a generator, in hexadecimal."""
_NUMBERS = frozenset({"float", "int", "bool", "float | None", "tuple[float, ...]"})


def walked(value: T, change: Callable[[str], str]) -> T:
    """``value`` with each text in it changed; what has nothing to change is the same object.

    Keys of mappings count as texts. The id of a rule whose text changes becomes that of its text.
    """
    return cast(T, _walked(value, _Changed(change).__getitem__))


class _Changed(dict[str, str]):
    """Text → what it is changed to; the actions of a record stand in it many times."""

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self._change = change

    def __missing__(self, text: str) -> str:
        changed = self[text] = self._change(text)
        return changed


def _walked(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        changed = change(value)
        return value if changed == value else changed
    if value is None or isinstance(value, (int, float, bytes)):
        return value
    if hasattr(type(value), "__dataclass_fields__"):
        return _fields(value, change)
    if isinstance(value, Neighbors):
        actions = list(map(change, value.action))
        same = actions == value.action
        return value if same else Neighbors(actions, value.numbers, value.rows)
    if isinstance(value, Mapping):
        made = {_walked(k, change): _walked(v, change) for k, v in value.items()}
        return value if made == value else made
    if isinstance(value, list | tuple | set | frozenset):
        items = [_walked(item, change) for item in value]
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        named = getattr(type(value), "_make", None)
        return named(items) if named else type(value)(items)
    return value


@lru_cache
def _texts(kind: Hashable) -> tuple[str, ...]:
    """The fields of a class that can hold a text."""
    named = {f.name: str(f.type) for f in fields(cast(Any, kind))}
    return tuple(name for name, hint in named.items() if not {name, hint} & (_NUMBERS | _EXACT))


def _fields(value: Any, change: Callable[[str], str]) -> Any:
    new: dict[str, Any] = {}
    for name in _texts(cast(Hashable, type(value))):
        before = getattr(value, name)
        after = _walked(before, change)
        if after is not before:
            new[name] = after
    if isinstance(value, Rule) and ("text" in new or "scope" in new):
        text, scope = new.get("text", value.text), new.get("scope", value.scope)
        is_scoped = value.id == scoped_id(value.text, value.scope)
        text = cleaned(text) or text
        new["id"] = scoped_id(text, scope) if is_scoped else rule_id(text)
    return replace(value, **new) if new else value
