"""An agent on the plain OpenAI client that repairs code, without and with a memory.

The provider is a local server of habits; the lines that name ``client`` show what was added: its
wrapper, and the episode. Install ``jitrl[openai]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from code_repair import SCHEMAS, Work, Workshop, compare
from habits_server import provider
from openai import OpenAI

import jitrl
from jitrl.integrations.openai import JitRLOpenAI

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in SCHEMAS.items()
]


def loop(client: Any, workshop: Workshop, report: str) -> None:
    """The agent as it was: ask, call, tell the result, until the model answers in words."""
    messages: list[Any] = [{"role": "user", "content": report}]
    while True:
        said = (
            client.chat.completions.create(model="habits", messages=messages, tools=TOOLS)
            .choices[0]
            .message
        )
        if not said.tool_calls:
            return
        messages.append(said)
        for call in said.tool_calls:
            tool = getattr(workshop, call.function.name)
            result = tool(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


@contextmanager
def make(memory: jitrl.JitRL, workshop: Workshop) -> Iterator[Work]:
    """An agent with a memory; what it does about one report."""

    with provider(workshop.habit) as url, OpenAI(base_url=url, api_key="none") as plain:
        client = JitRLOpenAI(plain, memory, basis="test")

        def work(report: str) -> None:
            with client.episode(report, key=workshop.name) as episode:
                loop(client, workshop, report)
                episode.finish(outcome=workshop.is_mended)

        yield work


if __name__ == "__main__":
    compare(make)
