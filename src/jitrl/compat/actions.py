"""Action keys: element ids out, role and label in, and back (released code, not in the paper)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MESSAGE_VERBS = frozenset({"send_msg_to_user", "send_message_to_user"})
"""Verbs whose argument is an answer; their keys leave it out unless told otherwise."""

_CALL = re.compile(r"(\w+)\((.*)\)")
_ELEMENT_KEY = re.compile(r"(\w+)\(<([^\[\]]+)(?:\[([^\]]+)\])?>(?:,\s*(.+))?\)")


@dataclass(frozen=True, slots=True)
class ActionKey:
    """An action as the memory files it.

    Attributes:
        text: The key; the action itself, whatever it is, where it cannot be parsed.
        semantic: The same in words.
        verb: ``None`` where the action cannot be parsed.
        params: Arguments other than the element id.
        role: Role of the element, ``None`` where there is no id or the page does not hold it.
        label: Label of the element, "" where the page shows none in single quotes.
    """

    text: Any
    semantic: Any
    verb: str | None = None
    params: tuple[Any, ...] = ()
    role: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class _Arguments:
    element: str | None
    params: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Element:
    role: str
    label: str


def normalize(action: Any, page: str, *, normalize_send_msg: bool = True) -> ActionKey:
    """Key of an action on the page it is taken on (released code, not in the paper).

    ``click('325')`` becomes ``click(<link[REPORTS]>)``. An id that the page does not hold is
    dropped, so that two such clicks share one key; an argument with a comma in single quotes
    falls apart into two.

    Args:
        action: Text of the action; anything else is its own key.
        page: Accessibility tree with ``[id] role 'label'`` elements.
        normalize_send_msg: File all messages under ``verb('xxx')``. If false, under their first
            argument, where an argument of digits counts as an element id and is lost.
    """
    call = _CALL.fullmatch(action.strip()) if isinstance(action, str) else None
    if call is None:
        return ActionKey(action, action)
    verb = call[1]
    if verb in MESSAGE_VERBS and normalize_send_msg:
        return ActionKey(f"{verb}('xxx')", f"{verb} with message: xxx", verb, ("xxx",))
    arguments = _parse_arguments(call[2])
    if verb in MESSAGE_VERBS:
        message = arguments.params[0] if arguments.params else ""
        return ActionKey(
            f'{verb}("{message}")', f"{verb} with message: {message}", verb, arguments.params
        )
    element = _find_element(arguments.element, page)
    params = [json.dumps(param) for param in arguments.params]
    if element is None:
        return ActionKey(
            f"{verb}({', '.join(params)})",
            f"{verb} with params: {', '.join(params)}",
            verb,
            arguments.params,
        )
    name = f"{element.role}[{element.label}]" if element.label else element.role
    semantic = f"{verb} on {name}"
    if params:
        semantic += f" with params: {', '.join(params)}"
    return ActionKey(
        f"{verb}({', '.join([f'<{name}>', *params])})",
        semantic,
        verb,
        arguments.params,
        element.role,
        element.label,
    )


def ground(key: Any, page: str) -> str | None:
    """Action on this page that a key stands for; ``None`` if there is none.

    Only keys with an element can be grounded, and only if neither its role nor its label holds a
    bracket. The first element with exactly this label wins, then the first whose label contains
    it; a key without a label takes the first element whose role begins like the key's. Further
    arguments are copied as they stand (released code, not in the paper).
    """
    call = _ELEMENT_KEY.fullmatch(key) if isinstance(key, str) else None
    if call is None:
        return None
    verb, role, label, params = call.groups()
    start = rf"\[(\d+)\] {re.escape(role)}"
    if label is None:
        found = re.search(start, page)
    else:
        text = re.escape(label)
        found = re.search(f"{start} '{text}'", page) or re.search(
            f"{start} '[^']*{text}[^']*'", page
        )
    if found is None:
        return None
    return f"{verb}('{found[1]}')" if params is None else f"{verb}('{found[1]}', {params})"


def _parse_arguments(text: str) -> _Arguments:
    values: list[Any]
    try:
        values = json.loads(f"[{text}]")
    except (ValueError, RecursionError):
        values = [part.strip().strip("'\"") for part in text.split(",")]
    if values and isinstance(values[0], str) and values[0].isdigit():
        return _Arguments(values[0], tuple(values[1:]))
    return _Arguments(None, tuple(values))


def _find_element(element: str | None, page: str) -> _Element | None:
    if element is None:
        return None
    start = rf"\[{re.escape(element)}\] (\w+)"
    if quoted := re.search(f"{start} '([^']*)'", page):
        return _Element(quoted[1], quoted[2])
    if bare := re.search(start, page):
        return _Element(bare[1], "")
    return None
