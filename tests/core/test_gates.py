"""Gates of a rulebook: luck does not get in, harm does not stay."""

import numpy as np
import pytest

from jitrl.core.effect import Use
from jitrl.core.gates import Gates, Trial, gates_of, measure, outdone, surplus

GATES = Gates()


def trial_of(uses, gates=GATES, success=1.0):
    found = Trial(gates, success=success)
    for use in uses:
        found.add(use)
    return found


def judged(uses, status, gates, success=1.0):
    return trial_of(uses, gates, success).judged(status)


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
        status = judged(uses[:n], "candidate", GATES).status
        if status != "candidate":
            return status, n
    return "candidate", len(uses)


def test_a_rule_that_helped_once_by_luck_is_not_admitted():
    lucky = [Use(True, 0.5, 1.0, "a"), Use(False, 0.5, 0.0, "b")]
    assert judged(lucky, "candidate", GATES).status == "candidate"
    fates = [fate(trial(seed, 0.5, 0.0))[0] for seed in range(40)]
    assert fates.count("active") <= 0.05 * len(fates) + 1


def test_a_rule_that_helps_is_admitted_within_its_trial():
    assert [fate(trial(seed, 0.3, 0.5))[0] for seed in range(10)].count("active") >= 9


def test_a_rule_that_does_harm_goes_within_its_trial():
    fates = [fate(trial(seed, 0.7, -0.6)) for seed in range(10)]
    assert all(word == "retired" for word, _ in fates)
    assert max(n for _, n in fates) <= 60


def test_helping_on_one_task_alone_is_not_enough():
    uses = trial(0, 0.1, 0.8, tasks=1)
    assert judged(uses, "candidate", Gates(trial=1000)).status == "candidate"
    assert judged(uses, "candidate", Gates(tasks=1)).status == "active"


def test_tasks_on_which_only_one_arm_was_seen_prove_nothing():
    uses = [Use(True, 0.5, 1.0, "a"), Use(False, 0.5, 0.0, "b"), Use(True, 0.5, 1.0, "b")]
    assert trial_of(uses).helped_on == ["b"]


def alternating(told, held, uses):
    return [Use(n % 2 == 1, 0.5, told if n % 2 else held, "a") for n in range(uses)]


@pytest.mark.parametrize("status", ["candidate", "active"])
@pytest.mark.parametrize(("told", "held"), [(0.0, 0.0), (0.4, 0.4), (0.3, 0.4)])
def test_told_often_without_a_win_and_without_help_a_rule_goes(status, told, held):
    uses = alternating(told, held, 2 * GATES.idle)
    verdict = judged(uses, status, GATES)
    assert verdict.status == "retired"
    assert verdict.reason == "told 20 times without a win, and no better than held out"
    assert judged(uses[2:], status, GATES).status == status


@pytest.mark.parametrize(
    ("told", "held", "success"), [(1.0, 1.0, 1.0), (0.4, 0.2, 1.0), (0.4, 0.4, 0.4)]
)
def test_a_rule_that_wins_or_does_better_than_without_it_does_not_age_out(told, held, success):
    uses = alternating(told, held, 2 * GATES.idle)
    assert judged(uses, "active", GATES, success=success).status == "active"


def test_within_its_grace_a_rule_goes_only_if_it_is_proved_to_do_harm():
    early = Gates(idle=2, trial=4, grace=30)
    for uses in (alternating(0.0, 0.0, 29), alternating(0.0, 0.1, 29)):
        assert judged(uses, "candidate", early).status == "candidate"
        assert judged([*uses, uses[0]], "candidate", early).status == "retired"
    harm = judged(alternating(0.0, 1.0, 29), "candidate", early)
    assert harm.status == "retired"
    assert harm.reason.startswith("does harm: -")


def turned(then, more=300):
    """Uses that help in 200 and then no longer, up to where the effect is estimated anew."""
    uses = alternating(1.0, 0.0, 200)
    for n in range(more):
        uses.append(then[n % len(then)])
        if not trial_of(uses).effect.uses:
            return uses
    raise AssertionError("no change was seen")


def test_once_its_effect_changed_a_rule_has_its_grace_and_its_trial_again():
    then = alternating(0.5, 0.6, 2)
    uses, settings = turned(then), Gates(tasks=2, trial=40)
    for n in range(1, GATES.grace):
        uses.append(then[n % 2])
        found = trial_of(uses)
        assert [found.judged(status).status for status in ("candidate", "active")] == [
            "candidate",
            "active",
        ]
        assert outdone({"changed": found.effect}, Gates(bottom=0.9)) == []
        assert surplus({"changed": found.effect, "other": found.effect}, Gates(most=1)) == []
    uses += then * 6
    last = trial_of(uses, settings)
    assert (last.effect.uses, last.effect.mean < 0.0) == (41, True)
    verdict = last.judged("candidate")
    assert verdict.status == "retired"
    assert verdict.reason.startswith("no help in 41 uses: effect not above 0: -0.")
    assert verdict.reason.endswith("held out; 41 uses since it changed")
    assert len(surplus({"a": last.effect, "b": last.effect}, Gates(most=1))) == 1


@pytest.mark.parametrize("status", ["retired", "quarantined"])
def test_what_is_told_nobody_is_not_judged(status):
    assert judged(trial(0, 0.3, 0.5), status, GATES).status == status
    assert judged(alternating(0.0, 1.0, 60), status, GATES).status == status


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


def test_above_the_cap_what_never_spoke_goes_before_what_did():
    weak = {f"w{n}": measure(trial(n, 0.5, 0.0, uses=40), GATES) for n in range(2)}
    silent = {f"s{n}": measure([], GATES) for n in range(3)}
    book = {**silent, **weak}
    assert surplus(book, Gates(most=3), ["s1", "s2"]) == ["s1", "s2"]
    assert surplus(book, Gates(most=2), ["s1", "s2"])[:2] == ["s1", "s2"]
    assert surplus(book, Gates(most=2), ["s1", "s2"])[2] in weak


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
