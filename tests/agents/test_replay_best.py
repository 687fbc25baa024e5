import numpy as np
import pytest
from made_agents import opened
from pasts import episode, past, put

from jitrl.agents.replay import best_path
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Prompt, Proposal, State, Task


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


def path(*episodes, least=0.0):
    return [(row.state.text, row.action) for row in best_path(episodes, least)]


def test_the_best_episode_is_repeated():
    worse = past("a", "hall:down", rewards=[0.5])
    assert path(worse, past("b", "hall:up"), worse) == [("hall", "up")]


def test_of_equally_good_ones_the_shortest_and_then_the_oldest():
    long = past("a", "hall:wait", "hall:up")
    assert path(long, past("b", "hall:up"), past("c", "hall:climb")) == [("hall", "up")]


def test_without_a_success_nothing_is_repeated():
    assert path(past("a", "hall:down", rewards=[0.0])) == []
    assert path() == []


def test_what_is_no_better_than_the_least_is_not_repeated():
    assert path(past("a", "hall:up", rewards=[0.5]), least=0.5) == []


def test_what_came_after_the_last_reward_is_not_repeated():
    cut_off = past("a", "hall:up", "attic:wait", rewards=[0.5, 0.0], ended=False)
    assert path(cut_off) == [("hall", "up")]


def walk(store, *places, offered=("up", "down", "take"), task="t", **given):
    """Actions at these places, and how likely each was."""
    acting = opened("replay-best", store, EnvironmentRewards(), **given).episode()
    acting.begin(Task(task, "Win.", "s"), key="now", rng=np.random.default_rng(0))
    proposal = Proposal(tuple(Candidate(a, 0.0) for a in offered), "made-up", "made-up")
    made = [acting.act(State(place), Prompt("Win.", place), proposal) for place in places]
    return [(d.action, round(d.chosen.propensity, 3)) for d in made]


def test_it_follows_the_path_and_then_the_prior(store):
    put(store, episode("a", "hall:up", "attic:take"))
    assert walk(store, "hall", "attic")[:2] == [("up", 1.0), ("take", 1.0)]
    assert walk(store, "hall", "attic", "roof")[2][1] == 0.333


def test_off_the_path_the_prior_chooses_until_the_path_is_met_again(store):
    put(store, episode("a", "hall:up", "attic:take"))
    chances = [chance for _, chance in walk(store, "cellar", "attic", "hall")]
    assert chances == [0.333, 1.0, 1.0]


def test_in_a_place_that_comes_twice_the_path_goes_on_in_its_order(store):
    put(store, episode("a", "hall:up", "attic:down", "hall:take"))
    assert walk(store, "hall", "attic", "hall") == [("up", 1.0), ("down", 1.0), ("take", 1.0)]


def test_an_action_that_is_not_offered_is_not_taken(store):
    put(store, episode("a", "hall:up", "attic:take"))
    assert walk(store, "hall", offered=("down", "wait"))[0][1] == 0.5


def test_the_path_of_another_task_is_not_followed(store):
    put(store, episode("a", "hall:up", task="u"))
    assert walk(store, "hall")[0][1] == 0.333


def test_what_was_repeated_says_that_the_memory_had_its_say(store):
    put(store, episode("a", "hall:up"))
    acting = opened("replay-best", store, EnvironmentRewards()).episode()
    acting.begin(Task("t", "Win.", "s"), key="now", rng=np.random.default_rng(0))
    proposal = Proposal((Candidate("up", 0.0), Candidate("down", 1.0)), "made-up", "made-up")
    decision = acting.act(State("hall"), Prompt("Win.", "hall"), proposal)
    assert (decision.action, decision.reason, decision.changed) == ("up", "", True)
    assert decision.kl == pytest.approx(-np.log(decision.chosen.prior))
    other = acting.act(State("roof"), Prompt("Win.", "roof"), proposal)
    assert other.reason == "empty"
