import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_agents import opened
from pasts import episode, past, put

from jitrl.agents.configuration import (
    COLDEST,
    HOTTEST,
    ROOT,
    Configuration,
    Node,
    chosen,
    evolved,
    read_configuration,
    tree,
)
from jitrl.errors import ConfigError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Prompt, Proposal, State, Task

FAILED = {"rewards": [0.0, 0.0]}
CHILD = Configuration(("Be quick.",), {"hall": "go"}, 0.5, True, "memory").values()


def told(key, used, score, child=CHILD):
    info = {"evotest": {"used": used}, **({} if child is None else {"configuration": child})}
    return past(key, "hall:go", rewards=[score], info=info)


def test_an_episode_scores_its_configuration_and_bears_a_child():
    nodes, last = tree([told("a", ROOT, 0.0), told("b", "a", 1.0, child=None)])
    assert last == "a"
    assert nodes[ROOT].scores == [0.0]
    assert (nodes["a"].scores, nodes["a"].parent) == ([1.0], ROOT)
    assert nodes["a"].configuration == read_configuration(CHILD)
    assert set(nodes) == {ROOT, "a"}


@pytest.mark.parametrize("strange", [5, "root", [ROOT], {}, {"used": []}, {"used": "no"}])
def test_what_an_imported_journal_holds_in_another_form_is_no_configuration(strange):
    nodes, last = tree([past("a", "hall:go", info={"evotest": strange})])
    assert (list(nodes), last) == ([ROOT], ROOT)
    for child in (5, {}, [CHILD]):
        nodes, last = tree([told("a", ROOT, 1.0, child)])
        assert (list(nodes), last) == ([ROOT], ROOT)


def test_a_temperature_too_large_for_a_float_is_the_hottest():
    assert read_configuration({**CHILD, "temperature": 10**400}).temperature == HOTTEST


def test_what_came_of_an_episode_that_was_taken_back_is_gone():
    nodes, last = tree([told("b", "a", 1.0)])
    assert (set(nodes), last) == ({ROOT}, ROOT)


def node(*scores, parent=ROOT):
    return Node(Configuration(), parent, list(scores))


def test_the_first_configuration_says_nothing():
    assert chosen({ROOT: Node(Configuration())}, ROOT, 0.5) == ROOT


def test_a_new_child_is_tried_with_its_parents_credit():
    nodes = {ROOT: node(1.0, parent=""), "a": node()}
    assert chosen(nodes, ROOT, 0.01) == "a"


def test_bounds_are_those_of_the_formula():
    # N = 3: root 0.5 + w sqrt(ln 4 / 3), child 0.0 + w sqrt(ln 4 / 2); equal where both are
    nodes = {ROOT: node(0.5, 0.5, parent=""), "a": node(0.0)}
    even = 0.5 / (math.sqrt(math.log(4) / 2) - math.sqrt(math.log(4) / 3))
    assert chosen(nodes, ROOT, even - 0.01) == ROOT
    assert chosen(nodes, ROOT, even + 0.01) == "a"


def test_after_a_bad_one_the_best_is_gone_back_to():
    nodes = {
        ROOT: node(0.2, parent=""),
        "a": node(1.0),
        "b": node(0.0, parent="a"),
        "c": node(parent="b"),
    }
    assert chosen(nodes, "b", 0.1) == "a"


def test_a_success_is_remembered_and_chance_cooled_down():
    child = evolved(Configuration(), past("a", "hall:up", "attic:take"), success=1.0, best=0.0)
    assert child == Configuration(
        ("This led to success: up; take.",), {"hall": "up", "attic": "take"}, 0.5, False, "all"
    )


def test_a_failure_is_warned_of_and_chance_warmed_up():
    parent = Configuration(("Look around.",), {"cellar": "light"})
    child = evolved(parent, past("a", "hall:up", "attic:jump", **FAILED), success=1.0, best=0.0)
    assert child.guidance == (
        "Look around.",
        "Do not take jump at attic: the attempt failed there.",
    )
    assert dict(child.remembered) == {"cellar": "light"}
    assert (child.temperature, child.explore) == (1.25, True)


def test_what_was_paid_is_remembered_and_being_better_is_no_reason_for_more_chance():
    lived = past("a", "hall:up", "attic:jump", rewards=[0.5, 0.0])
    child = evolved(Configuration(), lived, success=1.0, best=0.2)
    assert dict(child.remembered) == {"hall": "up"}
    assert (child.temperature, child.explore) == (1.0, False)


def test_running_out_of_steps_is_warned_of_by_what_was_repeated():
    lived = past("a", "hall:wait", "hall:wait", "hall:up", ended=False, rewards=[0.0] * 3)
    child = evolved(Configuration(), lived, success=1.0, best=-math.inf)
    assert child.guidance == (
        "Do not repeat wait at hall: it led nowhere.",
        "There are few steps; go straight to the goal.",
    )


@given(st.lists(st.sampled_from(["hall:up", "attic:jump", "yard:dig"]), min_size=1, max_size=6))
def test_configurations_stay_within_their_limits_and_come_back_as_they_were(steps):
    now = Configuration()
    for turn in range(12):
        lived = past(str(turn), *steps, rewards=[0.0] * len(steps), ended=turn % 2 == 0)
        now = evolved(now, lived, success=1.0, best=0.0)
        assert COLDEST <= now.temperature <= HOTTEST
        assert read_configuration(now.values()) == now


def test_a_written_configuration_is_cut_to_what_is_allowed():
    values = {**CHILD, "temperature": 99, "guidance": [str(i) for i in range(20)]}
    made = read_configuration(values)
    assert made.temperature == HOTTEST
    assert made.guidance == tuple(str(i) for i in range(12, 20))


@pytest.mark.parametrize(
    "wrong",
    [
        {"guidance": "Be quick."},
        {"guidance": [1]},
        {"remember": ["hall"]},
        {"remember": [{"place": "hall"}]},
        {"temperature": "hot"},
        {"temperature": math.nan},
        {"temperature": True},
        {"explore": "yes"},
        {"notes": "code"},
    ],
)
def test_a_configuration_of_another_form_cannot_be_read(wrong):
    with pytest.raises(ValueError):
        read_configuration({**CHILD, **wrong})


def test_the_temperature_of_the_configuration_draws_the_choice():
    with SQLiteStore(":memory:") as store:
        put(
            store, episode("a", "hall:go", info={"evotest": {"used": ROOT}, "configuration": CHILD})
        )
        acting = opened("evotest", store, EnvironmentRewards(), temperature=3.0).episode()
        acting.begin(Task("t", "Win.", "s"), key="now", rng=np.random.default_rng(0))
        prompt = acting.advise(State("hall"), Prompt("Win.", "hall"))
        proposal = Proposal((Candidate("go", 0.0), Candidate("stay", 3.0)), "made-up", "made-up")
        decision = acting.act(State("hall"), prompt, proposal)
    assert "Here this worked before: go." in prompt.notes
    assert decision.candidates[1].propensity == pytest.approx(
        1 / (1 + math.exp(-3.0 / (3.0 * 0.5)))
    )


@pytest.mark.parametrize("width", [-0.1, math.nan, math.inf])
def test_an_impossible_width_is_refused(width):
    with pytest.raises(ConfigError, match="width must be a number of at least 0"):
        opened("evotest", None, EnvironmentRewards(), width=width)
