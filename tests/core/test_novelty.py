"""Novelty travels the graph by what usually happens, and never dries up where nothing has paid."""

import numpy as np
import pytest

from jitrl.core.graph import Graph, Step
from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.types import Candidate, Neighbor, Neighborhood

NEW, DOOR = 9, 0


def seen(times, *, ended):
    """A graph in which an action led to a new state ``times`` times and ended ``ended`` tasks."""
    graph = Graph(0.6, 1.0)
    for _ in range(times):
        graph.learn([Step(DOOR, "go", 0.0, 0.0, NEW, False, 0.0)])
    for _ in range(ended):
        graph.learn([Step(DOOR, "go", 0.0, 0.0, None, True, 0.0)])
    return graph


def test_what_lies_behind_an_action_counts_by_how_often_the_task_went_on():
    assert seen(1, ended=0).novelty(DOOR) == 1.0
    assert seen(1, ended=3).novelty(DOOR) == pytest.approx(0.25)
    assert seen(0, ended=3).novelty(DOOR) == 0.0


def bonuses(reach):
    tried = (
        Neighbor("often", 1.0, 0.0, visits=99.0),
        Neighbor("seldom", 1.0, 0.0, visits=49.0),
    )
    rule = UpdateRule()
    near = Neighborhood(tried, reach=reach)
    candidates = [Candidate("often", 3.0), Candidate("seldom", 0.0)]
    decision = decide(candidates, near, rule, np.random.default_rng(0))
    return {c.action: c.bonus for c in decision.candidates}, decision.action


def test_where_nothing_has_paid_the_newest_action_gets_the_whole_bonus():
    bonus, action = bonuses(reach=0.0)
    assert bonus == pytest.approx({"often": 15.0, "seldom": 30.0})
    assert action == "seldom"


def test_where_something_has_paid_novelty_wears_off():
    bonus, action = bonuses(reach=1.0)
    assert bonus == pytest.approx({"often": 0.3, "seldom": 0.6})
    assert action == "often"
