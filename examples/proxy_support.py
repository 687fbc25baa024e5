"""An agent that knows nothing but HTTP at a support desk, through ``jitrl proxy``.

In your world the proxy is a command (``jitrl proxy --upstream …``) and the agent is written in any
language: it sends one header with its requests, and one request more when it knows how the ticket
ended. Install ``jitrl[server]``.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

from habits_server import provider
from support_desk import SCHEMAS, Desk, Work, compare

import jitrl
from jitrl.integrations.guide import Guide
from jitrl.service.proxy import app

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in SCHEMAS.items()
]


def post(url: str, body: Any, **headers: str) -> Any:
    """What any language can do."""
    with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=60) as answer:
        return json.load(answer)


def agent(proxy: str, key: str, desk: Desk, text: str) -> None:
    """Ask, call, tell the result, until the model answers in words; then tell how it ended."""
    messages: list[Any] = [{"role": "user", "content": text}]
    while True:
        asked = {"model": "habits", "messages": messages, "tools": TOOLS}
        answer = post(f"{proxy}/v1/chat/completions", asked, **{"X-JitRL-Episode": key})
        said = answer["choices"][0]["message"]
        if not said.get("tool_calls"):
            break
        messages.append(said)
        for call in said["tool_calls"]:
            tool = getattr(desk, call["function"]["name"])
            result = tool(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    told = {"outcome": desk.is_right, "basis": "state_check"}
    post(f"{proxy}/jitrl/episodes/{key}/outcome", told)


@contextmanager
def proxy_to(upstream: str, memory: jitrl.JitRL) -> Iterator[str]:
    """What the command ``jitrl proxy`` does, within this process."""
    import uvicorn  # after the proxy, which says how to install what is missing

    made = app(Guide(memory, scope="support"), upstream, accept=["state_check"])
    server = uvicorn.Server(uvicorn.Config(made, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def make(memory: jitrl.JitRL, desk: Desk) -> Iterator[Work]:
    """An agent with a memory; what it does with one ticket."""
    with provider(desk.habit) as upstream, proxy_to(upstream, memory) as proxy:
        yield lambda text: agent(proxy, desk.name, desk, text)


if __name__ == "__main__":
    compare(make)
