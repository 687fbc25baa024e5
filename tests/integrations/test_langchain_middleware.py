"""LangChain's own agent with the middleware: it learns, streams, and is left alone outside."""

import asyncio
import json
from typing import Literal

import pytest

pytest.importorskip("langchain", reason="langchain is not installed (extra langchain)")

from langchain.agents import create_agent
from langchain.agents.middleware import ModelResponse
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field
from tool_desk import ANSWERED, LOST, RESEND, TASK, Desk, habit, rounds

import jitrl
from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.langchain import JitRLMiddleware, _merged
from jitrl.integrations.tools import Call, Form

pytestmark = pytest.mark.frameworks

DESK = Desk()
ASKED = {"messages": [("user", TASK)]}


@tool
def look(order: str) -> str:
    """Look at an order."""
    return LOST


@tool
def settle(order: str, how: Literal["refund", "resend"]) -> str:
    """Settle an order."""
    return DESK.settle(how)


class Verdict(BaseModel):
    """How it ended."""

    text: str


class Scripted(BaseChatModel):
    """A chat model of habits; ``asked`` is shared by its copies."""

    offered: list = Field(default_factory=list)
    forced: str | None = None
    refuses: bool = False
    asked: list = Field(default_factory=list)

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, *, tool_choice=None, **more):
        names = [convert_to_openai_tool(t)["function"]["name"] for t in tools]
        forced = None if tool_choice in ("auto", "any") else tool_choice
        return self.model_copy(update={"offered": names, "forced": forced})

    def _call(self, messages):
        self.asked.append(self.forced)
        if self.forced and self.refuses:
            raise ValueError("tool_choice is not supported")
        call = habit([m.name for m in messages if m.type == "tool"], self.forced)
        if "Verdict" in self.offered and (call is None or call.tool not in self.offered):
            return Call("Verdict", {"text": ANSWERED})
        return call

    def _generate(self, messages, stop=None, run_manager=None, **more):
        call = self._call(messages)
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        said = AIMessage("" if call else ANSWERED, usage_metadata=usage)
        if call:
            made = {"name": call.tool, "args": dict(call.arguments), "id": f"c{len(messages)}"}
            said.tool_calls = [{**made, "type": "tool_call"}]
        return ChatResult(generations=[ChatGeneration(message=said)])

    def _stream(self, messages, stop=None, run_manager=None, **more):
        call = self._call(messages)
        if call is None:
            for word in ANSWERED.split(" "):
                yield ChatGenerationChunk(message=AIMessageChunk(f"{word} "))
            return
        made = {"name": call.tool, "args": json.dumps(call.arguments), "id": "c", "index": 0}
        yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[made]))


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db", rule={"warmup": 1.0}) as opened:
        yield opened


def agent_of(guide, model=None, **more):
    return create_agent(model or Scripted(), [look, settle], middleware=[guide], **more)


def last(memory):
    return list(memory.store.episodes())[-1]


def notes(said):
    return [
        m.response_metadata["jitrl"] for m in said["messages"] if "jitrl" in m.response_metadata
    ]


def test_the_agent_gets_better_and_says_which_decision_made_each_message(memory):
    guide = JitRLMiddleware(memory)
    agent = agent_of(guide)
    said = {}
    solved = rounds(guide, DESK, lambda: said.update(agent.invoke(ASKED)))
    assert not solved[0]
    assert solved[-5:] == [True] * 5
    turned = next(note for note in notes(said) if note["action"] == RESEND)
    assert turned["decision"].startswith("round-11#")
    assert memory.explain(turned["decision"]).decision.action == RESEND


def test_awaited_it_decides_the_same(memory, tmp_path):
    guide = JitRLMiddleware(memory)
    agent = agent_of(guide)
    awaited = rounds(guide, DESK, lambda: asyncio.run(agent.ainvoke(ASKED)))
    with jitrl.open(tmp_path / "other.db", rule={"warmup": 1.0}) as other:
        guide = JitRLMiddleware(other)
        agent = agent_of(guide)
        assert rounds(guide, DESK, lambda: agent.invoke(ASKED)) == awaited


def test_outside_of_an_episode_the_agent_is_as_it_was(memory):
    model = Scripted(asked=[])
    said = agent_of(JitRLMiddleware(memory), model).invoke(ASKED)
    assert notes(said) == []
    assert model.asked == [None] * 3
    assert list(memory.store.episodes()) == []


def until_turned(guide, run, count=12):
    """Play until the memory turned a choice to ``resend``, without learning from that episode."""
    rounds(guide, DESK, run, count)
    DESK.__init__()


def test_a_turned_call_is_filled_by_the_model_and_costs_one_more_call(memory):
    guide, model = JitRLMiddleware(memory), Scripted(asked=[])
    agent = agent_of(guide, model)
    until_turned(guide, lambda: agent.invoke(ASKED))
    model.asked.clear()
    with guide.episode("lost parcel"):
        said = agent.invoke(ASKED)
    turned = [note for note in notes(said) if note["own"] != note["action"]]
    assert len(model.asked) == len(notes(said)) + len(turned)
    assert turned[0]["first_usage"]["total_tokens"] == 12
    call = next(
        c for m in said["messages"] for c in getattr(m, "tool_calls", ()) if c["name"] == "settle"
    )
    assert call["args"] == {"order": "A-17", "how": "resend"}


def test_a_provider_that_refuses_to_be_forced_leaves_the_agent_working(memory):
    guide = JitRLMiddleware(memory)
    agent = agent_of(guide)
    until_turned(guide, lambda: agent.invoke(ASKED))
    stubborn = agent_of(guide, Scripted(refuses=True))
    with guide.episode("lost parcel") as episode:
        said = stubborn.invoke(ASKED)
    assert said["messages"][-1].text == ANSWERED
    assert "tool_choice is not supported" in episode.degraded
    assert DESK.settled == "refund"


def test_a_stream_shows_what_was_decided_and_nothing_of_what_was_not(memory):
    guide = JitRLMiddleware(memory)
    agent = agent_of(guide)
    until_turned(guide, lambda: agent.invoke(ASKED))
    with guide.episode("lost parcel") as episode:
        shown = [
            part for part, _ in agent.stream(ASKED, stream_mode="messages") if part.type != "tool"
        ]
    assert [c["args"].get("how") for m in shown for c in m.tool_calls if c["name"] == "settle"] == [
        "resend"
    ]
    assert shown[-1].text.strip() == ANSWERED
    assert Call("settle", {"order": "A-17", "how": "resend"}) in episode.calls


def test_outside_of_an_episode_words_are_streamed_one_by_one(memory):
    shown = agent_of(JitRLMiddleware(memory)).stream(ASKED, stream_mode="messages")
    assert len([part for part, _ in shown if part.type == "AIMessageChunk" and part.text]) > 1


def test_a_structured_answer_is_an_answer(memory):
    guide = JitRLMiddleware(memory)
    agent = agent_of(guide, response_format=ToolStrategy(Verdict))
    said = {}
    solved = rounds(guide, DESK, lambda: said.update(agent.invoke(ASKED)))
    assert said["structured_response"] == Verdict(text=ANSWERED)
    assert last(memory).steps[-1].action == "answer"
    assert solved[-5:] == [True] * 5


def test_the_state_has_the_task_the_result_and_the_tools_used(memory):
    guide = JitRLMiddleware(memory)
    with guide.episode("lost parcel"):
        agent_of(guide).invoke(ASKED)
    first, second, *_ = last(memory).steps
    assert (first.state.context, first.state.place) == ("Parcel <id> is lost.", "stage: start")
    assert (second.state.text, second.state.place) == (LOST, "stage: look")


class Noting(FakeMessagesListChatModel):
    """A model of LangChain's own for tests, which counts its calls in itself."""

    def bind_tools(self, tools, **more):
        return self


@pytest.mark.parametrize("is_awaited", [False, True])
def test_a_model_keeps_what_it_notes_of_its_calls(memory, is_awaited):
    called = {"name": "look", "args": {"order": "A-17"}, "id": "c"}
    script = [AIMessage("", tool_calls=[called]), AIMessage(ANSWERED)]
    guide = JitRLMiddleware(memory, unforced=["look", "settle"])
    agent = agent_of(guide, Noting(responses=script))
    with guide.episode("lost parcel", key="k"):
        said = asyncio.run(agent.ainvoke(ASKED)) if is_awaited else agent.invoke(ASKED)
    assert [m.text for m in said["messages"]][-2:] == [LOST, ANSWERED]
    assert len(memory.store.episode("k").steps) == 1  # of the second there was no choice


def test_calls_that_are_left_out_leave_the_content_of_a_message_too():
    def block(id):
        return {"type": "tool_use", "id": id, "name": "look", "input": {}}

    calls = [{"name": "look", "args": {}, "id": id, "type": "tool_call"} for id in ("a", "b")]
    text = {"type": "text", "text": "I look."}
    second = ModelResponse([AIMessage([text, block("a"), block("b")], tool_calls=calls)])
    extra = ExtraCall(Choice("answer", "look()", Form("look")))
    assert extra.answered([Call("look", {}), Call("look", {})])
    (said,) = _merged(ModelResponse([AIMessage("")]), second, extra).result
    assert said.content == [text, block("a")]
    assert [call["id"] for call in said.tool_calls] == ["a"]


@tool
def approved(order: str) -> str:
    """Ask a person about an order."""
    return interrupt(f"May {order} be sent again?")


def test_a_run_that_waits_for_a_person_and_goes_on_is_one_episode(memory):
    called = {"name": "approved", "args": {"order": "A-17"}, "id": "c"}
    script = [AIMessage("", tool_calls=[called]), AIMessage(ANSWERED)]
    guide = JitRLMiddleware(memory, unforced=["approved", "look"])
    agent = create_agent(
        Noting(responses=script), [approved, look], middleware=[guide], checkpointer=InMemorySaver()
    )
    thread = {"configurable": {"thread_id": "1"}}
    with guide.episode("lost parcel", key="k") as episode:
        waits = agent.invoke(ASKED, thread)
        assert waits["__interrupt__"]
        said = agent.invoke(Command(resume="yes"), thread)
        episode.finish(True, basis="human")
    assert [m.text for m in said["messages"]][-2:] == ["yes", ANSWERED]
    kept = memory.store.episode("k")
    assert [step.action for step in kept.steps] == ["approved(order: string)"]
    assert [call.tool for call in episode.calls] == ["approved"]


def test_many_runs_at_once_each_keep_to_their_own_episode(memory):
    guide = JitRLMiddleware(memory)
    agent = agent_of(guide)

    async def one(number):
        asked = {"messages": [("user", f"Parcel number {'abcdefghij'[number]} is lost.")]}
        with guide.episode(asked["messages"][0][1], key=f"k{number}") as episode:
            await agent.ainvoke(asked)
            assert guide.active is episode
            episode.finish(number % 2 == 0, basis="test")
        return episode

    async def together():
        return await asyncio.gather(*(one(number) for number in range(10)))

    for number, episode in enumerate(asyncio.run(together())):
        kept = memory.store.episode(f"k{number}")
        asked = {step.state.context for step in kept.steps}
        assert asked == {f"Parcel number {'abcdefghij'[number]} is lost."}
        assert episode.degraded == ""
