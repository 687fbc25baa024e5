"""Planted errors are decisive, detours are not, and ways to find them are measured against that."""

import json

import numpy as np
import pytest

from jitrl.agents.rulebook.credit import differences
from jitrl.bench.credit import measure
from jitrl.bench.credit.planted import BAD, GOOD, KINDS, WORLDS, Planter, Undrawn
from jitrl.bench.credit.ways import ARMS, Knowing, Meter, tried
from jitrl.core.stats import NoInterval
from jitrl.types import Writing

BY_NAME = {arm.name: arm for arm in ARMS}


@pytest.fixture(scope="module")
def extraction():
    return Planter(WORLDS["extraction"]())


def rounds(planter, errors, number=6):
    for place in planter.tasks(number):
        yield planter.round(place, errors, np.random.default_rng([0, place]))


@pytest.mark.parametrize("errors", KINDS["extraction"])
def test_good_attempts_are_full_successes_and_bad_ones_lack_something(extraction, errors):
    for drawn in rounds(extraction, errors):
        assert [a.score for a in drawn.contrast.good] == [1.0] * GOOD
        assert all(a.score < 1.0 for a in drawn.contrast.bad)
        assert len(drawn.contrast.bad) == BAD


@pytest.mark.parametrize(("errors", "number"), [("one", 1), ("two", 2)])
def test_each_bad_attempt_errs_so_often_at_steps_of_the_best_attempts_way(
    extraction, errors, number
):
    for drawn in rounds(extraction, errors):
        assert len(drawn.decisive) == number
        assert drawn.decisive <= {row.state for row in drawn.contrast.good[0].direct}
        for attempt in drawn.contrast.bad:
            assert drawn.worth[attempt.key].count(-1) == number


def test_the_same_seed_draws_the_same_round(extraction):
    place = extraction.tasks(3)[1]
    first, again = (extraction.round(place, "own", np.random.default_rng(7)) for _ in range(2))
    assert first == again


def test_an_error_that_ends_the_episode_leaves_no_second_one():
    planter = Planter(WORLDS["toy"]())
    with pytest.raises(Undrawn, match="no error there"):
        planter._round(planter.world.tasks()[0], 0, "two", np.random.default_rng(0))


def test_a_model_that_knows_says_each_step_right_as_often_as_it_should(extraction):
    (drawn,) = list(rounds(extraction, "one", 1))
    attempt = drawn.contrast.bad[0]
    right = 0
    for seed in range(200):
        model = Knowing(drawn, 0.7, np.random.default_rng(seed), Meter())
        shown = list(model._said)[GOOD]
        said = json.loads(model.write(Writing("", f"Score this:\n{shown}", ""), str))["scores"]
        right += (np.array(said) / 3 == drawn.worth[attempt.key]).mean()
    assert right / 200 == pytest.approx(0.7, abs=0.05)


def test_substitution_plays_every_difference_once_and_the_way_itself(extraction):
    for drawn in rounds(extraction, "own", 3):
        named = tried(BY_NAME["substitution"], extraction.world, drawn, np.random.default_rng(0))
        pairs = {(d.place, d.action) for d in differences(drawn.contrast)}
        assert named.replays == 1 + len(pairs)
        assert named.steps > 0
        assert named.calls == named.tokens == 0


def test_a_comparison_costs_nothing_and_a_model_is_asked_once_an_attempt(extraction):
    for drawn in rounds(extraction, "one", 3):
        free = tried(BY_NAME["contrast"], extraction.world, drawn, np.random.default_rng(0))
        assert (free.replays, free.calls) == (0, 0)
        asked = tried(BY_NAME["steps, 1"], extraction.world, drawn, np.random.default_rng(0))
        assert asked.calls == 1 + BAD
        assert (asked.right, asked.named) == (1, 1)


def test_a_share_of_the_cost_is_one_for_what_it_is_a_share_of():
    one = measure.ratio(np.full(8, 3.0), np.full(8, 3.0))
    assert one.mean == 1.0
    assert isinstance(one.interval, NoInterval)
    half = measure.ratio(np.arange(8.0), 2 * np.arange(8.0)[::-1] + 1e-9)
    assert half.mean == pytest.approx(0.5)
    assert half.interval.low < 0.5 < half.interval.high


def test_worlds_and_kinds_are_pooled_by_task():
    report = measure.measure(["toy", "extraction"], tasks=2, seeds=1)
    by_kind = {(r.world, r.errors, r.arm.name): r for r in report.results}
    assert by_kind["toy", "one", "contrast"].rounds == 2
    assert by_kind["extraction", "all", "contrast"].rounds == 6
    assert by_kind["all", "all", "contrast"].rounds == 10
    assert by_kind["all", "all", "substitution"].cost.mean == 1.0
    assert by_kind["all", "all", "contrast"].cost.mean == 0.0
    assert set(report.protocol["undrawn"].values()) == {0}


def test_a_round_that_cannot_be_drawn_is_left_out():
    played = measure.run(measure.Job("toy", "two", (0,), (0, 1)))
    assert played == {arm.name: [[]] for arm in ARMS}
