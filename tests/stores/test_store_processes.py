"""Many processes on one file: nothing torn, nothing twice, nothing acknowledged lost."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from store_writer import ROWS

from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import put, sample_episode


class Writers:
    """Writer processes on one memory file, by name."""

    def __init__(self, folder: Path, count: int) -> None:
        self.memory = folder / "memory.db"
        self.folder = folder
        self.count = count
        self.running: dict[str, subprocess.Popen[str]] = {}
        self.opened: set[str] = set()

    def start(self, name: str) -> None:
        self.running[name] = subprocess.Popen(
            [
                sys.executable,
                Path(__file__).with_name("store_writer.py"),
                self.memory,
                self.folder / f"{name}.txt",
                name,
                str(self.count),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_until_open(self, name: str) -> None:
        if name not in self.opened:
            assert self.running[name].stdout.readline() == "open\n", self.finish(name)
            self.opened.add(name)

    def kill(self, name: str) -> bool:
        """Whether it was still running."""
        process = self.running.pop(name)
        was_running = process.poll() is None
        process.kill()
        process.communicate()
        self.opened.discard(name)
        return was_running

    def finish(self, name: str) -> str:
        process = self.running.pop(name)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        return errors

    def acknowledged(self) -> set[str]:
        return {key for file in self.folder.glob("*.txt") for key in file.read_text().split()}


def test_eight_processes_write_each_episode_once_and_a_ninth_sees_no_part(tmp_path: Path) -> None:
    writers = Writers(tmp_path, count=25)
    names = [f"w{i}" for i in range(8)]
    for name in names:
        writers.start(name)
    torn = []
    with SQLiteStore(writers.memory) as store:
        seen = 0
        while any(p.poll() is None for p in writers.running.values()):
            head = store.head()
            changes = list(store.changes(seen))
            torn += [c for c in changes if len(c.rows) != ROWS]
            seen += len(changes)
            if (changes and changes[-1].version != seen) or seen < head:
                torn.append(("a gap before", seen, head))
        for name in names:
            writers.finish(name)
        assert not torn
        keys = [e.key for e in store.episodes()]
        assert sorted(keys) == sorted(f"{name}.{i}" for name in names for i in range(25))
        rows = [(r.episode, r.step) for c in store.changes(0) for r in c.rows]
        assert len(rows) == len(set(rows)) == 2000
        assert store.check() == []


def test_a_commit_is_seen_by_the_next_call_of_another_process(tmp_path: Path) -> None:
    writers = Writers(tmp_path, count=1)
    with SQLiteStore(writers.memory) as store:
        assert store.head() == 0
        writers.start("other")
        writers.finish("other")
        assert store.head() == 1
        assert [c.episode for c in store.changes(0)] == ["other.0"]


@pytest.mark.parametrize("kills", [6, pytest.param(20, marks=pytest.mark.slow)])
def test_killing_writers_at_random_points_loses_and_doubles_nothing(
    tmp_path: Path, kills: int
) -> None:
    rng = random.Random(kills)
    writers = Writers(tmp_path, count=1_000_000)
    names = ["a", "b", "c"]
    for name in names:
        writers.start(name)
    hits = 0
    while hits < kills:
        name = rng.choice(names)
        writers.wait_until_open(name)
        time.sleep(rng.uniform(0, 0.15))
        hits += writers.kill(name)
        writers.start(name)
        acknowledged = writers.acknowledged()
        with SQLiteStore(writers.memory) as store:
            assert acknowledged <= {c.episode for c in store.changes(0)}
    for name in names:
        writers.kill(name)
    acknowledged = writers.acknowledged()
    with SQLiteStore(writers.memory) as store:
        changes = list(store.changes(0))
        keys = [c.episode for c in changes]
        assert acknowledged <= set(keys)
        assert len(keys) - len(acknowledged) <= kills + len(names)
        assert len(keys) == len(set(keys)) == store.head()
        assert {len(c.rows) for c in changes} == {ROWS}
        assert store.check() == []
        # Retrying what was committed, acknowledged or not, changes nothing.
        for key in keys[-20:]:
            name = key.partition(".")[0]
            assert put(store, sample_episode(key, steps=ROWS, scope=name)).duplicate
        assert store.head() == len(keys)
