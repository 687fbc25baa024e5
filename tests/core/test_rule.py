"""The rule's settings: what is out of range is refused with its name and value."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from jitrl.core.rule import UpdateRule


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("kernel", 0.0, "kernel is 0.0; it must be a number above 0"),
        ("temperature", float("inf"), "temperature is inf; it must be a number above 0"),
        ("temperature_prior", -1.0, "above 0"),
        ("backoff", 0.0, "above 0"),
        ("novelty_kernel", 0.0, "above 0"),
        ("beta", -1.0, "beta is -1.0; it must be a number of at least 0"),
        ("shrink", float("nan"), "at least 0"),
        ("kl_cap", -0.1, "at least 0"),
        ("untrusted", -0.1, "at least 0"),
        ("backup", 1.1, r"backup is 1.1; it must be in \[0, 1\]"),
        ("explore", 2.0, r"in \[0, 1\]"),
        ("optimism", -0.1, r"in \[0, 1\]"),
        ("bonus", float("nan"), "bonus is nan; it must be a finite number"),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(name: str, value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        UpdateRule(**{name: value})


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
