"""Rules that are told stand at the end of a model's instructions, in each framework."""

import asyncio
import json
from contextlib import contextmanager

import pytest
from tool_desk import ANSWERED, LOST, RESEND, TASK

import jitrl
from jitrl.core.sentences import rule_id
from jitrl.types import Rule

pytestmark = pytest.mark.frameworks

TEXT = "When the order is lost on its way, settle it with how resend"
OWN = "You are the desk."
ALWAYS = {"attempts": 0, "holdout": 0.01}


def opened(tmp_path, rules=ALWAYS, **settings):
    memory = jitrl.open(tmp_path / "memory.db", rules=rules, rule={"warmup": 1.0}, **settings)
    if rules:
        rule = Rule(rule_id(TEXT), TEXT, author="ann", status="active")
        memory.store.add_rules([rule])
    return memory


@contextmanager
def langchain(memory):
    pytest.importorskip("langchain", reason="langchain is not installed (extra langchain)")
    from langchain.agents import create_agent
    from test_langchain_middleware import ASKED, Scripted, look, settle

    from jitrl.integrations.langchain import JitRLMiddleware

    heard = []

    class Heard(Scripted):
        def _call(self, messages):
            heard.append("".join(m.text for m in messages if m.type == "system"))
            return super()._call([m for m in messages if m.type != "system"])

    guide = JitRLMiddleware(memory)
    agent = create_agent(Heard(), [look, settle], middleware=[guide], system_prompt=OWN)
    yield guide, lambda: agent.invoke(ASKED), heard


@contextmanager
def agents(memory):
    pytest.importorskip("agents.run", reason="openai-agents is not installed")
    from test_openai_agents_model import agent_of, run, scripted

    from jitrl.integrations.openai_agents import JitRLModel

    inner, heard = scripted(), []
    guide = JitRLModel(inner, memory)
    agent = agent_of(guide, instructions=OWN)

    def play():
        run(agent)
        heard.extend(call.system_instructions or "" for call in inner.calls[len(heard) :])

    yield guide, play, heard


@contextmanager
def pydantic(memory):
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed (extra pydantic-ai)")
    from pydantic_ai.models.function import FunctionModel
    from test_pydantic_ai_capability import agent_of, scripted

    from jitrl.integrations.pydantic_ai import JitRLCapability

    heard, inner = [], scripted()

    def responds(messages, info):
        heard.append(info.instructions or "")
        return inner.function(messages, info)

    guide = JitRLCapability(memory)
    agent = agent_of(guide, FunctionModel(responds), instructions=OWN)
    yield guide, lambda: asyncio.run(agent.run(TASK)), heard


@contextmanager
def client(memory):
    pytest.importorskip("openai", reason="openai is not installed (extra openai)")
    from chat_stub import TOOLS, served
    from openai import OpenAI
    from test_openai_client import next_messages

    from jitrl.integrations.openai import JitRLOpenAI

    heard = []
    with served() as stub, OpenAI(base_url=stub.url, api_key="k", max_retries=0) as inner:
        guide = JitRLOpenAI(inner, memory)

        def play():
            said = [{"role": "system", "content": OWN}, {"role": "user", "content": TASK}]
            while True:
                asked = {"model": "habits", "messages": said, "tools": TOOLS}
                answer = guide.chat.completions.create(**asked).choices[0].message
                if not answer.tool_calls:
                    break
                said = next_messages(answer, said)
            heard.extend(r["messages"][0]["content"] for r in stub.asked[len(heard) :])

        yield guide, play, heard


@contextmanager
def responses(memory):
    pytest.importorskip("openai", reason="openai is not installed (extra openai)")
    from chat_stub import FLAT, served
    from openai import OpenAI

    from jitrl.integrations.openai import JitRLOpenAI

    heard = []
    with served() as stub, OpenAI(base_url=stub.url, api_key="k", max_retries=0) as inner:
        guide = JitRLOpenAI(inner, memory)

        def play():
            given, before = [{"role": "user", "content": TASK}], None
            while True:
                more = {"previous_response_id": before} if before else {}
                answer = guide.responses.create(
                    model="habits", instructions=OWN, input=given, tools=FLAT, **more
                )
                calls = [item for item in answer.output if item.type == "function_call"]
                if not calls:
                    break
                before = answer.id
                given = [
                    {"type": "function_call_output", "call_id": c.call_id, "output": LOST}
                    for c in calls
                ]
            heard.extend(request["instructions"] for request in stub.asked[len(heard) :])

        yield guide, play, heard


FRAMEWORKS = [langchain, agents, pydantic, client, responses]


def of(memory, key):
    return [step.decision.notes for step in memory.store.episode(key).steps]


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda f: f.__name__)
def test_a_rule_stands_at_the_end_of_the_instructions_of_the_step_it_speaks_of(framework, tmp_path):
    with opened(tmp_path) as memory, framework(memory) as (guide, play, heard):
        with guide.episode("lost parcel", key="k") as episode:
            play()
            episode.finish(outcome=True, basis="state_check")
        assert not episode.degraded
        told = [text for text in heard if TEXT in text]
        assert told
        assert all(text.startswith(f"{OWN}\n\n") and text.endswith(f"- {TEXT}.") for text in told)
        assert heard[0] == OWN  # nothing was seen yet
        assert all(text == OWN for text in heard if text not in told)
        (use,) = [one.use for one in memory.store.rule_uses()[rule_id(TEXT)]]
        assert (use.episode, use.told, use.occasions) == (
            "k",
            True,
            sum(map(bool, of(memory, "k"))),
        )


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda f: f.__name__)
def test_without_rules_and_outside_of_an_episode_instructions_are_what_they_were(
    framework, tmp_path
):
    with opened(tmp_path, rules=None) as memory, framework(memory) as (guide, play, heard):
        with guide.episode("lost parcel", key="k") as episode:
            play()
            episode.finish(outcome=True)
        assert set(heard) == {OWN}
    with opened(tmp_path) as memory, framework(memory) as (guide, play, heard):
        if guide.__class__.__name__ != "JitRLCapability":  # there each run is an episode
            play()
            assert set(heard) == {OWN}


def test_a_streamed_run_of_the_agents_sdk_is_told_rules_too(tmp_path):
    with opened(tmp_path) as memory, agents(memory) as (guide, _, _):
        from agents import Runner
        from test_openai_agents_model import QUIET, agent_of

        agent = agent_of(guide, instructions=OWN)

        async def streamed():
            result = Runner.run_streamed(agent, TASK, run_config=QUIET, max_turns=30)
            async for _ in result.stream_events():
                pass

        with guide.episode("lost parcel", key="k") as episode:
            asyncio.run(streamed())
            episode.finish(outcome=True)
        assert any(TEXT in (call.system_instructions or "") for call in guide.inner.calls)


@pytest.mark.server
@pytest.mark.parametrize("kind", ["messages", "input"])
def test_the_proxy_tells_rules_to_agents_of_any_language(tmp_path, kind):
    pytest.importorskip("fastapi", reason="fastapi is not installed (extra server)")
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra server)")
    from chat_stub import FLAT, TOOLS, served
    from test_proxy import listening, sent

    from jitrl.integrations.guide import Guide
    from jitrl.service.proxy import app

    user = {"role": "user", "content": TASK}
    if kind == "messages":
        path, tools = "chat/completions", TOOLS
        call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        after = [
            user,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": LOST},
        ]
    else:
        path, tools = "responses", FLAT
        after = [
            user,
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": LOST},
        ]
    with opened(tmp_path) as memory, served() as stub:
        guide = Guide(memory)
        with listening(app(guide, stub.url)) as url:
            said = {"X-JitRL-Episode": "k", "Content-Type": "application/json"}
            for given in ([user], after):
                body = {"model": "habits", kind: given, "tools": tools}
                assert sent(f"{url}/v1/{path}", body, said)[0] == 200
    first, last = (
        request.get("instructions") or request.get("messages", [{}])[0].get("content", "")
        for request in (stub.asked[0], stub.asked[-1])
    )
    assert TEXT not in first
    assert TEXT in last


@pytest.mark.parametrize(
    ("kind", "odd"),
    [
        *(("messages", {"role": "system", "content": one}) for one in (5, {"type": "text"})),
        *(("messages", one) for one in ("hi", None, {"content": "no role"}, {"role": ["system"]})),
        *(("instructions", one) for one in (3, ["own"], {"a": 1})),
    ],
)
def test_the_proxy_leaves_a_request_that_cannot_hold_rules_to_the_provider(tmp_path, kind, odd):
    pytest.importorskip("fastapi", reason="fastapi is not installed (extra server)")
    from chat_stub import FLAT, TOOLS
    from fastapi.testclient import TestClient
    from httpx import MockTransport, Response

    from jitrl.integrations.guide import Guide
    from jitrl.service.proxy import app

    heard = []

    def refuses(request):
        heard.append(request.content)
        return Response(400, json={"error": {"message": "no text"}})

    user = {"role": "user", "content": LOST}
    if kind == "messages":
        path, body = "chat/completions", {"messages": [odd, user], "tools": TOOLS}
    else:
        path, body = "responses", {"input": LOST, "instructions": odd, "tools": FLAT}
    with opened(tmp_path) as memory:
        made = app(Guide(memory), "http://provider/v1", transport=MockTransport(refuses))
        with TestClient(made) as client:
            answer = client.post(f"/v1/{path}", json=body, headers={"X-JitRL-Episode": "k"})
    assert (answer.status_code, answer.json()["error"]["message"]) == (400, "no text")
    assert [json.loads(one) for one in heard] == [body]


def test_rules_that_cannot_be_told_leave_the_agent_as_it_was(tmp_path):
    from jitrl.integrations.conversation import Message, Turn
    from jitrl.integrations.guide import Guide

    def broken(messages):
        raise ValueError("no state")

    with opened(tmp_path) as memory, Guide(memory, state=broken).episode(TASK, key="k") as episode:
        assert episode.notes(lambda: Turn([Message("user", TASK)], [])) == ""
        assert episode.degraded == "rules could not be told: ValueError: no state"
        episode.finish()


def test_a_rule_is_not_told_where_the_model_failed_that_it_was_told_to(tmp_path):
    from jitrl.integrations.conversation import Message, Turn
    from jitrl.integrations.guide import Guide
    from jitrl.integrations.tools import Call, Tool

    with opened(tmp_path) as memory:
        guide, tools = Guide(memory), [Tool("look"), Tool("settle")]
        said = [Message("user", TASK), Message("assistant", "", (Call("look"),))]
        asked = Turn([*said, Message("tool", LOST)], tools)
        for key in ("failed", "went on"):
            with guide.episode(TASK, key=key) as episode:
                assert TEXT in episode.notes(lambda: asked)
                if key == "went on":
                    episode.choose(lambda: Turn(asked.messages, tools, [Call("look")]))
                episode.finish(True)
        (found,) = memory.store.rule_uses([rule_id(TEXT)]).values()
    assert [use.use.episode for use in found] == ["went on"]


def test_learned_rules_name_tools_with_the_shape_of_their_arguments(tmp_path):
    """What an agent did right and wrong becomes a rule that its next runs are told."""
    with opened(tmp_path, rules={"attempts": 4, "scores": False}) as memory:
        from tool_desk import SCHEMAS

        from jitrl.integrations.conversation import Message, Turn
        from jitrl.integrations.guide import Guide
        from jitrl.integrations.tools import Call, Tool

        tools = [Tool(name, schema) for name, schema in SCHEMAS.items()]
        guide = Guide(memory)

        def turn(how):
            looked = Message("assistant", "", (Call("look", {"order": "A-17"}),))
            said = [Message("user", TASK), looked, Message("tool", LOST)]
            calls = [Call("settle", {"order": "A-17", "how": how})] if how else []
            return Turn(said, tools, calls)

        for n in range(4):
            how = ("resend", "refund")[n % 2]
            with guide.episode(TASK, key=f"e{n}") as episode:
                episode.notes(lambda: turn(""))
                episode.choose(lambda how=how: turn(how))
                episode.finish(outcome=how == "resend", basis="state_check")
        texts = [rule.text for rule in memory.store.rules() if rule.author == "rules"]
        assert any(RESEND in text for text in texts), texts
        notes = []
        for n in range(12):
            with guide.episode(TASK, key=f"n{n}") as episode:
                notes.append(episode.notes(lambda: turn("")))
                episode.finish()
    assert any(RESEND in text for text in notes)
    assert ANSWERED not in "".join(notes)
