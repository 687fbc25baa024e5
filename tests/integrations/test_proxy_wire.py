"""The proxy between raw sockets: what of a request and an answer goes through byte for byte."""

import gzip
import http.client
import json
import socket
import threading
from contextlib import closing, contextmanager

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed (extra server)")
pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra server)")
pytest.importorskip("httpx", reason="httpx is not installed (extra server)")

from chat_stub import TOOLS, Stub
from test_proxy import listening

import jitrl
from jitrl.integrations.guide import Guide
from jitrl.service.proxy import app

pytestmark = pytest.mark.server

CHAT = "/v1/chat/completions"
ASKED = {"model": "habits", "messages": [{"role": "user", "content": "公司: go"}], "tools": TOOLS}
ANSWER = json.dumps(Stub().answer(ASKED)).encode()
ALL_AT_ONCE = 110  # more than a client library has connections by default


def raw(body, *, length=None, headers=b""):
    """An answer as it stands on the wire."""
    length = len(body) if length is None else length
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n" % length
    return head + headers + b"connection: close\r\n\r\n" + body


@contextmanager
def provider(answer=b"", barrier=None):
    """Answers all that is asked with the same bytes; its address and what was asked."""
    heard = []

    def one(line):
        with closing(line), line.makefile("rb") as said:
            headers = {}
            said.readline()
            while head := said.readline().strip():
                name, _, value = head.partition(b":")
                headers[name.lower()] = value.strip()
            body = bytearray()
            if headers.get(b"transfer-encoding") == b"chunked":
                while size := int(said.readline(), 16):
                    body += said.read(size)
                    said.readline()
            else:
                body += said.read(int(headers.get(b"content-length", 0)))
            heard.append((headers, bytes(body)))
            if barrier is not None:
                barrier.wait()
            line.sendall(answer or raw(ANSWER))
            line.shutdown(socket.SHUT_WR)

    def accept():
        while True:
            try:
                line, _ = server.accept()
            except OSError:  # the end
                return
            threading.Thread(target=one, args=(line,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0), backlog=ALL_AT_ONCE) as server:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1", heard
        server.shutdown(socket.SHUT_RDWR)


def ask(proxy, body=None, path=CHAT, chunked=False, **headers):
    """Status, headers and body of an answer; the episode is `k` unless headers say otherwise."""
    sent = json.dumps(ASKED).encode() if body is None else body
    given = {"X-JitRL-Episode": "k"} | {n.replace("_", "-"): v for n, v in headers.items()}
    with closing(http.client.HTTPConnection(proxy.removeprefix("http://"), timeout=60)) as line:
        line.request("POST", path, iter([sent]) if chunked else sent, given, encode_chunked=chunked)
        answer = line.getresponse()
        return answer.status, answer.headers, answer.read()


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db") as opened:
        yield opened


def test_an_answer_that_is_not_changed_goes_through_byte_for_byte(memory):
    said = ANSWER[:-1] + b',  "odd": [1e400, "\\ud83d"]}'
    more = "x-org: 公司\r\nx-odd: a\x01b\r\nvia: a\r\nvia: b\r\n".encode()
    with (
        provider(raw(said, headers=more)) as (url, _),
        listening(app(Guide(memory), url)) as proxy,
    ):
        status, headers, body = ask(proxy)
    assert (status, body, headers["x-jitrl-decision"]) == (200, said, "k#0")
    assert headers["x-org"].encode("latin-1").decode() == "公司"
    assert (headers["via"], headers["x-odd"]) == ("a, b", None)


def test_half_of_a_character_is_decided_and_goes_to_the_provider_as_it_was_sent(memory):
    user = {"role": "user", "content": "cut here \ud83d"}
    for more in ({}, {"stream": True}):
        body = json.dumps({**ASKED, "messages": [user], **more}).encode() + b" "
        with provider() as (url, heard), listening(app(Guide(memory), url)) as proxy:
            status, headers, _ = ask(proxy, body, X_JitRL_Episode=f"k{len(more)}")
        assert (status, headers["x-jitrl-decision"]) == (200, f"k{len(more)}#0")
        assert json.loads(heard[0][1])["messages"] == [user]
        assert (heard[0][1] == body) is (not more)
    assert "cut here \ufffd" in memory.store.episode("k0").steps[0].state.context


def test_headers_of_any_letters_and_bodies_that_are_packed_go_through(memory):
    packed = gzip.compress(json.dumps(ASKED).encode())
    with provider() as (url, heard), listening(app(Guide(memory), url)) as proxy:
        assert ask(proxy, X_Title="café")[0] == 200
        assert ask(proxy, packed, Content_Encoding="gzip")[0] == 200
        assert ask(proxy, X_JitRL_Episode="a%0Ab")[:1] == (200,)
    assert heard[0][0][b"x-title"] == "café".encode("latin-1")
    assert heard[1] == (heard[1][0] | {b"content-encoding": b"gzip"}, packed)


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("path", "key"), [(CHAT, "k"), (CHAT, ""), ("/v1/responses", "k"), ("/v1/files", "k")]
)
def test_a_request_that_is_too_large_to_be_decided_goes_through(memory, path, key, chunked):
    body = json.dumps({**ASKED, "input": "go", "more": "x" * 100_000}).encode()
    with provider() as (url, heard), listening(app(Guide(memory), url, largest=9_000)) as proxy:
        status, headers, said = ask(proxy, body, path, chunked, X_JitRL_Episode=key)
        told = ask(proxy, body, "/jitrl/episodes/k/outcome", chunked)
    assert (status, said, headers["x-jitrl-decision"]) == (200, ANSWER, None)
    assert [one[1] for one in heard] == [body]
    assert (told[0], b"9000 bytes" in told[2]) == (413, True)
    assert list(memory.store.episodes()) == []


def test_an_answer_that_breaks_off_is_not_taken_for_a_whole_one_and_is_said_in_one_line(
    memory, caplog
):
    half = raw(ANSWER[:40], length=len(ANSWER))
    with provider(half) as (url, _), listening(app(Guide(memory), url)) as proxy:
        with pytest.raises(http.client.IncompleteRead):
            ask(proxy, X_JitRL_Episode="")
        status, _, body = ask(proxy)
    assert (status, b"does not answer" in body) == (502, True)
    assert "the provider broke off its answer" in caplog.text
    assert "Traceback" not in caplog.text


def test_as_many_requests_as_come_wait_for_the_provider_side_by_side(memory):
    barrier = threading.Barrier(ALL_AT_ONCE, timeout=60.0)
    said = []
    with provider(barrier=barrier) as (url, _), listening(app(Guide(memory), url)) as proxy:
        threads = [
            threading.Thread(
                target=lambda n=n: said.append(ask(proxy, X_JitRL_Episode=f"k{n % 2}"))
            )
            for n in range(ALL_AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [status for status, _, _ in said] == [200] * ALL_AT_ONCE
