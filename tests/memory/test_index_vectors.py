"""The index of vectors against a comparison of all pairs."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.agents.corrected import Corrected
from jitrl.config import Memory
from jitrl.core.similarity import Retrieval
from jitrl.core.update import decide
from jitrl.core.vectors import cosine, vectors
from jitrl.errors import ConfigError, ModelError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory.index import StateIndex
from jitrl.memory.index_vectors import VectorIndex
from jitrl.memory.session import Session
from jitrl.memory.view import Lens, View
from jitrl.models.vectors import Remembered
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.embedder import HashedWords
from jitrl.types import Candidate, State

WORDS = ["open", "door", "Door", "key", "12", "日期", "😀", "", "a+b"]
texts = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
places = st.sampled_from(["", "p", "q", "stage: p", "stage: q"])
states = st.builds(State, texts, texts, places)
retrievals = st.builds(
    Retrieval,
    kind=st.just("embedding"),
    context_weight=st.sampled_from([None, 0.0, 0.3, 0.7, 1.0]),
    match_place=st.booleans(),
    threshold=st.sampled_from([0.0, 0.2, 0.5, 0.75, 0.9, 0.9995, 1.0]),
    cap=st.sampled_from([0.999, 0.7]),
)


def remembering(embedder=None):
    return Remembered(embedder or HashedWords(), ":memory:")


def all_pairs(stored, query, retrieval, embedder, floor):
    """What a search must find, by definition."""
    made = vectors([query, *stored], retrieval, embedder.embed)
    found = [
        (cosine(query, state, made[0], vector, retrieval), i)
        for i, (state, vector) in enumerate(zip(stored, made[1:], strict=True))
    ]
    found = sorted((s, i) for s, i in found if s >= floor and s > 0.0)[::-1]
    return [i for _, i in found], [s for s, _ in found]


@settings(max_examples=200)
@given(st.lists(states, max_size=30), states, retrievals, st.integers(0, 30))
def test_a_search_finds_exactly_what_comparing_all_pairs_finds(stored, query, retrieval, first):
    embedder = remembering()
    index, distinct = VectorIndex(retrieval, embedder), []
    for number, state in enumerate(stored):
        if index.add(state) == len(distinct):
            distinct.append(state)
        if number == first:
            index.search(query)
    for floor in (None, 0.4):
        found = index.search(query, floor)
        least = retrieval.threshold if floor is None else floor
        ids, similarities = all_pairs(distinct, query, retrieval, embedder, least)
        assert found.ids.tolist() == ids
        assert found.similarities.tolist() == similarities
    assert (found.ids.dtype, found.similarities.dtype) == (np.int64, np.float64)


@settings(max_examples=50)
@given(st.lists(states, max_size=20), states)
def test_kinds_agree_on_exact_repetition(stored, query):
    words = StateIndex(Retrieval(threshold=1.0))
    vectors_ = VectorIndex(Retrieval(kind="embedding", threshold=1.0), remembering())
    for state in stored:
        assert words.add(state) == vectors_.add(state)
    assert words.find(query) == vectors_.find(query)
    for one, other in zip(words.search(query), vectors_.search(query), strict=True):
        assert one.tolist() == other.tolist()
    assert len(words.search(query).ids) == (query in stored)


def test_among_equals_the_newest_comes_first():
    index = VectorIndex(Retrieval(kind="embedding"), remembering())
    for text in ("a b", "b a", " a b"):
        index.add(State(text))
    found = index.search(State("b  a"), 0.9)
    assert (found.ids.tolist(), found.similarities.tolist()) == ([2, 1, 0], [0.999] * 3)


def test_an_empty_index_asks_the_embedder_nothing():
    embedder = HashedWords()
    found = VectorIndex(Retrieval(kind="embedding"), embedder).search(State("a"))
    assert (found.ids.tolist(), embedder.asked) == ([], [])


def test_states_are_embedded_once_and_all_new_ones_together():
    embedder = HashedWords()
    index = VectorIndex(Retrieval(kind="embedding"), embedder)
    index.add(State("a"))
    index.add(State("b"))
    index.add(State("a"))
    assert embedder.asked == []
    index.search(State("c"))
    assert embedder.asked == ["a", "b", "c"]
    index.search(State("c"))
    assert embedder.asked == ["a", "b", "c", "c"]


def test_what_could_not_be_embedded_is_embedded_by_the_next_search():
    embedder = HashedWords()
    index = VectorIndex(Retrieval(kind="embedding"), embedder)
    index.add(State("a b"))
    embedder.fails = ModelError("the model is away")
    with pytest.raises(ModelError, match="away"):
        index.search(State("a b"))
    embedder.fails = None
    assert index.search(State("a b")).similarities.tolist() == [1.0]


def test_readers_beside_a_writer_find_every_state_added_before_they_began():
    index = VectorIndex(Retrieval(kind="embedding"), remembering())
    total, failures, done = 600, [], threading.Event()

    def read():
        while not done.is_set():
            before = len(index)
            found = index.search(State("common words of all of them"), 0.1)
            missing = set(range(before)) - set(found.ids.tolist())
            if missing:
                failures.append((before, missing))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(total):
        index.add(State(f"common words of all of them {number}"))
    done.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert index.search(State("common words of all of them"), 0.1).ids.size == total


def test_what_the_episode_did_is_as_similar_as_the_memory_will_find_it():
    here, near = State("a list of all orders"), State("a list of new orders")
    embedder = remembering()
    lens = Lens(retrieval=Retrieval(kind="embedding", threshold=0.1), embedder=embedder)
    index = lens.index()
    index.add(near)
    with SQLiteStore(":memory:") as store:
        session = Session(View(store, "s", lens))
        decision = decide([Candidate("go", 0.0)], (), lens.rule, np.random.default_rng(0))
        session.step(near, decision, None)
        [found] = session.neighborhood(here).neighbors
    assert found.similarity == index.search(here).similarities[0]
    assert 0.1 < found.similarity < 0.999


def test_a_memory_that_is_to_embed_needs_an_embedder():
    with pytest.raises(ConfigError, match="no embedder was handed in"):
        Lens(retrieval=Retrieval(kind="embedding"))
    settings = Memory(retrieval={"kind": "embedding"})
    with SQLiteStore(":memory:") as store:
        agent = Corrected(store, EnvironmentRewards(), settings)
        with pytest.raises(ConfigError, match="no embedder was handed in"):
            agent.view("s")
