"""Effects of what was told at random: unbiased, and with bounds that hold at every look."""

import itertools
import math

import numpy as np
import pytest

from jitrl.core.effect import Promise, Use, effect


def lived(rng, uses, chance, success, tasks=("",)):
    """Uses whose scores are 1 with the chance ``success(told, task, t)``."""
    found = []
    for t in range(uses):
        given, task = bool(rng.random() < chance), tasks[int(rng.integers(len(tasks)))]
        found.append(Use(given, chance, float(rng.random() < success(given, task, t)), task))
    return found


def test_without_a_use_nothing_is_known():
    none = effect([])
    assert math.isnan(none.mean)
    assert (none.low, none.high, none.uses, none.given, none.held) == (-1.0, 1.0, 0, 0, 0)


def test_an_estimate_beyond_its_bounds_is_shown_as_the_nearer_one():
    lucky = effect([Use(True, 0.1, 1.0)])
    assert (lucky.mean > 1.0, lucky.shown) == (True, 1.0)
    assert effect([Use(True, 0.1, 0.0)]).shown == -1.0
    fair = effect([Use(True, 0.5, 1.0), Use(False, 0.5, 1.0)])
    assert fair.shown == fair.mean
    helped = [Use(given, 0.5, float(given)) for given in (True, False)] * 14
    no_more = [Use(given, 0.5, 0.5) for given in (True, False)] * 9
    waned = effect([*helped, *no_more])
    assert waned.mean < waned.low == waned.shown < waned.high
    assert math.isnan(effect([]).shown)


def test_a_passenger_is_not_certified_and_what_carries_it_is():
    """Two rules are always fetched together; one succeeds .9 against .4, the other does nothing."""
    rng = np.random.default_rng(3)
    good, passenger = [], []
    for _ in range(200):
        told, beside = rng.random() < 0.8, rng.random() < 0.8
        score = float(rng.random() < (0.9 if told else 0.4))
        good.append(Use(bool(told), 0.8, score))
        passenger.append(Use(bool(beside), 0.8, score))
    assert effect(good).low > 0.0
    naive = np.mean([use.score for use in passenger if use.given])
    assert naive > 0.75
    assert effect(passenger).low < 0.0 < effect(passenger).high


@pytest.mark.parametrize(
    "success",
    [
        lambda told, task, t: 0.5,
        lambda told, task, t: 0.2 + 0.6 * t / 100,
        lambda told, task, t: {"a": 0.1, "b": 0.9}[task],
    ],
    ids=["even", "drifting", "by task"],
)
def test_something_without_effect_is_seldom_called_one_at_any_look(success):
    rng, wrong, times = np.random.default_rng(0), 0, 60
    for _ in range(times):
        uses = lived(rng, 100, 0.7, success, ("a", "b"))
        found = effect(uses, alpha=0.1)
        wrong += not found.low <= 0.0 <= found.high
    assert wrong <= 0.1 * times


def test_bounds_never_widen_while_one_effect_fits():
    uses = lived(np.random.default_rng(1), 80, 0.5, lambda told, task, t: 0.8 if told else 0.3)
    found = [effect(uses[:n]) for n in range(0, 81, 10)]
    assert all(a.low <= b.low and b.high <= a.high for a, b in itertools.pairwise(found))


def test_an_effect_that_changed_is_estimated_from_there_on():
    """Good in 100 uses, harmful from then on: the bounds leave what was, and come to what is."""

    def turning(told, task, t):
        return 0.5 + (0.4 if t < 100 else -0.4) * (1 if told else -1)

    for seed in range(10):
        uses = lived(np.random.default_rng(seed), 300, 0.5, turning)
        found = effect(uses[:100], 0.1)
        assert 0.3 < found.low <= 0.8 <= found.high
        found = effect(uses, 0.1)
        assert found.low + 0.1 < found.high < -0.3
        assert found.mean == pytest.approx(-0.8, abs=0.15)
        assert found.given + found.held == 300
        assert 0 < found.uses < 200


def test_the_moment_an_effect_changed_nothing_is_known_of_it():
    uses = [Use(given, 0.5, float(given)) for given in (True, False)] * 50
    uses += [Use(given, 0.5, float(not given)) for given in (True, False)] * 50
    counts = [effect(uses[:n]).uses for n in range(len(uses) + 1)]
    [at] = [n for n in range(1, len(counts)) if counts[n] == 0]
    assert counts == [*range(at), *range(len(uses) + 1 - at)]
    now = effect(uses[:at])
    assert math.isnan(now.mean)
    assert (now.low, now.high, now.given + now.held) == (-1.0, 1.0, at)


def test_the_mean_is_unbiased_when_chances_differ():
    rng = np.random.default_rng(2)
    means = []
    for _ in range(200):
        uses = [
            use
            for chance in (0.3, 0.8)
            for use in lived(rng, 30, chance, lambda told, task, t: 0.7 if told else 0.5)
        ]
        means.append(effect(uses).mean)
    assert np.mean(means) == pytest.approx(0.2, abs=3 * np.std(means) / math.sqrt(len(means)))


@pytest.mark.parametrize("use", [Use(True, 0.0, 1.0), Use(True, 1.0, 1.0), Use(True, 0.5, 1.5)])
def test_a_use_that_proves_nothing_is_refused(use):
    with pytest.raises(ValueError, match=r"needs a chance in \(0, 1\)"):
        effect([use])


def test_alpha_is_a_chance():
    with pytest.raises(ValueError, match="alpha is 0"):
        effect([], alpha=0)


def promise(uses):
    running = Promise()
    for use in uses:
        running.add(use)
    return running.value


def test_promise_is_even_without_uses_and_follows_what_was_seen():
    def uses(told, held):
        return [Use(given, 0.5, told if given else held) for given in (True, False) * 4]

    assert promise([]) == 0.5
    assert promise(uses(1.0, 0.0)) > 0.8
    assert promise(uses(0.0, 1.0)) < 0.2
    assert promise(uses(0.5, 0.5)) == pytest.approx(0.5, abs=0.1)


def test_promise_is_that_of_the_mean_and_the_spread_of_all_uses():
    """Told and held out by turns, no task named: each x is 2 (y - h) or its negative."""
    scores = [1.0, 0.0, 1.0, 1.0, 0.0]
    xs = []
    for n, score in enumerate(scores):
        both = (sum(scores[:n]) + 2 * 0.5) / (n + 2)
        kinds = [scores[:n][first::2] for first in (0, 1)]  # each drawn to both by two scores
        h = sum((sum(kind) + 2 * both) / (len(kind) + 2) for kind in kinds) / 2
        xs.append((score - h) / 0.5 * (1 if n % 2 == 0 else -1))
    spread = math.sqrt(4.0 + ((np.array(xs) - np.mean(xs)) ** 2).sum())
    expected = 0.5 * (1.0 + math.erf(sum(xs) / spread / math.sqrt(2.0)))
    uses = [Use(n % 2 == 0, 0.5, score) for n, score in enumerate(scores)]
    assert promise(uses) == pytest.approx(expected, abs=1e-12)


def test_wins_before_something_was_ever_told_are_no_sign_that_it_does_harm():
    held = [Use(False, 0.5, 1.0, "a")] * 20
    assert effect(held).mean > -0.15
    both = effect([*held, Use(True, 0.5, 1.0, "a")])
    assert abs(both.mean) < 0.15
    lost = effect([*held, Use(True, 0.5, 0.0, "a")])
    assert lost.mean < both.mean - 0.05


def test_a_task_that_is_easy_without_something_is_no_proof_for_it_where_it_is_won_with_it():
    elsewhere = [Use(given, 0.5, 0.0, "hard") for given in (True, False)] * 40
    before = [*elsewhere, *[Use(False, 0.5, 1.0, "easy")] * 20]
    after = [*before, Use(True, 0.5, 1.0, "easy")]
    x = effect(after).mean * len(after) - effect(before).mean * len(before)
    assert 0.0 < x < 0.4
