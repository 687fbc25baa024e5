import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from jitrl.run import folder
from jitrl.run.ledger import Ledger
from jitrl.stores.sqlite import SQLiteStore

SCRIPT = Path(__file__).with_name("bandits.py")


class Run:
    """Ten tasks, four attempts, one call an episode, in processes that may be killed."""

    def __init__(self, place):
        self.folder, self.calls_file = place / "run", place / "calls"
        self.calls_file.touch()

    @property
    def calls(self):
        return self.calls_file.stat().st_size

    def start(self, *more):
        command = [sys.executable, str(SCRIPT), str(self.folder), str(self.calls_file), *more]
        return subprocess.Popen(command)

    def committed(self):
        path = folder.store_path(self.folder, 0)
        if not path.is_file():
            return []
        with SQLiteStore(path) as store:
            return [episode.key for episode in store.episodes()]

    def check(self, kills=0):
        """Each of the 40 episodes once, each with its one row, in a sound file.

        A call is entered before it is made, so one that a kill forestalled counts as made.
        """
        keys = self.committed()
        assert sorted(keys) == sorted(f"bandit:{t}/{a}/0" for t in range(10) for a in range(4))
        with SQLiteStore(folder.store_path(self.folder, 0), readonly=True) as store:
            rows = [(row.episode, row.step) for c in store.changes(0) for row in c.rows]
        assert sorted(rows) == sorted((key, 0) for key in keys)
        with sqlite3.connect(folder.store_path(self.folder, 0)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()
        with closing(Ledger(self.folder / "ledger.db")) as ledger:
            entered = sum(total.calls for total in ledger.totals())
        assert self.calls <= entered <= self.calls + kills


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path)


def test_a_run_killed_after_six_tasks_makes_exactly_the_sixteen_calls_that_are_left(run):
    assert run.start("24").wait(60) != 0
    assert (len(run.committed()), run.calls) == (24, 24)
    assert run.start().wait(60) == 0
    assert run.calls == 40
    run.check()


def test_a_run_stops_at_its_limit_of_calls_and_goes_on_with_a_higher_one(run):
    assert run.start("0", "30").wait(60) == 6
    assert (len(run.committed()), run.calls) == (30, 30)
    assert run.start("0", "30").wait(60) == 6
    assert run.calls == 30
    assert run.start("0", "40").wait(60) == 0
    assert run.calls == 40
    run.check()


@pytest.mark.slow
def test_a_run_killed_at_twenty_random_points_has_every_episode_exactly_once(run):
    chance = random.Random(7)
    wasted = 0
    for _ in range(20):
        before, calls = len(run.committed()), run.calls
        child = run.start()
        wanted, deadline = calls + chance.randint(0, 3), time.monotonic() + 60
        while run.calls < wanted and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(chance.random() * 0.01)
        child.kill()
        child.wait(60)
        done = len(run.committed()) - before
        assert 0 <= (run.calls - calls) - done <= 1  # at most the call of the episode under way
        wasted += (run.calls - calls) - done
    assert run.start().wait(60) == 0
    assert run.calls == 40 + wasted
    run.check(kills=20)
