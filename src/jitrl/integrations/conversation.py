"""A conversation as every framework has it, and the state that a memory compares.

The state of a turn is made of what is stable about it:

    context   the task: the first thing that the user said
    text      what came since the model last spoke: results of tools, or the user's newest words
    place     the stage: which tools were used so far

States of different stages are never compared. A task's words are the same from its first turn to
its last, so what pays once all is done (to say so) would look as if it paid before.

What changes at each visit is masked in text and context: dates and times, addresses, and tokens
that name one thing among many (``A-1023``, ``9f8e7d…``, ``129.90``) become ``<time>``, ``<mail>``
and ``<id>``. Short numbers stay: ``3 failed`` says something.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jitrl.integrations.tools import Call, Tool, whole
from jitrl.types import STAGE, State

Role = Literal["system", "user", "assistant", "tool"]

_LONGEST = 4000  # characters of a text that are compared
_MASKED = (
    (re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w"), "<mail>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"),
     "<time>"),
    (re.compile(r"\b\d\d?:\d\d(?::\d\d)?\b"), "<time>"),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b[A-Z]{1,4}-?\d+\b"), "<id>"),
    (re.compile(r"\b(?=(?:[\w.-]*\d){3})\w[\w.-]*\w\b"), "<id>"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Message:
    """One thing that was said.

    Attributes:
        text: What it says, or what a tool gave back; without halves of characters.
        calls: What an assistant's message calls.
    """

    role: Role
    text: str = ""
    calls: tuple[Call, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", whole(self.text))


@dataclass(frozen=True, slots=True)
class Turn:
    """The model has answered, and nothing was done yet.

    Attributes:
        messages: What the model was shown, oldest first.
        tools: What it was offered, in the order offered.
        calls: What its answer calls; empty for an answer in words.
        can_answer: Whether an answer in words was allowed.
    """

    messages: Sequence[Message]
    tools: Sequence[Tool]
    calls: Sequence[Call] = ()
    can_answer: bool = True


StateOf = Callable[[Sequence[Message]], "State | str"]
"""A state from the messages so far."""


def with_notes(content: Any, notes: str, block: Any) -> Any:
    """The content of a message, a text or blocks, with notes at its end.

    Args:
        block: The notes as a block of the framework.
    """
    if isinstance(content, str):
        return f"{content}\n\n{notes}" if content.strip() else notes
    return [*content, block]


def masked(text: str) -> str:
    """``text`` without what changes at each visit."""
    for pattern, name in _MASKED:
        text = pattern.sub(name, text)
    return text


def _news(messages: Sequence[Message]) -> tuple[str, str]:
    """The task, and what came since the model last spoke."""
    spoke = [i for i, message in enumerate(messages) if message.role == "assistant"]
    news = messages[spoke[-1] + 1 :] if spoke else messages
    asked = next((m.text for m in messages if m.role == "user"), "")
    return asked, "\n".join(m.text for m in news if m.role in ("user", "tool") and m.text)


def state_of(messages: Sequence[Message]) -> State:
    """The state of a turn, as the module says."""
    asked, text = _news(messages)
    used = sorted({call.tool for message in messages for call in message.calls})
    stage = ", ".join(used) or "start"
    if text == asked:  # the task itself; twice in one bag it says no more
        text = ""
    return State(masked(text[:_LONGEST]), masked(asked[:_LONGEST]), STAGE + stage[:_LONGEST])


def seen_of(messages: Sequence[Message]) -> str:
    """What the model was shown last, as it was: the task, and what came since it last spoke."""
    asked, text = _news(messages)
    return "\n\n".join(dict.fromkeys(part for part in (asked, text) if part))
