"""A local server that speaks chat completions and responses; its model has frozen habits."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tool_desk import ANSWERED, SCHEMAS, habit

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in SCHEMAS.items()
]
FLAT = [{"type": "function", **tool["function"], "strict": False} for tool in TOOLS]
"""The tools as the Responses API takes them."""
USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


class Stub:
    """What was asked, with which headers; ``refuses`` answers a tool choice with an error."""

    def __init__(self):
        self.asked, self.headers, self.refuses, self.url = [], [], False, ""
        self.kept = {}  # items up to a response, by its id

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

    def respond(self, request):
        """The response to a request, which is kept."""
        given = request["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        items = [*self.kept.get(request.get("previous_response_id"), ()), *items]
        names = {item["call_id"]: item["name"] for item in items if "name" in item}
        used = [names[i["call_id"]] for i in items if i.get("type") == "function_call_output"]
        choice = request.get("tool_choice")
        forced = choice["name"] if isinstance(choice, dict) else choice
        call = habit(used, None if forced in (None, "auto", "required") else forced)
        if call:
            about = {"type": "function_call", "call_id": f"call_{len(used)}", "name": call.tool}
            said = {**about, "arguments": json.dumps(call.arguments)}
        else:
            text = {"type": "output_text", "text": ANSWERED, "annotations": []}
            said = {"type": "message", "role": "assistant", "content": [text]}
        id = f"resp_{len(self.kept)}"
        output = [
            {"type": "reasoning", "id": f"rs_{id}", "summary": []},
            {**said, "id": f"item_{id}", "status": "completed"},
        ]
        self.kept[id] = [*items, *output]
        return {
            "id": id,
            "object": "response",
            "created_at": 1,
            "model": "habits",
            "status": "completed",
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 2,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 12,
            },
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
            elif self.path.endswith("/responses"):
                answer = stub.respond(request)
                if request.get("stream"):
                    event = {"type": "response.completed", "response": answer}
                    text = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                    self._send(200, text.encode(), "text/event-stream")
                else:
                    self._send(200, json.dumps(answer).encode())
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
