"""Which decisions a row changed, judgments read off a journal, curves of what there is."""

from contextlib import closing

import pytest

import jitrl
from jitrl.analysis.influence import influence
from jitrl.analysis.progress import by_attempt, by_order
from jitrl.analysis.recorded import calibration
from jitrl.core.stats import Interval
from jitrl.errors import StoreError
from jitrl.stores.paging import Paging
from jitrl.stores.sqlite import SQLiteStore


@pytest.fixture
def memory(tmp_path):
    """Two scopes, each with a place where only one action pays."""
    with jitrl.open(tmp_path / "m.db", holdout=0.3) as opened:
        for n in range(24):
            scope = "ab"[n % 2]
            with opened.episode(f"t{n % 6}", scope=scope, key=f"e{n}") as episode:
                decision = episode.decide("door", {"push": 0.3, "pull": 0.0, "wait": 0.1})
                episode.finish(decision.action == "pull")
        yield opened


def test_influence_is_the_replay_with_what_would_be_instead(memory):
    rows = [row.id for change in memory.store.changes(0) for row in change.rows]
    found = 0
    for row in rows:
        told = []
        changed = influence(
            memory.agent, memory.store, [row], tell=lambda done, total, told=told: told.append(done)
        )
        assert [one.id for one in changed] == memory.replay(without=[row])
        assert all(one.taken != one.instead for one in changed)
        assert told == list(range(1, len(told) + 1))
        found += len(changed)
    assert found


def test_influence_of_a_row_that_is_not_there_is_an_error(memory):
    with pytest.raises(StoreError, match="has no row 999"):
        influence(memory.agent, memory.store, [1, 999])


def test_influence_writes_nothing(memory):
    before = memory.store.head()
    influence(memory.agent, memory.store, [1, 2, 3])
    assert memory.store.head() == before


def test_stored_judgments_are_compared_with_outcomes_and_labels(tmp_path):
    def judge(episode):
        return 1.0 if int(episode.key[1:]) % 4 else 0.0

    path = tmp_path / "j.db"
    with jitrl.open(path, evaluator=judge) as memory:
        for n in range(16):
            with memory.episode(f"t{n}", key=f"e{n}") as episode:
                episode.decide("s", {"a": 0.0, "b": 0.0})
                episode.finish(n % 2 == 1)
    with closing(SQLiteStore(path, readonly=True)) as store:
        ((_, found),) = calibration(store.records(), {("e1", 0): 3, ("e2", 0): None}).items()
    assert found.gold.confusion["success"] == {"success": 8}
    assert found.gold.confusion["failure"] == {"success": 4, "failure": 4}
    assert found.gold.accuracy == 0.75
    assert (found.people.steps, found.people.unsure) == (1, 1)


def test_outcomes_handed_on_have_no_truth_to_be_compared_with(memory):
    ((name, found),) = calibration(memory.store.records()).items()
    assert name == "environment"
    assert found.is_source
    assert found.gold is None


def test_a_curve_by_order_counts_each_scored_episode_once(memory):
    lines = Paging(memory.store).episodes(limit=100).items[::-1]
    progress = by_order(lines, ("with", "held out"))
    assert sum(p.n for arm in progress.arms for p in arm.points) == 24
    assert {arm.name for arm in progress.arms} == {"with", "held out"}
    assert progress.stretch == 3
    held = [one for one in lines if one.is_held]
    assert sum(p.n for arm in progress.arms[1:] for p in arm.points) == len(held)
    both = {f"{one.scope}{one.task}" for one in held} & {
        f"{one.scope}{one.task}" for one in lines if not one.is_held
    }
    assert progress.effect.tasks == len(both)


def test_a_curve_of_nothing_is_empty():
    assert by_order((), ("with", "held out")).arms == ()


def test_a_point_has_an_interval_only_where_there_are_tasks_enough():
    few = [(f"t{n}", float(n % 2)) for n in range(5)]
    many = [(f"t{n}", float(n % 2)) for n in range(8)]
    arm = by_attempt("run", {1: many, 0: few, 2: []})
    assert [p.x for p in arm.points] == [1, 2]
    assert [isinstance(p.interval, Interval) for p in arm.points] == [False, True]
    assert [(p.n, p.clusters) for p in arm.points] == [(5, 5), (8, 8)]
