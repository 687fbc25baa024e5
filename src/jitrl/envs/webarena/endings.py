"""How an agent ends a task: an answer, or word that it is done or cannot be done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jitrl.envs.codecs.calls import Call
from jitrl.envs.codecs.elements import read_page
from jitrl.errors import InputError

KINDS = ("retrieve", "navigate", "mutate")
FAILURES = (
    "NOT_FOUND_ERROR",
    "ACTION_NOT_ALLOWED_ERROR",
    "PERMISSION_DENIED_ERROR",
    "DATA_VALIDATION_ERROR",
    "UNKNOWN_ERROR",
)
VERBS = ("answer", "finish")
"""``answer("text")`` says what was to be found; ``finish("navigate")`` that the page is reached,
``finish("mutate")`` that the change is made; ``finish("retrieve", "NOT_FOUND_ERROR")`` why not."""

LISTED: tuple[Call, ...] = (
    Call("finish", ("navigate",)),
    Call("finish", ("mutate",)),
    *(Call("finish", (kind, "NOT_FOUND_ERROR")) for kind in KINDS),
    Call("finish", ("mutate", "ACTION_NOT_ALLOWED_ERROR")),
    Call("finish", ("mutate", "PERMISSION_DENIED_ERROR")),
)
"""The endings that are offered on each page, beside its answers."""

HOW = """\
Actions: click(<link[Label]>), fill(<textbox[Label]>, "text"), \
select_option(<combobox[Label]>, "text"), press(<textbox[Label]>, "Enter"), scroll(0, 600), \
back(), goto("address"). The sites are __SHOPPING__, __SHOPPING_ADMIN__, __REDDIT__, __GITLAB__, \
__MAP__ and __WIKIPEDIA__, as in goto("__REDDIT__/forums").
The task ends with answer("text") for what was to be found (several as a JSON list), \
finish("navigate") when the page is reached, finish("mutate") when the change is made, or \
finish("retrieve" or "navigate" or "mutate", "NOT_FOUND_ERROR" or "ACTION_NOT_ALLOWED_ERROR" or \
"PERMISSION_DENIED_ERROR") when it cannot be done."""
"""What a model is told that writes its actions itself."""

_LONGEST = 60  # characters of an answer that is offered


def response(call: Call) -> dict[str, Any]:
    """What webarena-verified is given for one of ``VERBS``.

    A text that is a JSON list is a list of answers, and one that is a JSON object is one answer of
    several fields; any other text is one answer.

    Raises:
        InputError: If an argument is missing, too many, or none that is known.
    """
    match call:
        case Call("answer", (str(text),), ()):
            return _said("retrieve", "SUCCESS", _data(text))
        case Call("finish", (str(kind),), ()) if kind in KINDS[1:]:
            return _said(kind, "SUCCESS", None)
        case Call("finish", (str(kind), str(status)), ()) if kind in KINDS and status in FAILURES:
            return _said(kind, status, None)
    raise InputError(
        f"{call.canonical()!r} ends no task; write answer(text), finish('navigate'), "
        f"finish('mutate') or finish({' or '.join(KINDS)}, {' or '.join(FAILURES)})"
    )


def page_values(text: str, most: int) -> Sequence[str]:
    """Short texts of a page that may be an answer, at most ``most``: its lines, then its labels."""
    page = read_page(text)
    elements = {node.line: node.element.label for node in page.nodes}
    lines = [line.strip() for i, line in enumerate(page.lines) if i not in elements and i > 0]
    values = (value for value in (*lines, *elements.values()) if 0 < len(value) <= _LONGEST)
    return tuple(dict.fromkeys(values))[:most]


def _data(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    if isinstance(found, list):
        return found
    return [found if isinstance(found, Mapping) else text]


def _said(kind: str, status: str, data: list[Any] | None) -> dict[str, Any]:
    return {
        "task_type": kind.upper(),
        "status": status,
        "retrieved_data": data,
        "error_details": None,
    }
