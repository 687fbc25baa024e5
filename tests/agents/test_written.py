"""Lessons that a model writes: asked for once, kept with the episode, and never in its way."""

import json
from dataclasses import replace

import pytest
from made_agents import ANSWERS, opened
from pasts import put
from suggestible import Suggestible, actions, lived

from jitrl.errors import BudgetExceeded, ModelError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.models.channel import Channel, Retry
from jitrl.models.scripted import ScriptedEndpoint
from jitrl.models.writer import ChannelWriter
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Outcome, Unscored

LABELS = ("reflexion-model", "evotest-model")


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


class Scribe:
    """A writer that counts, keeps what it was asked, and writes what it is given."""

    def __init__(self, *script):
        self.endpoint = ScriptedEndpoint(script)
        self.asked = []
        self.inner = ChannelWriter(Channel(self.endpoint, retry=Retry(tries=1)))
        self.name = self.inner.name

    def write(self, writing, read):
        self.asked.append(writing)
        return self.inner.write(writing, read)


def agent(label, store, scribe, **options):
    return opened(label, store, EnvironmentRewards(), writer=scribe, **options)


@pytest.mark.parametrize("label", LABELS)
def test_the_writer_is_asked_once_an_episode_and_never_again_for_the_same(label, store):
    scribe = Scribe(ANSWERS[label.removesuffix("-model")])
    first = lived(agent(label, store, scribe), Suggestible(0.0), 3)
    assert scribe.endpoint.calls == 3
    lived(agent(label, store, scribe), Suggestible(0.0), 2, first=3)
    assert scribe.endpoint.calls == 5
    assert {e.agent for e in first} == {label}
    assert all(e.info["lesson_by"] == "scripted" for e in store.episodes())


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("failure", ["", ModelError("the server is gone")])
def test_a_failed_lesson_is_recorded_and_the_agent_goes_on(label, failure, store, caplog):
    good = ANSWERS[label.removesuffix("-model")]
    bad = [failure] * (2 if failure == "" else 1)
    scribe = Scribe(*bad, good)
    lived(agent(label, store, scribe), Suggestible(0.0), 2)
    one, other = store.episodes()
    assert "scripted" in one.info["lesson_failed"] or "gone" in one.info["lesson_failed"]
    assert "lesson_failed" not in other.info
    assert "no lesson written" in caplog.text
    assert len(list(store.changes(0))) == 2


HALF = (
    '{"guidance": ["\\ud800"], "remember": [], "temperature": 1, "explore": false, "notes": "all"}'
)


@pytest.mark.parametrize("strange", [HALF, "{" * 100_000 + "}"], ids=["half", "deep"])
def test_no_answer_of_a_model_that_writes_costs_an_episode(strange, store):
    lived(agent("evotest-model", store, Scribe(strange)), Suggestible(0.0), 2)
    assert all("wrote twice" in episode.info["lesson_failed"] for episode in store.episodes())


def test_at_a_limit_of_the_budget_nothing_is_written(store):
    scribe = Scribe(BudgetExceeded("the budget of 0 calls is used up"))
    with pytest.raises(BudgetExceeded):
        lived(agent("reflexion-model", store, scribe), Suggestible(0.0), 1)
    assert list(store.episodes()) == []


def test_the_writer_is_shown_the_attempt_and_what_was_noted_before(store):
    scribe = Scribe("Push another one.")
    played = lived(agent("reflexion-model", store, scribe), Suggestible(0.0), 2)
    first, second = (asked.text for asked in scribe.asked)
    assert "Goal: Reach the best return in protocol0." in first
    assert f"1. At protocol0 stage0: {actions(played)[0][0]}" in first
    assert "What you noted before" not in first
    assert "- Push another one." in second


def test_a_librarian_reads_successes_alone(store):
    scribe = Scribe(ANSWERS["awm"])
    played = lived(agent("awm-model", store, scribe), Suggestible(0.0), 30)
    is_won = [e.info["score"] == 1.0 for e in played]
    assert 0 < sum(is_won) < 30
    ways = {tuple(way) for way, won in zip(actions(played), is_won, strict=True) if won}
    assert scribe.endpoint.calls == len(ways)  # the same question is asked once


def test_a_coach_is_shown_the_present_configuration(store):
    scribe = Scribe(ANSWERS["evotest"])
    lived(agent("evotest-model", store, scribe), Suggestible(0.0), 2)
    assert '"temperature": 1.0' in scribe.asked[0].text
    assert '"guidance": ["Push another one."]' in scribe.asked[1].text
    assert json.loads(scribe.asked[0].schema)["required"][0] == "guidance"


@pytest.mark.parametrize("label", LABELS)
def test_of_an_unscored_episode_nothing_is_written(label, store):
    class Nobody:
        name, told = "nobody", False

        def judge(self, episode):
            return Unscored("nobody looked")

    scribe = Scribe("never")
    lived(opened(label, store, Nobody(), writer=scribe), Suggestible(0.0), 2)
    assert scribe.asked == []
    assert len(list(store.episodes())) == 2


def test_what_was_said_is_in_the_journal(store):
    lived(opened("reflexion", store, EnvironmentRewards()), Suggestible(), 2)
    first, second = store.episodes()
    assert "notes" not in first.info
    ((step, said),) = second.info["notes"]
    assert step == 0
    assert said.startswith("What I noted after earlier attempts")


def test_a_judgment_is_looked_at_and_not_the_score_of_the_environment(store):
    class Contrary(EnvironmentRewards):
        def judge(self, episode):
            steps = tuple(replace(step, reward=0.0) for step in episode.steps)
            return super().judge(replace(episode, steps=steps, outcome=Outcome(1.0)))

    lived(opened("reflexion", store, Contrary()), Suggestible(0.0), 2)
    *_, last = store.episodes()
    assert "I succeeded" in last.info["notes"][0][1]


@pytest.mark.parametrize("strange", [5, "ab", [1], [{}], [{"description": 1, "steps": 5}]])
def test_workflows_of_another_form_in_an_imported_journal_are_none(strange, store):
    lived(opened("static", store, EnvironmentRewards()), Suggestible(0.0), 1)
    [played] = store.episodes()
    put(store, replace(played, key="planted", info={**played.info, "workflows": strange}))
    lived(agent("awm-model", store, Scribe(ANSWERS["awm"])), Suggestible(0.0), 1, first=1)
    assert len(list(store.episodes())) == 3
