"""What can be wrong with the file, and what the store says then."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from pathlib import Path

import pytest

from jitrl.errors import ConfigError, InputError, StoreError, StoreVersionError
from jitrl.stores import schema
from jitrl.stores.lock import FileLock
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import derive, put, rows_at, sample_episode, scored

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions and limits")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A file with one episode."""
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        put(store, sample_episode("e1"))
    return path


def run(code: str, *arguments: object) -> list[str]:
    """The lines that a Python process prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# --- paths ------------------------------------------------------------------------------------


def test_a_path_may_hold_any_characters(tmp_path: Path) -> None:
    path = tmp_path / "记忆 #1 %20 ?.db" if sys.platform != "win32" else tmp_path / "记忆 #1 %20.db"
    with SQLiteStore(path) as store:
        put(store, sample_episode("e1"))
    assert path.is_file()
    with SQLiteStore(str(path)) as store:
        assert store.head() == 1


def test_an_empty_path_or_name_is_a_setting_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="path"):
        SQLiteStore("")
    with pytest.raises(ConfigError, match="name"):
        SQLiteStore(tmp_path / "memory.db", memory="")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"folder .*nowhere does not exist"):
        SQLiteStore(tmp_path / "nowhere" / "memory.db")


def test_a_folder_is_not_a_memory(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        SQLiteStore(tmp_path)


def test_a_file_that_is_not_a_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("remember the milk\n" * 100)
    with pytest.raises(StoreError, match="not a memory file"):
        SQLiteStore(path)
    assert path.read_text() == "remember the milk\n" * 100


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE episode(id)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"another program \(tables: episode\)"):
        SQLiteStore(path)
    assert path.read_bytes() == before


def test_a_file_from_a_newer_version_says_so(memory: Path) -> None:
    with plain_sqlite(memory) as db:
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(
        StoreVersionError, match=rf"version {schema.VERSION + 1}.*pip install -U jitrl"
    ):
        SQLiteStore(memory)
    with pytest.raises(StoreVersionError):
        SQLiteStore(memory, readonly=True)


def test_a_missing_table_is_named(memory: Path) -> None:
    with plain_sqlite(memory) as db:
        db.execute("DROP TABLE change_row")
    with pytest.raises(StoreError, match="table change_row is missing"):
        SQLiteStore(memory)


# --- read-only --------------------------------------------------------------------------------


def test_a_readonly_store_reads_and_refuses_to_write(memory: Path) -> None:
    with SQLiteStore(memory, readonly=True) as store:
        assert store.episode("e1") == sample_episode("e1")
        assert store.head() == 1
        with pytest.raises(StoreError, match="readonly=True"):
            put(store, sample_episode("e2"))
        with SQLiteStore(memory) as writer:
            put(writer, sample_episode("e3"))
        assert store.head() == 2
    assert sorted(p.name for p in memory.parent.iterdir()) == ["memory.db", "memory.db.lock"]


def test_a_readonly_store_creates_nothing(memory: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no memory file"):
        SQLiteStore(tmp_path / "new.db", readonly=True)
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(StoreError, match=r"no memory 'other'; it has \['default'\]"):
        SQLiteStore(memory, memory="other", readonly=True)
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreError, match="is empty"):
        SQLiteStore(tmp_path / "empty.db", readonly=True)


OPEN = """
    import os, sys
    from pathlib import Path
    from jitrl.errors import StoreError
    from jitrl.stores.sqlite import SQLiteStore
    Path(sys.argv[1]).as_uri()  # loads what it needs, while it may
    if os.geteuid() == 0:
        os.setuid(65534)  # root may write everywhere
    for readonly in (False, True):
        try:
            with SQLiteStore(sys.argv[1], readonly=readonly) as store:
                print("head", store.head())
        except StoreError as error:
            print(error)
"""


@POSIX
def test_a_readonly_file_or_folder_is_named() -> None:
    # Not in pytest's own folder: it shuts other users out.
    with tempfile.TemporaryDirectory() as name:
        folder, memory = Path(name), Path(name, "memory.db")
        with SQLiteStore(memory) as store:
            put(store, sample_episode("e1"))
        (folder / "memory.db.lock").chmod(0o666)
        folder.chmod(0o777)
        memory.chmod(0o444)
        for_writing, for_reading = run(OPEN, memory)
        assert "memory.db is read-only" in for_writing
        assert for_reading == "head 1"
        memory.chmod(0o666)
        for suffix in ("-wal", "-shm"):  # a reader cannot clean up after itself
            Path(f"{memory}{suffix}").unlink(missing_ok=True)
        folder.chmod(0o555)
        for_writing, for_reading = run(OPEN, memory)
        assert "the folder" in for_writing
        assert "keeps its log beside" in for_writing
        assert "keeps its log beside" in for_reading
        folder.chmod(0o666)
        for said in run(OPEN, memory):
            assert "cannot be looked for" in said
            assert "ermission" in said
        folder.chmod(0o777)
        assert run(OPEN, memory) == ["head 1", "head 1"]


# --- a full disk ------------------------------------------------------------------------------

FILL = """
    import resource, sys
    from jitrl.errors import StoreError
    from jitrl.stores.sqlite import SQLiteStore
    from jitrl.testing.store_samples import put, sample_episode

    with SQLiteStore(sys.argv[1]) as store:
        put(store, sample_episode("first"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
        try:
            for i in range(1000):
                put(store, sample_episode(f"e{i}", steps=20))
                print(f"e{i}")
        except StoreError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert not put(store, sample_episode(f"e{i}", steps=20)).duplicate
        print(f"e{i}")
"""


@POSIX
def test_a_full_disk_is_a_store_error_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    *keys, message, again = run(FILL, tmp_path / "memory.db")
    assert len(keys) > 3
    assert "nothing of this was written" in message
    assert "free space" in message
    with SQLiteStore(tmp_path / "memory.db") as store:
        assert [e.key for e in store.episodes()] == ["first", *keys, again]
        assert store.check() == []


# --- damage -----------------------------------------------------------------------------------


def test_a_damaged_page_is_reported_by_check(memory: Path) -> None:
    with SQLiteStore(memory) as store:
        for i in range(40):
            put(store, sample_episode(f"more {i}", steps=20))
    with plain_sqlite(memory) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'row'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    with memory.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * 200)
    with SQLiteStore(memory) as store:
        found = store.check()
        assert "SQLite's integrity check" in {p.rule for p in found}
        with pytest.raises(StoreError, match="memory check"):
            list(store.changes(0))


def test_a_file_that_was_cut_off_is_a_store_error(memory: Path) -> None:
    memory.write_bytes(memory.read_bytes()[:5000])
    with pytest.raises(StoreError, match="damaged"):
        SQLiteStore(memory)


# --- processes, threads, locks ----------------------------------------------------------------


def test_a_lock_that_is_never_freed_is_a_store_error(memory: Path) -> None:
    with SQLiteStore(memory, timeout=0.1) as store:
        lock = FileLock(f"{memory}.lock")
        lock.acquire(1)
        with pytest.raises(StoreError, match=r"held by another process for 0\.1 s"):
            put(store, sample_episode("e2"))
        lock.release()
        lock.close()
        assert not put(store, sample_episode("e2")).duplicate


def test_a_program_without_our_lock_is_waited_for(memory: Path) -> None:
    with SQLiteStore(memory, timeout=0.1) as store, plain_sqlite(memory) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"locked; another process held it for 0\.1 s"):
            put(store, sample_episode("e2"))
        assert store.head() == 1
        db.execute("COMMIT")
        assert not put(store, sample_episode("e2")).duplicate


def test_readers_do_not_wait_for_a_writer_of_the_same_process(memory: Path) -> None:
    with SQLiteStore(memory) as store:
        inside, leave = threading.Event(), threading.Event()

        def write() -> None:
            with store.batch():
                put(store, sample_episode("e2"))
                inside.set()
                leave.wait(10)

        thread = threading.Thread(target=write)
        thread.start()
        inside.wait(10)
        before = time.monotonic()
        assert store.head() == 1
        assert [c.episode for c in store.changes(0)] == ["e1"]
        assert time.monotonic() - before < 5
        leave.set()
        thread.join()
        assert store.head() == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_store_that_came_by_fork_refuses_to_work(memory: Path) -> None:
    code = """
        import os, sys
        from jitrl.errors import StoreError
        from jitrl.stores.sqlite import SQLiteStore
        store = SQLiteStore(sys.argv[1])
        child = os.fork()
        if child == 0:
            try:
                store.head()
            except StoreError as error:
                os._exit(7 if "fork" in str(error) else 1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), store.head())
        store.close()
    """
    assert run(code, memory) == ["7 1"]


# --- a batch ----------------------------------------------------------------------------------


def test_a_batch_is_all_or_nothing(memory: Path) -> None:
    with SQLiteStore(memory) as store:
        with pytest.raises(InputError, match="key"), store.batch():  # noqa: PT012
            put(store, sample_episode("e2"))
            assert store.head() == 2
            assert store.episode("e2").key == "e2"
            put(store, sample_episode(""))
        assert store.head() == 1
        with store.batch():
            for key in ("e2", "e3"):
                put(store, sample_episode(key))
        assert store.head() == 3


def test_what_is_refused_inside_a_batch_leaves_the_rest(memory: Path) -> None:
    with SQLiteStore(memory) as store:
        with store.batch():
            put(store, sample_episode("e2"))
            bad = sample_episode("e3")
            with pytest.raises(InputError):
                store.rederive("e2", None, scored(bad), derive(bad, scored(bad)))
        assert store.episode("e2").outcome is not None
        assert store.check() == []


# --- several memories in one file -------------------------------------------------------------


def test_memories_of_one_file_do_not_see_each_other(memory: Path) -> None:
    with SQLiteStore(memory) as one, SQLiteStore(memory, memory="other") as other:
        put(other, sample_episode("e1", steps=5))
        put(one, sample_episode("e2"))
        assert (one.head(), other.head()) == (2, 1)
        assert [len(c.rows) for c in other.changes(0)] == [5]
        mine = next(iter(rows_at(list(one.changes(0)), 2)))
        with pytest.raises(StoreError, match="no row"):
            other.set_status("quarantined", rows=[mine])
        assert other.stats().rows["active"] == 5


def test_settings_that_derive_rows_are_remembered(memory: Path) -> None:
    with SQLiteStore(memory) as store:
        assert store.settings() == {}
        store.configure({"gamma": 0.5, "trusted": ["test"]})
        with pytest.raises(InputError):
            store.configure({"gamma": float("nan")})
    with SQLiteStore(memory, readonly=True) as store:
        assert store.settings() == {"gamma": 0.5, "trusted": ["test"]}


class plain_sqlite:
    """A plain connection to the file, for what the store would never do."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(path, isolation_level=None)

    def __enter__(self) -> sqlite3.Connection:
        return self.db

    def __exit__(self, *_: object) -> None:
        self.db.close()
