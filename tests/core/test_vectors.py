"""What is embedded of a state, and what a cosine counts."""

import numpy as np
import pytest

from jitrl.core.similarity import Retrieval, bags
from jitrl.core.vectors import cosine, cosines, texts, vectors
from jitrl.types import State

ONE = Retrieval(kind="embedding")
APART = Retrieval(kind="embedding", context_weight=0.36)
PAGE = State("a list of orders", "show the orders", "shop/orders")
AXES = {"east": [1.0, 0.0], "north": [0.0, 1.0], "between": [0.6, 0.8], "west": [-1.0, 0.0]}


def embed(asked):
    return np.array([AXES[text] for text in asked], np.float32)


def alike(a, b, retrieval):
    x, y = vectors([a, b], retrieval, embed)
    return cosine(a, b, x, y, retrieval)


def test_place_context_and_text_are_embedded_together_each_on_its_lines():
    assert texts(PAGE, ONE) == ("shop/orders\nshow the orders\na list of orders", "")
    assert texts(State("a list of orders"), ONE) == ("a list of orders", "")


def test_a_context_with_a_weight_is_embedded_apart():
    assert texts(PAGE, APART) == ("shop/orders\na list of orders", "show the orders")


def test_a_place_that_is_matched_is_not_embedded():
    matched = Retrieval(kind="embedding", match_place=True)
    assert texts(PAGE, matched) == ("show the orders\na list of orders", "")


def test_similarity_is_the_cosine():
    assert alike(State("east"), State("between"), ONE) == pytest.approx(0.6)


def test_the_weight_of_the_context_mixes_two_cosines():
    a, b = State("east", "north"), State("between", "between")
    assert alike(a, b, APART) == pytest.approx(0.64 * 0.6 + 0.36 * 0.8)


def test_only_the_very_state_has_one_and_others_that_embed_alike_have_the_cap():
    assert alike(State("east"), State("east"), ONE) == 1.0
    assert alike(State("east"), State("", "east"), ONE) == 0.999
    assert alike(State("east"), State("", "east"), Retrieval(kind="embedding", cap=0.5)) == 0.5


def test_opposite_vectors_are_not_alike_at_all():
    assert alike(State("east"), State("west"), ONE) == 0.0


def test_states_of_other_places_are_not_alike_where_the_place_is_matched():
    matched = Retrieval(kind="embedding", match_place=True)
    assert alike(State("east", place="p"), State("east", place="q"), matched) == 0.0
    assert alike(State("east", "", "p"), State("", "east", "p"), matched) == 0.999


def test_stages_are_alike_with_no_other_place_and_not_embedded():
    early = State("east", "", "stage: start")
    assert alike(early, State("east", "", "stage: look"), ONE) == 0.0
    assert alike(early, State("", "east", "stage: start"), ONE) == 0.999
    assert texts(early, ONE) == ("east", "")


def test_a_cosine_is_the_same_number_however_many_are_beside_it():
    made = np.random.default_rng(0).normal(size=(257, 576)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    together = cosines(made, made[3])
    for count in (1, 2, 3, 31, 256):
        assert cosines(made[:count], made[3]).tolist() == together[:count].tolist()
    assert [float(cosines(row[None], made[3])[0]) for row in made] == together.tolist()


def test_words_are_not_compared_where_vectors_are():
    with pytest.raises(ValueError, match="compared by their vectors"):
        bags(PAGE, ONE)


@pytest.mark.parametrize("embedder", ["", " ", None, 3])
def test_an_embedder_without_a_name_is_refused(embedder):
    with pytest.raises(ValueError, match="embedder is"):
        Retrieval(embedder=embedder)
