"""Exploration beside a lesson: little at the first attempt, all of it from then on."""

from dataclasses import replace

import numpy as np
import pytest

from jitrl.agents.corrected import Corrected
from jitrl.config import Memory
from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory.session import Session
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import (
    Candidate,
    Episode,
    Neighbor,
    Neighborhood,
    Prompt,
    Proposal,
    State,
    Task,
    Transition,
)

ACTIONS = ("take apple", "take stone", "leave")
START = State("a room")


@pytest.fixture
def taught():
    """Eight tasks, each solved by taking the apple."""
    store = SQLiteStore(":memory:")
    agent = Corrected(store, EnvironmentRewards(), Memory())
    for number in range(8):
        attempt(agent, Task(f"task {number}", "Eat.", "s"), "take apple", 1.0)
    yield agent
    store.close()


def attempt(agent, task, action, reward):
    acting = agent.episode()
    acting.begin(task, key=f"{task.id}/{reward}", rng=np.random.default_rng(0))
    asked = Proposal(tuple(Candidate(a, 0.0) for a in ACTIONS), "made up", "m")
    decision = acting.act(START, Prompt(task.goal, "", (), ACTIONS, features="words"), asked)
    step = Transition(START, action, replace(decision, action=action), reward, None)
    agent.learn(Episode(f"{task.id}/{reward}", task.id, "s", (step,), info={"goal": task.goal}))


def near(agent, task):
    session = Session(agent.view("s"), task=task)
    return session.neighborhood(START, goal="Eat.", features="words", actions=ACTIONS)


def test_at_the_first_attempt_a_lesson_comes_before_novelty(taught):
    found = near(taught, "new")
    assert found.lesson.strength > 0.0
    assert found.explore == pytest.approx(0.1)


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_once_a_task_was_tried_novelty_counts_in_full(taught, reward):
    attempt(taught, Task("new", "Eat.", "s"), "take stone", reward)
    assert near(taught, "new").explore == 1.0


def test_where_nothing_is_learned_from_other_tasks_novelty_counts_in_full(taught):
    alone = Corrected(taught.store, EnvironmentRewards(), Memory(rule={"transfer": 0.0}))
    assert near(alone, "new").explore == 1.0


def test_novelty_and_repeats_are_scaled_and_nothing_else():
    tried = Neighbor("a", 1.0, ret=0.0, visits=1.0, taken=1)
    proposed = [Candidate("a", 0.5), Candidate("b", 0.0)]
    whole, part = (
        decide(
            proposed,
            Neighborhood([tried], repeats={"a": 1}, explore=share),
            UpdateRule(),
            np.random.default_rng(0),
        )
        for share in (1.0, 0.1)
    )
    for one, other in zip(whole.candidates, part.candidates, strict=True):
        assert one.bonus != 0.0
        assert other.bonus == pytest.approx(0.1 * one.bonus)
        assert (other.q, other.scaled, other.novelty) == (one.q, one.scaled, one.novelty)
