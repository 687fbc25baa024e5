"""Vectors kept in a file that can be thrown away, used by many at once."""

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.errors import ModelError, StoreError
from jitrl.models.vectors import Remembered, beside
from jitrl.testing.embedder import CHECKS, HashedWords

ASKED = ["orders", "订单", "orders", "", "a b"]
WRITER = """
import sys
from jitrl.models.vectors import Remembered
from jitrl.testing.embedder import HashedWords
embedder = Remembered(HashedWords(), sys.argv[1])
for number in range(int(sys.argv[2]), 10**9):
    embedder.embed([f"text {number} {part}" for part in range(20)])
    print(number, flush=True)
"""


class Fixed:
    """An embedder that answers with what it was given."""

    def __init__(self, answer):
        self.name, self.answer = "fixed", answer

    def embed(self, texts):
        return self.answer(texts) if callable(self.answer) else self.answer


@pytest.fixture
def path(tmp_path):
    return tmp_path / "jitrl-vectors.db"


def counted(path):
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return db.execute("SELECT count(*) FROM vector").fetchone()[0]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_embedder_that_remembers_keeps_the_contract(check, path):
    check(lambda: Remembered(HashedWords(), path))


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from(["a", "a b", "", "日", "\ud800", "x\x00"]), max_size=5)))
def test_what_is_remembered_is_what_would_be_made_and_nothing_is_made_twice(batches):
    made = HashedWords()
    remembered = Remembered(made, ":memory:", recent=2)
    for texts in batches:
        found = remembered.embed(texts)
        for vector, text in zip(found, texts, strict=True):
            plain = HashedWords().embed([text])[0] if text else np.zeros(16)
            assert vector.tolist() == plain.tolist()
    asked = [text for text in made.asked if text != "a"]  # "a" may have been asked for the width
    assert sorted(asked) == sorted({t for texts in batches for t in texts if t} - {"a"})


def test_another_process_finds_what_was_made_and_asks_for_nothing(path):
    first, second = HashedWords(), HashedWords()
    before = Remembered(first, path).embed(ASKED)
    assert first.asked == ["orders", "订单", "a b"]
    assert np.array_equal(Remembered(second, path).embed(ASKED), before)
    assert second.asked == []


def test_vectors_of_another_embedder_are_made_anew_and_those_before_stay(path):
    Remembered(HashedWords("one"), path).embed(ASKED)
    other, again = HashedWords("other"), HashedWords("one")
    Remembered(other, path).embed(ASKED)
    assert other.asked == ["orders", "订单", "a b"]
    Remembered(again, path).embed(ASKED)
    assert again.asked == []


def test_a_deleted_file_is_made_anew(path):
    before = Remembered(HashedWords(), path).embed(ASKED)
    for file in path.parent.iterdir():
        file.unlink()
    assert np.array_equal(Remembered(HashedWords(), path).embed(ASKED), before)
    assert counted(path) == 3


@pytest.mark.parametrize("raw", [b"", b"123", b"\0\0\xc0\x7f" * 16, b"\0\0\x80?" * 16])
def test_a_damaged_vector_is_made_anew(path, raw):
    before = Remembered(HashedWords(), path).embed(["orders"])
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE vector SET vector = ?", (raw,))
    for _ in range(2):
        assert np.array_equal(Remembered(HashedWords(), path).embed(["orders"]), before)
    again = HashedWords()
    Remembered(again, path).embed(["orders"])
    assert again.asked == []


def test_a_file_of_something_else_is_not_touched(path):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE mine(x)")
    with pytest.raises(StoreError, match="something else than a file of vectors"):
        Remembered(HashedWords(), path)
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 99)
    with pytest.raises(StoreError, match=r"cannot use .* as a file of vectors"):
        Remembered(HashedWords(), path)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root and Windows write to read-only folders"
)
def test_where_nothing_can_be_written_vectors_are_kept_in_the_process(path):
    path.parent.chmod(0o500)
    try:
        made = HashedWords()
        remembered = Remembered(made, path)
        remembered.embed(ASKED)
        remembered.embed(ASKED)
        assert made.asked == ["orders", "订单", "a b"]
        assert not path.exists()
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize(
    "answer",
    [
        np.ones((1, 4), np.float32),
        np.array([[1.0, 0.0]]),
        np.array([[1.0, 0.0]] * 2, np.float32),
        np.array([[np.nan, 0.0]], np.float32),
        np.empty((1, 0), np.float32),
        np.array([1.0], np.float32),
    ],
    ids=["length", "float64", "too many", "nan", "no width", "no matrix"],
)
def test_what_is_no_vector_is_refused_with_the_name_of_the_embedder(answer):
    with pytest.raises(ModelError, match=r"embedder fixed returned .* float32 vectors of length 1"):
        Remembered(Fixed(answer), ":memory:").embed(["a"])


def test_vectors_of_another_width_than_before_are_refused():
    wide = iter([np.eye(2, dtype=np.float32)[:1], np.eye(3, dtype=np.float32)[:1]])
    remembered = Remembered(Fixed(lambda texts: next(wide)), ":memory:")
    remembered.embed(["a"])
    with pytest.raises(ModelError, match="one width"):
        remembered.embed(["b"])


def test_the_memory_files_of_a_folder_share_one_file_and_a_vanishing_one_has_its_own(tmp_path):
    assert beside(str(tmp_path / "shop.db")) == str(tmp_path / "jitrl-vectors.db")
    assert beside("shop.db") == "jitrl-vectors.db"
    assert beside(":memory:") == ":memory:"


def test_who_was_faster_counts_while_one_text_is_embedded_twice(path):
    east, north = np.eye(2, dtype=np.float32)
    faster = Remembered(Fixed(lambda texts: np.array([north] * len(texts))), path)

    def overtaken(texts):
        faster.embed(texts)
        return np.array([east] * len(texts))

    slower = Remembered(Fixed(overtaken), path)
    for _ in range(2):
        assert slower.embed(["a", "b"]).tolist() == [north.tolist()] * 2


def embed_in_a_process(path, draw):
    """Vectors that differ by process until they are in the file."""
    rng = np.random.default_rng(draw)

    def answer(texts):
        made = rng.normal(size=(len(texts), 8)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    remembered = Remembered(Fixed(answer), path)
    texts = [f"text {number}" for number in np.random.default_rng(draw).permutation(60)]
    found = [remembered.embed(texts[start : start + 7]) for start in range(0, 60, 7)]
    return dict(zip(texts, np.concatenate(found).tolist(), strict=True))


def test_processes_that_embed_the_same_at_once_all_use_the_vectors_of_the_first(path):
    with ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(embed_in_a_process, [path] * 6, range(6)))
    assert all(other == found[0] for other in found[1:])
    assert counted(path) == 60


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_a_process_killed_at_any_moment_leaves_a_sound_file_with_all_it_acknowledged(path):
    acknowledged = 0
    for round in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(acknowledged)],
            stdout=subprocess.PIPE,
            text=True,
        )
        first = writer.stdout.readline()
        time.sleep(0.013 * round)
        writer.kill()
        done = [first, *writer.stdout.read().splitlines(keepends=True)]
        writer.wait()
        writer.stdout.close()
        acknowledged = max([int(line) for line in done if line.endswith("\n")]) + 1
        assert counted(path) >= 20 * acknowledged
    again = HashedWords()
    texts = [f"text {n} {part}" for n in range(acknowledged) for part in range(20)]
    assert np.array_equal(Remembered(again, path).embed(texts), HashedWords().embed(texts))
    assert again.asked == []


def test_vectors_of_two_widths_say_which_file_to_delete(path):
    short, long = np.eye(1, 4, dtype=np.float32), np.eye(1, 6, dtype=np.float32)
    Remembered(Fixed(short), path).embed(["a"])
    with pytest.raises(ModelError, match=r"4 and 6 numbers.*jitrl-vectors\.db.*delete"):
        Remembered(Fixed(long), path).embed(["a", "b"])
