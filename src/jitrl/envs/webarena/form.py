"""Which answers have the published form; others would be read in the agent's favor.

The checks of webarena-verified 1.2.3 compare both sides alike, so that they take a pattern
(``^.*$``) or a list of alternatives (``[["64", "65"]]``) from an agent as they take it from a task.
Its published form of an answer has neither, and here an answer that has is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from jitrl.envs.webarena.endings import FAILURES, KINDS


def fault(answer: Any, is_pattern: Callable[[str], bool], lists: Collection[str] = ()) -> str:
    """What is wrong with the form of an answer, or "".

    Args:
        answer: JSON values; ``None`` is an answer that was never given.
        is_pattern: Whether the checks would read a text as a pattern.
        lists: Fields of one answer that may hold several values.
    """
    if not isinstance(answer, Mapping):
        return "it is no object with task_type and status"
    kind = answer.get("task_type", answer.get("performed_operation"))
    if str(kind).lower() not in KINDS:
        return f"its task_type is {kind!r}"
    if str(answer.get("status")).upper() not in ("SUCCESS", *FAILURES):
        return f"its status is {answer.get('status')!r}"
    data = answer.get("retrieved_data")
    values = data if isinstance(data, list) else [data]
    return next(filter(None, (_fault(value, is_pattern, lists) for value in values)), "")


def _fault(value: Any, is_pattern: Callable[[str], bool], lists: Collection[str]) -> str:
    """What is wrong with one value, however deep."""
    if isinstance(value, str):
        if is_pattern(value):
            return f"{value!r} is a pattern"
        try:
            inner = json.loads(value)
        except (ValueError, RecursionError):
            return ""
        return _fault(inner, is_pattern, lists) if isinstance(inner, list | Mapping) else ""
    if isinstance(value, list):
        return f"{value!r} is a list of alternatives"
    parts = list[Any]()
    for name, part in value.items() if isinstance(value, Mapping) else ():
        parts += part if name in lists and isinstance(part, list) else [part]
    return next(filter(None, (_fault(part, is_pattern, lists) for part in parts)), "")
