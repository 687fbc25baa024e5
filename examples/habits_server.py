"""A provider for the examples that need one: chat completions over HTTP, answered by a habit."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Habit = Callable[[list[str], str], "tuple[str, dict[str, str]] | None"]


@contextmanager
def provider(habit: Habit) -> Iterator[str]:
    """Serve while the block lasts; gives the address that a client is to use."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(answer(asked, habit)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(asked: dict[str, Any], habit: Habit) -> dict[str, Any]:
    """The answer to a request."""
    called = [call for said in asked["messages"] for call in said.get("tool_calls") or ()]
    choice = asked.get("tool_choice") or ""
    forced = choice if isinstance(choice, str) else choice["function"]["name"]
    call = habit([one["function"]["name"] for one in called], forced)
    said: dict[str, Any] = {"role": "assistant", "content": None if call else "Done."}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        said["tool_calls"] = [{"id": f"c{len(called)}", "type": "function", "function": function}]
    reason = "tool_calls" if call else "stop"
    choices = [{"index": 0, "message": said, "finish_reason": reason}]
    head = {"id": "chat-1", "object": "chat.completion", "created": 0, "model": "habits"}
    return {**head, "choices": choices}


if __name__ == "__main__":
    print(json.dumps(answer({"messages": []}, lambda used, forced: ("look", {})), indent=1))
