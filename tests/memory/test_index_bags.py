"""Buckets, signatures and the edges of the search over numbered features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.memory import index_bags
from jitrl.memory.index_bags import BagIndex, scan, signature, words_for

bags = st.sets(st.integers(1, 5000), max_size=300)


@given(bags, bags)
def test_signatures_differ_in_no_more_bits_than_bags_differ_in_features(a, b):
    words = words_for(max(len(a), len(b)))
    pairs = zip(signature(list(a), words), signature(list(b), words), strict=True)
    assert sum((x ^ y).bit_count() for x, y in pairs) <= len(a ^ b)


@given(st.integers(0, 10**6))
def test_every_size_fits_its_bucket_and_no_smaller_one(size):
    bucket = index_bags._bucket_of(size)
    assert size <= index_bags._largest_in(bucket)
    assert bucket == 0 or size > index_bags._largest_in(bucket - 1)


@pytest.mark.parametrize("highest", [1021, 1022, 1023, 1024, 1025])
def test_a_feature_newer_than_the_query_counts_as_none_of_its_own(highest):
    index = BagIndex(scan)
    index.add([highest])
    index.add([highest + 640])  # the same bit in a signature
    assert index.search([highest], 1, 0.5) == ([0], [1.0])


def test_a_search_in_another_group_finds_nothing():
    index = BagIndex(scan)
    index.add([1, 2], "a")
    assert len(index.search([1, 2], 2, 0.0, "b").numbers) == 0
    assert index.search([1, 2], 2, 0.0, "a").numbers.tolist() == [0]


def test_unknown_features_of_a_query_count_in_the_union():
    index = BagIndex(scan)
    index.add([1, 2])
    assert index.search([1, 2], 4, 0.5).jaccard.tolist() == [0.5]
    assert index.search([1, 2], 5, 0.5).jaccard.tolist() == []


def test_jaccard_is_given_for_chosen_bags_even_if_it_is_zero():
    index = BagIndex(scan)
    for features in ([1, 2], [], [3], list(range(1, 200))):
        index.add(features, locate=True)
    values = index.jaccard(np.array([3, 0, 1, 2]), [1, 2], 2)
    assert values.tolist() == [2 / 199, 1.0, 0.0, 0.0]
