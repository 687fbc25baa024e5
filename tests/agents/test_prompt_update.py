"""What the memory holds, said in words: the numbers of the agent ``jitrl``, and its rows."""

import re

import numpy as np
import pytest
from made_agents import opened
from pasts import episode, put
from suggestible import Suggestible, lived

from jitrl.agents.corrected import Corrected
from jitrl.config import Memory
from jitrl.errors import ConfigError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Prompt, Proposal, State, Task

HALL, TASK = State("hall"), Task("t", "Win.", "s")
ACTIONS = ("up", "down", "wait")


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


def begun(agent, **given):
    acting = agent.episode(**given)
    acting.begin(TASK, key="now", rng=np.random.default_rng(0))
    return acting


def asked(acting, actions=ACTIONS, goal="Win."):
    return acting.advise(HALL, Prompt(goal, "hall", (), actions))


def some(store):
    put(
        store,
        episode("a", "hall:up", "attic:take"),
        episode("b", "hall:down", rewards=[0.0]),
        episode("c", "hall:down", rewards=[0.0]),
    )


def test_an_empty_memory_says_nothing(store):
    assert asked(begun(opened("prompt-update", store, EnvironmentRewards()))).notes == ""


def test_tried_actions_are_told_with_the_best_first_and_untried_ones_by_name(store):
    some(store)
    agent = opened("prompt-update", store, EnvironmentRewards(), untried=True)
    lines = asked(begun(agent)).notes.splitlines()
    assert lines[0].startswith("What came of the actions in situations like this one")
    assert [re.match(r"- (\S+): tried (\d+) times", line).groups() for line in lines[1:3]] == [
        ("up", "1"),
        ("down", "2"),
    ]
    assert lines[3] == "Not tried here yet: wait."


def test_an_advantage_that_is_rounding_is_none(store):
    put(store, episode("a", "hall:up", "attic:take"))
    acting = begun(opened("prompt-update", store, EnvironmentRewards()))
    assert re.search(
        r"^- up: tried 1 times, return about \S+, advantage \+0$", asked(acting).notes, re.M
    )


def test_unless_it_is_asked_for_only_tried_actions_are_told(store):
    some(store)
    agent = opened("prompt-update", store, EnvironmentRewards())
    assert "wait" not in asked(begun(agent)).notes


def test_only_the_best_action_is_named_and_only_where_it_gained_something(store):
    agent = opened("prompt-update", store, EnvironmentRewards(), say="best")
    put(store, episode("b", "hall:down", rewards=[0.0]))
    assert asked(begun(agent)).notes == ""
    put(store, episode("a", "hall:up", "attic:take"))
    assert asked(begun(agent)).notes == "Here this worked before: up."


def test_of_a_snapshot_only_what_it_holds_is_told(store):
    put(store, episode("b", "hall:down", rewards=[0.0]))
    store.versions.name("v1")
    put(store, episode("a", "hall:up", "attic:take"))
    settings = Memory(snapshot="v1")
    agent = opened("prompt-update", store, EnvironmentRewards(), settings=settings)
    told = asked(begun(agent)).notes
    assert "- down: tried 1 times" in told
    assert "up" not in told


def test_it_is_told_in_chinese_for_a_chinese_goal(store):
    some(store)
    acting = begun(opened("prompt-update", store, EnvironmentRewards()))
    assert "- up：试过 1 次，回报约" in asked(acting, goal="取得胜利。").notes


@pytest.mark.parametrize("preset", ["default", "paper-web", "released-web"])
def test_the_numbers_are_those_that_the_agent_jitrl_decides_by(preset, store):
    some(store)
    settings = Memory(preset=preset)
    proposal = Proposal(tuple(Candidate(a, 0.0) for a in ("up", "down")), "made-up", "made-up")
    prompt = Prompt("Win.", "hall", (), ("up", "down"))
    theirs = begun(Corrected(store, EnvironmentRewards(), settings)).act(HALL, prompt, proposal)
    acting = begun(opened("prompt-update", store, EnvironmentRewards(), settings=settings))
    told = acting.advise(HALL, prompt)
    mine = acting.act(HALL, told, proposal)
    for c, d in zip(mine.candidates, theirs.candidates, strict=True):
        assert (c.q, c.visits, c.advantage) == (d.q, d.visits, d.advantage)
        assert f"- {c.action}: tried {c.visits:g} times, return about {c.q:.3g}" in told.notes
    assert mine.neighbors == theirs.neighbors
    assert mine.value == theirs.value


def test_scores_are_left_alone(store):
    some(store)
    acting = begun(opened("prompt-update", store, EnvironmentRewards()))
    prompt = asked(acting)
    logits = (0.3, -0.2, 1.0)
    proposal = Proposal(tuple(map(Candidate, ACTIONS, logits)), "made-up", "made-up")
    decision = acting.act(HALL, prompt, proposal)
    chance = np.exp(logits) / np.exp(logits).sum()
    assert [c.propensity for c in decision.candidates] == pytest.approx(chance)
    assert [c.corrected for c in decision.candidates] == pytest.approx(logits)
    assert [c.correction for c in decision.candidates] == [0.0, 0.0, 0.0]


def test_its_rows_are_those_that_the_agent_jitrl_would_have_made(store):
    # One action, so that both do the same, whatever they know.
    class Only(Suggestible):
        def propose(self, prompt, rng):
            whole = super().propose(prompt, rng)
            return Proposal(whole.candidates[:1], whole.scorer, whole.model)

    def rows(label):
        with SQLiteStore(":memory:") as kept:
            settings = Memory(rule={"memory_only": "never"})
            agent = opened(label, kept, EnvironmentRewards(), settings=settings)
            lived(agent, Only(), 3)
            return [row for change in kept.changes(0) for row in change.rows]

    assert rows("prompt-update") == rows("jitrl")


def test_what_this_episode_did_here_is_told(store):
    some(store)
    acting = begun(opened("prompt-update", store, EnvironmentRewards()))
    proposal = Proposal((Candidate("wait", 0.0),), "made-up", "made-up")
    acting.act(HALL, asked(acting), proposal)
    acting.observe(None, HALL)
    assert re.search(r"- wait: .*taken here 1 times in this attempt", asked(acting).notes)


@pytest.mark.parametrize(
    "settings", [Memory(mode="off"), Memory(mode="shadow"), Memory(holdout=0.5)]
)
@pytest.mark.parametrize("label", ["prompt-update", "memory", "awm", "replay-best"])
def test_modes_that_leave_the_memory_out_are_refused(label, settings, store):
    with pytest.raises(ConfigError, match=rf"agent {label}.*: memory\.mode is"):
        opened(label, store, EnvironmentRewards(), settings=settings)
