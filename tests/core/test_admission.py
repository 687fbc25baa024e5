"""Admission: what is kept out and why, and what marked actions can be given at most."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.core.admission import (
    AS_PUBLISHED,
    Admission,
    Known,
    held_back,
    may_assert,
    objection,
    unsupported,
)
from jitrl.core.update import softmax
from jitrl.types import RISKS, TRUSTED_BASES, Capped, Row, State


def row(ret: float, *, reward: float | None = None, basis: str = "test", step: int = 0) -> Row:
    return Row(
        episode="e",
        step=step,
        task="t",
        scope="",
        state=State("s"),
        action="a",
        reward=ret if reward is None else reward,
        ret=ret,
        next_state=None,
        terminal=True,
        evaluator="environment",
        told=False,
        basis=basis,  # type: ignore[arg-type]
        principal="ann",
        source="e",
        digest="",
    )


def said(limits: Admission, known: Known, *rows: Row) -> str:
    return objection(rows, TRUSTED_BASES, limits, known)


def test_nothing_is_objected_to_unless_a_limit_is_set() -> None:
    assert said(AS_PUBLISHED, Known(10**6, 1.0), row(1e9, basis="import")) == ""


def test_a_return_outside_the_declared_range_is_named_with_its_step_and_the_range() -> None:
    limits = Admission(returns=(0.0, 1.0))
    assert said(limits, Known(), row(1.0), row(0.0)) == ""
    why = said(limits, Known(), row(1.0), row(3.0, step=4))
    assert why == "step 4 returns 3, outside of [0, 1]"
    assert "returns -0.5" in said(limits, Known(), row(-0.5))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_objected_to_whatever_the_limits(value: float) -> None:
    assert "not finite" in said(AS_PUBLISHED, Known(), row(value))


def test_the_episode_that_reaches_the_rate_is_the_last_one_that_counts() -> None:
    limits = Admission(rate=3)
    assert said(limits, Known(recent=2), row(1.0)) == ""
    assert "'ann' brought 3 episodes" in said(limits, Known(recent=3), row(1.0))


def test_an_untrusted_reward_far_beyond_what_two_sources_bear_out_is_an_anomaly() -> None:
    limits = Admission(anomaly=10.0)
    assert said(limits, Known(reach=1.0), row(10.0, basis="import")) == ""
    assert "paid 11, 11 times" in said(limits, Known(reach=1.0), row(11.0, basis="import"))
    assert said(limits, Known(reach=1.0), row(11.0, basis="test")) == ""
    assert said(limits, Known(reach=0.0), row(11.0, basis="import")) == ""


def test_a_trusted_basis_may_be_asserted_by_those_who_are_named_alone() -> None:
    limits = Admission(asserting=frozenset({"ci"}))
    assert may_assert("ci", "test", TRUSTED_BASES, limits)
    assert not may_assert("mallory", "test", TRUSTED_BASES, limits)
    assert not may_assert("", "human", TRUSTED_BASES, limits)
    assert may_assert("mallory", "user_feedback", TRUSTED_BASES, limits)
    assert may_assert("mallory", "test", TRUSTED_BASES, AS_PUBLISHED)


@pytest.mark.parametrize(
    "settings",
    [
        {"votes": 1},
        {"nudge": -1.0},
        {"write": math.nan},
        {"support": 0},
        {"support": 1.5},
        {"rate": 0},
        {"anomaly": 0.5},
        {"returns": (1.0, 0.0)},
        {"returns": (0.0, math.inf)},
        {"returns": 3},
        {"returns": "01"},
        {"asserting": "ci"},
        {"asserting": [""]},
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        Admission(**settings)  # type: ignore[arg-type]


def test_a_range_and_names_may_come_as_lists_from_a_file() -> None:
    limits = Admission(returns=[0, 1], asserting=["ci"])  # type: ignore[arg-type]
    assert (limits.returns, limits.asserting) == ((0.0, 1.0), frozenset({"ci"}))


def test_a_writing_action_needs_two_episodes_to_join_and_an_irreversible_one_never_does() -> None:
    marks = {"save": "write", "drop": "irreversible", "look": "read"}
    found = unsupported(["save", "drop", "look"], marks, {"save": 1}, AS_PUBLISHED)  # type: ignore[arg-type]
    assert found == (Capped("save", "support"), Capped("drop", "irreversible"))
    assert unsupported(["save"], marks, {"save": 2}, AS_PUBLISHED) == ()  # type: ignore[arg-type]


def test_what_is_said_for_an_irreversible_action_is_taken_off_and_named() -> None:
    base, pushed = np.array([1.0, 0.0]), np.array([0.0, 8.0])
    given_back, lost = held_back(base, pushed, ["read", "irreversible"], 1.0, AS_PUBLISHED)
    assert given_back.tolist() == [0.0, 0.0]
    assert lost == [0.0, 8.0]


def test_a_warning_of_an_irreversible_action_stands() -> None:
    base, warned = np.array([0.0, 1.0]), np.array([0.0, -8.0])
    kept, lost = held_back(base, warned, ["read", "irreversible"], 1.0, AS_PUBLISHED)
    assert kept.tolist() == [0.0, -8.0]
    assert lost == [0.0, 0.0]


logits = st.floats(-5.0, 5.0)
cases = st.lists(
    st.tuples(logits, st.floats(-30.0, 30.0), st.sampled_from(RISKS)), min_size=1, max_size=6
)


@given(cases, st.floats(0.2, 3.0), st.floats(0.0, 6.0))
def test_no_marked_action_becomes_more_probable_than_its_limit_allows(
    case: list[tuple[float, float, str]], width: float, write: float
) -> None:
    base, correction = np.array([c[0] for c in case]), np.array([c[1] for c in case])
    risks, limits = [c[2] for c in case], Admission(write=write)
    kept, lost = held_back(base, correction, risks, width, limits)  # type: ignore[arg-type]
    before, after = softmax(base / width), softmax((base + kept) / width)
    for p, q, risk in zip(before, after, risks, strict=True):
        if risk != "read":
            assert q <= p * math.exp(limits.limit(risk)) * (1 + 1e-6) + 1e-12  # type: ignore[arg-type]
    assert min(lost) >= 0.0


@given(cases)
def test_the_best_action_is_irreversible_only_where_the_model_alone_takes_it(
    case: list[tuple[float, float, str]],
) -> None:
    base, correction = np.array([c[0] for c in case]), np.array([c[1] for c in case])
    risks = [c[2] for c in case]
    kept, _ = held_back(base, correction, risks, 1.0, AS_PUBLISHED)  # type: ignore[arg-type]
    corrected = base + kept
    for i, risk in enumerate(risks):
        if risk == "irreversible" and corrected[i] > corrected.max() - 1e-9:
            best = corrected >= corrected.max() - 1e-6
            assert base[i] >= base[best].max() - 1e-6


@given(cases)
def test_without_marks_a_correction_stays_as_it_is(case: list[tuple[float, float, str]]) -> None:
    base, correction = np.array([c[0] for c in case]), np.array([c[1] for c in case])
    kept, lost = held_back(base, correction, ["read"] * len(case), 1.0, AS_PUBLISHED)
    assert kept.tolist() == correction.tolist()
    assert not any(lost)
