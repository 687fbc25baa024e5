"""An agent of the OpenAI Agents SDK at a support desk, without and with a memory.

``habits`` stands for your model; the lines that name ``guide`` are all that was added. Install
``jitrl[openai-agents]``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from support_desk import Desk, Work, compare

import jitrl
from jitrl.integrations.openai_agents import JitRLModel


def habits(desk: Desk) -> ScriptedModel:
    """The frozen model of the desk, as the SDK wants it."""

    def answer(asked: Any) -> ModelStep:
        items = [] if isinstance(asked.input, str) else asked.input
        used = [item["name"] for item in items if item.get("type") == "function_call"]
        call = desk.habit(used, asked.model_settings.tool_choice or "")
        if call is None:
            return ModelStep(output=[assistant_message("Done.")])
        said = function_call(call[0], json.dumps(call[1]), call_id=f"call-{len(items)}")
        return ModelStep(output=[said])

    return ScriptedModel([ModelStep.respond(answer)] * 1000)


@contextmanager
def make(memory: jitrl.JitRL, desk: Desk) -> Iterator[Work]:
    """An agent with a memory; what it does with one ticket."""
    guide = JitRLModel(habits(desk), memory, scope="support", basis="state_check")
    tools = [function_tool(desk.get_order), function_tool(desk.settle)]
    agent = Agent(name="support", model=guide, tools=tools)
    quiet = RunConfig(tracing_disabled=True)

    def work(text: str) -> None:
        with guide.episode(text, key=desk.name) as episode:
            asyncio.run(Runner.run(agent, text, run_config=quiet))
            episode.finish(outcome=desk.is_right)

    yield work


if __name__ == "__main__":
    compare(make)
