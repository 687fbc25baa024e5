"""What one episode has shown, on top of the memory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jitrl.core.credit import derive_rows
from jitrl.core.graph import Graph, Step
from jitrl.core.overlay import Overlay
from jitrl.core.rule import UpdateRule
from jitrl.core.similarity import Retrieval
from jitrl.core.update import decide
from jitrl.memory.session import Session
from jitrl.memory.view import Lens, View
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Candidate, Decision, Episode, Scored, State, Transition

A, B, C = (State(f"the {name} room has a door") for name in ("red", "blue", "green"))
AWAY = State("quite another place, far from all of these")


def commit(
    store: SQLiteStore, key: str, path: list[tuple[State, str, float]], basis: str = "test"
) -> None:
    after = [*(s for s, _, _ in path[1:]), None]
    steps = tuple(
        Transition(s, action, None, reward, following)
        for (s, action, reward), following in zip(path, after, strict=True)
    )
    lived = Episode(key, "t", "s", steps, principal=key)
    judgment = Scored(tuple(r for _, _, r in path), "environment", basis)  # type: ignore[arg-type]
    store.commit(lived, judgment, derive_rows(lived, judgment, gamma=0.6))


def chose(action: str, *others: str) -> Decision:
    made = decide([Candidate(action, 9.0)], (), UpdateRule(), np.random.default_rng(0))
    if not others:
        return made
    choice = [Candidate(action, 9.0), *(Candidate(a, 0.0) for a in others)]
    return decide(choice, (), UpdateRule(), np.random.default_rng(0))


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


@pytest.mark.parametrize(("k", "near"), [(1, ["a"]), (2, ["a"]), (3, ["a", "b"]), (None, "abc")])
def test_the_nearest_states_count_until_k_rows_are_reached(store, k, near) -> None:
    for key, state, action in (("1", A, "a"), ("2", A, "a"), ("3", B, "b"), ("4", C, "c")):
        commit(store, key, [(state, action, 1.0)])
    view = View(store, "s", Lens(retrieval=Retrieval(threshold=0.5, k=k)))
    found = Session(view).neighborhood(A).neighbors
    assert found[0].action == "a"
    assert len(found) == len(near)


def test_a_step_counts_from_the_next_query_on_and_is_never_written(store: SQLiteStore) -> None:
    session = Session(View(store, "s", Lens()))
    assert session.neighborhood(A).neighbors == ()
    session.step(A, chose("go"), B)
    found = session.neighborhood(A)
    assert [(n.action, n.taken, n.visits) for n in found.neighbors] == [("go", 1, 1.0)]
    assert found.repeats == {"go": 1}
    assert Session(View(store, "s", Lens())).neighborhood(A).neighbors == ()


def test_a_rule_may_leave_the_running_episode_out(store: SQLiteStore) -> None:
    session = Session(View(store, "s", Lens(UpdateRule(episode=False))))
    session.step(A, chose("go"), B)
    assert session.neighborhood(A) == Session(View(store, "s", Lens())).neighborhood(A)


def test_what_the_episode_changed_about_a_next_state_counts_before_it(store: SQLiteStore) -> None:
    for i in range(2):
        commit(store, f"e{i}", [(A, "go", 0.0), (B, "take", 1.0), (C, "wait", 0.0)])
    session = Session(View(store, "s", Lens()))
    (before,) = (n for n in session.neighborhood(A).neighbors if n.similarity == 1)
    session.step(B, chose("take"), C, 1.0)
    (after,) = (n for n in session.neighborhood(A).neighbors if n.similarity == 1)
    assert before.value == pytest.approx(0.6)
    assert after.value == pytest.approx(0.0)


def test_what_was_taken_is_not_expected_to_pay_again(store: SQLiteStore) -> None:
    for i in range(3):
        commit(store, f"e{i}", [(A, "take", 1.0), (B, "wait", 0.0), (B, "wait", 0.0)])
    session = Session(View(store, "s", Lens()))
    before = {n.action: n.value for n in session.neighborhood(A).neighbors if n.similarity == 1}
    assert before["take"] == pytest.approx(1.0)
    session.step(A, chose("take"), B, 1.0)
    after = {n.action: n.value for n in session.neighborhood(A).neighbors if n.similarity == 1}
    assert after["take"] == pytest.approx(0.0)


def test_an_action_that_had_no_effect_this_time_does_not_count_as_taken(
    store: SQLiteStore,
) -> None:
    for i in range(3):
        commit(store, f"e{i}", [(A, "go", 0.0), (B, "go", 1.0)])
    session = Session(View(store, "s", Lens()))
    session.step(A, chose("go"), C)  # it slipped: "go" leads to B
    assert session.neighborhood(A).repeats == {}
    session.step(A, chose("go"), B)
    assert session.neighborhood(A).repeats == {"go": 1}


def test_novelty_behind_an_action_is_seen_before_it_is_taken(store: SQLiteStore) -> None:
    session = Session(View(store, "s", Lens()))
    session.step(A, chose("go", "stay"), B)
    session.step(B, chose("back"), A)
    onward = {n.action: n.onward for n in session.neighborhood(A).neighbors if n.similarity == 1}
    assert 0.0 < onward["go"] < 1.0


def test_the_novelty_left_behind_is_that_of_the_newest_action(store: SQLiteStore) -> None:
    session = Session(View(store, "s", Lens()))
    assert session.step(A, chose("go"), B) == 0.5
    assert session.step(A, chose("go", "stay"), B) == 1.0


def test_a_rebuilt_view_is_told_the_episode_again(store: SQLiteStore) -> None:
    commit(store, "old", [(C, "look", 0.0), (A, "go", 1.0)])
    view = View(store, "s", Lens())
    session = Session(view)
    session.step(A, chose("go"), B, 1.0)
    session.step(B, chose("back"), A, 0.0)
    session.neighborhood(A)
    store.set_status("quarantined", episodes=["old"])
    commit(store, "new", [(B, "back", 5.0)] * 3)
    fresh = Session(View(store, "s", Lens()))
    fresh.step(A, chose("go"), B, 1.0)
    fresh.step(B, chose("back"), A, 0.0)
    for state in (A, B, C, AWAY):
        assert session.neighborhood(state) == fresh.neighborhood(state)


def test_a_loss_shown_counts_from_the_center_of_the_day(store: SQLiteStore) -> None:
    session = Session(View(store, "s", Lens()))
    session.step(A, chose("go"), B, -1.0)
    assert session.neighborhood(A).neighbors[0].reward == -1.0
    commit(store, "e", [(AWAY, "x", -1.0)] * 3)
    assert session.neighborhood(A).neighbors[0].reward == 0.0


def test_what_has_paid_in_this_episode_is_not_expected_to_pay_again(store: SQLiteStore) -> None:
    session = Session(View(store, "s", Lens()))
    session.step(A, chose("go"), B, 1.0)
    assert session.neighborhood(A).neighbors[0].reward == 0.0


def test_a_decision_is_given_the_nearest_cells_first_and_not_all(store: SQLiteStore) -> None:
    for i in range(300):
        commit(store, f"e{i}", [(State(f"the red room has a door {i}"), "go", 1.0)])
    lens = Lens(retrieval=Retrieval(threshold=0.5))
    found = Session(View(store, "s", lens)).neighborhood(State("the red room has a door 7"))
    similarities = [n.similarity for n in found.neighbors]
    assert similarities == sorted(similarities, reverse=True)
    assert (similarities[0], len(similarities)) == (1.0, 256)


def test_a_long_episode_gives_a_decision_no_more_than_its_nearest_cells(
    store: SQLiteStore,
) -> None:
    session = Session(View(store, "s", Lens(retrieval=Retrieval(threshold=0.5))))
    rooms = [State(f"the red room has a door {i}") for i in range(600)]
    for room, after in itertools.pairwise(rooms):
        session.step(room, chose("go"), after)
    found = session.neighborhood(rooms[0]).neighbors  # long ago, but the very state
    assert len(found) == 256
    assert (found[0].similarity, found[0].taken, found[1].similarity < 1) == (1.0, 1, True)


def test_an_interrupt_while_the_memory_is_read_counts_nothing_twice(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for i in range(20):
        commit(store, f"e{i}", [(A, "go", 1.0), (B, "take", 0.0)])
    view = View(store, "s", Lens())
    session = Session(view)
    session.step(A, chose("go"), B)
    learn, calls = Graph.learn, []

    def interrupted(graph: Graph, steps: list[Step]) -> None:
        learn(graph, steps)
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt

    monkeypatch.setattr(Graph, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.neighborhood(A)
    assert session.neighborhood(A) == other_session(store).neighborhood(A)


def test_an_interrupt_while_the_episode_is_told_counts_nothing_twice(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(store, "e", [(A, "go", 1.0), (B, "take", 0.0)])
    session = Session(View(store, "s", Lens()))
    for _ in range(2):
        session.step(A, chose("go"), B)
    step, calls = Overlay.step, []

    def interrupted(*args: object) -> None:
        step(*args)
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Overlay, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.neighborhood(A)
    assert {n.taken for n in session.neighborhood(A).neighbors if n.taken} == {2}


def other_session(store: SQLiteStore) -> Session:
    session = Session(View(store, "s", Lens()))
    session.step(A, chose("go"), B)
    return session


def test_the_k_nearest_rows_are_the_newest_of_equally_similar_ones(store: SQLiteStore) -> None:
    for i in range(5):
        commit(store, f"e{i}", [(A, f"a{i}", 1.0)])
    lens = Lens(rule=UpdateRule(unit="rows"), retrieval=Retrieval(k=3))
    found = Session(View(store, "s", lens)).neighborhood(A)
    assert [n.action for n in found.neighbors] == ["a4", "a3", "a2"]


def test_rows_of_untrusted_bases_are_voices_of_their_principals(store: SQLiteStore) -> None:
    for i in range(4):
        commit(store, f"e{i}", [(A, "go", 1.0), (A, "go", 3.0)], "user_feedback")
    found = Session(View(store, "s", Lens())).neighborhood(A)
    assert [(n.action, n.visits, n.trusted) for n in found.neighbors] == [("go", 2.0, False)] * 4
    assert found.reach == 0.0


def test_no_version_later_than_until_is_seen(store: SQLiteStore) -> None:
    commit(store, "a", [(A, "go", 1.0)])
    head = store.head()
    commit(store, "b", [(A, "stay", 1.0)])
    session = Session(View(store, "s", Lens()), head)
    found = session.neighborhood(A)
    assert ([n.action for n in found.neighbors], found.version) == (["go"], head)
    session.until = None
    assert {n.action for n in session.neighborhood(A).neighbors} == {"go", "stay"}


def test_others_that_see_more_on_the_same_view_do_not_move_an_episode(store: SQLiteStore) -> None:
    commit(store, "a", [(A, "go", 1.0)])
    view, head = View(store, "s", Lens()), store.head()
    session = Session(view, head)
    session.step(A, chose("go"), B)
    before = session.neighborhood(A)
    commit(store, "b", [(A, "stay", 1.0)])
    assert Session(view).neighborhood(A).version > head
    assert session.neighborhood(A) == before
