"""What the solved tasks of a memory teach: whose paths, from when on, and what takes it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.core.credit import derive_rows
from jitrl.core.rule import UpdateRule
from jitrl.core.similarity import Retrieval
from jitrl.core.update import decide
from jitrl.errors import StoreError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory.lessons import Lessons
from jitrl.memory.paths import loops, path
from jitrl.memory.session import Session
from jitrl.memory.view import Lens, View
from jitrl.ports import Outline
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import (
    Basis,
    Candidate,
    Decision,
    Episode,
    Neighborhood,
    Outcome,
    Row,
    Scored,
    State,
    Transition,
)

HOME = ("click(<link[Orders]>)", "click(<link[Help]>)", "click(<link[Stock]>)")
ORDERS = ("click(<button[Cancel]>)", "click(<button[Ship]>)", "click(<button[Print]>)", "back()")
VERBS = ("cancel", "ship", "print")
OFFERED = {"home": HOME, "orders": ORDERS, "start": ("click(<link[Home]>)", "back()")}
PAGES = ("home", "orders")
WIDE = Retrieval(threshold=0.3)

Lived = Sequence[tuple[str, str, float]]  # page, action, reward


def state(page: str, wanted: str) -> State:
    return State(f"the {page} page of a shop", wanted, page)


def decided(action: str, actions: Sequence[str]) -> Decision:
    proposed = [Candidate(a, 0.0) for a in actions]
    made = decide(proposed, (), UpdateRule(), np.random.default_rng(0))
    return replace(made, action=action)


def episode(key: str, task: str, lived: Lived, **changes: Any) -> Episode:
    wanted = changes.pop("goal", task)
    pages = [state(page, wanted) for page, _, _ in lived]
    steps = tuple(
        Transition(here, action, decided(action, OFFERED[here.place]), reward, after)
        for here, (_, action, reward), after in zip(pages, lived, [*pages[1:], None], strict=True)
    )
    info = {"goal": wanted, "features": "page"}
    return Episode(key, task, "s", steps, info=info, **changes)


def commit(store: SQLiteStore, lived: Episode, basis: Basis = "test") -> None:
    judgment = Scored(tuple(s.reward or 0.0 for s in lived.steps), "environment", basis)
    store.commit(lived, judgment, derive_rows(lived, judgment, gamma=0.6))


def solved(number: int, gain: float = 1.0) -> Lived:
    return [
        ("home", HOME[0], 0.0),
        ("orders", ORDERS[number % 3], gain),
    ]


def goal(number: int) -> str:
    return f"{VERBS[number % 3]} the order {100 + number}"


def fill(store: SQLiteStore, count: int, first: int = 0) -> None:
    for n in range(first, first + count):
        commit(store, episode(f"e{n}", f"t{n}", solved(n), goal=goal(n)))


def asked(
    view: View, page: str, wanted: str, task: str = "new", lessons_of: int = 0
) -> Neighborhood:
    near = Session(view, task=task).neighborhood(
        state(page, wanted),
        goal=wanted,
        features="page",
        actions=OFFERED[page],
        lessons_of=lessons_of,
    )
    return replace(near, version=0)


def all_asked(view: View) -> list[Neighborhood]:
    goals = [goal(n) for n in range(3)] + ["something else"]
    return [asked(view, page, g, task) for page in PAGES for g in goals for task in ("new", "t1")]


def best(near: Neighborhood) -> str:
    return max(near.transfer, key=lambda a: near.transfer[a])


def view_of(store: SQLiteStore, **changes: Any) -> View:
    return View(store, "s", Lens(**changes))


# --- from when on -------------------------------------------------------------------------------


def test_fewer_than_five_solved_tasks_teach_nothing_and_their_rows_count_as_before() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 4)
        commit(store, episode("again", "t0", solved(0), goal=goal(0)))
        near = asked(view_of(store, retrieval=WIDE), "orders", "cancel it")
        assert (near.lesson, near.transfer) == (None, {})
        assert {n.action for n in near.neighbors} >= set(ORDERS[:3])
        plain = view_of(store, retrieval=WIDE, rule=UpdateRule(transfer=0.0))
        assert near == asked(plain, "orders", "cancel it")


def test_from_five_on_rows_of_other_tasks_are_left_out_and_lessons_take_over() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 12)
        view = view_of(store, retrieval=WIDE)
        near = asked(view, "orders", "ship the order 7")
        assert near.neighbors == ()
        assert near.lesson is not None
        assert (near.lesson.tasks, near.lesson.trust) == (12, 1.0)
        assert near.lesson.strength > 0.0
        assert best(near) == "click(<button[Ship]>)"
        assert best(asked(view, "home", "ship the order 7")) == HOME[0]
        own = asked(view, "orders", goal(1), task="t1")
        assert {n.action for n in own.neighbors} == {HOME[0], ORDERS[1]}


def test_where_it_is_not_said_whose_episode_it_is_all_rows_count() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 12)
        near = asked(view_of(store, retrieval=WIDE), "orders", "ship the order 7", task="")
        assert {n.action for n in near.neighbors} >= set(ORDERS[:3])


def test_tasks_whose_choices_are_not_known_do_not_teach() -> None:
    with SQLiteStore(":memory:") as store:
        for n in range(6):
            lived = episode(f"e{n}", f"t{n}", solved(n), goal=goal(n))
            steps = tuple(replace(s, decision=None) for s in lived.steps)
            commit(store, replace(lived, steps=steps))
        near = asked(view_of(store), "orders", "ship it")
        assert (near.lesson, near.transfer) == (None, {})
        assert near.neighbors != ()
        fill(store, 4, first=6)
        assert asked(view_of(store), "orders", "ship it").lesson is None
        fill(store, 2, first=10)
        lesson = asked(view_of(store), "orders", "ship it").lesson
        assert lesson is not None
        assert lesson.tasks == 6


def test_a_strength_of_zero_leaves_an_empty_decision_empty() -> None:
    with SQLiteStore(":memory:") as store:
        for n in range(6):  # nothing in common
            lived = [("orders", ORDERS[n % 4], 1.0)]
            commit(store, episode(f"e{n}", f"t{n}", lived, goal=f"w{n}x y{n}z"))
        near = asked(view_of(store), "home", "unheard of")
        assert near.lesson is not None
        assert near.lesson.strength == 0.0
        made = decide(
            [Candidate(a, 0.0) for a in HOME], near, UpdateRule(), np.random.default_rng()
        )
        assert (made.reason, made.lesson) == ("empty", near.lesson)


def test_an_action_that_only_the_memory_knows_is_judged_like_the_others() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 12)
        commit(store, episode("own", "new", [("orders", ORDERS[1], 0.0)], goal="ship it"))
        view = view_of(store)

        def taught(allowed: Sequence[str] | None) -> Neighborhood:
            session = Session(view, task="new")
            return session.neighborhood(
                state("orders", "ship it"),
                goal="ship it",
                features="page",
                actions=[a for a in ORDERS if a != ORDERS[1]],
                allowed=allowed,
            )

        whole, offered = taught(ORDERS).transfer, taught(None).transfer
        assert max(whole, key=lambda a: whole[a]) == ORDERS[1]
        assert ORDERS[1] not in offered
        assert {a: whole[a] for a in offered} == offered


# --- paths --------------------------------------------------------------------------------------


def rows(*lived: tuple[str, float], neutral: float = 0.0) -> list[Row]:
    """Rows through states that are named by a letter."""
    steps = tuple(Transition(State(name), f"from {name}", None, r) for name, r in lived)
    one = Episode("e", "t", "s", steps)
    judgment = Scored(tuple(r + neutral for _, r in lived), "environment")
    return list(derive_rows(one, judgment, gamma=0.6))


def steps_of(*lived: tuple[str, float]) -> tuple[int, ...]:
    found = path(rows(*lived), 0.0)
    assert found is not None
    return found.steps


def test_a_loop_that_gained_nothing_is_taken_out() -> None:
    assert steps_of(("a", 0), ("b", 0), ("a", 0), ("c", 1)) == (2, 3)
    assert steps_of(("a", 0), ("b", 0), ("c", 0), ("b", 0), ("d", 1)) == (0, 3, 4)


def test_a_loop_that_gained_something_stays() -> None:
    assert steps_of(("a", 0), ("b", 1), ("a", 0), ("c", 1)) == (0, 1, 2, 3)
    assert steps_of(("a", 1), ("a", 1)) == (0, 1)


def test_a_loop_that_lost_what_it_gained_is_taken_out() -> None:
    assert steps_of(("a", 1), ("b", -1), ("a", 0), ("c", 1)) == (2, 3)


def test_a_path_is_cut_after_the_last_gain() -> None:
    assert steps_of(("a", 0), ("b", 1), ("c", 0), ("d", -0.5)) == (0, 1)


def test_the_order_of_words_does_not_tell_states_apart_and_place_and_context_do() -> None:
    lived = rows(*[("x", 0.0)] * 3, ("y", 1.0))

    def of(*states: State) -> tuple[int, ...]:
        made = [replace(r, state=s) for r, s in zip(lived, states, strict=True)]
        found = path(made, 0.0)
        assert found is not None
        return found.steps

    end = State("end")
    assert of(State("a b"), State("c"), State("b, A"), end) == (2, 3)
    assert of(State("a", place="p"), State("c"), State("a", place="q"), end) == (0, 1, 2, 3)
    assert of(State("a", "p"), State("c"), State("a", "q"), end) == (0, 1, 2, 3)


def test_what_gained_nothing_has_no_path() -> None:
    assert path(rows(("a", 0), ("b", 0)), 0.0) is None
    assert path(rows(("a", 1), ("b", -1)), 0.0) is None
    assert path(rows(("a", 1), ("b", 0)), 1.0) is None


def test_what_a_way_back_brought_by_hand() -> None:
    lived = rows(("a", -0.1), ("b", -0.3), ("a", 0.0), ("a", 5.0))
    assert list(loops(lived)) == pytest.approx([-0.2, 0.0])


STEP = st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.0, 1.0, -1.0]))


@given(st.lists(STEP, min_size=1, max_size=10), st.sampled_from([-2.0, -0.1, 0.3, 1.0]))
def test_a_path_does_not_depend_on_what_a_neutral_step_is_paid(
    lived: list[tuple[str, float]], constant: float
) -> None:
    assert path(rows(*lived, neutral=constant), constant) == path(rows(*lived), 0.0)


@given(st.lists(STEP, min_size=1, max_size=10))
def test_a_path_gains_what_its_episode_gained_up_to_its_end(
    lived: list[tuple[str, float]],
) -> None:
    found = path(rows(*lived), 0.0)
    if found is not None:
        assert found.gain == pytest.approx(sum(r for _, r in lived))
        assert lived[found.steps[-1]][1] > 0.0
        assert list(found.steps) == sorted(set(found.steps))
        cut = sum(r for _, r in lived[: found.steps[-1] + 1])
        assert sum(lived[i][1] for i in found.steps) == pytest.approx(cut)


def paths(store: SQLiteStore) -> dict[str, tuple[int, ...]]:
    fit = fit_of(view_of(store))
    return {p.episode: p.steps for p in fit.paths}


def fit_of(view: View) -> Any:
    view.refresh()
    assert view.lessons is not None
    fit = view.lessons.fit()
    assert fit is not None
    return fit


WAYS: dict[str, Lived] = {
    "long": [("start", "back()", 0.0), *solved(0)],
    "short": solved(0),
    "rich": [("start", "back()", 0.0), *solved(0, gain=2.0)],
    "failed": [("home", HOME[1], 0.0)],
}


@pytest.mark.parametrize(
    ("order", "kept"),
    [
        (("long", "short"), "short"),
        (("short", "long"), "short"),
        (("short", "rich"), "rich"),
        (("rich", "short"), "rich"),
        (("failed", "long"), "long"),
        (("long", "failed"), "long"),
        (("short", "short"), "short"),
    ],
)
def test_of_a_tasks_episodes_the_one_that_gained_most_counts_then_the_shortest(
    order: tuple[str, str], kept: str
) -> None:
    with SQLiteStore(":memory:") as store:
        for n, way in enumerate(order):
            commit(store, episode(f"{way}{n}", "t0", WAYS[way], goal=goal(0)))
        fill(store, 8, first=1)
        found = [key for key in paths(store) if key[0] != "e"]
        assert found == [f"{kept}{order.index(kept)}"]


@pytest.mark.parametrize("constant", [-1.0, -0.1, 0.25])
def test_a_constant_on_all_rewards_changes_neither_paths_nor_lessons(constant: float) -> None:
    def filled(more: float) -> tuple[Any, list[Neighborhood], float]:
        with SQLiteStore(":memory:") as store:
            for n in range(9):
                detour = [("home", HOME[1], 0.0), ("home", HOME[2], 0.0)] if n % 2 else []
                lived = [(p, a, r + more) for p, a, r in [*detour, *solved(n)]]
                commit(store, episode(f"e{n}", f"t{n}", lived, goal=goal(n)))
            wasted = [("home", HOME[1], more)] * 4
            commit(store, episode("lost", "t99", wasted, goal="cancel it all"))
            view = view_of(store)
            fit = fit_of(view)
            taught = [asked(view, page, goal(n), "new") for page in PAGES for n in range(3)]
            assert view.lessons is not None
            return fit.paths, taught, view.lessons.observed

    (plain, taught, _), (moved, others, neutral) = filled(0.0), filled(constant)
    assert neutral == pytest.approx(constant)
    assert moved == plain
    assert [(n.lesson, n.transfer) for n in others] == [(n.lesson, n.transfer) for n in taught]


# --- what takes it back -------------------------------------------------------------------------


def test_a_task_that_is_left_out_teaches_nothing() -> None:
    with SQLiteStore(":memory:") as store, SQLiteStore(":memory:") as other:
        fill(store, 12)
        fill(other, 11)
        assert [
            (n.lesson, n.transfer, n.neighbors)
            for n in all_asked(view_of(store, exclude=frozenset({"t11"})))
        ] == [(n.lesson, n.transfer, n.neighbors) for n in all_asked(view_of(other))]


def test_failed_attempts_at_a_task_weaken_what_others_teach_it_until_it_is_solved() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 12)
        view = view_of(store)
        first = asked(view, "orders", "ship it")
        commit(store, episode("f0", "new", WAYS["failed"], goal="ship it"))
        second = asked(view, "orders", "ship it")
        assert first.lesson is not None
        assert second.lesson is not None
        assert second.lesson.trust == pytest.approx(0.48 / 0.64 / 0.8)
        for action, nats in first.transfer.items():
            assert second.transfer[action] == pytest.approx(nats * second.lesson.trust)
        assert asked(view, "orders", "ship it", task="another").lesson == first.lesson
        commit(store, episode("f1", "new", solved(1), goal="ship it"))
        third = asked(view, "orders", "ship it").lesson
        assert third is not None
        assert third.trust == 1.0


@pytest.mark.parametrize("basis", ["llm_judge", "user_feedback", "import"])
def test_what_rests_on_no_trusted_basis_teaches_nothing(basis: Basis) -> None:
    with SQLiteStore(":memory:") as store:
        for n in range(12):
            commit(store, episode(f"e{n}", f"t{n}", solved(n), goal=goal(n)), basis)
        near = asked(view_of(store), "orders", "ship it")
        assert (near.lesson, near.transfer) == (None, {})
        trusting = view_of(store, trusted=frozenset({basis}))
        assert asked(trusting, "orders", "ship it").lesson is not None


def test_a_quarantined_row_takes_the_whole_lesson_of_its_episode_with_it() -> None:
    with SQLiteStore(":memory:") as store, SQLiteStore(":memory:") as never:
        fill(store, 9)
        looping = [("home", HOME[1], -0.5), *solved(9)]
        commit(store, episode("e9", "t9", looping, goal=goal(9)))
        fill(store, 3, first=10)
        fill(never, 9)
        fill(never, 3, first=10)
        view = view_of(store)
        before = all_asked(view)

        def taught(found: list[Neighborhood]) -> list[Any]:
            return [(n.lesson, n.transfer) for n in found]

        [*ids] = (row.id for row in store.rows("e9"))
        store.set_status("quarantined", rows=ids[:1])
        expected = taught(all_asked(view_of(never)))
        assert taught(all_asked(view)) == expected != taught(before)
        assert view.lessons is not None
        assert view.lessons.observed == 0.0
        assert taught(all_asked(view_of(store))) == expected
        store.set_status("active", rows=ids[:1])
        assert all_asked(view) == before
        without = view_of(store, without=frozenset(ids))
        assert taught(all_asked(without)) == expected


def test_a_late_outcome_makes_an_episode_teach_and_its_withdrawal_takes_it_back() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 9)
        pending = episode("e9", "t9", solved(9, gain=0.0), goal=goal(9))
        commit(store, pending)
        view = view_of(store)
        before = all_asked(view)
        for outcome, tasks in ((Outcome(1.0), 10), (None, 9)):
            lived = replace(store.episode("e9"), outcome=outcome)
            judgment = EnvironmentRewards().judge(lived)
            store.rederive("e9", outcome, judgment, derive_rows(lived, judgment, gamma=0.6))
            assert len(fit_of(view).goals) == tasks
            assert all_asked(view) == all_asked(view_of(store))
        assert [n.transfer for n in all_asked(view)] == [n.transfer for n in before]


def test_two_processes_see_the_same_lessons(tmp_path: File) -> None:
    file = tmp_path / "m.db"
    with SQLiteStore(file) as mine, SQLiteStore(file) as theirs:
        one, other = view_of(mine), view_of(theirs)
        for n in range(14):
            fill(mine if n % 2 else theirs, 1, first=n)
            assert all_asked(one) == all_asked(other)


def test_a_view_that_stops_at_a_version_learns_from_nothing_later() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 7)
        head, then = store.head(), all_asked(view_of(store))
        fill(store, 7, first=7)
        view = view_of(store)
        view.refresh(head)
        assert view.lessons is not None
        found = view.lessons.fit()
        assert found is not None
        assert len(found.goals) == 7
        goals = [goal(n) for n in range(3)] + ["something else"]
        again = [
            Session(view, head, task).neighborhood(
                state(page, g), goal=g, features="page", actions=OFFERED[page]
            )
            for page in PAGES
            for g in goals
            for task in ("new", "t1")
        ]
        assert [replace(n, version=0) for n in again] == then


def test_a_fit_that_was_begun_in_pieces_is_finished_for_who_asks() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 7)
        view, whole = view_of(store), view_of(store)
        view.refresh()
        assert view.fit_on()
        assert view.is_fit_due
        assert all_asked(view) == all_asked(whole)
        assert not view.is_fit_due
        assert not view.fit_on()


def test_lessons_fitted_aside_are_those_of_before_until_the_newest_are_done() -> None:
    with SQLiteStore(":memory:") as store:
        view = View(store, "s", Lens(), fits_aside=True)
        fill(store, 7)
        first = asked(view, "home", goal(0))  # nothing was learned before, so this waits
        assert first.lesson is not None
        fill(store, 4, first=7)
        view.refresh()
        assert not view.is_fit_due
        during = asked(view, "home", goal(0))
        assert during.lesson is not None
        assert (during.lesson.tasks, during.transfer) == (first.lesson.tasks, first.transfer)
        of = during.lesson.version
        assert 0 < of < store.head()
        assert asked(view_of(store), "home", goal(0), lessons_of=of) == during
        while view.fit_on():
            pass
        newest = asked(view, "home", goal(0))
        assert newest == asked(view_of(store), "home", goal(0)) != during


def test_a_decision_waits_for_lessons_that_were_left_behind_for_too_long() -> None:
    with SQLiteStore(":memory:") as store:
        view = View(store, "s", Lens(), fits_aside=True)
        fill(store, 5)
        asked(view, "home", goal(0))
        for n in range(5, 12):
            fill(store, 1, first=n)
            near = asked(view, "home", goal(0))
            assert near.lesson is not None
            assert near.lesson.tasks >= n + 1 - 4  # of five to twelve tasks, each is a new fit


def test_a_fit_that_fails_half_way_is_still_due() -> None:
    with SQLiteStore(":memory:") as store:
        fill(store, 7)
        gone = {"e3"}

        def journal(key: str) -> Outline:
            if key in gone:
                raise StoreError(f"{key} is gone")
            return store.outline(key)

        flaky, whole = Lessons(journal, 1.0), Lessons(store.outline, 1.0)
        for n in range(7):
            flaky.take_in(store.rows(f"e{n}"))
            whole.take_in(store.rows(f"e{n}"))
        with pytest.raises(StoreError, match="e3 is gone"):
            flaky.fit()
        assert flaky.is_due
        gone.clear()
        found, wanted = flaky.fit(), whole.fit()
        assert found is not None
        assert wanted is not None
        assert found.weight == wanted.weight


CHANGE = st.one_of(
    st.tuples(st.just("solved"), st.integers(0, 8), st.sampled_from([1.0, 2.0])),
    st.tuples(st.just("solved"), st.integers(0, 8), st.just(1.0)),
    st.tuples(st.just("looped"), st.integers(0, 8), st.sampled_from([-0.5, 0.0, 0.25])),
    st.tuples(st.just("failed"), st.integers(0, 8), st.just(0.0)),
    st.tuples(st.just("untrusted"), st.integers(0, 8), st.just(1.0)),
    st.tuples(st.just("quarantined"), st.integers(0, 20), st.just(0.0)),
    st.tuples(st.just("active"), st.integers(0, 20), st.just(0.0)),
    st.tuples(st.just("outcome"), st.integers(0, 20), st.sampled_from([-1.0, 0.0, 1.0])),
)


def apply(store: SQLiteStore, change: tuple[str, int, float], keys: list[str]) -> None:
    kind, which, number = change
    lived = {
        "solved": solved(which, number),
        "untrusted": solved(which, number),
        "looped": [("home", HOME[1], number), ("home", HOME[2], number), *solved(which)],
        "failed": WAYS["failed"],
    }.get(kind)
    if lived is not None:
        keys.append(f"e{len(keys)}")
        made = episode(keys[-1], f"t{which}", lived, goal=goal(which))
        commit(store, made, "import" if kind == "untrusted" else "test")
    elif keys and kind == "outcome":
        key = keys[which % len(keys)]
        old = replace(store.episode(key), outcome=Outcome(number))
        judgment = EnvironmentRewards().judge(old)
        store.rederive(key, old.outcome, judgment, derive_rows(old, judgment, gamma=0.6))
    elif keys:
        row = store.rows(keys[which % len(keys)])[0]
        store.set_status(kind, rows=[row.id])  # type: ignore[arg-type]


@settings(max_examples=20)
@given(st.lists(CHANGE, min_size=12, max_size=24), st.lists(st.integers(0, 60), min_size=24))
def test_what_lessons_fitted_aside_gave_is_found_again_from_the_version_it_names(
    changes: list[tuple[str, int, float]], pieces: list[int]
) -> None:
    with SQLiteStore(":memory:") as store:
        keys: list[str] = []
        view = View(store, "s", Lens(), fits_aside=True)
        for change, ahead in zip(changes, pieces, strict=False):
            apply(store, change, keys)
            view.refresh()
            for _ in range(ahead):
                view.fit_on()
            near = asked(view, "home", goal(0))
            of = 0 if near.lesson is None else near.lesson.version
            assert asked(view_of(store), "home", goal(0), lessons_of=of) == near


@settings(max_examples=20)
@given(
    st.lists(CHANGE, min_size=8, max_size=24),
    st.sampled_from([frozenset[str](), {"t1"}]),
    st.integers(0, 15),
)
def test_lessons_that_followed_every_change_are_those_of_a_view_made_afresh(
    changes: list[tuple[str, int, float]], exclude: frozenset[str], ahead: int
) -> None:
    with SQLiteStore(":memory:") as store:
        keys: list[str] = []
        following = view_of(store, exclude=frozenset(exclude))
        for number, change in enumerate(changes):
            apply(store, change, keys)
            following.refresh()
            for _ in range(ahead):  # pieces of a fit, which the next change may overtake
                following.fit_on()
            if number % 3 == 0 or number == len(changes) - 1:
                fresh = view_of(store, exclude=frozenset(exclude))
                assert all_asked(following) == all_asked(fresh)
