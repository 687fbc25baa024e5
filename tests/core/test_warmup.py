"""Warmup: the less was seen here, the less of the correction counts; the prior may be right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.presets import load
from jitrl.types import Candidate, Decision, Lesson, Neighbor, Neighborhood

ACTIONS = ("left", "right", "back")
RULE = UpdateRule(warmup=8.0)


def made(z: list[float], found: list[Neighbor], rule: UpdateRule, **more: Any) -> Decision:
    candidates = [Candidate(a, x) for a, x in zip(ACTIONS, z, strict=True)]
    near = Neighborhood(tuple(found), reach=1.0, **more)
    return decide(candidates, near, rule, np.random.default_rng(0))


@pytest.mark.parametrize(("visits", "share"), [(1.0, 2 / 8), (3.0, 4 / 8), (7.0, 1.0), (90.0, 1.0)])
def test_after_n_visits_the_share_is_one_and_n_of_warmup(visits: float, share: float) -> None:
    assert made([0.0] * 3, [Neighbor("left", 1.0, 0.0, visits)], RULE).share == share


def test_where_nothing_was_seen_one_part_of_warmup_counts() -> None:
    assert made([0.0] * 3, [], RULE).share == 1 / 8
    assert made([0.0] * 3, [], replace(RULE, warmup=1.0)).share == 1.0


def test_visits_of_less_similar_states_count_less() -> None:
    found = [Neighbor("left", 1.0 - RULE.kernel, 0.0, 2.0)]
    assert made([0.0] * 3, found, RULE).share == pytest.approx((1 + 2 / np.e) / 8)


def test_untrusted_rows_do_not_make_the_correction_grow() -> None:
    found = [Neighbor("left", 1.0, 1.0, 5.0, trusted=False)]
    assert made([0.0] * 3, found, RULE).share == 1 / 8


def test_returns_novelty_and_repeats_are_scaled_and_nothing_else() -> None:
    found = [
        Neighbor("left", 1.0, 1.0, taken=1),
        Neighbor("right", 1.0, 0.0),
        Neighbor("back", 1.0, 1.0, trusted=False),
    ]
    lesson = {
        "transfer": {"right": 2.0},
        "lesson": Lesson(1.0, 1.0, 1.0, 5),
        "repeats": {"left": 1},
    }
    part, whole = (
        made([0.5, 0.0, 0.0], found, replace(RULE, warmup=warmup), **lesson)
        for warmup in (12.0, 1.0)
    )
    assert (part.share, whole.share) == (0.25, 1.0)
    for one, other in zip(part.candidates, whole.candidates, strict=True):
        nudge = RULE.untrusted if one.action == "back" else 0.0
        assert one.bonus - nudge == pytest.approx(0.25 * (other.bonus - nudge))
        assert one.transfer == other.transfer == (2.0 if one.action == "right" else 0.0)
        returns = RULE.beta * one.scaled
        assert one.correction == pytest.approx(0.25 * returns + one.bonus + one.transfer)
        assert (one.q, one.scaled, one.novelty) == (other.q, other.scaled, other.novelty)


@given(
    found=st.lists(
        st.builds(
            Neighbor,
            action=st.sampled_from(ACTIONS),
            similarity=st.sampled_from([0.8, 0.95, 1.0]),
            ret=st.floats(-1, 1),
            visits=st.integers(1, 5).map(float),
            sources=st.just(1.0),
            value=st.floats(-1, 1),
            reward=st.floats(-1, 1),
            terminal=st.sampled_from([0.0, 1.0]),
            onward=st.floats(0, 1),
            taken=st.integers(0, 2),
            trusted=st.just(True),
            rows=st.just(()),
            state=st.just(0),
        ),
        max_size=6,
    ),
    warmup=st.floats(1.0, 100.0),
)
def test_a_prior_that_knows_nothing_leads_to_the_same_choice(
    found: list[Neighbor], warmup: float
) -> None:
    at_once, slowly = (
        made([0.0] * 3, found, replace(RULE, warmup=w)).candidates for w in (1.0, warmup)
    )
    best = max(c.corrected for c in at_once)
    chosen = max(slowly, key=lambda c: c.corrected).action
    assert next(c.corrected for c in at_once if c.action == chosen) == pytest.approx(best, abs=1e-6)


def test_a_sure_prior_is_left_after_several_failures_and_not_after_one() -> None:
    sure = [4.0, 0.0, 0.0]
    rule = load("default").rule
    failed = [made(sure, [Neighbor("left", 1.0, 0.0, n)], rule) for n in (1.0, 6.0)]
    assert failed[0].action == failed[0].unaided == "left"
    assert failed[1].action != "left"
    at_once = made(sure, [Neighbor("left", 1.0, 0.0)], replace(rule, warmup=1.0))
    assert at_once.action != "left"


@pytest.mark.parametrize("name", ["paper-web", "paper-text", "released-web", "released-text"])
def test_the_published_rules_have_none(name: str) -> None:
    assert load(name).rule.warmup == 1.0
