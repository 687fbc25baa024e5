"""A LangChain agent at a support desk, without and with a memory.

``Habits`` stands for your chat model; the lines that name ``guide`` are all that was added. Install
``jitrl[langchain]``. Given the name of a new file, it plays one desk into that memory, for the
dashboard.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from support_desk import Desk, Work, compare, kept

import jitrl
from jitrl.integrations.langchain import JitRLMiddleware


class Habits(BaseChatModel):
    """The frozen model of the desk, as LangChain wants it."""

    desk: Any
    forced: str = ""

    @property
    def _llm_type(self) -> str:
        return "habits"

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **_: Any) -> Any:
        return self.model_copy(update={"forced": tool_choice or ""})

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        call = self.desk.habit([m.name for m in messages if m.type == "tool"], self.forced)
        said = AIMessage("" if call else "Done.")
        if call:
            said.tool_calls = [
                {"name": call[0], "args": call[1], "id": f"{len(messages)}", "type": "tool_call"}
            ]
        return ChatResult(generations=[ChatGeneration(message=said)])


@contextmanager
def make(memory: jitrl.JitRL, desk: Desk) -> Iterator[Work]:
    """An agent with a memory; what it does with one ticket."""
    guide = JitRLMiddleware(memory, scope="support", basis="state_check")
    agent = create_agent(Habits(desk=desk), [desk.get_order, desk.settle], middleware=[guide])

    def work(text: str) -> None:
        with guide.episode(text, key=desk.name) as episode:
            agent.invoke({"messages": [("user", text)]})
            episode.finish(outcome=desk.is_right)

    yield work


if __name__ == "__main__":
    kept(make, sys.argv[1]) if sys.argv[1:] else compare(make)
