"""Small files of our own, opened by many at once."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("rights", [0o755, 0o555])
def test_reading_a_file_makes_and_changes_none(tmp_path: Path, rights: int) -> None:
    enter(tmp_path / "50%#?.db", 7)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    os.chmod(tmp_path, rights)
    file = DataFile(tmp_path / "50%#?.db", KIND, readonly=True)
    none = DataFile(tmp_path / "none.db", KIND, readonly=True)
    os.chmod(tmp_path, 0o755)
    with file.reading() as db, none.reading() as empty:
        assert db.execute("SELECT who FROM seen").fetchall() == [(7,)]
        assert empty.execute("SELECT who FROM seen").fetchall() == []
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_reading_a_file_sees_what_a_writer_has_committed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = DataFile(path, KIND)
    with writer.transaction() as db:
        db.execute("INSERT INTO seen VALUES (1)")
    with DataFile(path, KIND, readonly=True).reading() as db:
        assert db.execute("SELECT who FROM seen").fetchall() == [(1,)]
