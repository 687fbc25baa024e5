"""A view is a function of the version stream, however and by whom it was brought up to date."""

from __future__ import annotations

import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.agents.corrected import Corrected
from jitrl.config import Memory
from jitrl.core.credit import derive_rows
from jitrl.core.similarity import Retrieval
from jitrl.errors import MixedMemory
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory.session import Session
from jitrl.memory.view import Lens, View
from jitrl.presets import load
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.embedder import HashedWords
from jitrl.testing.rule_samples import sample_rule
from jitrl.types import (
    Basis,
    Candidate,
    Episode,
    Neighborhood,
    Outcome,
    Prompt,
    Proposal,
    Scored,
    State,
    Task,
    Transition,
    Unscored,
)

PLACES = [State(f"room {name} with a lamp and a door") for name in ("red", "blue", "green")]
GAMMA = 0.6


def episode(key: str, path: list[tuple[int, str, float]], **changes: Any) -> Episode:
    """An episode through ``PLACES``; each step is (place, action, reward)."""
    following = [PLACES[at] for at, _, _ in path[1:]]
    steps = tuple(
        Transition(PLACES[at], action, None, reward, after, novelty=0.5)
        for (at, action, reward), after in zip(path, [*following, None], strict=True)
    )
    return Episode(key, changes.pop("task", "t"), "s", steps, **changes)


def commit(store: SQLiteStore, lived: Episode, basis: Basis = "test", told: bool = False) -> None:
    rewards = tuple(s.reward or 0.0 for s in lived.steps)
    judgment = Scored(rewards, "environment", basis, told)
    store.commit(lived, judgment, derive_rows(lived, judgment, gamma=GAMMA))


def seen(view: View, until: int | None = None) -> list[Neighborhood]:
    return [replace(Session(view, until).neighborhood(p), version=0) for p in PLACES]


STEP = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["go", "stay", "look"]),
    st.sampled_from([0.0, 1.0, 1.0, -1.0]),
)
CHANGE = st.one_of(
    st.tuples(st.just("commit"), st.lists(STEP, min_size=1, max_size=4), st.booleans()),
    st.tuples(st.just("pending"), st.lists(STEP, min_size=1, max_size=3), st.booleans()),
    st.tuples(st.just("outcome"), st.integers(0, 9), st.sampled_from([0.0, 1.0, None])),
    st.tuples(st.just("quarantine"), st.integers(0, 9), st.none()),
    st.tuples(st.just("restore"), st.integers(0, 9), st.none()),
    st.tuples(st.just("look"), st.none(), st.none()),
)


def apply(store: SQLiteStore, change: Any, keys: list[str]) -> None:
    kind, what, more = change
    if kind == "commit":
        keys.append(f"e{len(keys)}")
        lived = episode(keys[-1], what, task=f"t{len(keys) % 3}", principal="p")
        commit(store, lived, "user_feedback" if more else "test")
    elif kind == "pending":
        keys.append(f"e{len(keys)}")
        store.commit(episode(keys[-1], what), Unscored("no outcome yet"), ())
    elif keys and kind == "outcome":
        key = keys[what % len(keys)]
        outcome = None if more is None else Outcome(more)
        lived = replace(store.episode(key), outcome=outcome)
        judgment = EnvironmentRewards().judge(lived)
        store.rederive(key, outcome, judgment, derive_rows(lived, judgment, gamma=GAMMA))
    elif keys and kind in ("quarantine", "restore"):
        status = "active" if kind == "restore" else "quarantined"
        store.set_status(status, episodes=[keys[what % len(keys)]])  # type: ignore[arg-type]


@settings(max_examples=150)
@given(
    st.lists(CHANGE, max_size=16),
    st.sampled_from(["default", "paper-web"]),
    st.sampled_from([frozenset[str](), frozenset({"t1"})]),
    st.sampled_from([Retrieval(), Retrieval(kind="embedding", threshold=0.1)]),
)
def test_a_view_that_followed_every_change_equals_one_made_at_the_end(
    changes: list[Any], preset: str, exclude: frozenset[str], retrieval: Retrieval
) -> None:
    rule, gone = load(preset).rule, frozenset({3})
    lens = Lens(rule, retrieval, GAMMA, exclude=exclude, without=gone, embedder=HashedWords())
    with SQLiteStore(":memory:") as store:
        keys: list[str] = []
        following = View(store, "s", lens)
        versions, looks = [0], [seen(following)]
        for change in changes:
            apply(store, change, keys)
            if change[0] == "look":
                versions.append(store.head())
                looks.append(seen(following))
        assert seen(following) == seen(View(store, "s", lens))
        again = View(store, "s", lens)
        for version, look in zip(versions, looks, strict=True):
            assert seen(again, version) == look
        middle = len(versions) // 2
        assert seen(View(store, "s", lens), versions[middle]) == looks[middle]


def test_what_happens_to_rules_does_not_have_the_rows_read_again() -> None:
    with SQLiteStore(":memory:") as store:
        commit(store, episode("e0", [(0, "go", 1.0)]))
        view = View(store, "s", Lens(load("default").rule, Retrieval(), GAMMA))
        view.refresh()
        before, rule = view.graph, sample_rule(scope="s")
        store.add_rules([rule])
        store.set_rule_status("active", [rule.id])
        view.refresh()
        assert view.graph is before
        assert view.version == store.head() == 3


def test_rewards_of_zero_and_one_in_turn_come_to_rest() -> None:
    with SQLiteStore(":memory:") as store:
        view = View(store, "s", Lens())
        for i in range(40):
            commit(store, episode(f"e{i}", [(i % 3, "go", float(i % 2)), (2, "end", 0.0)]))
            seen(view)
        assert view.center in (0.0, 1.0)
        assert seen(view) == seen(View(store, "s", Lens()))


def test_the_center_is_the_median_and_moving_it_counts_old_rows_anew() -> None:
    with SQLiteStore(":memory:") as store:
        view = View(store, "s", Lens())
        commit(store, episode("a", [(0, "go", 2.0), (2, "end", 0.0)]))
        assert seen(view)[0].neighbors[0].reward == 0.0
        assert view.center == 2.0
        for i in range(4):
            commit(store, episode(f"b{i}", [(1, "go", 0.0), (2, "end", 0.0)]))
        assert seen(view)[0].neighbors[0].reward == 2.0
        assert view.center == 0.0


def test_how_episodes_end_does_not_move_the_center() -> None:
    with SQLiteStore(":memory:") as store:
        view = View(store, "s", Lens())
        for i in range(9):
            commit(store, episode(f"won{i}", [(0, "go", 1.0)]))
        assert seen(view)[0].neighbors[0].reward == 1.0
        assert view.center == 0.0


def test_rows_left_out_are_counted_and_take_part_in_nothing() -> None:
    with SQLiteStore(":memory:") as store:
        commit(store, episode("a", [(0, "go", 1.0)], task="T1"))
        commit(store, episode("b", [(0, "stay", 1.0)], task="T2"))
        transfer = Session(View(store, "s", Lens(exclude=frozenset({"T1"}))))
        found = transfer.neighborhood(PLACES[0])
        assert [n.action for n in found.neighbors] == ["stay"]
        assert found.excluded == 1
        repeat = Session(View(store, "s", Lens())).neighborhood(PLACES[0])
        assert {n.action for n in repeat.neighbors} == {"go", "stay"}
        assert repeat.excluded == 0


def test_quarantine_gives_the_numbers_of_a_memory_that_never_held_the_episode() -> None:
    with SQLiteStore(":memory:") as store, SQLiteStore(":memory:") as clean:
        for s in (store, clean):
            commit(s, episode("a", [(0, "go", 0.0), (1, "go", 1.0)]))
        view = View(store, "s", Lens())
        before = seen(view)
        commit(store, episode("planted", [(0, "stay", 3.0)] * 3))
        assert seen(view) != before
        store.set_status("quarantined", episodes=["planted"])
        assert seen(view) == before == seen(View(clean, "s", Lens()))
        store.set_status("active", episodes=["planted"])
        assert seen(view) != before


def test_a_withdrawn_outcome_takes_its_rows_with_it() -> None:
    with SQLiteStore(":memory:") as store:
        view = View(store, "s", Lens())
        lived = episode("a", [(0, "go", 0.0)])
        store.commit(replace(lived, steps=lived.steps), Unscored("no outcome yet"), ())
        assert seen(view)[0].neighbors == ()
        for value in (1.0, 0.0, None):
            apply(store, ("outcome", 0, value), ["a"])
            rows = seen(view)[0].neighbors
        assert [n.ret for n in rows] == [0.0]  # its own step reward is left, and is the median


def test_a_compiled_kernel_is_used_where_asked_for_and_finds_the_same() -> None:
    compiled = pytest.importorskip("jitrl.memory.signature_numba")
    asked = []

    def scan(*args: Any) -> Any:
        asked.append(args)
        return kernel(*args)

    kernel, compiled.scan = compiled.scan, scan
    try:
        with SQLiteStore(":memory:") as store:
            commit(store, episode("a", [(0, "go", 0.0), (1, "go", 1.0)]))
            plain = seen(View(store, "s", Lens()))
            assert not asked
            assert seen(View(store, "s", Lens(kernel="numba"))) == plain
            assert asked
    finally:
        compiled.scan = kernel


def test_another_scope_is_another_memory() -> None:
    with SQLiteStore(":memory:") as store:
        commit(store, episode("a", [(0, "go", 1.0)]))
        assert Session(View(store, "other", Lens())).neighborhood(PLACES[0]).neighbors == ()


def test_a_commit_through_another_connection_is_seen_at_the_next_query(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "m.db") as mine, SQLiteStore(tmp_path / "m.db") as theirs:
        view = View(mine, "s", Lens())
        for i in range(5):
            commit(theirs, episode(f"e{i}", [(0, "go", 1.0)]))
            assert seen(view)[0].neighbors[0].visits == i + 1


def test_threads_that_decide_and_learn_at_once_leave_one_consistent_memory(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "m.db") as store:
        agent = Corrected(store, EnvironmentRewards(), Memory())
        failures: list[BaseException] = []

        def work(me: int) -> None:
            try:
                for turn in range(12):
                    run = agent.episode()
                    key = f"{me}/{turn}"
                    run.begin(Task("t", "t", "s"), key=key, rng=np.random.default_rng(me))
                    steps = []
                    for t in range(3):
                        choice = tuple(Candidate(a, 0.0) for a in ("go", "stay"))
                        proposal = Proposal(choice, "x", "x")
                        decision = run.act(PLACES[t], Prompt("t", ""), proposal)
                        after = PLACES[t + 1] if t < 2 else None
                        run.observe(None, after)
                        reward = float(decision.action == "go")
                        steps.append(
                            Transition(PLACES[t], decision.action, decision, reward, after)
                        )
                    run.learn(Episode(key, "t", "s", tuple(steps)))
            except BaseException as error:
                failures.append(error)
                raise

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        shared = agent.view("s")
        assert seen(shared) == seen(View(store, "s", agent.lens()))
        assert shared.version == store.head()
        assert sum(n.visits for n in seen(shared)[0].neighbors if n.similarity == 1.0) == 48


def test_a_slow_thread_never_takes_a_view_back() -> None:
    class Asked(SQLiteStore):
        """A store that tells when its newest version was asked for."""

        asked = threading.Event()

        def head(self) -> int:
            found = super().head()
            self.asked.set()
            return found

    with Asked(":memory:") as store:
        view = View(store, "s", Lens())
        commit(store, episode("a", [(0, "go", 1.0)]))
        with view.lock:
            slow = threading.Thread(target=view.refresh)
            slow.start()
            store.asked.wait(10)  # it knows of "a", and waits for the lock
            commit(store, episode("b", [(0, "go", 1.0)]))
            view.refresh()
        slow.join()
        assert view.version == store.head()
        assert seen(view)[0].neighbors[0].visits == 2


def test_one_scope_with_told_and_blind_judgments_is_warned_of_once() -> None:
    with SQLiteStore(":memory:") as store:
        view = View(store, "s", Lens())
        commit(store, episode("a", [(0, "go", 1.0)]))
        seen(view)
        commit(store, episode("b", [(0, "go", 1.0)]), told=True)
        with pytest.warns(MixedMemory, match="scope 's' mixes outcomes: blind, told"):
            view.refresh()
        commit(store, episode("c", [(0, "go", 1.0)]), told=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            view.refresh()


def test_a_second_scorer_in_a_scope_is_warned_of_also_after_a_restart() -> None:
    def act(agent: Corrected, scorer: str, key: str) -> None:
        run = agent.episode()
        run.begin(Task("t", "t", "s"), key=key, rng=np.random.default_rng(0))
        proposal = Proposal((Candidate("go", 0.0),), scorer, "m")
        decision = run.act(PLACES[0], Prompt("t", ""), proposal)
        run.observe(None, None)
        run.learn(Episode(key, "t", "s", (Transition(PLACES[0], "go", decision, 1.0),)))

    with SQLiteStore(":memory:") as store:
        act(Corrected(store, EnvironmentRewards(), Memory()), "letters", "a")
        later = Corrected(store, EnvironmentRewards(), Memory())
        act(later, "letters", "b")
        with pytest.warns(MixedMemory, match="scope 's' mixes scorers: letters, sequence"):
            act(later, "sequence", "c")
        act(later, "letters", "d")
