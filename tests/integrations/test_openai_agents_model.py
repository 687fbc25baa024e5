"""The OpenAI Agents SDK's own runner with the model wrapper, and its scripted model inside."""

import asyncio
import json
from typing import Literal

import pytest

pytest.importorskip("agents.run", reason="openai-agents is not installed (extra openai-agents)")

from agents import Agent, ModelSettings, RunConfig, Runner, function_tool, handoff
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.usage import Usage
from tool_desk import ANSWERED, LOST, REFUND, RESEND, TASK, Desk, habit, rounds

import jitrl
from jitrl.errors import ConfigError
from jitrl.integrations.openai_agents import JitRLModel
from jitrl.integrations.tools import Call

pytestmark = pytest.mark.frameworks

DESK = Desk()
QUIET = RunConfig(tracing_disabled=True)


@function_tool
def look(order: str) -> str:
    """Look at an order."""
    return LOST


@function_tool
def settle(order: str, how: Literal["refund", "resend"]) -> str:
    """Settle an order."""
    return DESK.settle(how)


def responds(call):
    """What the scripted model says to a recorded call."""
    items = [] if isinstance(call.input, str) else call.input
    used = [item["name"] for item in items if item.get("type") == "function_call"]
    forced = call.model_settings.tool_choice
    made = habit(used, None if forced in (None, "auto") else forced)
    if made is None:
        return ModelStep(output=[assistant_message(ANSWERED)], usage=USAGE)
    written = json.dumps(made.arguments)
    said = function_call(made.tool, written, call_id=f"c{len(items)}-{forced}")
    return ModelStep(output=[said], usage=USAGE)


USAGE = Usage(requests=1, input_tokens=10, output_tokens=2, total_tokens=12)


def scripted(responder=responds):
    return ScriptedModel([ModelStep.respond(responder)] * 400)


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db", rule={"warmup": 1.0}) as opened:
        yield opened


def agent_of(guide, **more):
    return Agent(name="desk", model=guide, tools=[look, settle], **more)


def run(agent, **more):
    return asyncio.run(Runner.run(agent, TASK, run_config=QUIET, max_turns=30, **more))


def last(memory):
    return list(memory.store.episodes())[-1]


def test_the_agent_gets_better(memory):
    guide = JitRLModel(scripted(), memory)
    agent = agent_of(guide)
    solved = rounds(guide, DESK, lambda: run(agent))
    assert not solved[0]
    assert solved[-5:] == [True] * 5
    action = next(s.action for s in last(memory).steps if s.action in (REFUND, RESEND))
    assert action == RESEND


def test_outside_of_an_episode_the_agent_is_as_it_was(memory):
    inner = scripted()
    assert run(agent_of(JitRLModel(inner, memory))).final_output == ANSWERED
    assert [call.model_settings.tool_choice for call in inner.calls] == [None] * 3
    assert list(memory.store.episodes()) == []


def test_a_turned_call_is_filled_by_the_model_and_both_calls_are_counted(memory):
    inner = scripted()
    guide = JitRLModel(inner, memory)
    agent = agent_of(guide)
    rounds(guide, DESK, lambda: run(agent))
    before = len(inner.calls)
    DESK.__init__()
    with guide.episode("lost parcel") as episode:
        result = run(agent)
    made = inner.calls[before:]
    assert Call("settle", {"order": "A-17", "how": "resend"}) in episode.calls
    forced = [call for call in made if call.model_settings.tool_choice is not None]
    assert forced
    assert forced[0].model_settings.parallel_tool_calls is False
    assert result.context_wrapper.usage.total_tokens == 12 * len(made)
    assert DESK.settled == "resend"


def test_streamed_the_runner_does_what_was_decided(memory):
    guide = JitRLModel(scripted(), memory)
    agent = agent_of(guide)
    rounds(guide, DESK, lambda: run(agent))
    DESK.__init__()

    async def streamed():
        with guide.episode("lost parcel"):
            result = Runner.run_streamed(agent, TASK, run_config=QUIET, max_turns=30)
            events = [event async for event in result.stream_events()]
        return result.final_output, events

    output, events = asyncio.run(streamed())
    assert output == ANSWERED
    assert DESK.settled == "resend"
    raw = [e.data for e in events if e.type == "raw_response_event"]
    done = [e.item for e in raw if e.type == "response.output_item.done"]
    settled = [json.loads(i.arguments) for i in done if getattr(i, "name", "") == "settle"]
    assert settled[0] == {"order": "A-17", "how": "resend"}


def test_streamed_outside_of_an_episode_it_is_as_it_was(memory):
    async def streamed():
        result = Runner.run_streamed(
            agent_of(JitRLModel(scripted(), memory)), TASK, run_config=QUIET
        )
        async for _ in result.stream_events():
            pass
        return result.final_output

    assert asyncio.run(streamed()) == ANSWERED


def test_the_hooks_tell_the_check_what_the_agent_said(memory):
    heard = []
    guide = JitRLModel(scripted(), memory, check=lambda e: heard.append(e.answer) or DESK.is_solved)
    with guide.episode("lost parcel", key="k"):
        run(agent_of(guide), hooks=guide.hooks)
    assert heard == [ANSWERED]
    assert memory.store.episode("k").outcome.evaluator == "check"


def test_handing_over_is_an_action_like_a_tool(memory):
    guide = JitRLModel(scripted(), memory)
    other = Agent(name="expert", model=scripted())
    with guide.episode("lost parcel", key="k"):
        run(agent_of(guide, handoffs=[handoff(other)]))
    actions = [c.action for c in memory.store.decision("k#0").decision.candidates]
    assert "transfer_to_expert()" in actions


def test_a_provider_that_fails_when_forced_leaves_the_agent_working(memory):
    def stubborn(call):
        if call.model_settings.tool_choice is not None:
            raise ValueError("tool_choice is not supported")
        return responds(call)

    guide = JitRLModel(scripted(), memory)
    rounds(guide, DESK, lambda: run(agent_of(guide)))
    DESK.__init__()
    guide = JitRLModel(scripted(stubborn), memory)
    with guide.episode("lost parcel") as episode:
        assert run(agent_of(guide)).final_output == ANSWERED
    assert "not supported" in episode.degraded
    assert DESK.settled == "refund"


def test_a_conversation_that_the_server_keeps_is_left_alone(memory):
    guide = JitRLModel(scripted(lambda call: [assistant_message(ANSWERED)]), memory)
    with guide.episode("lost parcel", key="k"):
        run(agent_of(guide), conversation_id="conv_1")
    assert memory.store.episode("k").steps == ()


def test_a_choice_that_the_user_made_is_left_alone(memory):
    guide = JitRLModel(scripted(), memory)
    agent = agent_of(guide, model_settings=ModelSettings(tool_choice="settle"))
    with guide.episode("lost parcel", key="k"):
        run(agent)
    decided = memory.store.episode("k").steps
    assert all(step.state.place != "stage: start" for step in decided)


def test_what_is_no_model_is_refused(memory):
    with pytest.raises(ConfigError, match="model is 3"):
        JitRLModel(3, memory)


def doubled(call):
    """As ``responds``, but a forced answer calls another tool and the forced one twice."""
    step = responds(call)
    if call.model_settings.tool_choice in (None, "auto", "none"):
        return step
    (one,) = step.output
    others = [function_call("look", '{"order": "B"}', call_id=f"x-{one.call_id}")]
    others += [one, one.model_copy(update={"call_id": f"y-{one.call_id}"})]
    return ModelStep(output=others, usage=USAGE)


def test_a_streamed_run_shows_the_one_call_that_is_made_and_counts_both_answers(memory):
    guide = JitRLModel(scripted(), memory)
    rounds(guide, DESK, lambda: run(agent_of(guide)))
    DESK.__init__()
    guide.inner = inner = scripted(doubled)

    async def streamed():
        with guide.episode("lost parcel") as episode:
            result = Runner.run_streamed(agent_of(guide), TASK, run_config=QUIET)
            items = [e.item async for e in result.stream_events() if hasattr(e, "item")]
            return items, result, episode

    items, result, episode = asyncio.run(streamed())
    assert episode.degraded == ""
    called = [item.raw_item for item in items if item.type == "tool_call_item"]
    assert next(json.loads(c.arguments) for c in called if c.name == "settle")["how"] == "resend"
    assert len(called) == len([item for item in items if item.type == "tool_call_output_item"])
    forced = [call for call in inner.calls if call.model_settings.tool_choice is not None]
    assert forced
    assert result.context_wrapper.usage.total_tokens == 12 * len(inner.calls)


class Unsayable:
    def __str__(self):
        raise RuntimeError("no text")


def test_hooks_that_cannot_read_what_was_said_leave_the_run_alone(memory):
    guide = JitRLModel(scripted(), memory)
    with guide.episode("lost parcel") as episode:
        asyncio.run(guide.hooks.on_agent_end(None, None, Unsayable()))
    assert "no text" in episode.degraded
