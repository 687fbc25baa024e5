"""Agents that are cut off, and texts that are cut: the agent goes on, and what counts happened."""

import asyncio
import contextvars

import pytest

import jitrl
from jitrl.errors import InputError
from jitrl.integrations.conversation import Message, Turn
from jitrl.integrations.guide import Guide
from jitrl.integrations.tools import Call, Tool

TOOLS = (Tool("look", {}), Tool("settle", {}))
HALF = "parcel \ud83d is lost"  # an emoji that another program cut
WHOLE = "parcel \ufffd is lost"


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "m.db", rule={"warmup": 1.0}) as opened:
        yield opened


def choose(episode, text="a parcel is lost", call="look"):
    return episode.choose(lambda: Turn([Message("user", text)], TOOLS, [Call(call, {})]))


def test_a_text_that_was_cut_within_a_character_is_learned_from(memory):
    guide = Guide(memory)
    with guide.episode(HALF) as episode:
        choose(episode, HALF)
        episode.finish(True)
    assert not episode.degraded
    stored = memory.store.episode(episode.key)
    assert (stored.task, len(stored.steps)) == (WHOLE, 1)
    assert stored.steps[0].state.context == WHOLE


def test_an_episode_may_be_left_in_another_task_than_it_was_entered_in(memory):
    """As by a generator that the event loop closes."""
    guide = Guide(memory)

    async def main():
        episode = guide.episode("lost")
        await asyncio.create_task(entered(episode))
        choose(episode)
        await asyncio.create_task(left(episode))
        return episode

    async def entered(episode):
        episode.__enter__()

    async def left(episode):
        episode.__exit__(None, None, None)

    assert asyncio.run(main()).is_over


def test_an_episode_that_was_left_elsewhere_is_active_nowhere(memory):
    guide = Guide(memory)
    episode = guide.episode("lost").__enter__()
    contextvars.copy_context().run(episode.__exit__, None, None, None)
    assert guide.active is None


def test_an_outer_episode_that_is_left_first_takes_the_inner_one_not_along(memory):
    guide = Guide(memory)
    outer, inner = guide.episode("outer"), guide.episode("inner")
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert guide.active is inner
    inner.__exit__(None, None, None)
    assert guide.active is None


def turned(memory):
    """An episode whose first turn the memory turned round, and the choice."""
    guide = Guide(memory, basis="state_check")
    for number in range(50):
        episode = guide.episode("lost", key=f"lost-{number}")
        choice = choose(episode)
        if choice.turned:
            return episode, choice
        episode.finish(False)
    raise AssertionError("nothing was turned")


@pytest.mark.parametrize("stopped", [asyncio.CancelledError, KeyboardInterrupt])
def test_an_extra_call_that_is_cut_off_does_not_count_as_what_was_chosen(memory, stopped):
    episode, choice = turned(memory)
    with pytest.raises(stopped), episode.extra_call(choice):
        raise stopped
    episode.finish(False)
    (step,) = memory.store.episode(episode.key).steps
    assert step.action == choice.own
    assert step.decision.action == choice.action
    assert [call.tool for call in episode.calls] == []


def test_a_check_that_says_what_is_no_outcome_is_heard_and_the_episode_is_kept(memory):
    guide = Guide(memory, check=lambda _: float("nan"))
    with pytest.raises(InputError), guide.episode("lost", key="k") as episode:
        choose(episode)
    assert memory.store.episode("k").outcome is None
