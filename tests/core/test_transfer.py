"""The conditional logit over solved tasks: its fit, what it is trusted with, and by hand."""

from __future__ import annotations

from collections.abc import Generator
from math import exp, log, sqrt
from typing import TypeVar, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from jitrl.core.transfer import (
    STRENGTHS,
    Block,
    Choice,
    Design,
    fitting,
    groups,
    likeness,
    log_softmax,
    strength,
    trials,
    trust,
)

T = TypeVar("T")
NAMES = [(f"f{i}",) for i in range(6)]


def made(seed: int, tasks: int = 8, steps: int = 3) -> list[list[Choice]]:
    """Tasks whose choices follow features 0 (for) and 1 (against), with a noisy prior."""
    rng = np.random.default_rng(seed)

    def choice() -> Choice:
        size = int(rng.integers(2, 6))
        found = [
            {NAMES[int(k)]: float(rng.normal()) for k in rng.choice(6, 3, replace=False)}
            for _ in range(size)
        ]
        z = rng.normal(size=size)
        wanted = [2.0 * f.get(NAMES[0], 0.0) - 2.0 * f.get(NAMES[1], 0.0) for f in found]
        return Choice(log_softmax(z), int((z + wanted).argmax()), found)

    return [[choice() for _ in range(steps)] for _ in range(tasks)]


def columns(tasks: list[list[Choice]]) -> Design:
    return Design([Block(choices) for choices in tasks])


def at_once(pieces: Generator[None, None, T]) -> T:
    """What a calculation that pauses gives, without a pause."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return cast(T, end.value)


def fitted(design: Design, weight: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """The only fit of one weighing, shape [F]."""
    [w] = at_once(fitting(design, weight[None], None if start is None else start[None]))
    return np.asarray(w)


def by_name(design: Design, w: np.ndarray) -> dict[tuple[str, ...], float]:
    return dict(zip(design.place, w.tolist(), strict=True))


def whole(design: Design) -> np.ndarray:
    return np.ones(len(design.task))


def test_the_logarithms_of_a_softmax_by_hand() -> None:
    assert log_softmax(np.array([log(3.0), 0.0])) == pytest.approx([log(0.75), log(0.25)])
    assert log_softmax(np.array([0.0, -1e100])).tolist() == [0.0, -50.0]


@pytest.mark.parametrize(("tasks", "needs"), [([], "a task"), ([[]], "a choice")])
def test_nothing_is_fitted_to_no_task_or_to_one_without_choices(
    tasks: list[list[Choice]], needs: str
) -> None:
    with pytest.raises(ValueError, match=f"needs {needs}"):
        columns(tasks)


def test_the_loss_of_one_choice_by_hand() -> None:
    design = columns([[Choice(np.log([0.25, 0.75]), 0, [{("x",): 2.0}, {("y",): 1.0}])]])
    w = np.array([0.5, 0.0])
    p = 0.25 * exp(1.0) / (0.25 * exp(1.0) + 0.75)
    loss, slope = design.loss(w, whole(design))
    assert loss == pytest.approx(0.15 * 0.25 - log(p))
    assert slope == pytest.approx([2.0 * (p - 1.0) + 0.3 * 0.5, 1.0 - p])


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_finite_differences(seed: int) -> None:
    design = columns(made(seed))
    rng = np.random.default_rng(seed)
    w, weight = rng.normal(size=len(design.place)), rng.random(len(design.task))
    _, slope = design.loss(w, weight)
    for i in range(len(w)):
        step = np.zeros(len(w))
        step[i] = 1e-6
        higher, lower = design.loss(w + step, weight)[0], design.loss(w - step, weight)[0]
        assert slope[i] == pytest.approx((higher - lower) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_is_the_minimum(seed: int) -> None:
    design = columns(made(seed, tasks=20))
    w = fitted(design, whole(design))
    loss, slope = design.loss(w, whole(design))
    assert np.abs(slope).max() < 1e-3
    # The ridge makes the loss strongly convex: nothing is lower than this.
    assert loss <= design.loss(np.zeros(len(w)), whole(design))[0]
    plain = np.zeros(len(w))
    for _ in range(4000):
        plain -= 0.01 * design.loss(plain, whole(design))[1]
    assert loss == pytest.approx(design.loss(plain, whole(design))[0], abs=1e-4)
    assert w == pytest.approx(plain, abs=5e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_is_scipys_minimum(seed: int) -> None:
    design = columns(made(seed, tasks=20))
    found = optimize.minimize(
        design.loss, np.zeros(len(design.place)), (whole(design),), "L-BFGS-B", jac=True
    )
    w = fitted(design, whole(design))
    assert design.loss(w, whole(design))[0] == pytest.approx(found.fun, abs=1e-4)
    assert w == pytest.approx(found.x, abs=5e-3)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_the_fit_does_not_depend_on_the_order_of_the_tasks(seed: int, shuffler: object) -> None:
    tasks = made(seed)
    one = columns(tasks)
    shuffler.shuffle(tasks)  # type: ignore[attr-defined]
    other = columns(tasks)
    mine, theirs = (by_name(d, fitted(d, whole(d))) for d in (one, other))
    assert mine == {name: pytest.approx(theirs[name], abs=5e-3) for name in mine}


@pytest.mark.parametrize("seed", range(5))
def test_fits_side_by_side_are_those_of_each_alone_to_the_last_bit(seed: int) -> None:
    design = columns(made(seed, tasks=12))
    rng = np.random.default_rng(seed)
    weight = (rng.random((6, len(design.task))) < 0.7).astype(float)
    weight[5] = 0.0  # done before its first step
    together = at_once(fitting(design, weight))
    for mine, alone in zip(together, weight, strict=True):
        assert mine.tolist() == fitted(design, alone).tolist()


def test_a_fit_that_starts_elsewhere_ends_at_the_same_place() -> None:
    design = columns(made(1))
    start = np.full(len(design.place), 3.0)
    assert fitted(design, whole(design), start) == pytest.approx(
        fitted(design, whole(design)), abs=5e-3
    )
    assert start.tolist() == [3.0] * len(start)


def test_the_ridge_keeps_a_single_choice_from_going_too_far() -> None:
    choice = Choice(np.log([0.5, 0.5]), 0, [{("x",): 1.0}, {}])
    small, large = (columns([[choice] * n]) for n in (1, 50))
    [w], [more] = fitted(small, whole(small)), fitted(large, whole(large))
    assert 0.3 * w == pytest.approx(1.0 / (1.0 + exp(w)), abs=1e-3)  # ridge against evidence
    assert 0.0 < w < 1.2 < more < 10.0


def test_what_is_left_out_of_a_fit_does_not_count() -> None:
    tasks = made(2)
    both, alone = columns(tasks), columns(tasks[:4])
    w = fitted(both, (both.task < 4).astype(float))
    found = by_name(both, w)
    for name, value in by_name(alone, fitted(alone, whole(alone))).items():
        assert found[name] == pytest.approx(value, abs=5e-3)


def test_with_nothing_learned_the_prior_is_left_as_it_is() -> None:
    tasks = made(3)
    design = columns(tasks)
    p = design.log_probabilities(design.scores(np.zeros(len(design.place))))
    assert p == pytest.approx(np.concatenate([c.z for task in tasks for c in task]))
    assert not design.gains(np.zeros(len(design.place)), np.arange(8)).any()


def test_what_all_candidates_share_changes_no_probability() -> None:
    z = log_softmax(np.array([0.3, -0.2, 1.0]))
    lone = [{("x",): 1.0}, {("y",): 1.0}, {}]
    shared = [f | {("s",): 2.0} for f in lone]
    one, other = columns([[Choice(z, 0, lone)]]), columns([[Choice(z, 0, shared)]])
    w, more = (by_name(d, fitted(d, whole(d))) for d in (one, other))
    assert more["s",] == pytest.approx(0.0, abs=1e-9)
    assert {name: more[name] for name in w} == {n: pytest.approx(v) for n, v in w.items()}


def test_a_constant_on_all_logits_changes_nothing() -> None:
    z = np.array([0.3, -0.2, 1.0])
    assert log_softmax(z + 5.0) == pytest.approx(log_softmax(z))


def test_gains_are_those_of_a_choice_by_hand() -> None:
    found = [{("x",): 1.0}, {("y",): 1.0}]
    one, other = Choice(np.log([0.5, 0.5]), 0, found), Choice(np.log([0.5, 0.5]), 1, found)
    design = columns([[one, other], [one]])
    gains = design.gains(np.array([2.0, 0.0]), np.array([1, 0]))
    for k, c in enumerate(STRENGTHS.tolist()):
        up = 2.0 * c - log((exp(2.0 * c) + 1.0) / 2.0)
        down = -log((exp(2.0 * c) + 1.0) / 2.0)
        assert gains[0, k] == pytest.approx(up)
        assert gains[1, k] == pytest.approx((up + down) / 2.0)


# --- what it is followed with -------------------------------------------------------------------


def test_without_evidence_nothing_is_followed() -> None:
    assert strength(np.zeros(0), np.zeros((0, len(STRENGTHS))), 0.5) == 0.0
    far = np.ones(3)
    assert strength(far, np.tile(STRENGTHS, (3, 1)), 0.0) == 0.0


def test_a_gain_that_is_sure_is_followed_and_one_that_is_not_is_not() -> None:
    near = np.full(20, 0.5)
    sure = np.tile(STRENGTHS, (20, 1))
    assert strength(near, sure, 0.5) == 1.5
    doubtful = sure * np.where(np.arange(20) % 2, 1.0, -0.99)[:, None]
    assert strength(near, doubtful, 0.5) == 0.0
    assert strength(near, -sure, 0.5) == 0.0


def test_the_strength_is_the_one_with_the_best_lower_bound_by_hand() -> None:
    near, gains = np.array([0.5, 0.65]), np.zeros((2, len(STRENGTHS)))
    gains[:, 1], gains[:, 4] = (0.2, 0.2), (1.0, 0.0)
    weight = [1.0, exp(-1.0)]
    mass = sum(weight)

    def bound(a: float, b: float) -> float:
        mean = (weight[0] * a + weight[1] * b) / (mass + 1.0)
        spread = weight[0] * (a - mean) ** 2 + weight[1] * (b - mean) ** 2 + mean**2
        n = mass**2 / (weight[0] ** 2 + weight[1] ** 2) + 1.0
        return mean - sqrt(spread / (mass + 1.0) / n)

    best = max((0.0, 0.0), (bound(0.2, 0.2), 0.25), (bound(1.0, 0.0), 1.0))
    assert strength(near, gains, 0.5) == best[1]


@given(st.integers(1, 30), st.integers(1, 30))
def test_more_of_a_consistent_gain_is_followed_no_less(few: int, more: int) -> None:
    def of(count: int) -> float:
        curved = STRENGTHS - 0.4 * STRENGTHS**2 + 0.02 * (np.arange(count) % 2)[:, None]
        return strength(np.full(count, 0.4), curved - curved[:, :1], 0.4)

    assert of(few) <= of(few + more)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.lists(st.floats(-50, 50), min_size=6, max_size=6))),
    st.floats(0, 1),
)
def test_a_strength_is_one_of_those_to_choose_from_and_never_negative(
    found: list[tuple[float, list[float]]], here: float
) -> None:
    near = np.array([near for near, _ in found])
    gains = np.array([gains for _, gains in found]).reshape(-1, len(STRENGTHS))
    gains = gains * (STRENGTHS > 0)  # at 0 nothing is gained
    assert strength(near, gains, here) in STRENGTHS.tolist()


def test_trust_falls_with_each_failure_by_hand() -> None:
    assert trust(0) == pytest.approx(1.0)
    assert trust(1) == pytest.approx(0.48 / (0.48 + 0.16) / 0.8)
    assert trust(2) == pytest.approx(0.288 / (0.288 + 0.128) / 0.8)
    assert all(trust(n + 1) < trust(n) for n in range(50))
    assert trust(200) > 0.0


# --- tasks held out -----------------------------------------------------------------------------

WORDS = [frozenset("ab"), frozenset("bc"), frozenset("xy"), frozenset[str]()]
TELLING = {"a": 1.0, "b": 2.0, "c": 3.0, "x": 1.0, "y": 1.0}


def test_the_likeness_of_goals_by_hand() -> None:
    alike = likeness(WORDS, TELLING)
    assert alike[0, 1] == alike[1, 0] == pytest.approx(2.0 / 6.0)
    assert alike[0, 2] == alike[0, 3] == 0.0
    assert np.diag(alike) == pytest.approx(1.0)


def test_a_group_is_what_is_like_its_first() -> None:
    alike = np.eye(5)
    for a, b, value in ((0, 2, 0.4), (2, 4, 0.9), (1, 3, 0.39)):
        alike[a, b] = alike[b, a] = value
    assert groups(alike).tolist() == [0, 1, 0, 2, 3]
    assert groups(np.ones((3, 3))).tolist() == [0, 0, 0]


def test_held_out_tasks_are_predicted_without_themselves_and_without_their_group() -> None:
    tasks = made(4, tasks=12)
    design = columns(tasks)
    goals = [frozenset({f"g{i // 3}"}) for i in range(12)]
    w = fitted(design, whole(design))
    near, gains = at_once(trials(design, likeness(goals, {f"g{i}": 1.0 for i in range(4)}), w))
    assert gains.shape == (24, len(STRENGTHS))
    assert near.tolist() == [1.0] * 12 + [0.0] * 12
    # Task 0 is held out with every fifth, then with its group (0, 1, 2).
    without = fitted(design, (design.task % 5 != 0).astype(float), w)
    assert gains[0] == pytest.approx(design.gains(without, np.array([0]))[0])
    without = fitted(design, (design.task > 2).astype(float), w)
    assert gains[12] == pytest.approx(design.gains(without, np.array([0]))[0], abs=1e-9)


def test_one_task_or_one_group_alone_is_not_tried_on_others() -> None:
    design = columns(made(5, tasks=1))
    none = at_once(trials(design, np.ones((1, 1)), fitted(design, whole(design))))
    assert (none.near.shape, none.gains.shape) == ((0,), (0, len(STRENGTHS)))
    assert strength(np.zeros(0), np.zeros((0, len(STRENGTHS))), 1.0) == 0.0
