"""The actions that a browser takes: a short list of verbs with plain arguments, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jitrl.envs.codecs.calls import Call, Element, Value, parse_call
from jitrl.errors import InputError

KEYS = (
    "Enter",
    "Escape",
    "Tab",
    "Backspace",
    "Delete",
    "Space",
    *("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *("Home", "End", "PageUp", "PageDown"),
)
"""The keys that ``press`` knows."""

_LONGEST = 10_000  # characters of one text


def _is_text(value: Element | Value) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST


def _is_key(value: Element | Value) -> bool:
    return isinstance(value, str) and value in KEYS


def _is_distance(value: Element | Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e5


_TEXT = ("a text", _is_text)
_ID = ("the id of an element", _is_text)
_DISTANCE = ("a number of pixels", _is_distance)

VERBS: Mapping[str, tuple[tuple[str, Callable[[Element | Value], bool]], ...]] = {
    "click": (_ID,),
    "dblclick": (_ID,),
    "hover": (_ID,),
    "focus": (_ID,),
    "clear": (_ID,),
    "check": (_ID,),
    "uncheck": (_ID,),
    "fill": (_ID, _TEXT),
    "select_option": (_ID, _TEXT),
    "press": (_ID, (f"one of {', '.join(KEYS)}", _is_key)),
    "scroll": (_DISTANCE, _DISTANCE),
    "goto": (_TEXT,),
    "back": (),
    "noop": (),
    "answer": (_TEXT,),
    "send_msg_to_user": (_TEXT,),
    "report_infeasible": (_TEXT,),
}
"""What each verb must be given, in order."""


FOR_THE_ENVIRONMENT = frozenset({"answer", "send_msg_to_user", "report_infeasible"})


def takes_an_element(verb: str) -> bool:
    """Whether the first argument of ``verb`` is the id of an element."""
    return VERBS[verb][:1] == (_ID,)


def checked(action: str) -> Call:
    """``action`` as a call of one of ``VERBS``.

    Raises:
        InputError: If it is not one, or an argument is missing, of another kind or too many.
    """
    call = parse_call(action)
    wanted = VERBS.get(call.verb)
    if wanted is None:
        raise InputError(f"a browser has no action {call.verb!r}; it has {', '.join(VERBS)}")
    fits = len(call.args) == len(wanted) and not call.named
    if not fits or not all(test(a) for a, (_, test) in zip(call.args, wanted, strict=True)):
        asked = ", ".join(name for name, _ in wanted)
        raise InputError(f"{call.raw()[:200]!r} does not fit: write {call.verb}({asked})")
    return call
