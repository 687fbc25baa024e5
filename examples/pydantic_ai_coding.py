"""A Pydantic AI agent that repairs code, without and with a memory.

``habits`` stands for your model; the lines that name ``guide`` are all that was added. The guide's
check runs the tests, so each run of the agent is an episode by itself. Install
``jitrl[pydantic-ai]``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from code_repair import Work, Workshop, compare
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import jitrl
from jitrl.integrations.pydantic_ai import JitRLCapability


def habits(workshop: Workshop) -> FunctionModel:
    """The frozen model of the workshop, as Pydantic AI wants it."""

    def answer(messages: list[Any], info: Any) -> ModelResponse:
        forced = (info.model_settings or {}).get("tool_choice") or ""
        used = [p.tool_name for m in messages for p in m.parts if isinstance(p, ToolCallPart)]
        call = workshop.habit(used, forced if isinstance(forced, str) else forced[0])
        return ModelResponse([ToolCallPart(*call)] if call else [TextPart("Done.")])

    return FunctionModel(answer)


@contextmanager
def make(memory: jitrl.JitRL, workshop: Workshop) -> Iterator[Work]:
    """An agent with a memory; what it does about one report."""
    guide = JitRLCapability(memory, check=lambda _: workshop.is_mended, basis="test")
    tools = [workshop.read_code, workshop.edit, workshop.run_tests]
    agent = Agent(habits(workshop), tools=tools, capabilities=[guide])

    def work(report: str) -> None:
        agent.run_sync(report, run_id=workshop.name)

    yield work


if __name__ == "__main__":
    compare(make)
