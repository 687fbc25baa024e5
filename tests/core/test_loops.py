"""Loops: coming back to a place takes back what led away from it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.core.loops import straight


@pytest.mark.parametrize(
    ("places", "left"),
    [
        ("", []),
        ("abc", [0, 1, 2]),
        ("aab", [1, 2]),
        ("abacd", [2, 3, 4]),
        ("abcbad", [4, 5]),
    ],
)
def test_what_led_back_to_a_place_is_taken_out(places: str, left: list[int]) -> None:
    assert straight(places) == left


@given(st.lists(st.sampled_from("abcd"), min_size=1))
def test_each_place_is_left_once_and_the_last_step_stays(places: list[str]) -> None:
    left = straight(places)
    found = [places[i] for i in left]
    assert len(set(found)) == len(found)
    assert left[-1] == len(places) - 1
    assert found[0] == places[0]
    for one, other in pairwise(left):  # a step leads where the next one was taken
        assert places[one + 1] == places[other]
