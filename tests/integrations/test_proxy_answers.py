"""Answers of a provider that are odd, and instructions that are empty, between client and proxy."""

import json
import math

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed (extra server)")
pytest.importorskip("httpx", reason="httpx is not installed (extra server)")

from chat_stub import FLAT, TOOLS
from fastapi.testclient import TestClient
from httpx import ASGITransport, AsyncClient, MockTransport, Response

import jitrl
from jitrl.integrations import chat
from jitrl.integrations.conversation import with_notes
from jitrl.integrations.guide import Guide
from jitrl.service.proxy import app

pytestmark = pytest.mark.server

HALF = '{"said": "late \\ud800"}'


def answered(tmp_path, path, said, **more):
    """What a client gets where the provider answers ``said``, which is written as it stands."""
    asked = {"messages": [{"role": "user", "content": "go"}]} if "chat" in path else {"input": "go"}
    body = {"model": "m", "tools": TOOLS if "chat" in path else FLAT, **asked, **more}

    def provider(request):
        return Response(200, text=said, headers={"content-type": "application/json"})

    with jitrl.open(tmp_path / "m.db") as memory:
        made = app(Guide(memory), "http://provider/v1", transport=MockTransport(provider))
        with TestClient(made) as client:
            return client.post(f"/v1/{path}", json=body, headers={"X-JitRL-Episode": "k"})


def chatted(text, **function):
    said = {"role": "assistant", "content": text}
    if function:
        said["tool_calls"] = [{"id": "c", "type": "function", "function": function}]
    return {"id": "1", "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}


def responded(text, **function):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "role": "assistant", "content": content}
    if function:
        item = {"type": "function_call", "call_id": "c", **function}
    return {"id": "r", "status": "completed", "output": [{"id": "i", **item}]}


ODD = [
    ("chat/completions", chatted("late \ud800")),
    ("chat/completions", chatted(None, name="look", arguments=HALF)),
    ("chat/completions", chatted(None, name="look\ud800", arguments="{}")),
    ("responses", responded("late \ud800")),
    ("responses", responded("", name="look", arguments=HALF)),
    ("chat/completions", {**chatted("hi"), "logprob": -math.inf}),
    ("responses", {**responded("hi"), "temperature": math.nan}),
    ("chat/completions", {"error": {"message": "none"}}),
    ("chat/completions", {"choices": []}),
    ("chat/completions", {"choices": [5]}),
    ("responses", {"output": [5]}),
    ("responses", {"output": 5}),
    ("responses", {}),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("path", "said"), ODD)
def test_what_a_provider_answers_reaches_the_client_however_odd(tmp_path, path, said, stream):
    answer = answered(tmp_path, path, json.dumps(said), stream=stream)
    assert answer.status_code == 200
    if not stream:
        assert repr(json.loads(answer.content)) == repr(said)


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_notes_are_the_instructions_where_there_are_none(content):
    said = [{"role": "system", "content": content}, {"role": "user", "content": "go"}]
    assert chat.told({"messages": said}, "Do it.")["messages"][0]["content"] == "Do it."
    if content is not None:
        assert with_notes(content, "Do it.", {}) == "Do it."


def test_notes_stand_a_line_after_the_instructions_and_absent_content_is_none():
    own = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "go"}]
    assert chat.told({"messages": own}, "Do it.")["messages"][0]["content"] == "Be kind.\n\nDo it."
    absent = [{"role": "system"}, {"role": "user", "content": "go"}]
    assert chat.told({"messages": absent}, "Do it.")["messages"][0]["content"] == "Do it."


def test_a_run_that_was_told_rules_and_ends_meanwhile_is_begun_no_second_time(tmp_path):
    turns = [{"role": "user", "content": said} for said in ("go", "go on")]
    bodies = [{"model": "m", "messages": turns[: n + 1], "tools": TOOLS} for n in range(2)]
    run, end = {"X-JitRL-Episode": "k"}, "/jitrl/episodes/k/outcome"

    async def provider(request):
        provider.asked += 1
        if provider.asked == 2:
            here = AsyncClient(transport=ASGITransport(made), base_url="http://proxy")
            assert (await here.post(end, json={"outcome": True})).status_code == 200
        return Response(200, json=chatted(None, name="look", arguments="{}"))

    provider.asked = 0
    with jitrl.open(tmp_path / "m.db", rules=True) as memory:
        made = app(Guide(memory), "http://provider/v1", transport=MockTransport(provider))
        with TestClient(made) as client:
            path = "/v1/chat/completions"
            first, last = (client.post(path, json=body, headers=run) for body in bodies)
            assert "x-jitrl-degraded" not in first.headers
            assert last.json() == chatted(None, name="look", arguments="{}")
            assert last.headers["x-jitrl-degraded"] == "1"
            assert client.post(end, json={"outcome": False}).status_code == 200
            assert memory.store.episode("k").outcome.value == 0.0
