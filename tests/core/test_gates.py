"""Gates of a rulebook: luck does not get in, harm does not stay."""

import numpy as np
import pytest

from jitrl.core.effect import Use
from jitrl.core.gates import (
    Gates,
    admitted,
    gates_of,
    given_up,
    helped_on,
    measure,
    outdone,
    surplus,
)

GATES = Gates()


def trial(seed, base, effect, uses=80, tasks=4):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(uses):
        given = bool(rng.random() < 0.5)
        score = float(rng.random() < base + effect * given)
        found.append(Use(given, 0.5, score, f"t{int(rng.integers(tasks))}"))
    return found


def fate(uses):
    """What became of a candidate whose gates are tried after every episode, and when."""
    for n in range(1, len(uses) + 1):
        seen = measure(uses[:n], GATES)
        if admitted(uses[:n], GATES, seen).keeps:
            return "in", n
        if not given_up(uses[:n], GATES, seen).keeps:
            return "out", n
    return "waits", len(uses)


def test_a_rule_that_helped_once_by_luck_is_not_admitted():
    lucky = [Use(True, 0.5, 1.0, "a"), Use(False, 0.5, 0.0, "b")]
    assert not admitted(lucky, GATES, measure(lucky, GATES)).keeps
    fates = [fate(trial(seed, 0.5, 0.0))[0] for seed in range(40)]
    assert fates.count("in") <= 0.05 * len(fates) + 1


def test_a_rule_that_helps_is_admitted_within_its_trial():
    assert [fate(trial(seed, 0.3, 0.5))[0] for seed in range(10)].count("in") >= 9


def test_a_rule_that_does_harm_goes_within_its_trial():
    fates = [fate(trial(seed, 0.7, -0.6)) for seed in range(10)]
    assert all(word == "out" for word, _ in fates)
    assert max(n for _, n in fates) <= 60


def test_helping_on_one_task_alone_is_not_enough():
    uses = trial(0, 0.1, 0.8, tasks=1)
    verdict = admitted(uses, GATES, measure(uses, GATES))
    assert not verdict.keeps
    assert verdict.reason.startswith("helped on 1 of 2 tasks")


def test_tasks_on_which_only_one_arm_was_seen_prove_nothing():
    uses = [Use(True, 0.5, 1.0, "a"), Use(False, 0.5, 0.0, "b"), Use(True, 0.5, 1.0, "b")]
    assert helped_on(uses) == ["b"]


def test_told_often_and_each_time_with_a_score_of_0_a_rule_goes():
    uses = [Use(n % 2 == 1, 0.5, 0.0, "a") for n in range(2 * GATES.idle)]
    verdict = given_up(uses, GATES, measure(uses, GATES))
    assert (verdict.keeps, verdict.reason) == (False, "told 20 times, each time with a score of 0")
    assert given_up(uses[2:], GATES, measure(uses[2:], GATES)).keeps


def test_the_lowest_bounds_go_but_none_in_its_grace_and_none_that_is_proved():
    weak = measure(trial(0, 0.5, 0.0, uses=40), GATES)
    young = measure(trial(0, 0.9, -0.3, uses=10), GATES)
    proved = measure(trial(0, 0.1, 0.8), GATES)
    assert outdone({"weak": weak, "young": young}, Gates(bottom=0.9)) == []
    assert outdone({f"w{n}": weak for n in range(10)}, GATES) == ["w0"]
    assert outdone({f"p{n}": proved for n in range(10)}, GATES) == []


def test_above_the_cap_the_lowest_bounds_go_first_and_none_in_its_grace():
    by_low = {f"r{n}": measure(trial(n, 0.5, 0.1 * (n - 2), uses=40), GATES) for n in range(5)}
    young = {f"y{n}": measure(trial(n, 0.9, -0.9, uses=10), GATES) for n in range(3)}
    order = sorted(by_low, key=lambda rule: by_low[rule].low)
    assert min(of.low for of in young.values()) < max(of.low for of in by_low.values())
    assert surplus({**young, **by_low}, Gates(most=6)) == order[:2]
    assert surplus({**young, **by_low}, Gates(most=8)) == []
    assert surplus({**young, **by_low}, Gates(most=1)) == order


@pytest.mark.parametrize(
    "wrong", [{"alpha": 1.0}, {"bottom": 1.0}, {"tasks": 0}, {"idle": 0}, {"most": 0}]
)
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is"):
        Gates(**wrong)


@pytest.mark.parametrize("given", [0, [], "off", 1.0])
def test_gates_are_settings_or_a_truth_value_and_nothing_else(given):
    assert (gates_of(False), gates_of(True), gates_of(None)) == (None, Gates(), Gates())
    assert gates_of({"trial": 40}) == Gates(trial=40)
    with pytest.raises(ValueError, match="use true for the default ones, false for none, or the"):
        gates_of(given)
