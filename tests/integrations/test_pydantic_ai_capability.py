"""Pydantic AI's own agent with the capability, and its function model."""

import asyncio
import json
from typing import Literal

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed (extra pydantic-ai)")

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ImageUrl,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from tool_desk import ANSWERED, KIND, LOST, REFUND, RESEND, TASK, Desk, habit, rounds

import jitrl
from jitrl.integrations.pydantic_ai import JitRLCapability

pytestmark = pytest.mark.frameworks

DESK = Desk()


class Verdict(BaseModel):
    """How it ended."""

    text: str


def look(order: str) -> str:
    """Look at an order."""
    return LOST


def settle(order: str, how: Literal["refund", "resend"]) -> str:
    """Settle an order."""
    return DESK.settle(how)


def scripted(asked=None, refuses=False, only=""):
    def responds(messages, info):
        forced = (info.model_settings or {}).get("tool_choice")
        if asked is not None:
            asked.append(forced)
        if forced and refuses:
            raise ValueError("tool_choice is not supported")
        used = [p.tool_name for m in messages for p in m.parts if isinstance(p, ToolCallPart)]
        call = habit(used, forced[0] if isinstance(forced, list) else forced)
        if call is not None:
            return ModelResponse([ToolCallPart(call.tool, dict(call.arguments))])
        if info.output_tools:
            return ModelResponse([ToolCallPart(info.output_tools[0].name, {"text": ANSWERED})])
        return ModelResponse([TextPart(ANSWERED)])

    async def streams(messages, info):
        """The same answer, as a model streams it; another path than ``responds`` itself."""
        for place, part in enumerate(responds(messages, info).parts):
            if isinstance(part, ToolCallPart):
                yield {place: DeltaToolCall(part.tool_name, json.dumps(part.args))}
            else:
                yield part.content

    return FunctionModel(None if only == "streams" else responds, stream_function=streams)


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db", rule={"warmup": 1.0}) as opened:
        yield opened


def agent_of(guide, model=None, **more):
    return Agent(model or scripted(), tools=[look, settle], capabilities=[guide], **more)


def run(agent):
    return asyncio.run(agent.run(TASK))


def last(memory):
    return list(memory.store.episodes())[-1]


@pytest.mark.parametrize("output", [str, Verdict])
def test_the_agent_gets_better_whatever_its_output_is(memory, output):
    guide = JitRLCapability(memory)
    agent = agent_of(guide, output_type=output)
    solved = rounds(guide, DESK, lambda: run(agent))
    assert not solved[0]
    assert solved[-5:] == [True] * 5
    actions = [step.action for step in last(memory).steps]
    assert next(a for a in actions if a in (REFUND, RESEND)) == RESEND
    assert actions[-1] == "answer"


def test_a_run_of_its_own_is_an_episode_whose_key_is_the_runs_id(memory):
    guide = JitRLCapability(memory)
    result = run(agent_of(guide))
    episode = memory.store.episode(result.run_id)
    assert (episode.task, episode.outcome) == (KIND, None)
    assert memory.outcome(result.run_id, True, basis="human").rows == 3
    noted = [m.metadata["jitrl"] for m in result.all_messages() if isinstance(m, ModelResponse)]
    assert [note["decision"] for note in noted] == [f"{result.run_id}#{n}" for n in range(3)]


def test_a_check_ends_runs_of_their_own(memory):
    guide = JitRLCapability(memory, check=lambda e: e.answer == ANSWERED, basis="test")
    result = run(agent_of(guide))
    outcome = memory.store.episode(result.run_id).outcome
    assert (outcome.value, outcome.basis) == (1.0, "test")


def test_a_turned_call_is_filled_by_the_model_and_both_calls_are_counted(memory):
    asked = []
    guide = JitRLCapability(memory)
    agent = agent_of(guide, scripted(asked))
    rounds(guide, DESK, lambda: run(agent))
    DESK.__init__()
    asked.clear()
    with guide.episode("lost parcel") as episode:
        result = run(agent)
    assert DESK.settled == "resend"
    assert not episode.degraded
    assert [forced for forced in asked if forced]
    called = [p for m in result.all_messages() for p in m.parts if isinstance(p, ToolCallPart)]
    settled = next(p for p in called if p.tool_name == "settle")
    assert settled.args_as_dict() == {"order": "A-17", "how": "resend"}
    alone = run(agent_of(JitRLCapability(":memory:")))
    first, unaided = (run.all_messages()[1] for run in (result, alone))
    assert first.metadata["jitrl"]["action"] == RESEND
    assert first.usage.input_tokens == 2 * unaided.usage.input_tokens


def test_a_stream_shows_what_was_decided(memory):
    guide = JitRLCapability(memory)
    agent = agent_of(guide)
    rounds(guide, DESK, lambda: run(agent))
    DESK.__init__()

    agent = agent_of(guide, scripted(only="streams"))  # which has no other way to answer

    async def streamed():
        with guide.episode("lost parcel") as episode:
            async with agent.run_stream(TASK) as result:
                return [text async for text in result.stream_text(debounce_by=None)], episode

    said, episode = asyncio.run(streamed())
    assert (said[-1], episode.degraded) == (ANSWERED, "")
    assert DESK.settled == "resend"


def test_a_provider_that_fails_when_forced_leaves_the_agent_working(memory):
    guide = JitRLCapability(memory)
    agent = agent_of(guide)
    rounds(guide, DESK, lambda: run(agent))
    DESK.__init__()
    stubborn = agent_of(guide, scripted(refuses=True))
    with guide.episode("lost parcel") as episode:
        assert run(stubborn).output == ANSWERED
    assert "not supported" in episode.degraded
    assert DESK.settled == "refund"


def test_a_run_that_fails_leaves_an_aborted_episode(memory):
    guide = JitRLCapability(memory)

    def fails(messages, info):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(agent_of(guide, FunctionModel(fails)))
    assert last(memory).status == "aborted"


def test_runs_at_the_same_time_are_episodes_of_their_own(memory):
    guide = JitRLCapability(memory)
    agent = agent_of(guide)

    async def both():
        return await asyncio.gather(*(agent.run(TASK) for _ in range(4)))

    runs = asyncio.run(both())
    assert len({run.run_id for run in runs}) == 4
    assert [len(memory.store.episode(run.run_id).steps) for run in runs] == [3] * 4


@pytest.mark.parametrize("prompt", ["", "  ", None, "\ud800", [ImageUrl(url="http://x/y.png")]],
                         ids=["empty", "blank", "none", "half", "image"])  # fmt: skip
def test_a_run_goes_on_whatever_it_is_asked(memory, prompt):
    history = [ModelRequest([UserPromptPart("hi")])] if prompt is None else None
    result = asyncio.run(agent_of(JitRLCapability(memory)).run(prompt, message_history=history))
    assert result.output == ANSWERED
    assert last(memory).key == result.run_id


def test_words_beside_a_picture_name_the_task(memory):
    asked = [TASK, ImageUrl(url="http://x/y.png")]
    asyncio.run(agent_of(JitRLCapability(memory)).run(asked))
    assert last(memory).task == KIND


@pytest.mark.parametrize("check", [lambda _: 1 / 0, lambda _: "well"], ids=["raises", "a word"])
def test_a_check_that_fails_takes_no_result_away(memory, check, caplog):
    result = run(agent_of(JitRLCapability(memory, check=check)))
    assert result.output == ANSWERED
    assert last(memory).outcome is None
    assert "the check said no outcome" in caplog.text


def test_a_stream_with_nothing_to_choose_is_the_models_own(memory):
    guide = JitRLCapability(memory)
    agent = agent_of(guide, scripted(only="streams"))

    async def streamed():
        with guide.episode("lost parcel"):
            forced = {"tool_choice": "none"}
            async with agent.run_stream(TASK, model_settings=forced) as result:
                return [text async for text in result.stream_text(debounce_by=None)]

    assert asyncio.run(streamed())[-1] == ANSWERED
    assert last(memory).steps == ()
