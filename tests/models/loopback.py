"""A small HTTP server on loopback that speaks as much of the OpenAI protocol as a test says."""

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    """What to send, and how: a JSON body or raw text, after ``delay`` seconds.

    ``trickle``: blank lines before the body, a tenth of a second each.
    """

    body: object = None
    status: int = 200
    headers: dict = field(default_factory=dict)
    delay: float = 0.0
    trickle: int = 0


@dataclass
class Provider:
    """A running server; ``asked`` holds (path, body, key) of each request, oldest first."""

    url: str
    asked: list = field(default_factory=list)

    @property
    def place(self):
        return self.url.removeprefix("http://").removesuffix("/v1")


@contextmanager
def serving(answer):
    """Run a server; ``answer(path, body)`` gives a reply or the body of one."""
    provider = Provider("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            path = self.path.removeprefix("/v1")
            provider.asked.append((path, body, self.headers.get("authorization")))
            given = answer(path, body)
            reply = given if isinstance(given, Reply) else Reply(given)
            time.sleep(reply.delay)
            raw = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            self.send_response(reply.status)
            for name, value in {"content-type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(reply.trickle + len(raw.encode())))
            self.end_headers()
            for _ in range(reply.trickle):
                self.wfile.write(b"\n")
                time.sleep(0.1)
            self.wfile.write(raw.encode())

        def log_message(self, *args):
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request, client_address):
            pass  # a client that went away at its deadline

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def chat(text, top=None, usage=(10, 2)):
    """Body of a chat completion; ``top``: alternatives of the first token, or ``None``."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "logprobs": None}
    if top is not None:
        listed = [{"token": token, "logprob": value} for token, value in top]
        choice["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
    counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if usage else None
    return {"object": "chat.completion", "choices": [choice], "usage": counts}


def echo(body, logprob):
    """Body of a completion that echoes prompts cut into characters; ``logprob(text, place)``."""
    choices = []
    for index, text in enumerate(body["prompt"]):
        full = text + "!"
        choices.append(
            {
                "index": index,
                "text": full,
                "logprobs": {
                    "tokens": list(full),
                    "token_logprobs": [None, *(logprob(full, i) for i in range(1, len(full)))],
                    "text_offset": list(range(len(full))),
                },
            }
        )
    return {"object": "text_completion", "choices": choices[::-1], "usage": None}
