"""What the page on integrations calls yours: tools, a check, an order, and models of habits."""

# ruff: noqa: E402

import atexit
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Literal

sys.path[:0] = [str(Path(os.environ["TESTS_OF_PAGES"]) / "integrations")]
# Two frameworks of one process share an event loop, and the first one ends its generators.
warnings.filterwarnings("ignore", "asynchronous generator", ResourceWarning)
os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}

from chat_stub import TOOLS, served
from test_langchain_middleware import Scripted as _ChatModel
from test_openai_agents_model import scripted as _agents_model
from test_pydantic_ai_capability import scripted as _pydantic_model
from tool_desk import LOST, TASK, Desk

_desk, ticket = Desk(), TASK
_running = served()
os.environ["OPENAI_BASE_URL"] = _running.__enter__().url
atexit.register(_running.__exit__, None, None, None)
chat_model, agents_model, pydantic_model = _ChatModel(), _agents_model(), _pydantic_model()


def look(order: str) -> str:
    """Look at an order."""
    return LOST


def settle(order: str, how: Literal["refund", "resend"]) -> str:
    """Settle an order."""
    return _desk.settle(how)


tools = [look, settle]


def is_settled():
    return bool(_desk.settled)


def loop(client, text):
    messages = [{"role": "user", "content": text}]
    while True:
        said = client.chat.completions.create(model="habits", messages=messages, tools=TOOLS)
        said = said.choices[0].message
        if not said.tool_calls:
            return
        messages.append(said)
        for call in said.tool_calls:
            result = _desk.call(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
