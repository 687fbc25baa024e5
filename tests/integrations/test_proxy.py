"""The proxy, between clients that know nothing of it and a local provider."""

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed (extra server)")
pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra server)")
pytest.importorskip("httpx", reason="httpx is not installed (extra server)")

import uvicorn
from chat_stub import FLAT, TOOLS, served
from tool_desk import ANSWERED, KIND, TASK, Desk

import jitrl
from jitrl.cli import main
from jitrl.errors import ConfigError, InputError
from jitrl.integrations.guide import Guide, GuidedEpisode
from jitrl.service.proxied import UnderWay
from jitrl.service.proxy import app

pytestmark = pytest.mark.server

DESK = Desk()


@contextmanager
def listening(made):
    """An ASGI application that is served; its address."""
    config = uvicorn.Config(made, port=0, log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def sent(url, body=None, headers=None, method=None):
    """Status, headers and text of an answer; a dict is sent as JSON."""
    raw = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, raw, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode()


@pytest.fixture(scope="module")
def server():
    with served() as stub:
        yield stub


@pytest.fixture
def stub(server):
    server.asked.clear()
    server.headers.clear()
    server.refuses = False
    return server


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db", rule={"warmup": 1.0}) as opened:
        yield opened


@pytest.fixture
def proxy(stub, memory):
    with listening(
        app(Guide(memory), stub.url, accept={"state_check", "agent_self_report"})
    ) as url:
        yield url


def asked(messages=(), **more):
    user = {"role": "user", "content": TASK}
    return {"model": "habits", "messages": [user, *messages], "tools": TOOLS, **more}


def run(proxy, key, **headers):
    """An agent that knows of the proxy's address and header alone."""
    said = []
    while True:
        status, _, text = sent(
            f"{proxy}/v1/chat/completions", asked(said), {"X-JitRL-Episode": key, **headers}
        )
        assert status == 200, text
        message = json.loads(text)["choices"][0]["message"]
        if not message.get("tool_calls"):
            return message["content"]
        said.append(message)
        for call in message["tool_calls"]:
            function = call["function"]
            result = DESK.call(function["name"], json.loads(function["arguments"]))
            said.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def told(proxy, key, outcome, **more):
    return sent(f"{proxy}/jitrl/episodes/{quote(key)}/outcome", {"outcome": outcome, **more})


def learn(proxy, count=12):
    solved = []
    for number in range(count):
        DESK.__init__()
        run(proxy, f"round-{number}")
        status, _, text = told(proxy, f"round-{number}", DESK.is_solved, basis="state_check")
        assert (status, json.loads(text)["rows"] > 0) == (200, True)
        solved.append(DESK.is_solved)
    return solved


def test_an_agent_in_any_language_gets_better(proxy, memory):
    solved = learn(proxy)
    assert not solved[0]
    assert solved[-5:] == [True] * 5
    assert memory.store.episode("round-0").task == KIND


def test_a_request_without_the_header_goes_through_as_it_is(proxy, stub, memory):
    status, _, text = sent(
        f"{proxy}/v1/chat/completions", asked(), {"Authorization": "Bearer k", "X-Own": "1"}
    )
    assert status == 200
    assert json.loads(text)["choices"][0]["message"]["tool_calls"]
    assert stub.asked == [asked()]
    names = {name.lower(): value for name, value in stub.headers[0].items()}
    assert (names["authorization"], names["x-own"]) == ("Bearer k", "1")
    assert list(memory.store.episodes()) == []


def test_the_provider_is_told_nothing_of_episodes(proxy, stub):
    run(proxy, "k", **{"X-JitRL-Task": "secret"})
    assert not [n for headers in stub.headers for n in headers if n.lower().startswith("x-jitrl")]


def test_an_answer_says_its_decision_and_whether_it_was_turned(proxy):
    learn(proxy)
    _, headers, text = sent(f"{proxy}/v1/chat/completions", asked(), {"X-JitRL-Episode": "last"})
    assert headers["x-jitrl-decision"] == "last#0"
    assert headers["x-jitrl-changed"] == "1"
    answer = json.loads(text)
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"order": "A-17", "how": "resend"}
    assert answer["usage"]["total_tokens"] == 24


def test_a_stream_is_one_chunk_for_the_message_and_one_for_its_end(proxy, stub):
    _, headers, text = sent(
        f"{proxy}/v1/chat/completions", asked(stream=True), {"X-JitRL-Episode": "k"}
    )
    assert headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    first, end = map(json.loads, lines[:-1])
    assert first["choices"][0]["delta"]["tool_calls"][0]["index"] == 0
    assert end["choices"][0]["finish_reason"] == "tool_calls"
    assert "stream" not in stub.asked[0]


def test_a_stream_without_the_header_is_the_providers(proxy, stub):
    _, headers, text = sent(f"{proxy}/v1/chat/completions", asked(stream=True))
    assert headers["content-type"].startswith("text/event-stream")
    assert text.endswith("[DONE]\n\n")
    assert stub.asked[0]["stream"] is True


@pytest.mark.parametrize("kept", [False, True])
def test_the_responses_api_is_decided_too_and_its_streams_are_whole(proxy, memory, kept):
    openai = pytest.importorskip("openai", reason="openai is not installed (extra openai)")
    learn(proxy)
    DESK.__init__()
    headers = {"X-JitRL-Episode": "k"}
    with openai.OpenAI(base_url=f"{proxy}/v1", api_key="k", default_headers=headers) as client:
        said, more, turned = [{"role": "user", "content": TASK}], {}, []
        while True:
            with client.responses.stream(model="habits", input=said, tools=FLAT, **more) as stream:
                for _ in stream:
                    pass
                answer = stream.get_final_response()
            called = [item for item in answer.output if item.type == "function_call"]
            if not called:
                break
            turned += [json.loads(call.arguments).get("how") for call in called]
            results = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": DESK.call(call.name, json.loads(call.arguments)),
                }
                for call in called
            ]
            more = {"previous_response_id": answer.id} if kept else {}
            said = results if kept else [*said, *(i.to_dict() for i in answer.output), *results]
    assert answer.output_text == ANSWERED
    assert (turned[-1], DESK.is_solved) == ("resend", True)
    assert told(proxy, "k", True)[0] == 200
    assert memory.store.episode("k").task == KIND


def test_a_response_of_the_providers_goes_through_without_the_header(proxy, stub, memory):
    body = {"model": "habits", "input": TASK, "tools": FLAT}
    status, headers, text = sent(f"{proxy}/v1/responses", body)
    assert (status, json.loads(text)["object"]) == (200, "response")
    assert "x-jitrl-changed" not in headers
    assert stub.asked == [body]
    assert list(memory.store.episodes()) == []


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
@pytest.mark.parametrize("odd", [{"tools": 5}, {"tools": ["look"]}, {"tools": [{"type": 1}]}])
def test_what_cannot_be_read_is_left_to_the_provider(proxy, stub, path, odd):
    body = {**asked(), "input": TASK, **odd}
    status, headers, _ = sent(f"{proxy}/v1/{path}", body, {"X-JitRL-Episode": "k"})
    assert (status, stub.asked) == (200, [body])
    assert "x-jitrl-changed" not in headers


def test_other_paths_go_through(proxy):
    status, _, text = sent(f"{proxy}/v1/models?limit=2")
    assert (status, json.loads(text)["path"]) == (200, "/v1/models?limit=2")


def test_a_task_that_is_named_is_taken_as_it_is(proxy, memory):
    run(proxy, "k", **{"X-JitRL-Task": "parcel-4711"})
    told(proxy, "k", True)
    assert memory.store.episode("k").task == "parcel-4711"


def test_an_answer_has_one_date_and_one_server(proxy):
    for headers in ({}, {"X-JitRL-Episode": "k"}):
        _, given, _ = sent(f"{proxy}/v1/chat/completions", asked(), headers)
        assert len(given.get_all("date")) == 1
        assert len(given.get_all("server")) == 1


def test_task_scope_and_key_may_be_of_any_script(proxy, memory):
    run(proxy, quote("任务/一"), **{"X-JitRL-Task": quote("退款"), "X-JitRL-Scope": quote("客服")})
    assert told(proxy, "任务/一", True)[0] == 200
    episode = memory.store.episode("任务/一")
    assert (episode.task, episode.scope) == ("退款", "客服")


def test_a_caller_cannot_claim_more_than_the_proxy_accepts(proxy):
    run(proxy, "k")
    status, _, text = told(proxy, "k", True, basis="human")
    assert status == 403
    assert "basis 'human' is not accepted here" in text
    assert told(proxy, "k", True)[0] == 200


def test_an_outcome_may_come_late_and_be_corrected(proxy, memory):
    run(proxy, "k")
    told(proxy, "k", True)
    assert told(proxy, "k", False, basis="state_check")[0] == 200
    assert memory.store.episode("k").outcome.value == 0.0
    assert told(proxy, "k", None)[0] == 200
    assert memory.store.episode("k").outcome is None


@pytest.mark.parametrize(
    ("key", "body", "status"),
    [
        ("unknown", {"outcome": True}, 404),
        ("k", {}, 400),
        ("k", b"[]", 400),
        ("k", {"outcome": "x"}, 400),
        ("k", {"outcome": True, "basis": []}, 400),
    ],
)
def test_an_outcome_that_cannot_be_used_is_refused(proxy, key, body, status):
    run(proxy, "k")
    answered = sent(f"{proxy}/jitrl/episodes/{key}/outcome", body)
    assert answered[0] == status
    assert json.loads(answered[2])["error"]["message"]
    assert told(proxy, "k", True)[0] == 200


def test_a_provider_that_refuses_to_be_forced_leaves_the_agent_working(proxy, stub):
    learn(proxy)
    stub.refuses = True
    DESK.__init__()
    assert run(proxy, "last") == ANSWERED
    assert DESK.settled == "refund"


def test_an_error_of_the_provider_is_passed_on(proxy, stub):
    stub.refuses = True
    named = {"type": "function", "function": {"name": "look"}}
    status, _, text = sent(
        f"{proxy}/v1/chat/completions", asked(tool_choice=named), {"X-JitRL-Episode": "k"}
    )
    assert (status, "not supported" in text) == (400, True)


def test_a_provider_that_is_not_there_is_said(memory):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with listening(app(Guide(memory), url)) as proxy:
        status, _, text = sent(f"{proxy}/v1/chat/completions", asked(), {"X-JitRL-Episode": "k"})
    assert (status, "does not answer" in text) == (502, True)


def test_a_memory_that_broke_lets_requests_through(stub, tmp_path):
    memory = jitrl.open(tmp_path / "m.db")
    with listening(app(Guide(memory), stub.url)) as proxy:
        memory.close()
        status, headers, _ = sent(f"{proxy}/v1/chat/completions", asked(), {"X-JitRL-Episode": "k"})
    assert (status, headers["x-jitrl-degraded"]) == (200, "1")


def test_episodes_that_nobody_ends_are_kept_without_an_outcome(stub, memory):
    with listening(app(Guide(memory), stub.url, most=2)) as proxy:
        for key in ("a", "b", "c"):
            run(proxy, key)
        assert told(proxy, "a", True)[0] == 200  # stored by now, whoever does it
        assert memory.store.episode("a").status == "truncated"
    assert memory.store.episode("a").outcome.value == 1.0
    assert {e.key for e in memory.store.episodes()} == {"a", "b", "c"}


def test_learning_what_is_owed_and_storing_idle_runs_keep_other_requests_free(stub, memory):
    guide = SlowGuide(memory)
    with listening(app(guide, stub.url, most=1)) as proxy:
        slow = threading.Thread(target=run, args=(proxy, "a"))
        slow.start()
        try:
            assert guide.is_asked.wait(60.0)
            assert sent(f"{proxy}/jitrl/health")[0] == 200
        finally:
            guide.gate.set()
            slow.join()
        guide.gate.clear()
        guide.is_asked.clear()
        run(proxy, "b")  # for which "a" has to go
        try:
            assert guide.is_asked.wait(60.0)
            assert sent(f"{proxy}/jitrl/health")[0] == 200
        finally:
            guide.gate.set()
    assert {e.key for e in memory.store.episodes()} == {"a", "b"}


class SlowGuide(Guide):
    """A guide whose run ``a`` begins, and is stored, only when it is let."""

    def __init__(self, memory):
        super().__init__(memory)
        self.is_asked, self.gate = threading.Event(), threading.Event()

    def wait(self):
        self.is_asked.set()
        assert self.gate.wait(60.0)

    def episode(self, text="", *, key=None, **about):
        episode = super().episode(text, key=key, **about)
        if key == "a":
            self.wait()
            episode.__class__ = SlowToEnd
        return episode


class SlowToEnd(GuidedEpisode):
    def finish(self, *said, **about):
        self.guide.wait()
        return super().finish(*said, **about)


def test_a_run_that_cannot_begin_may_begin_later_under_its_key(memory):
    async def begun():
        under_way = UnderWay(Guide(memory), idle=60.0, most=2)
        with pytest.raises(InputError, match="task is ''"):
            await under_way.at("k", "", "", None)
        assert await under_way.get("k") is None
        episode = await under_way.at("k", TASK, None, None)
        assert await under_way.at("k", TASK, None, None) is episode
        under_way.close()

    asyncio.run(begun())
    assert [e.key for e in memory.store.episodes()] == ["k"]


@pytest.mark.parametrize(
    ("upstream", "more", "message"),
    [("api.openai.com", {}, "upstream"), ("http://x/v1", {"accept": ["rumour"]}, "rumour")],
)
def test_an_impossible_setting_stops_before_anything_is_served(memory, upstream, more, message):
    with pytest.raises(ConfigError, match=message):
        app(Guide(memory), upstream, **more)


def test_the_command_serves_until_it_is_stopped(stub, tmp_path):
    words = [
        "--upstream",
        stub.url,
        "--port",
        "0",
        "--set",
        "memory.mode=shadow",
        "--no-observed",
        "--json",
    ]
    command = [sys.executable, "-X", "utf8", "-m", "jitrl", "proxy", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, encoding="utf-8", **pipes) as process:
        try:
            line = process.stderr.readline()
            data = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
            url = data["address"].removesuffix("/v1")
            status, _, _ = sent(f"{url}/jitrl/health")
            run(url, "k")
        finally:
            process.terminate()
            process.communicate()
    assert status == 200
    assert (data["schema"], data["memory"]) == ("jitrl.proxy/1", "memory.db")
    assert f"listening on {data['address']}" in line
    assert "memory.db" in line
    with jitrl.open(tmp_path / "memory.db") as memory:
        assert len(memory.store.episode("k").steps) == 3
        assert memory.store.decision("k#0").decision.mode == "shadow"
        assert TASK not in json.dumps(dict(memory.store.episode("k").info))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--host", "0.0.0.0"], 3, "other machines reach"),
        (["--upstream", "nowhere"], 3, "must begin with http"),
        (["--accept", "rumour"], 3, "rumour"),
        (["--set", "memory.hold=1"], 3, "hold"),
        (["--memory", "no/such/folder/m.db"], 4, "folder"),
    ],
)
def test_the_command_refuses_what_it_cannot_serve(
    words, code, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["proxy", *words])
    assert end.value.code == code
    assert message in capsys.readouterr().err
