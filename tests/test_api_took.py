"""A decision that could not be carried out: what is learned counts for what was done."""

import pytest

import jitrl
from jitrl.errors import InputError


@pytest.fixture
def memory(tmp_path):
    with jitrl.open(tmp_path / "memory.db") as opened:
        yield opened


def test_what_was_done_in_place_of_a_decision_is_what_is_learned(memory):
    with memory.episode("t", key="k") as episode:
        assert episode.decide("here", {"a": 1.0, "b": 0.0}).action == "a"
        episode.took("b")
        assert episode.finish(outcome=True).rows == 1
    (step,) = memory.store.episode("k").steps
    assert (step.action, step.decision.action) == ("b", "a")
    (row,) = [row for change in memory.store.changes(0) for row in change.rows]
    assert row.action == "b"
    with memory.episode("t") as episode:
        seen = episode.decide("here", {"a": 1.0, "b": 0.0})
    assert {n.action for n in seen.neighbors} == {"b"}


def test_the_rest_of_the_episode_goes_by_what_was_done(memory):
    choices = {}
    for done in ("a", "b"):
        with memory.episode("t") as episode:
            episode.decide("here", {"a": 1.0, "b": 0.9})
            episode.took(done)
            choices[done] = episode.decide("here", {"a": 1.0, "b": 0.9}).action
    assert choices == {"a": "b", "b": "a"}  # what was just done here is not done again


def test_decisions_after_it_are_replayed_as_they_fell(memory):
    with memory.episode("other", key="other") as episode:
        episode.decide("elsewhere entirely", {"x": 0.0})
        episode.finish(outcome=True)
    with memory.episode("t", key="k") as episode:
        episode.decide("here", {"a": 1.0, "b": 0.9})
        episode.took("b")
        episode.decide("here", {"a": 1.0, "b": 0.9})
        episode.finish(outcome=True)
    rows = [row for change in memory.store.changes(0) for row in change.rows]
    assert memory.replay(without=[next(row.id for row in rows if row.episode == "other")]) == []
    assert memory.explain("k#1").decision.action == "a"


def test_it_comes_after_a_decision_and_before_the_next(memory):
    with memory.episode("t") as episode:
        with pytest.raises(InputError, match="at no time between"):
            episode.took("a")
        episode.decide("here", {"a": 0.0})
        with pytest.raises(InputError, match="an action"):
            episode.took("")
        episode.finish()
        with pytest.raises(InputError, match="over"):
            episode.took("a")
