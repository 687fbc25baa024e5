"""What a model or framework does oddly fails no run, and nothing is learned that was not lived."""

import json
import logging

import pytest

import jitrl
from jitrl.errors import StoreError
from jitrl.integrations import chat
from jitrl.integrations.conversation import Message, Turn
from jitrl.integrations.guide import Guide
from jitrl.integrations.interface import summed
from jitrl.integrations.tools import Call, Shape, Tool, together

SAID = [Message("user", "Parcel 17 is lost.")]
LOOK, SETTLE = Tool("look"), Tool("settle", {"properties": {"how": {"enum": ["a", "b"]}}})


def turn(*calls, said=SAID, tools=(LOOK, SETTLE)):
    return Turn(said, tools, calls)


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db") as opened:
        yield opened


ODD = {
    "half of a pair as a name": Call("l\ud800k"),
    "half of a pair as a value": Call("settle", {"how": "\ud800"}),
    "half of a pair as an argument": Call("look", {"\ud800": 1}),
    "a page as a value": Call("settle", {"how": "x" * 200_000}),
    "a page as a name": Call("x" * 200_000),
    "a page as an argument": Call("look", {"x" * 200_000: 1}),
    "thousands of arguments": Call("look", {f"a{n}": n for n in range(5000)}),
    "no name": Call("", {}),
    "nothing as a name": Call.read(None, None),
    "no number": Call.read("settle", '{"how": NaN}'),
    "deep": Call.read("settle", '{"how":' + "[" * 5000 + "]" * 5000 + "}"),
    "from right to left": Call("settle", {"how": "\u202e\0中文"}),
}


@pytest.mark.parametrize("calls", [*([one] for one in ODD.values()), [Call("look")] * 3000,
                                   list(ODD.values())], ids=[*ODD, "thousands", "all"])  # fmt: skip
def test_a_turn_is_decided_and_stored_whatever_the_model_called(memory, calls):
    with Guide(memory, unforced=["look", "settle"]).episode(SAID[0].text, key="k") as episode:
        choice = episode.choose(lambda: turn(*calls))
        assert episode.degraded == ""
        episode.finish(1.0, basis="test")
    (step,) = memory.store.episode("k").steps
    assert step.action == choice.action
    assert len(choice.own) <= 10_000


def test_a_long_value_is_named_by_its_type_and_many_calls_each_once():
    assert Shape(SETTLE).action({"how": "x" * 9999}) == "settle(how=string)"
    assert together(["b()"] * 5000 + ["a()"]) == "a() + b() + …"


def test_a_turn_that_is_asked_once_more_leaves_the_calls_of_its_last_answer(memory):
    with Guide(memory, unforced=["look", "settle"]).episode("t", key="k") as episode:
        for _ in range(3):
            episode.choose(lambda: turn(Call("look", {"n": 1})))
        done = list(episode.calls)
        assert len(done) <= 1
        episode.finish(1.0)
    assert len(memory.store.episode("k").steps) == 1


def test_another_agent_that_is_asked_the_same_takes_a_step_of_its_own(memory):
    """A sub-agent with other tools and the same words is no second try of the first one's turn."""
    with Guide(memory, unforced=["look", "settle", "write"]).episode("t", key="k") as episode:
        episode.choose(lambda: turn(Call("look")))
        episode.choose(lambda: turn(Call("write"), tools=[Tool("write"), LOOK]))
        episode.finish(1.0)
    first, second = memory.store.episode("k").steps
    assert "write()" not in {c.action for c in first.decision.candidates}
    assert "write()" in {c.action for c in second.decision.candidates}


def test_a_warning_of_each_kind_is_given_once_an_episode(memory, caplog):
    def broken(messages):
        raise ValueError("no state")

    guide = Guide(memory, state=broken)
    for key in "ab":
        with guide.episode("t", key=key) as episode:
            for _ in range(4):
                episode.choose(lambda: turn(Call("look")))
            episode.finish(1.0)
    warned = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert [line.split()[1] for line in warned] == ["episode=a", "episode=b"]


class Locked:
    """An episode of the library whose file is locked at first."""

    def __init__(self, inner):
        self.inner, self.tried = inner, []

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def finish(self, outcome, **about):
        self.tried.append((outcome, about["status"]))
        if len(self.tried) == 1:
            raise StoreError("database is locked; try again")
        return self.inner.finish(outcome, **about)


@pytest.mark.parametrize("fails", [False, True], ids=["left", "left by an error"])
def test_an_outcome_that_could_not_be_stored_is_not_overwritten_by_none(memory, fails):
    episode = Guide(memory, check=lambda _: 0.0).episode("t", key="k")
    episode._episode = locked = Locked(episode._episode)
    try:
        with episode:
            episode.choose(lambda: turn(Call("look")))
            assert episode.finish(1.0, basis="test") is None
            if fails:
                raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert locked.tried == [(1.0, "terminated")]
    assert "try again" in episode.degraded
    assert episode.finish(1.0, basis="test").rows == 1
    assert memory.store.episode("k").outcome.value == 1.0


class Unsayable:
    def __str__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize("check", [lambda _: 1 / 0, lambda _: "well"], ids=["raises", "a word"])
def test_what_ends_a_run_of_a_framework_never_fails_it(memory, check):
    with Guide(memory, check=check).episode("t", key="k") as episode:
        episode.choose(lambda: turn(Call("look")))
        episode.said(Unsayable())
        assert "no text" in episode.degraded
        episode.over()
        assert "check" in episode.degraded
    kept = memory.store.episode("k")
    assert (kept.status, kept.outcome, len(kept.steps)) == ("truncated", None, 1)


def test_a_run_that_can_be_no_episode_is_none(memory, caplog):
    assert Guide(memory).begun("", key="k") is None
    assert "acts alone" in caplog.text
    assert Guide(memory).begun("t", key="k").key == "k"


NONE = [{"choices": []}, {"choices": None}, {"error": {"message": "x"}}, {"choices": [1]}]


@pytest.mark.parametrize("answer", NONE, ids=str)
def test_an_answer_that_cannot_be_read_is_streamed_as_it_is(answer):
    (chunk,) = chat.streamed({"id": "x", **answer}, {"stream": True})
    assert (chunk["id"], chunk["choices"]) == ("x", [])
    assert chunk.get("error") == answer.get("error")


def test_a_streamed_answer_keeps_what_stands_beside_its_message():
    choice = {"index": 0, "finish_reason": "stop", "logprobs": {"content": [{"token": "a"}]}}
    answer = {"choices": [{**choice, "message": {"role": "assistant", "content": "a"}}]}
    first, last = chat.streamed(answer, {"stream": True})
    assert first["choices"][0]["logprobs"] == choice["logprobs"]
    assert (first["choices"][0]["finish_reason"], last["choices"][0]["finish_reason"]) == (
        None,
        "stop",
    )
    assert json.loads(chat.written(answer, {}).split("\n\n")[0][6:]) == first


def test_a_usage_that_is_no_number_is_counted_as_none():
    assert summed({"a": None, "b": 2}, {"a": 3, "b": "x"}, ["a", "b", "c"]) == {
        "a": 3,
        "b": 2,
        "c": 0,
    }
