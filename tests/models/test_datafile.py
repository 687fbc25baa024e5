"""Small files of our own, opened by many at once."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from jitrl.models.datafile import DataFile, Kind

KIND = Kind("a test file", 0x4A695400, 1, ("CREATE TABLE IF NOT EXISTS seen(who INTEGER)",))


def enter(path: Path, who: int) -> str:
    file = DataFile(path, KIND)
    with file.transaction() as db:
        db.execute("INSERT INTO seen VALUES (?)", (who,))
    with file.reading() as db:
        (mode,) = db.execute("PRAGMA journal_mode").fetchone()
    return str(mode)


def test_a_new_file_can_be_opened_by_many_processes_at_the_same_time(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4, multiprocessing.get_context("spawn")) as pool:
        for round in range(5):
            path = tmp_path / f"{round}.db"
            modes = list(pool.map(enter, [path] * 8, range(8)))
            assert modes == ["wal"] * 8
            with DataFile(path, KIND).reading() as db:
                assert db.execute("SELECT count(*) FROM seen").fetchone() == (8,)
