"""What rules are credited with, drawn and told as the agent does it (C10): no passenger gets in."""

import numpy as np
import pytest
from made_agents import opened
from pasts import episode

from jitrl.agents.rulebook.fetching import fetched
from jitrl.agents.rulebook.figures import Figures
from jitrl.core.credit import derive_rows
from jitrl.core.gates import Gates, Trial, drawn, measure
from jitrl.core.sentences import rule_id
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Contrast, Prompt, Rule, State, Task

GOAL = "Win."
HALL = State("hall"), Prompt(GOAL, "hall", (), ("wait", "take lamp", "sing"))
GOOD, IDLE = "When you see the hall, take lamp", "When you see the hall, sing"


def fetched_anew(store, task, book, rng):
    """What an episode at ``task`` is told, by figures of all uses there are."""
    figures = Figures(store, book.telling.success)
    return fetched(store, task, book.telling, rng, exclude=frozenset(), until=None, figures=figures)


def lived(store, seed, *, uses, status, chances, first=0):
    """A rule that helps and a passenger, of one contrast, in so many episodes of four tasks.

    Args:
        chances: Of success without and with the first; the second changes nothing.
    """
    taught = Contrast("c", "s", "t0", good=("g",), bad=("b",), scores=(1.0, 0.0), goal=GOAL)
    rules = [
        Rule(rule_id(t), t, "s", status=status, evidence=("c",), author="model")
        for t in (GOOD, IDLE)
    ]
    store.add_rules(rules, [taught])
    book = opened("rulebook", store, EnvironmentRewards(), attempts=0)
    rng = np.random.default_rng(seed)
    for n in range(first, first + uses):
        task = Task(f"t{n % 4}", GOAL, "s")
        told = fetched_anew(store, task, book, rng)
        told.notes(*HALL)
        told.passed()  # a step was taken there
        given = {line.rule.id: line.told for line in told.lines}
        won = float(rng.random() < chances[given.get(rules[0].id, False)])
        played = episode(f"e{n}", "hall:wait", task=task.id, rewards=[won])
        judgment = EnvironmentRewards().judge(played)
        rows = derive_rows(played, judgment, gamma=0.5)
        store.commit(played, judgment, rows, told.uses(played.key))
        book.learning.gating.judge(list(given))
    return [rule.id for rule in rules]


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


@pytest.mark.parametrize("seed", range(3))
def test_a_candidate_that_helps_comes_in_and_what_was_distilled_beside_it_does_not(store, seed):
    good, idle = lived(store, seed, uses=120, status="candidate", chances=(0.2, 0.8))
    assert store.rule(good).status == "active"
    assert store.rule(idle).status != "active"
    assert "active" not in {change.status for change in store.rule_history(idle)}


def test_the_effect_of_a_passenger_includes_0_though_it_wins_as_often_as_what_carries_it(store):
    """Told together in most of 200 episodes; .9 with the one, .4 without; a share is held out."""
    good, idle = lived(store, 3, uses=200, status="active", chances=(0.4, 0.9))
    uses = store.rule_uses()
    found = {rule: measure(drawn(uses[rule]), Gates()) for rule in (good, idle)}
    assert found[good].low > 0.0
    assert found[idle].low < 0.0 < found[idle].high
    counts = store.rule_counts(1.0)[idle]
    assert counts.wins / counts.uses > 0.75
    trial = Trial(Gates())
    for use in drawn(uses[good]):
        trial.add(use)
    assert trial.helped_on


def test_a_rule_that_is_restored_is_tried_anew(store):
    """Retired for harm; then the page is mended, and it helps."""
    rule, _ = lived(store, 0, uses=80, status="active", chances=(0.9, 0.1))
    assert store.rule(rule).status == "retired"
    store.set_rule_status("candidate", [rule], reason="page mended", principal="ann")
    lived(store, 1, uses=5, status="candidate", chances=(0.2, 0.9), first=80)
    assert store.rule(rule).status == "candidate"
    lived(store, 2, uses=120, status="candidate", chances=(0.2, 0.9), first=85)
    assert store.rule(rule).status == "active"


def test_told_rules_are_drawn_with_the_chance_that_is_logged(store):
    good, _ = lived(store, 0, uses=60, status="candidate", chances=(0.2, 0.8))
    book = opened("rulebook", store, EnvironmentRewards())
    seen = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        told = fetched_anew(store, Task("t", GOAL, "s"), book, rng)
        told.notes(*HALL)
        (line,) = (line for line in told.lines if line.rule.id == good)
        seen.append(line.told)
    assert abs(np.mean(seen) - line.chance) < 3.5 * np.sqrt(line.chance * (1 - line.chance) / 400)


def test_an_episode_in_which_its_condition_never_held_says_nothing_of_a_rule(store):
    good, _ = lived(store, 0, uses=8, status="candidate", chances=(0.2, 0.8))
    book = opened("rulebook", store, EnvironmentRewards())
    for seed, (where, uses) in enumerate([("hall", 1), ("cellar", 0)]):
        task, rng = Task("t", GOAL, "s"), np.random.default_rng(seed)
        told = fetched_anew(store, task, book, rng)
        told.notes(State(where), Prompt(GOAL, where, (), ("wait",)))
        told.passed()
        assert [use.rule for use in told.uses("e")].count(good) == uses
