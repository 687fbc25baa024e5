"""Neighbors as columns read like a tuple of neighbors."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.types import Neighbor, Neighbors

NUMBERS = st.floats(-3, 3)
NEIGHBORS = st.lists(
    st.builds(
        Neighbor,
        action=st.sampled_from("abc"),
        similarity=st.sampled_from([0.5, 0.9, 1.0]),
        ret=NUMBERS,
        visits=NUMBERS,
        sources=NUMBERS,
        value=st.none() | NUMBERS,
        reward=NUMBERS,
        terminal=NUMBERS,
        onward=NUMBERS,
        taken=st.integers(0, 9),
        trusted=st.booleans(),
        rows=st.lists(st.integers(1, 99), max_size=8).map(tuple),
        state=st.integers(-9, 9),
    ),
    max_size=6,
)


@given(NEIGHBORS)
def test_they_are_the_neighbors_they_were_made_of(given: list[Neighbor]) -> None:
    columns = Neighbors.of(given)
    assert columns == tuple(given)
    assert tuple(given) == columns
    assert repr(columns) == repr(tuple(given))
    assert hash(columns) == hash(tuple(given))
    assert [columns[i] for i in range(len(columns))] == given
    assert columns[1:3] == tuple(given[1:3])
    assert Neighbors.of(columns) is columns


@given(NEIGHBORS)
def test_a_copy_is_equal(given: list[Neighbor]) -> None:
    columns = Neighbors.of(given)
    assert copy.deepcopy(columns) == columns


@given(NEIGHBORS, NEIGHBORS, st.integers(0, 12))
def test_joined_ones_are_sorted_and_the_most_similar_are_kept(
    near: list[Neighbor], others: list[Neighbor], most: int
) -> None:
    joined = Neighbors.of(near).joined(Neighbors.of(others), most)
    every = sorted([*others, *near], key=lambda n: -n.similarity)
    same = sum(n.similarity == 1.0 for n in every)
    assert joined == tuple(every[: max(most, same)])


@given(NEIGHBORS.filter(len), st.data())
def test_some_of_them_are_taken_in_the_order_asked_for(
    given: list[Neighbor], data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.integers(0, len(given) - 1), max_size=5))
    found = Neighbors.of(given).only(np.array(places, int))
    assert found == tuple(given[i] for i in places)


def test_they_differ_from_what_is_no_sequence_of_neighbors() -> None:
    assert Neighbors.of(()) == ()
    assert Neighbors.of([Neighbor("a", 1.0, 0.0)]) != "a"
    assert Neighbors.of(()) != 0
    with pytest.raises(IndexError):
        Neighbors.of(())[0]
