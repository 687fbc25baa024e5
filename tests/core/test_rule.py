"""The rule's settings: what is out of range is refused with its name and value."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from jitrl.core.rule import UpdateRule
from jitrl.core.update import decide
from jitrl.types import Candidate, Neighbor


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("kernel", 0.0, r"kernel is 0.0; it must be in \[1e-06, 1e\+06\]"),
        ("temperature", float("inf"), r"temperature is inf; it must be in \[1e-06, 1e\+06\]"),
        ("temperature", 1e-308, "temperature is 1e-308"),
        ("temperature_prior", -1.0, r"must be in \[1e-06"),
        ("temperature_prior", 1e-308, r"must be in \[1e-06"),
        ("backoff", 0.0, r"must be in \[1e-06"),
        ("novelty_kernel", 0.0, r"must be in \[1e-06"),
        ("beta", -1.0, r"beta is -1.0; it must be in \[0, 1e\+06\]"),
        ("beta", 1e308, r"beta is 1e\+308"),
        ("novelty", 1e308, r"novelty is 1e\+308"),
        ("shrink", float("nan"), "shrink is nan"),
        ("kl_cap", -0.1, "kl_cap is -0.1"),
        ("untrusted", -0.1, "untrusted is -0.1"),
        ("explore_rate", 1e6, r"explore_rate is 1000000.0; it must be in \[0, 2\]"),
        ("backup", 1.1, r"backup is 1.1; it must be in \[0, 1\]"),
        ("explore", 2.0, r"in \[0, 1\]"),
        ("optimism", -0.1, r"in \[0, 1\]"),
        ("bonus", float("nan"), "bonus is nan; it must be in"),
        ("beta", True, "beta is True; it must be a number"),
        ("beta", "60", "beta is '60'; it must be a number"),
        ("beta", None, "beta is None; it must be a number"),
        ("kernel", [1], r"kernel is \[1\]; it must be a number"),
        ("explore", "often", "explore is 'often'; it must be a number"),
        ("choose", ["argmax"], r"choose is \['argmax'\]; use argmax or sample"),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name: str, value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        UpdateRule(**{name: value})


def test_every_number_of_the_rule_has_a_range() -> None:
    for field in fields(UpdateRule):
        if isinstance(field.default, float) or field.default is None:
            with pytest.raises(ValueError, match=f"{field.name} is True; it must be a number"):
                UpdateRule(**{field.name: True})


@pytest.mark.parametrize("value", [90, np.float64(90)])
def test_equal_rules_have_one_digest_however_their_numbers_were_written(value: Any) -> None:
    rule = UpdateRule(beta=value, eps=2e-8)  # not made before, so no digest is remembered
    assert repr(rule) == repr(UpdateRule(beta=90.0, eps=2e-8))
    assert rule.digest == UpdateRule(beta=90.0, eps=2e-8).digest


@pytest.mark.parametrize("choose", ["argmax", "sample"])
def test_a_rule_at_its_limits_gives_probabilities(choose: Any) -> None:
    rule = UpdateRule(
        temperature_prior=1e-6, temperature=1e-6, kernel=1e-6, novelty_kernel=1e-6, backoff=1e-6,
        beta=1e6, novelty=1e6, repeat=1e6, repeat_action=1e6, choose=choose,
    )  # fmt: skip
    near = [Neighbor("a", 0.9, 1.0), Neighbor("b", 1.0, -1e100, 5.0)]
    proposed = [Candidate("a", 1e100), Candidate("b", -1e100), Candidate("c", 0.0)]
    decision = decide(proposed, near, rule, np.random.default_rng(0))
    assert sum(c.probability for c in decision.candidates) == pytest.approx(1.0)
    assert sum(c.propensity for c in decision.candidates) == pytest.approx(1.0)


def test_every_setting_is_part_of_the_digest() -> None:
    rule = UpdateRule()
    other: dict[str, Any] = {
        "unit": "rows",
        "untried": "draw",
        "baseline": "actions",
        "normalize": "none",
        "prior": "confidence",
        "memory_only": "zero",
        "choose": "sample",
        "kl_cap": 1.0,
        "episode": False,
    }
    digests = {rule.digest}
    for field in fields(rule):
        value = other.get(field.name)
        if value is None:
            value = getattr(rule, field.name) * 0.5 + 0.01
        digests.add(replace(rule, **{field.name: value}).digest)
    assert len(digests) == len(fields(rule)) + 1


def test_lambda_may_be_left_to_the_memory() -> None:
    assert UpdateRule(explore="memory").explore == "memory"
