"""A local server that speaks chat completions, with a frozen model of habits behind it."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tool_desk import ANSWERED, SCHEMAS, habit

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in SCHEMAS.items()
]
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


class Stub:
    """What was asked, with which headers; ``refuses`` answers a tool choice with an error."""

    def __init__(self):
        self.asked, self.headers, self.refuses, self.url = [], [], False, ""

    @property
    def forced(self):
        """The tool choices that were asked for."""
        return [request.get("tool_choice") for request in self.asked]

    def answer(self, request):
        """The answer to a request, as JSON gives it."""
        names = {
            call["id"]: call["function"]["name"]
            for said in request["messages"]
            for call in said.get("tool_calls") or ()
        }
        used = [names[m["tool_call_id"]] for m in request["messages"] if m["role"] == "tool"]
        choice = request.get("tool_choice")
        forced = choice["function"]["name"] if isinstance(choice, dict) else choice
        call = habit(used, None if forced in (None, "auto", "required") else forced)
        said = {"role": "assistant", "content": None if call else ANSWERED}
        if call:
            function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
            made = {"id": f"call_{len(used)}", "type": "function", "function": function}
            said["tool_calls"] = [made]
        reason = "tool_calls" if call else "stop"
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "habits",
            "choices": [{"index": 0, "message": said, "finish_reason": reason}],
            "usage": USAGE,
        }


@contextmanager
def served():
    """A stub that is listening; ``url`` is what a client takes for its base address."""
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def _send(self, status, body, kind="application/json"):
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self._send(200, json.dumps({"object": "list", "path": self.path}).encode())

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            stub.asked.append(request)
            stub.headers.append(dict(self.headers))
            if stub.refuses and request.get("tool_choice"):
                error = {"error": {"message": "tool_choice is not supported"}}
                self._send(400, json.dumps(error).encode())
            elif request.get("stream"):
                answer = stub.answer(request)
                delta = answer["choices"][0]["message"]
                for i, call in enumerate(delta.get("tool_calls", ())):
                    call["index"] = i
                chunk = {**answer, "object": "chat.completion.chunk", "usage": None}
                chunk["choices"] = [{"index": 0, "delta": delta, "finish_reason": "stop"}]
                text = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
                self._send(200, text.encode(), "text/event-stream")
            else:
                self._send(200, json.dumps(stub.answer(request)).encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
