"""The state index against a comparison of all pairs."""

import random
import subprocess
import sys
import threading
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jitrl import extras
from jitrl.core.similarity import Retrieval, similarity
from jitrl.memory.index import StateIndex
from jitrl.types import State

KERNELS = [
    "numpy",
    pytest.param(
        "numba", marks=pytest.mark.skipif(find_spec("numba") is None, reason="needs numba")
    ),
]
WORDS = [
    "open",
    "door",
    "Door",
    "key",
    "12",
    "日期",
    "包含日期时",
    "データ",
    "😀",
    "",
    "\x00",
    "a+b",
]
texts = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
places = st.sampled_from(["", "p", "q", "stage: p", "stage: q"])
states = st.builds(State, texts, texts, places)
retrievals = st.builds(
    Retrieval,
    kind=st.sampled_from(["set", "multiset"]),
    ngram=st.integers(1, 3),
    context_weight=st.sampled_from([None, 0.0, 0.3, 0.5, 0.7, 1.0]),
    match_place=st.booleans(),
    threshold=st.sampled_from([0.0, 0.2, 0.3, 0.5, 0.7, 0.75, 0.8, 0.95, 0.9995, 1.0]),
)


def all_pairs(stored, query, retrieval, floor):
    """What a search must find, by definition."""
    found = [(similarity(query, state, retrieval), i) for i, state in enumerate(stored)]
    found = sorted((s, i) for s, i in found if s >= floor and s > 0.0)[::-1]
    return [i for _, i in found], [s for s, _ in found]


def filled(stored, retrieval, kernel="numpy"):
    """An index of ``stored``, and its states in the order of their ids."""
    index, distinct = StateIndex(retrieval, kernel), []
    for state in stored:
        if index.add(state) == len(distinct):
            distinct.append(state)
    return index, distinct


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=150)
@given(st.lists(states, max_size=30), states, retrievals)
@example([State(""), State("\x00"), State("", "a")], State(""), Retrieval(threshold=0.0))
@example([State("", "a b"), State("c", "a b")], State("d", "a b"), Retrieval(context_weight=0.7))
def test_a_search_finds_exactly_what_comparing_all_pairs_finds(kernel, stored, query, retrieval):
    index, distinct = filled(stored, retrieval, kernel)
    for floor in (None, 0.4):
        found = index.search(query, floor)
        least = retrieval.threshold if floor is None else floor
        ids, similarities = all_pairs(distinct, query, retrieval, least)
        assert found.ids.tolist() == ids
        assert found.similarities.tolist() == similarities
    assert (found.ids.dtype, found.similarities.dtype) == (np.int64, np.float64)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("length", [10, 40, 150, 1200])
@pytest.mark.parametrize("weight", [None, 0.4, 0.6])
def test_states_of_any_length_are_found_exactly(kernel, length, weight):
    rng = random.Random(length)
    vocabulary = [f"w{n}" for n in range(3 * length)]

    def near(words):
        kept = [w for w in words if rng.random() > 0.15]
        return kept + rng.sample(vocabulary, int(0.1 * length))

    first = rng.sample(vocabulary, length)
    stored = [first]
    for _ in range(60):
        stored.append(near(rng.choice(stored)))
    stored = [State(" ".join(x), " ".join(near(first)), rng.choice("pq")) for x in stored]
    retrieval = Retrieval(context_weight=weight)
    index, distinct = filled(stored, retrieval, kernel)
    hits = 0
    for floor in (0.3, 0.6, 0.7, 0.8):
        for query in (stored[7], State(" ".join([*near(first), "new"]), " ".join(first))):
            found = index.search(query, floor)
            ids, similarities = all_pairs(distinct, query, retrieval, floor)
            assert found.ids.tolist() == ids
            assert found.similarities.tolist() == similarities
            hits += len(ids)
    assert hits > 20


def test_the_same_state_keeps_its_id_and_is_found_at_once():
    index = StateIndex(Retrieval())
    assert index.add(State("open door")) == 0
    assert index.add(State("open the door")) == 1
    assert index.add(State("open door")) == 0
    assert len(index) == 2
    assert index.find(State("open door")) == 0
    assert index.find(State("open door", place="hall")) is None
    assert index.search(State("open door"), 1.0) == ([0], [1.0])


def test_texts_that_join_to_the_same_string_are_different_states():
    index = StateIndex(Retrieval())
    pairs = [
        State("a", "bc"),
        State("ab", "c"),
        State("abc"),
        State("", "abc"),
        State("ab", "", "c"),
    ]
    assert [index.add(state) for state in pairs] == [0, 1, 2, 3, 4]


def test_among_equals_the_newest_comes_first():
    index, _ = filled([State("a b c 1"), State("a b c 2"), State("a b c 3")], Retrieval())
    assert index.search(State("a b c 4"), 0.5).ids.tolist() == [2, 1, 0]


def test_without_numba_its_kernel_names_the_command_that_installs_it():
    program = (
        "import sys; sys.modules['numba'] = None\n"
        "from jitrl.core.similarity import Retrieval\n"
        "from jitrl.errors import MissingExtra\n"
        "from jitrl.memory.index import StateIndex\n"
        "try:\n    StateIndex(Retrieval(), 'numba')\n"
        "except MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f": {extras.command('numba')}, or use" in done.stdout


def test_a_megabyte_state_is_stored_and_found_beside_short_ones():
    rng = random.Random(0)
    huge = State(" ".join(str(rng.randrange(10**6)) for _ in range(150_000)))
    index, _ = filled([State("short text"), huge], Retrieval())
    assert index.search(huge).ids.tolist() == [1]
    near = index.search(State(huge.text + " more"))
    assert near.ids.tolist() == [1]
    assert 0.99 < near.similarities[0] <= 0.999
    assert index.search(State("short text more"), 0.5).ids.tolist() == [0]


@pytest.fixture
def hasty_threads():
    """Let threads take turns every few microseconds."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(2e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("hasty_threads")
def test_readers_beside_a_writer_find_every_state_added_before_they_began():
    index = StateIndex(Retrieval(context_weight=0.3))
    total, failures = 2000, []
    done = threading.Event()

    def read():
        while not done.is_set():
            before = len(index)
            found = index.search(State("common words of all of them", "goal"), 0.3)
            missing = set(range(before)) - set(found.ids.tolist())
            if missing or not (found.similarities > 0.3).all():
                failures.append((before, missing))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(total):
        index.add(State(f"common words of all of them {number}", "goal " + "again " * (number % 9)))
    done.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert len(index) == total
