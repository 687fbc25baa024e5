"""The overlay: the present episode on top of the graph."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.core.graph import Graph, Step
from jitrl.core.overlay import Overlay

GAMMA, ONWARD = 0.6, 0.8


def graph(*steps: tuple[int, str, float, int | None]) -> Graph:
    made = Graph(GAMMA, ONWARD)
    made.learn([Step(s, a, r, r, after, after is None, 0.5) for s, a, r, after in steps])
    return made


def test_without_steps_it_is_the_graph() -> None:
    known = graph((0, "go", 0.0, 1), (1, "take", 1.0, None))
    overlay = Overlay(known)
    assert (overlay.value(0), overlay.novelty(0)) == (known.value(0), known.novelty(0))
    assert overlay.q(1, "take", known.at(1)["take"]) == pytest.approx(1.0)
    assert overlay.q(1, "jump", None) == 0.0


def test_what_was_taken_is_worth_only_what_it_leads_to() -> None:
    known = graph((0, "go", 0.0, 1), (1, "take", 1.0, 2), (2, "take", 2.0, None))
    overlay = Overlay(known)
    overlay.step(1, "take", 2, 0.1, 1.0)
    assert overlay.q(1, "take", known.at(1)["take"]) == pytest.approx(GAMMA * 2.0)
    assert overlay.value(0) == known.value(0)  # not a state of this episode


def test_news_reaches_the_earlier_states_of_the_episode() -> None:
    known = graph((0, "go", 0.0, 1), (1, "take", 1.0, None))
    overlay = Overlay(known)
    overlay.step(0, "go", 1, 0.1, None)
    assert overlay.value(0) == pytest.approx(GAMMA)
    overlay.step(1, "take", None, 0.1, None)
    assert overlay.value(0) == pytest.approx(0.0)
    assert overlay.novelty(0) == pytest.approx(0.1)


def test_a_shown_reward_is_the_first_one_that_was_shown() -> None:
    overlay = Overlay(graph())
    for reward in (None, 1.0, 5.0):
        overlay.step(0, "take", 0, 0.5, reward)
    assert overlay.states() == [0]
    taken = overlay.taken_in(0)["take"]
    assert (taken.times, taken.reward) == (3, 1.0)
    assert overlay.repeats == {"take": 3}
    assert overlay.taken_in(7) == {}


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("ab"), st.integers(0, 4)),
        min_size=1,
        max_size=25,
    ),
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.floats(-1, 1), st.integers(0, 4)),
        max_size=8,
    ),
)
def test_values_of_the_episodes_states_are_consistent_with_each_other(
    steps: list[tuple[int, str, int]], before: list[tuple[int, str, float, int]]
) -> None:
    known = graph(*before)
    overlay = Overlay(known)
    for state, action, after in steps:
        overlay.step(state, action, after, 0.3, None)
    for state in {s for s, _, _ in steps}:
        cells = known.at(state)
        actions = dict.fromkeys((*cells, *overlay.taken_in(state)))
        best = max((overlay.q(state, a, cells.get(a)) for a in actions), default=0.0)
        assert overlay.value(state) == pytest.approx(best, abs=0.02)
