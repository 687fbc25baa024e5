"""All rows read at once are those that the version stream leaves, and steps those with a say."""

from dataclasses import replace

import pytest

import jitrl
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores import columns
from jitrl.types import Episode, State, Transition


@pytest.fixture
def memory(tmp_path):
    """Rows that were taken back, in again, and judged anew; an unscored run; another memory."""
    with jitrl.open(tmp_path / "m.db") as memory:
        _elsewhere(tmp_path / "m.db")
        for n in range(8):
            with memory.episode(f"t{n % 3}", scope=f"s{n % 2}", key=f"e{n}") as episode:
                episode.decide(f"a{n % 4}", {"x": 0.0, "y": 1.0})
                episode.decide("b", {"x": 0.0, "z": -1.0})
                episode.finish(None if n == 5 else n % 2)
        memory.quarantine(episodes=["e1", "e2"], reason="a trial")
        memory.restore(episodes=["e1"], reason="over")
        memory.outcome("e3", 0.5)
        yield memory


def _elsewhere(path):
    with jitrl.open(path, memory="other") as other, other.episode("t") as episode:
        episode.decide("elsewhere", {"x": 0.0})
        episode.finish(True)


def test_columns_are_what_the_version_stream_leaves(memory):
    active, states, scopes, owners = {}, {}, {}, {}
    for change in memory.store.changes(0):
        for row in change.rows:
            states[row.state_id], scopes[row.state_id] = row.state, row.scope
            owners[row.id] = row.episode
            active[row.id] = row if row.status == "active" else None
    found = columns.read(memory.store)
    kept = [active[id] for id in sorted(active) if active[id]]
    assert found.active == tuple((r.state_id, r.action, r.ret, r.version, r.episode) for r in kept)
    assert (found.states, found.scopes, found.owners) == (states, scopes, owners)
    assert list(found.states) == list(states)
    assert 0 < len(kept) < len(owners)


def test_records_of_decided_steps_have_no_others_and_all_else(memory):
    store = memory.store
    decided = store.episode("e0").steps[0]
    steps = (Transition(State("seen"), "w", reward=0.0), replace(decided, reward=1.0))
    for key, some in (("mixed", steps), ("undecided", steps[:1])):
        episode = Episode(key, "t", "s0", some)
        judgment = EnvironmentRewards().judge(episode)
        store.commit(episode, judgment, memory.agent.derive(episode, judgment))
    for whole, found in zip(store.records(), store.records(decided=True), strict=True):
        kept = tuple(step for step in whole.episode.steps if step.decision is not None)
        assert found == replace(whole, episode=replace(whole.episode, steps=kept))
        sizes = {"mixed": 1, "undecided": 0}
        assert len(kept) == sizes.get(whole.episode.key, 2)
