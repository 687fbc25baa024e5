"""What agents write in front of the prompt: the last episodes, critiques, in two languages."""

import dataclasses
import string

import pytest
from made_agents import opened
from pasts import episode, past, put

from jitrl.agents.prompted import fitting
from jitrl.agents.questions import CHINESE as QUESTIONS_ZH
from jitrl.agents.questions import ENGLISH as QUESTIONS_EN
from jitrl.agents.reflexion import critique
from jitrl.agents.words import CHINESE, ENGLISH, listed, look, words
from jitrl.errors import ConfigError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Prompt, State, Task


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


def notes(label, store, *, task="t", goal="Win.", **options):
    """What the agent says before the first step."""
    acting = opened(label, store, EnvironmentRewards(), **options).episode()
    acting.begin(Task(task, goal, "s"), key="now", rng=None)
    return acting.advise(State("hall"), Prompt(goal, "hall")).notes


def test_without_a_past_there_is_nothing_to_say(store):
    for label in ("memory", "reflexion", "awm", "evotest"):
        assert notes(label, store) == ""


def test_the_last_episodes_are_told_as_they_were(store):
    put(store, episode("a", "hall:go", "yard:dig"), episode("b", "hall:wait", rewards=[0.0]))
    assert notes("memory", store) == (
        "Earlier episodes, the newest last:\n\n"
        "Task: Win.\n1. At hall: go\n2. At yard: dig\nResult: succeeded, score 1.\n\n"
        "Task: Win.\n1. At hall: wait\nResult: failed, score 0."
    )


def test_in_chinese_the_last_episodes_are_told_in_chinese(store):
    put(store, episode("a", "大厅:走", goal="取得胜利。"))
    assert notes("memory", store, goal="取得胜利。") == (
        "以往的尝试，最新的在最后：\n\n任务：取得胜利。\n1. 在大厅：走\n结果：成功，得分 1。"
    )


def test_the_first_in_is_the_first_out(store):
    put(store, *(episode(key, f"hall:{key}") for key in "abc"))
    said = notes("memory", store, episodes=2)
    assert "hall: a" not in said
    assert said.index("hall: b") < said.index("hall: c")


def test_episodes_of_the_same_task_may_go_first(store):
    put(store, episode("a", "hall:mine"), *(episode(k, f"hall:{k}", task="u") for k in "bc"))
    assert "mine" not in notes("memory", store, episodes=2)
    assert "mine" in notes("memory", store, episodes=2, first="same-task")


def test_an_episode_that_does_not_fit_is_left_out_whole(store):
    long = episode("b", *(f"place{i}:do{i}" for i in range(50)))
    put(store, episode("a", "hall:go"), long)
    said = notes("memory", store, budget=150)
    assert "1. At hall: go" in said
    assert "place1" not in said
    assert len(said) <= 150


def test_nothing_is_told_where_nothing_fits(store):
    put(store, episode("a", "hall:go"))
    for label in ("memory", "reflexion", "evotest"):
        assert notes(label, store, budget=30) == ""


def test_what_fits_is_kept_in_its_order():
    assert fitting(["aaaa", "bbbbbbbb", "cc"], 8) == ("aaaa", "cc")
    assert fitting([], 8) == ()


def test_the_critique_of_a_success_names_the_way_without_loops():
    one = past("a", "hall:in", "room:out", "hall:up", "attic:take")
    assert critique(one, 1.0) == (
        "I succeeded. What led there was: up; take. I do exactly that again."
    )


def test_the_critique_of_a_failure_names_where_it_ended():
    one = past("a", "hall:go", "yard:jump", rewards=[0.0, 0.0])
    assert critique(one, 1.0) == (
        "I failed (score 0). I tried: go; jump. It ended at yard with jump; there I choose "
        "another action."
    )


def test_the_critique_of_a_detour_names_what_was_repeated_and_what_paid():
    steps = ["hall:go", "yard:dig", "yard:wait", "yard:wait"]
    one = past("a", *steps, rewards=[0.0, 0.5, 0.0, 0.0], ended=False)
    assert critique(one, 1.0) == (
        "I ran out of steps (score 0.5). I tried: go; dig; wait; wait. Up to dig it was worth "
        "something, so I begin in the same way. I took wait 2 times at yard and got nowhere; I "
        "stop repeating it."
    )


def test_only_the_last_critiques_of_the_same_task_are_told(store):
    put(store, *(episode(k, f"hall:{k}", task="u" if k == "d" else "t") for k in "abcd"))
    said = notes("reflexion", store, reflections=2)
    assert said == (
        "What I noted after earlier attempts at this task, the newest last:\n"
        "- I succeeded. What led there was: b. I do exactly that again.\n"
        "- I succeeded. What led there was: c. I do exactly that again."
    )


@pytest.mark.parametrize("label", ["memory", "reflexion", "awm", "evotest", "prompt-update"])
def test_a_negative_budget_is_refused(label, store):
    with pytest.raises(ConfigError, match=r"budget must be at least 0, got -1"):
        opened(label, store, EnvironmentRewards(), budget=-1)


@pytest.mark.parametrize("label", ["memory", "replay-best", "prompt-update", "oracle-hint"])
def test_an_impossible_temperature_is_refused_under_the_agents_name(label, store):
    with pytest.raises(ConfigError, match=f"agent {label}: temperature_prior is 0"):
        opened(label, store, EnvironmentRewards(), temperature=0.0)


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize(("english", "chinese"), [(ENGLISH, CHINESE), (QUESTIONS_EN, QUESTIONS_ZH)])
def test_both_languages_say_the_same_things(english, chinese):
    for field in dataclasses.fields(english):
        one, other = getattr(english, field.name), getattr(chinese, field.name)
        assert fields(one) == fields(other), field.name
        assert one != other


def test_the_goal_decides_the_language():
    assert words("打开订单 5086。") is CHINESE
    assert words("注文を開く。") is ENGLISH
    assert words("Open order 5086.") is ENGLISH


def test_a_state_is_shown_in_one_line_and_cut():
    assert look(State("a\n  b", place="p")) == "a b"
    assert look(State("", place="p")) == "p"
    assert look(State("abcdef"), 4) == "abc…"


def test_of_many_actions_the_rest_is_counted():
    assert listed(["a", "b", "c"], 2) == "a; b; … (+1)"
