"""The graph: robust means, values and novelty that travel backwards."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.core.cells import ENDS, REWARD, SEEN, SOURCES, VISITS, Cells, Means, Q
from jitrl.core.graph import Graph, Step

GAMMA, ONWARD = 0.6, 0.8


def path(*steps: tuple[int, str, float, int | None], novelty: float = 0.5) -> list[Step]:
    return [Step(s, a, r, r, after, after is None, novelty) for s, a, r, after in steps]


def backed_up(graph: Graph, cell: int, value: Callable[[int], float]) -> float:
    """Q by its definition."""
    ahead = sum(times * value(state) for state, times in graph.cells.next(cell))
    return graph.cells.number(cell, REWARD) + GAMMA * ahead / graph.cells.number(cell, SEEN)


def robust(*values: float) -> float:
    means = Means()
    means.start()
    at = means.start()  # the second of two, so that a mean is told from its neighbor
    mean = 0.0
    for value in values:
        mean = means.add(at, value)
    return mean


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=20))
def test_from_three_on_the_extremes_count_as_their_neighbors(values: list[float]) -> None:
    mean = robust(*values)
    kept = sorted(values)
    kept[0], kept[-1] = kept[1], kept[-2]
    assert mean == pytest.approx(np.mean(kept), abs=1e-9)


def test_one_and_two_values_are_averaged_as_they_are() -> None:
    assert robust(4.0) == 4.0
    assert robust(4.0, 1.0) == 2.5


def test_one_voice_among_three_moves_nothing_however_loud() -> None:
    assert robust(0.1, 0.2, 1e6) == pytest.approx(robust(0.1, 0.2, 0.2), abs=0.05)
    assert robust(1.0, 1.0, 1e17, 1.0) == 1.0
    assert robust(1.0, -1e300, 1.0) == 1.0


def test_a_value_is_the_reward_and_what_the_next_states_are_worth() -> None:
    graph = Graph(GAMMA, ONWARD)
    graph.learn(path((0, "go", 0.0, 1), (1, "go", 0.0, 2), (2, "take", 1.0, None)))
    assert [graph.value(s) for s in range(3)] == pytest.approx([0.36, 0.6, 1.0])
    assert graph.value(9) == 0.0
    graph.learn(path((1, "jump", 0.0, 2), (2, "drop", -1.0, None)))
    assert graph.value(2) == pytest.approx(1.0)


def test_an_end_is_worth_nothing_and_shares_in_the_mean() -> None:
    graph = Graph(GAMMA, ONWARD)
    graph.learn(path((1, "take", 1.0, None)))
    graph.learn(path((0, "go", 0.0, 1)))
    graph.learn(path((0, "go", 0.0, None)))
    cells, cell = graph.cells, graph.at(0)["go"]
    assert [cells.number(cell, x) for x in (VISITS, ENDS, SEEN)] == [2, 1, 2]
    assert cells.number(cell, Q) == backed_up(graph, cell, graph.value)
    assert cells.number(cell, Q) == pytest.approx(0.5 * GAMMA)


def test_what_is_taken_twice_in_an_episode_counts_once_as_a_source() -> None:
    graph = Graph(GAMMA, ONWARD)
    graph.learn(path((0, "take", 1.0, 0), (0, "take", 0.0, 0)))
    graph.learn(path((0, "take", 1.0, 0), (0, "take", 0.2, 0)))
    cells, cell = graph.cells, graph.at(0)["take"]
    assert [cells.number(cell, x) for x in (VISITS, SOURCES, REWARD)] == [4, 2, 1.0]
    assert cells.again(cell) == pytest.approx(0.1)


def test_the_usual_next_state_is_the_most_frequent_and_the_first_among_equals() -> None:
    cells = Cells()
    cell, times = cells.start("go"), dict[int, int]()
    for after, usual in ((1, 1), (2, 1), (2, 2), (1, 1), (3, 1)):
        times[after] = times.get(after, 0) + 1
        assert cells.visit(cell, 0, after, False) == (times[after] == 1)
        assert dict(cells.next(cell)) == times
        assert cells.usual[cell] == usual == max(times, key=times.__getitem__)


def test_novelty_is_ones_own_or_what_lies_behind_discounted() -> None:
    graph = Graph(GAMMA, ONWARD)
    graph.learn(path((0, "go", 0.0, 1), novelty=0.1))
    assert graph.novelty(0) == pytest.approx(ONWARD)  # 1 was never acted in
    graph.learn(path((1, "end", 0.0, None), novelty=0.3))
    assert graph.novelty(1) == pytest.approx(0.3)
    assert graph.novelty(0) == pytest.approx(ONWARD * 0.3)
    assert graph.novelty(7) == 1.0


def test_the_reach_is_what_two_episodes_bear_out() -> None:
    graph = Graph(GAMMA, ONWARD)
    graph.learn(path((0, "go", 3.0, None)))
    assert graph.reach == 3.0
    graph.learn(path((0, "go", 1.0, None)))
    assert graph.reach == 1.0
    graph.learn(path((0, "go", -2.0, None)))
    assert graph.reach == 2.0
    graph.learn(path((0, "go", 100.0, None)))
    assert graph.reach == 3.0


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_values_settle_where_value_iteration_does(seed: int) -> None:
    rng, graph, states = np.random.default_rng(seed), Graph(GAMMA, ONWARD), 8
    for _ in range(30):
        at, steps = int(rng.integers(states)), []
        for _ in range(6):
            after = int(rng.integers(states))
            steps.append((at, "ab"[int(rng.integers(2))], float(rng.normal()), after))
            at = after
        graph.learn(path(*steps))
    value = np.zeros(states)
    for _ in range(100):
        value = np.array(
            [
                max(
                    (
                        backed_up(graph, cell, value.__getitem__)
                        for cell in graph.at(state).values()
                    ),
                    default=0.0,
                )
                for state in range(states)
            ]
        )
    settled = np.array([graph.value(s) for s in range(states)])
    np.testing.assert_allclose(settled, value, atol=0.02 * graph.reach)


def test_a_long_backlog_does_not_keep_an_episode_from_counting_at_once() -> None:
    graph = Graph(GAMMA, ONWARD)
    for i in range(1, 3000):  # thousands of states that lead to the same one
        graph.learn(path((i, "go", 0.0, 0)))
    graph.learn(path((0, "take", 1.0, None)))
    graph.learn(path((5000, "go", 0.0, 0)))
    assert graph.value(5000) == pytest.approx(GAMMA)
