"""The curve of a memory beside its held-out episodes, and what it comes to."""

import pytest

from jitrl.analysis.progress import by_order
from jitrl.core.stats import Interval
from jitrl.stores.paging import EpisodeLine

WILSON_3_OF_6 = (pytest.approx(0.1876, abs=1e-4), pytest.approx(0.8124, abs=1e-4))


def lines(*told):
    """Task, whether it was held out, and score of each."""
    return [
        EpisodeLine(
            *(i, f"e{i}", task, "", "terminated", "jitrl", is_held, False, 1, score),
            *("", "test", "outcome", 0.0, {}),
        )
        for i, (task, is_held, score) in enumerate(told)
    ]


def progress(told):
    return by_order(lines(*told), ("ours", "held"))


def numbered(n, every=4):
    """Each task comes once; those with the memory are solved."""
    return [(f"t{i}", i % every == 0, float(i % every > 0)) for i in range(n)]


def test_tasks_that_come_once_are_judged_by_episodes():
    effect = progress(numbered(240)).effect
    assert (effect.by, effect.tasks, effect.ours, effect.held) == ("episode", 0, 180, 60)
    assert effect.is_known
    assert effect.difference.verdict == "better"
    assert effect.difference.interval.low > 0.9


def test_six_tasks_in_both_groups_are_judged_by_tasks():
    told = [(f"t{i % 6}", i < 6, float(i >= 6 and i % 4 > 0)) for i in range(36)]
    effect = progress(told).effect
    assert (effect.by, effect.tasks) == ("task", 6)
    assert effect.difference.clusters == 6


def test_five_tasks_in_both_groups_are_judged_by_episodes():
    told = [(f"t{i % 5}", i < 10, float(i >= 10)) for i in range(30)]
    effect = progress(told).effect
    assert (effect.by, effect.tasks, effect.held) == ("episode", 5, 10)
    assert isinstance(effect.difference.interval, Interval)


@pytest.mark.parametrize("held", [1, 5])
def test_less_than_six_episodes_of_a_group_are_too_few_to_judge(held):
    effect = progress([(f"t{i}", i < held, float(i >= held)) for i in range(40)]).effect
    assert not effect.is_known
    assert effect.held == held


def test_without_held_out_episodes_there_is_no_effect():
    assert progress([("t", False, 1.0)] * 20).effect is None


def test_a_side_with_few_episodes_has_wider_points_that_hold_them_all():
    made = progress(numbered(60))
    ours, held = made.arms
    assert made.stretch == 6
    assert [p.n for p in held.points] == [6, 9]
    assert all(p.n >= 6 for p in ours.points)
    assert (sum(p.n for p in ours.points), held.points[-1].x) == (45, 60.0)
    few = progress([("t", i == 0, 1.0) for i in range(30)]).arms[1].points
    assert [(p.x, p.n) for p in few] == [(30.0, 1)]


def test_points_of_few_tasks_have_the_bands_of_their_episodes():
    told = [(f"t{i % 3}", False, float(i % 2)) for i in range(60)]
    (ours,) = progress(told).arms
    assert [p.clusters for p in ours.points] == [3] * 10
    assert all(p.interval == Interval(*WILSON_3_OF_6) for p in ours.points)
    many = [(f"t{i}", False, float(i % 2)) for i in range(60)]
    assert all(p.interval != Interval(*WILSON_3_OF_6) for p in progress(many).arms[0].points)
