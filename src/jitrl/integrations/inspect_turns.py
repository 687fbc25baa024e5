"""What Inspect AI shows of a sample, in the words of a conversation: messages, tools, scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from jitrl.integrations.conversation import Message, Turn
from jitrl.integrations.tools import Call, Tool
from jitrl.types import Basis

SUBMIT = "submit"
"""The tool by which an agent hands in its answer."""

_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def key_of(uuid: str) -> str:
    """Key of the episode of a sample; the same for one that was lived and one that was logged."""
    return f"inspect/{uuid}"


def task_of(task: str, sample: object) -> str:
    """Name of what is to be done: the evaluation's task and the sample's id."""
    return f"{task}/{sample}"


def turn_of(messages: Sequence[Any], tools: Sequence[Any], output: Any, choice: Any) -> Turn:
    """A turn from Inspect's messages, tool infos, the answer if any, and the choice of tool asked.

    Where there is a tool for the answer, words alone are none.
    """
    calls = () if output is None or output.empty else calls_of(output.message)
    can_answer = choice != "any" and all(tool.name != SUBMIT for tool in tools)
    return Turn([message_of(m) for m in messages], tools_of(tools), calls, can_answer)


def message_of(message: Any) -> Message:
    """One message."""
    return Message(message.role, message.text, calls_of(message))


def calls_of(message: Any) -> tuple[Call, ...]:
    """The calls that an assistant's message makes; what could not be read stays unreadable."""
    return tuple(
        Call(call.function, "unreadable" if call.parse_error else call.arguments)
        for call in getattr(message, "tool_calls", None) or ()
    )


def tools_of(infos: Sequence[Any]) -> list[Tool]:
    """The tools with the schemas of their arguments."""
    return [Tool(i.name, i.parameters.model_dump(exclude_none=True, by_alias=True)) for i in infos]


def outcome_of(scores: Mapping[str, Any] | None, name: str = "") -> tuple[str, float] | None:
    """Which scorer's score is the outcome, and the score; ``None`` where there is none to use.

    Args:
        name: Of the scorer; "": the first whose score is a number, a truth value, or one of
            Inspect's letters C, P, I and N.
    """
    for scorer, score in (scores or {}).items():
        value = _number(score.value)
        if value is not None and name in ("", scorer):
            return scorer, value
    return None


def basis_of(scorer: str) -> Basis:
    """What a score rests on: a model's grade, or else a test."""
    return "llm_judge" if scorer.startswith("model_graded") else "test"


def _number(value: Any) -> float | None:
    """A score as a number; ``None`` for what is none, as Inspect writes nan for "not scored"."""
    if isinstance(value, str):
        known = _VALUES.get(value, _WORDS.get(value.lower()))
        if known is not None:
            return known
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
