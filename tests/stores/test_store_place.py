"""Files that are replaced, deleted, shared while they are made, read-only, or none of ours."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from jitrl.errors import StoreError, StoreVersionError
from jitrl.stores import place, schema
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import put, sample_episode

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be replaced there")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A file with one episode, in a folder of its own."""
    (tmp_path / "own").mkdir()
    path = tmp_path / "own" / "memory.db"
    with SQLiteStore(path) as store:
        put(store, sample_episode("e1"))
    return path


def keys(path: Path) -> list[str]:
    with SQLiteStore(path) as store:
        assert store.check() == []
        return [e.key for e in store.episodes()]


def backup(memory: Path) -> Path:
    made = memory.parent.parent / "backup.db"
    shutil.copy(memory, made)
    return made


def names(folder: Path) -> set[str]:
    return {p.name for p in folder.iterdir()}


def run(code: str, *arguments: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# --- replaced or deleted while open -----------------------------------------------------------


@POSIX
def test_a_file_that_was_replaced_is_not_written_to_and_the_new_one_stays_whole(
    memory: Path,
) -> None:
    saved = backup(memory)
    with SQLiteStore(memory) as store:
        for i in range(40):
            put(store, sample_episode(f"more {i}", steps=20))
        os.replace(saved, memory)
        with pytest.raises(StoreError, match="was replaced or deleted while it was open; nothing"):
            put(store, sample_episode("e2"))
        with pytest.raises(StoreError, match="open it again"):
            store.head()
        with SQLiteStore(memory) as again:
            put(again, sample_episode("e3"))
        with pytest.raises(StoreError, match="was replaced"):
            put(store, sample_episode("e4"))
    assert keys(memory) == ["e1", "e3"]


@POSIX
def test_a_file_that_was_replaced_and_only_closed_leaves_the_new_one_whole(memory: Path) -> None:
    saved = backup(memory)
    with SQLiteStore(memory) as store:
        for i in range(40):
            put(store, sample_episode(f"more {i}", steps=20))
        os.replace(saved, memory)
    assert keys(memory) == ["e1"]


@POSIX
def test_a_log_that_is_still_used_with_the_file_before_is_not_laid_beside_the_new_one(
    memory: Path,
) -> None:
    saved = backup(memory)
    with SQLiteStore(memory) as store:
        for i in range(40):
            put(store, sample_episode(f"more {i}", steps=20))
        os.replace(saved, memory)
        before = memory.read_bytes()
        for readonly in (True, False):
            with pytest.raises(StoreError, match=r"was replaced while .*-wal seems to be of the"):
                SQLiteStore(memory, readonly=readonly)
        assert memory.read_bytes() == before
    assert keys(memory) == ["e1"]


@POSIX
def test_an_empty_log_of_the_file_before_is_no_hindrance(memory: Path) -> None:
    saved = backup(memory)
    with SQLiteStore(saved) as other:
        put(other, sample_episode("e2", steps=30))
    with SQLiteStore(memory) as store:
        os.replace(saved, memory)
        with SQLiteStore(memory, readonly=True) as reader, SQLiteStore(memory) as writer:
            put(writer, sample_episode("e3"))
            assert reader.head() == 3
        with pytest.raises(StoreError, match="was replaced"):
            put(store, sample_episode("e4"))
    assert keys(memory) == ["e1", "e2", "e3"]


@POSIX
def test_a_file_that_was_moved_away_takes_all_that_was_acknowledged_along(memory: Path) -> None:
    saved, moved = backup(memory), memory.parent.parent / "moved.db"
    with SQLiteStore(memory) as store:
        put(store, sample_episode("e2"))
        os.rename(memory, moved)
        os.rename(saved, memory)
        with pytest.raises(StoreError, match="was replaced"):
            put(store, sample_episode("e3"))
    assert keys(moved) == ["e1", "e2"]
    assert keys(memory) == ["e1"]


@POSIX
def test_a_file_that_was_deleted_is_not_written_to(memory: Path) -> None:
    with SQLiteStore(memory) as store:
        memory.unlink()
        with pytest.raises(StoreError, match="was replaced or deleted"):
            put(store, sample_episode("e2"))
        with SQLiteStore(memory) as new:
            put(new, sample_episode("e3"))
        with pytest.raises(StoreError, match="was replaced or deleted"):
            put(store, sample_episode("e4"))
    assert keys(memory) == ["e3"]


@POSIX
def test_a_file_that_is_replaced_in_the_middle_of_a_batch_acknowledges_nothing(
    memory: Path,
) -> None:
    saved = backup(memory)
    with SQLiteStore(memory) as store:
        with pytest.raises(StoreError, match="was replaced"), store.batch():  # noqa: PT012
            put(store, sample_episode("e2"))
            os.replace(saved, memory)
        assert [e.key for e in store.episodes()] == ["e1"]
    assert keys(memory) == ["e1"]


def test_a_folder_that_is_copied_with_its_log_keeps_all(memory: Path, tmp_path: Path) -> None:
    with SQLiteStore(memory) as store:
        put(store, sample_episode("e2"))
        shutil.copytree(memory.parent, tmp_path / "copy")
    assert keys(tmp_path / "copy" / "memory.db") == ["e1", "e2"]


def test_a_store_by_a_relative_path_survives_another_working_folder(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(memory.parent)
    with SQLiteStore("memory.db") as store:
        monkeypatch.chdir(memory.parent.parent)
        put(store, sample_episode("e2"))
        assert store.head() == 2
    assert keys(memory) == ["e1", "e2"]


def test_a_file_that_a_newer_version_changed_while_it_was_open_is_not_written_to(
    memory: Path,
) -> None:
    with SQLiteStore(memory) as store:
        assert store.head() == 1
        db = sqlite3.connect(memory, isolation_level=None)
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        with pytest.raises(
            StoreVersionError, match=f"version {schema.VERSION + 1} while it was open"
        ):
            put(store, sample_episode("e2"))
        with pytest.raises(StoreVersionError, match="pip install -U jitrl"):
            store.head()
        db.execute(f"PRAGMA user_version = {schema.VERSION}")
        db.close()
    assert keys(memory) == ["e1"]


# --- made by several at once ------------------------------------------------------------------

RACE = """
    import sys, time
    from pathlib import Path
    from jitrl.stores.sqlite import SQLiteStore
    start, me = float(sys.argv[2]), int(sys.argv[3])
    for i in range(150):
        at = start + 0.012 * i + 0.002 * me * (i % 3)
        while time.time() < at:
            pass
        SQLiteStore(f"{sys.argv[1]}/{i}.db").close()
    print("ok")
"""


def test_several_that_open_a_new_file_at_once_all_get_it(tmp_path: Path) -> None:
    start = time.time() + 1.5
    started = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(RACE), tmp_path, str(start), str(me)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for me in range(3)
    ]
    for process in started:
        out, err = process.communicate(timeout=60)
        assert (out, err) == ("ok\n", "")


@pytest.mark.parametrize("at", range(1, 6))
def test_tables_that_another_makes_between_two_statements_are_no_other_program(
    tmp_path: Path, at: int
) -> None:
    path = tmp_path / "memory.db"
    said: list[str] = []
    looking, other = (sqlite3.connect(path, isolation_level=None) for _ in range(2))
    looking.execute("PRAGMA journal_mode = WAL")

    def trace(statement: str) -> None:
        said.append(statement)
        if len(said) == at:
            schema.prepare(other, "other")

    looking.set_trace_callback(trace)
    schema.needs_work(looking, str(path))
    looking.set_trace_callback(None)
    assert len(said) == 5
    assert not schema.needs_work(looking, str(path))
    looking.close()
    other.close()


# --- none of ours -----------------------------------------------------------------------------


def test_a_file_that_is_refused_gets_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("remember the milk\n" * 100)
    db = sqlite3.connect(tmp_path / "other.db")
    db.execute("CREATE TABLE episode(id)")
    db.close()
    for name in ("notes.txt", "other.db"):
        with pytest.raises(StoreError):
            SQLiteStore(tmp_path / name)
    assert names(tmp_path) == {"notes.txt", "other.db"}


@POSIX
@pytest.mark.parametrize("readonly", [False, True])
def test_what_is_no_regular_file_is_refused_before_it_is_opened(
    tmp_path: Path, readonly: bool
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(os.devnull)
    with pytest.raises(StoreError, match="regular file"):
        SQLiteStore(tmp_path / "link", readonly=readonly)
    with pytest.raises(StoreError, match="regular file"):
        SQLiteStore(tmp_path / "pipe", readonly=readonly)
    assert names(tmp_path) == {"pipe", "link"}


# --- what cannot be written -------------------------------------------------------------------

READ = """
    import os, sys
    from pathlib import Path
    from jitrl.errors import StoreError
    from jitrl.stores.sqlite import SQLiteStore
    Path(sys.argv[1]).as_uri()  # loads what it needs, while it may
    if os.geteuid() == 0:
        os.setuid(65534)  # root may write everywhere
    try:
        with SQLiteStore(sys.argv[1], readonly=True) as store:
            print(store.check(), store.head(), [e.key for e in store.episodes()])
            print("read", flush=True)
            input()
            print(store.head())
    except StoreError as error:
        print(error)
"""


def reader(memory: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(READ), memory],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@POSIX
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_a_memory_where_nothing_can_be_written_is_read_until_somebody_writes() -> None:
    # Not in pytest's own folder: it shuts other users out.
    with tempfile.TemporaryDirectory() as name:
        folder, memory = Path(name), Path(name, "memory.db")
        with SQLiteStore(memory) as store:
            put(store, sample_episode("e1"))
        memory.chmod(0o444)
        folder.chmod(0o555)
        out, _ = reader(memory).communicate("\n", timeout=60)
        assert out.splitlines() == ["[] 1 ['e1']", "read", "1"]
        assert names(folder) == {"memory.db", "memory.db.lock"}
        process = reader(memory)
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)][1] == "read\n"
        with SQLiteStore(memory) as store:  # root may
            put(store, sample_episode("e2"))
        out, _ = process.communicate("\n", timeout=60)
        assert "nobody writes to, but somebody did; open it again" in out
        folder.chmod(0o777)


def test_what_is_nearly_named_so_is_meant_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch()
    (tmp_path / "memory.db.lock").touch()
    assert place.nearest(tmp_path / "memroy.db") == f"; did you mean {tmp_path / 'memory.db'}?"
    for path in ("memory.db", "shop.db", "none/memory.db"):
        assert place.nearest(tmp_path / path) == ""
