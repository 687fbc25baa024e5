"""Contrasts of two memories: each has an id of its own, and none keeps another from learning."""

import pytest
from made_agents import opened
from pasts import episode, put

from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores import jsonl_rules
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Contrast, Task

TASK = Task("t", "Win.", "s", "kind")


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


def taught(store, scores=(1.0, 0.0)):
    """A round of the task, played and learned from."""
    book = opened("rulebook", store, EnvironmentRewards(), attempts=len(scores))
    for n, score in enumerate(scores):
        put(store, episode(f"t/{n}", f"menu:{'ab'[n % 2]}", task="t", rewards=[score]))
    book.learning.after(TASK, [])
    return store.contrasts()


def moved(source, target, principal="carl"):
    jsonl_rules.read(
        target,
        list(jsonl_rules.export(source)),
        name="x",
        principal=principal,
    )


def test_rounds_of_two_runs_at_one_task_are_two_contrasts(store):
    taught(store)
    with SQLiteStore(":memory:") as other:
        taught(other, (0.0, 1.0))
        moved(other, store)
    first, second = store.contrasts()
    assert (first.task, first.round) == (second.task, second.round)
    assert [one.principal for one in (first, second)] == ["", "carl"]


@pytest.mark.parametrize("scores", [(1.0, 0.0), (0.0, 1.0)], ids=["the same", "another"])
def test_an_import_does_not_keep_a_memory_from_learning_of_its_own_rounds(store, scores):
    with SQLiteStore(":memory:") as other:
        taught(other, scores)
        moved(other, store)
    assert not [rule for rule in store.rules() if rule.status != "quarantined"]
    taught(store)
    own = [one for one in store.contrasts() if not one.principal]
    assert [one.round for one in own] == [1]
    assert any(set(rule.evidence) & {one.id for one in own} for rule in store.rules())
    head = store.head()
    opened("rulebook", store, EnvironmentRewards(), attempts=2).resume()
    assert store.head() == head


def test_what_an_import_says_of_own_episodes_teaches_nothing(store):
    """It calls the bad attempt good; no rule of several tasks is drawn from that."""
    turned = Contrast("x", "s", "u", "kind", 1, "Lose.", ("u/1",), ("u/0",), (1.0, 0.0))
    for n, score in enumerate((1.0, 0.0)):
        put(store, episode(f"u/{n}", f"menu:{'ba'[n]}", task="u", goal="Lose.", rewards=[score]))
    store.add_rules([], [turned], principal="carl")
    taught(store)
    assert [rule.evidence for rule in store.rules()] == [(store.contrasts()[-1].id,)]
