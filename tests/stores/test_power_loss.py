"""What the disk holds when the power fails or a purge is killed: everything acknowledged."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jitrl.purging import purged
from jitrl.stores.backup import backup, copies
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import put, sample_episode


def test_a_log_cut_or_torn_after_what_was_acknowledged_loses_none_of_that(tmp_path):
    """What was synced stays; behind it the disk may hold any part of later writes, or garbage."""
    path, rng = tmp_path / "m.db", random.Random(0)
    wal = Path(f"{path}-wal")
    images = []
    with SQLiteStore(path) as store:
        for n in range(12):
            put(store, sample_episode(f"e{n}"))
            images.append((n, path.read_bytes(), wal.read_bytes()))
    tried = 0
    for trial in range(30):
        n, main, synced = rng.choice(images[:-1])
        later = images[n + 1][2]
        if not (len(later) > len(synced) and later.startswith(synced)):
            continue
        tried += 1
        tail = bytearray(later[len(synced) :])
        cut = rng.randrange(len(tail))
        lost = tail[:cut] + bytes(rng.randrange(256) for _ in range(64)) * (trial % 2)
        folder = tmp_path / f"after-{trial}"
        folder.mkdir()
        (folder / "m.db").write_bytes(main)
        (folder / "m.db-wal").write_bytes(synced + lost)
        with SQLiteStore(folder / "m.db") as store:
            assert store.check() == []
            keys = [e.key for e in store.episodes()]
            assert keys == [f"e{i}" for i in range(n + 1)]
            put(store, sample_episode("next"))
    assert tried > 20


PURGE = """
import sys
from jitrl.purging import purged
from jitrl.stores.sqlite import SQLiteStore
with SQLiteStore(sys.argv[1]) as store:
    print("ready", flush=True)
    purged(store, ["text=secret-4711"])
    print("done", flush=True)
"""


def filled(path, episodes=40):
    with SQLiteStore(path) as store, store.batch():
        for n in range(episodes):
            text = "secret-4711" if n % 4 == 0 else "plain"
            put(store, sample_episode(f"{text}/{n}", task=f"about {text}"))


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
def test_a_purge_killed_at_any_point_leaves_a_whole_file_and_can_be_done_again(tmp_path):
    filled(tmp_path / "full.db")
    rng, kept, done = random.Random(1), [f"plain/{n}" for n in range(40) if n % 4], 0
    for trial in range(5):
        folder = tmp_path / str(trial)
        folder.mkdir()
        path = folder / "m.db"
        shutil.copy(tmp_path / "full.db", path)
        command = [sys.executable, "-c", PURGE, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            process.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
            done += "done" in process.stdout.read()
        with SQLiteStore(path) as store:
            assert store.check() == []
            keys = {e.key for e in store.episodes()}
            assert keys >= set(kept)
            assert len(keys) in (30, 40)
            assert purged(store, ["text=secret-4711"]).is_complete
            assert [e.key for e in store.episodes()] == kept
            assert store.check() == []
        assert all(b"secret-4711" not in f.read_bytes() for f in folder.iterdir())


def test_a_backup_is_whole_while_another_process_writes(tmp_path):
    program = (
        "import sys\n"
        "from jitrl.stores.sqlite import SQLiteStore\n"
        "from jitrl.testing.store_samples import put, sample_episode\n"
        "with SQLiteStore(sys.argv[1]) as store:\n"
        "    for n in range(10**6):\n"
        "        put(store, sample_episode(f'w{n}'))\n"
        "        print(n, flush=True)\n"
    )
    path = tmp_path / "m.db"
    filled(path, 4)
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            for n in range(3):
                acknowledged = int(writer.stdout.readline())
                target = tmp_path / f"copy-{n}.db"
                with SQLiteStore(path, readonly=True) as store:
                    assert backup(store, str(target)) > 0
                with SQLiteStore(target, readonly=True) as copy:
                    assert copy.check() == []
                    written = [e.key for e in copy.episodes() if e.key.startswith("w")]
                    assert len(written) > acknowledged
        finally:
            writer.kill()
    assert [Path(c.path).name for c in copies(str(path))] == [f"copy-{n}.db" for n in range(3)]


def test_a_backup_put_in_the_place_of_the_file_is_the_memory_of_that_time(tmp_path):
    path, target = tmp_path / "m.db", tmp_path / "copy.db"
    filled(path, 4)
    with SQLiteStore(path, readonly=True) as store:
        backup(store, str(target))
    with SQLiteStore(path) as store:
        put(store, sample_episode("later"))
    os.replace(target, path)
    with SQLiteStore(path) as store:
        assert "later" not in [e.key for e in store.episodes()]
        assert store.check() == []
        put(store, sample_episode("later"))


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_backup_and_a_key_are_for_their_owner_alone(tmp_path):
    path = tmp_path / "m.db"
    filled(path, 4)
    Path(f"{path}.redaction-key").write_text("00" * 32)
    with SQLiteStore(path, readonly=True) as store:
        backup(store, str(tmp_path / "copy.db"))
    for name in ("copy.db", "copy.db.redaction-key"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert not [p for p in tmp_path.iterdir() if "part" in p.name]


def test_a_backup_of_a_damaged_file_is_refused_and_leaves_nothing(tmp_path):
    from jitrl.errors import StoreError

    path = tmp_path / "m.db"
    filled(path, 4)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("UPDATE memory SET head = head + 1")
    db.close()
    with SQLiteStore(path, readonly=True) as store, pytest.raises(StoreError, match="not whole"):
        backup(store, str(tmp_path / "copy.db"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.db", "m.db.lock"]
