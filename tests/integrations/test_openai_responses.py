"""The real OpenAI client's Responses API with a memory around it, against a local server."""

import asyncio
import json

import pytest

pytest.importorskip("openai", reason="openai is not installed (extra openai)")

from chat_stub import FLAT, served
from openai import AsyncOpenAI, OpenAI
from tool_desk import ANSWERED, TASK, Desk, rounds

import jitrl
from jitrl.integrations import responses
from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.openai import JitRLOpenAI
from jitrl.integrations.tools import Form

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


def results(answer):
    """What the tools that an answer calls gave back."""
    return [
        {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": DESK.call(call.name, json.loads(call.arguments)),
        }
        for call in answer.output
        if call.type == "function_call"
    ]


def asked(said, **more):
    return {"model": "habits", "input": said, "tools": FLAT, **more}


def run(client, **more):
    """The loop of a user who sends the whole conversation each time."""
    said = [{"role": "user", "content": TASK}]
    while True:
        answer = client.responses.create(**asked(said, **more))
        done = results(answer)
        if not done:
            return answer.output_text
        said = [*said, *answer.output, *done]  # objects and mappings, as in the provider's guide


def chained(client, **more):
    """The loop of a user who goes on from what the provider keeps."""
    answer = client.responses.create(**asked(TASK, **more))
    while done := results(answer):
        more = {"previous_response_id": answer.id}
        answer = client.responses.create(**asked(done, **more))
    return answer.output_text


@pytest.mark.parametrize("loop", [run, chained])
def test_the_agent_gets_better(client, loop):
    solved = rounds(client, DESK, lambda: loop(client))
    assert not solved[0]
    assert solved[-5:] == [True] * 5


def test_going_on_from_what_is_kept_is_the_same_place_as_saying_all_of_it(client, memory):
    for key, loop in (("whole", run), ("kept", chained)):
        DESK.__init__()
        with client.episode("lost parcel", key=key):
            loop(client, store=True)
    whole, kept = (memory.store.episode(key).steps for key in ("whole", "kept"))
    assert [step.state for step in kept] == [step.state for step in whole]
    assert kept[-1].state.place == "stage: look, settle"


def test_a_first_call_that_is_forced_is_remembered_by_what_goes_on_from_it(client, memory):
    with client.episode("lost parcel", key="k"):
        chained(client, tool_choice={"type": "function", "name": "look"})
    steps = memory.store.episode("k").steps
    assert [step.state.place for step in steps] == ["stage: look", "stage: look, settle"]


def test_what_goes_on_from_an_answer_of_elsewhere_begins_with_the_users_words(client, memory):
    before = client.responses.create(**asked(TASK))
    with client.episode("t", key="results alone"):
        client.responses.create(**asked(results(before), previous_response_id=before.id))
    with client.episode("t", key="words"):
        client.responses.create(**asked("And now?", previous_response_id=before.id))
    assert memory.store.episode("results alone").steps == ()
    assert memory.store.episode("words").steps[0].state.context == "And now?"


def test_awaited_it_decides_the_same(client, stub, tmp_path):
    plain = rounds(client, DESK, lambda: run(client))

    async def awaited(guide):
        said = [{"role": "user", "content": TASK}]
        while True:
            answer = await guide.responses.create(**asked(said))
            done = results(answer)
            if not done:
                return
            said = [*said, *answer.output, *done]

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


def test_a_turned_call_is_filled_by_the_model_and_both_calls_are_counted(client, stub):
    rounds(client, DESK, lambda: run(client))
    stub.asked.clear()
    with client.episode("lost parcel") as episode:
        answer = client.responses.create(**asked(TASK, parallel_tool_calls=True))
    assert episode.calls[0].arguments == {"order": "A-17", "how": "resend"}
    thought, call = answer.output
    assert (thought.type, call.type) == ("reasoning", "function_call")
    assert json.loads(call.arguments) == {"order": "A-17", "how": "resend"}
    assert answer.usage.total_tokens == 24
    assert stub.forced == [None, {"type": "function", "name": "settle"}]
    assert [request.get("parallel_tool_calls") for request in stub.asked] == [True, False]


def test_a_stream_shows_what_was_decided(client):
    rounds(client, DESK, lambda: run(client))
    with client.episode("lost parcel"), client.responses.create(**asked(TASK, stream=True)) as sent:
        events = list(sent)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[0].type == "response.created"
    assert events[0].response.output == []
    (done,) = [e for e in events if e.type == "response.function_call_arguments.done"]
    assert (done.name, json.loads(done.arguments)["how"]) == ("settle", "resend")
    assert events[-1].type == "response.completed"
    assert events[-1].response.usage.total_tokens == 24


def test_a_stream_of_words_brings_them(client, tmp_path):
    said = [{"role": "user", "content": TASK}]
    for name in ("look", "settle"):
        call = {"type": "function_call", "call_id": name, "name": name, "arguments": "{}"}
        said += [call, {"type": "function_call_output", "call_id": name, "output": "done"}]
    with jitrl.open(tmp_path / "shadow.db", mode="shadow") as memory:
        guide = JitRLOpenAI(client._client, memory)
        with guide.episode("t", key="k"):
            events = list(guide.responses.create(**asked(said, stream=True)))
        assert len(memory.store.episode("k").steps) == 1
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert deltas == [ANSWERED]


def test_outside_of_an_episode_and_for_all_else_the_client_is_as_it_was(client, stub, memory):
    assert chained(client) == ANSWERED
    (event,) = client.responses.create(**asked(TASK, stream=True))
    assert event.type == "response.completed"
    assert stub.forced == [None] * 4
    assert list(memory.store.episodes()) == []
    assert client.responses.with_raw_response is not None


def test_a_provider_that_refuses_to_be_forced_leaves_the_agent_working(client, stub):
    rounds(client, DESK, lambda: run(client))
    stub.refuses = True
    DESK.__init__()
    with client.episode("lost parcel") as episode:
        assert chained(client) == ANSWERED
    assert "not supported" in episode.degraded
    assert DESK.settled == "refund"


@pytest.mark.parametrize(
    "more",
    [
        {"tool_choice": "none"},
        {"tool_choice": {"type": "function", "name": "look"}},
        {"tools": []},
        {"tools": [{"type": "web_search"}]},
        {"tools": [{**FLAT[0], "defer_loading": True}]},
        {"conversation": "conv_1"},
        {"background": True},
    ],
)
def test_where_there_is_no_choice_the_request_goes_through(client, memory, stub, more):
    with client.episode("t", key="k"):
        client.responses.create(**{**asked(TASK), **more})
    assert memory.store.episode("k").steps == ()
    assert {key: stub.asked[0].get(key) for key in more} == more


def test_one_call_of_the_chosen_tool_is_left_of_several():
    def call(name, order):
        written = json.dumps({"order": order, "how": "refund"})
        return {"type": "function_call", "call_id": order, "name": name, "arguments": written}

    extra = ExtraCall(Choice("look", "settle", Form("settle", (("how", "resend"),))))
    second = {"output": [call("look", "1"), call("settle", "2"), call("settle", "3")]}
    assert extra.answered(responses.calls(second))
    (left,) = responses.merged({"output": []}, second, extra)["output"]
    assert left["call_id"] == "2"
    assert json.loads(left["arguments"]) == {"order": "2", "how": "resend"}
