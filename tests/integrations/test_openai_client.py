"""The real OpenAI client with a memory around it, against a local server."""

import asyncio
import copy
import json

import pytest

pytest.importorskip("openai", reason="openai is not installed (extra openai)")
pytest.importorskip("httpx", reason="httpx is not installed (extra server)")

import httpx
from chat_stub import TOOLS, served
from openai import NOT_GIVEN, AsyncOpenAI, BadRequestError, OpenAI
from tool_desk import ANSWERED, KIND, RESEND, TASK, Desk, rounds

import jitrl
from jitrl.errors import ConfigError
from jitrl.integrations.openai import JitRLOpenAI

pytestmark = pytest.mark.frameworks

DESK = Desk()


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db", rule={"warmup": 1.0}) as opened:
        yield opened


@pytest.fixture(scope="module")
def server():
    with served() as stub:
        yield stub


@pytest.fixture
def stub(server):
    server.asked.clear()
    server.refuses = False
    return server


@pytest.fixture
def client(stub, memory):
    with OpenAI(base_url=stub.url, api_key="k", max_retries=0) as inner:
        yield JitRLOpenAI(inner, memory)


def next_messages(said, messages):
    """The conversation with an answer and the results of its calls."""
    messages = [*messages, said]
    for call in said.tool_calls or ():
        result = DESK.call(call.function.name, json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return messages


def run(client, **more):
    """The loop that a user of the plain client writes."""
    messages = [{"role": "user", "content": TASK}]
    while True:
        said = (
            client.chat.completions.create(model="habits", messages=messages, tools=TOOLS, **more)
            .choices[0]
            .message
        )
        if not said.tool_calls:
            return said.content
        messages = next_messages(said, messages)


def test_the_agent_gets_better(client):
    solved = rounds(client, DESK, lambda: run(client))
    assert not solved[0]
    assert solved[-5:] == [True] * 5


def test_awaited_it_decides_the_same(client, stub, tmp_path):
    plain = rounds(client, DESK, lambda: run(client))

    async def awaited(guide):
        messages = [{"role": "user", "content": TASK}]
        while True:
            answer = await guide.chat.completions.create(
                model="habits", messages=messages, tools=TOOLS
            )
            said = answer.choices[0].message
            if not said.tool_calls:
                return
            messages = next_messages(said, messages)

    async def all_rounds():
        solved = []
        with jitrl.open(tmp_path / "other.db", rule={"warmup": 1.0}) as memory:
            async with AsyncOpenAI(base_url=stub.url, api_key="k") as inner:
                guide = JitRLOpenAI(inner, memory)
                for number in range(12):
                    DESK.__init__()
                    with guide.episode("lost parcel", key=f"round-{number}") as episode:
                        await awaited(guide)
                        episode.finish(outcome=DESK.is_solved, basis="state_check")
                    solved.append(DESK.is_solved)
        return solved

    assert asyncio.run(all_rounds()) == plain


def test_outside_of_an_episode_and_for_all_else_the_client_is_as_it_was(client, stub, memory):
    assert run(client) == ANSWERED
    assert stub.forced == [None] * 3
    assert list(memory.store.episodes()) == []
    assert str(client.base_url).startswith(stub.url)
    assert client.chat.completions.with_raw_response is not None
    assert client.models.list().object == "list"


def test_a_turned_call_is_filled_by_the_model_and_both_calls_are_counted(client, stub):
    rounds(client, DESK, lambda: run(client))
    stub.asked.clear()
    with client.episode("lost parcel") as episode:
        answer = client.chat.completions.create(
            model="habits", messages=[{"role": "user", "content": TASK}], tools=TOOLS
        )
    assert episode.calls[0].arguments == {"order": "A-17", "how": "resend"}
    (call,) = answer.choices[0].message.tool_calls
    assert json.loads(call.function.arguments) == {"order": "A-17", "how": "resend"}
    assert answer.choices[0].finish_reason == "tool_calls"
    assert answer.usage.total_tokens == 24
    assert stub.forced[1] == {"type": "function", "function": {"name": "settle"}}


def test_a_stream_shows_what_was_decided(client):
    rounds(client, DESK, lambda: run(client))
    request = {"model": "habits", "messages": [{"role": "user", "content": TASK}], "tools": TOOLS}
    with client.episode("lost parcel"):
        stream = client.chat.completions.create(
            **request, stream=True, stream_options={"include_usage": True}
        )
        with stream:
            chunks = list(stream)
    (call,) = chunks[0].choices[0].delta.tool_calls
    assert (call.index, call.function.name) == (0, "settle")
    assert json.loads(call.function.arguments)["how"] == "resend"
    assert chunks[1].choices[0].finish_reason == "tool_calls"
    assert chunks[2].usage.total_tokens == 24


def test_a_stream_outside_of_an_episode_is_the_providers(client):
    request = {"model": "habits", "messages": [{"role": "user", "content": TASK}], "tools": TOOLS}
    chunks = list(client.chat.completions.create(**request, stream=True))
    assert chunks[0].choices[0].delta.tool_calls[0].function.name == "look"


def test_a_provider_that_refuses_to_be_forced_leaves_the_agent_working(client, stub):
    rounds(client, DESK, lambda: run(client))
    stub.refuses = True
    DESK.__init__()
    with client.episode("lost parcel") as episode:
        assert run(client) == ANSWERED
    assert "not supported" in episode.degraded
    assert DESK.settled == "refund"


@pytest.mark.parametrize(
    "more", [{"tool_choice": "none"}, {"n": 2}, {"tool_choice": TOOLS[0]}, {"tools": []}]
)
def test_where_there_is_no_choice_the_request_goes_through(client, memory, more):
    request = {"messages": [{"role": "user", "content": TASK}], "tools": TOOLS, **more}
    with client.episode("t", key="k"):
        client.chat.completions.create(model="habits", **request)
    assert memory.store.episode("k").steps == ()


def test_what_is_not_given_to_the_client_is_not_given_to_the_memory(client, memory):
    with client.episode("t", key="k"):
        run(client, tool_choice=NOT_GIVEN, n=NOT_GIVEN)
    assert len(memory.store.episode("k").steps) == 3


def test_an_error_of_the_provider_is_the_callers(client, stub):
    stub.refuses = True
    with client.episode("t"), pytest.raises(BadRequestError):
        client.chat.completions.create(
            model="habits",
            messages=[{"role": "user", "content": TASK}],
            tools=TOOLS,
            tool_choice=TOOLS[0],
        )


def test_messages_in_parts_and_objects_are_read(client, memory):
    parts = [{"type": "text", "text": TASK}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    with client.episode("t", key="k"):
        client.chat.completions.create(
            model="habits", messages=[{"role": "user", "content": parts}], tools=TOOLS
        )
    (step,) = memory.store.episode("k").steps
    assert step.state.context == "Parcel <id> is lost."


def test_what_is_no_client_is_refused(memory):
    with pytest.raises(ConfigError, match="client is 'key'"):
        JitRLOpenAI("key", memory)


def test_the_choice_can_be_explained(client, memory):
    rounds(client, DESK, lambda: run(client))
    last = list(memory.store.episodes())[-1]
    at = next(i for i, step in enumerate(last.steps) if step.action == RESEND)
    why = memory.explain(f"{last.key}#{at}")
    assert why.alone.action != RESEND
    assert why.without


def test_messages_that_can_be_gone_through_once_are_sent_each_time(client, stub):
    """A turned choice asks once more, with all that was said."""
    rounds(client, DESK, lambda: run(client))
    stub.asked.clear()
    said = [{"role": "user", "content": TASK}]
    with client.episode("lost parcel", key="once") as episode:
        client.chat.completions.create(
            model="habits", messages=(one for one in said), tools=iter(TOOLS)
        )
    assert episode.degraded == ""
    assert len(stub.asked) == 2
    assert [(one["messages"], one["tools"]) for one in stub.asked] == [(said, TOOLS)] * 2
    (step,) = client.memory.store.episode("once").steps
    assert step.state.context == KIND


def test_parts_of_a_client_can_be_copied(client):
    assert copy.copy(client.chat).completions is client.chat.completions
    assert copy.copy(client.responses)._inner is client.responses._inner


def test_a_page_of_a_gateway_streams_nothing(memory):
    def page(request):
        return httpx.Response(200, text="<html>busy</html>", headers={"content-type": "text/html"})

    http = httpx.Client(transport=httpx.MockTransport(page))
    with OpenAI(base_url="http://x/v1", api_key="k", http_client=http) as inner:
        guided = JitRLOpenAI(inner, memory)
        request = {"model": "m", "messages": [{"role": "user", "content": TASK}], "tools": TOOLS}
        with guided.episode("t", key="k"):
            assert list(guided.chat.completions.create(**request, stream=True)) == []
            assert guided.chat.completions.create(**request) == "<html>busy</html>"
    assert memory.store.episode("k").steps == ()
