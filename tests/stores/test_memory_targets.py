"""Where `jitrl memory` writes: what it must not destroy, and what it must not leave behind."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from jitrl.cli import main
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import put, sample_episode

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs pipes, links and signals")

Call = Callable[..., tuple[int, str]]


@pytest.fixture
def jitrl(capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs `jitrl memory`; its exit code and its words."""

    def call(*args: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            main(["memory", *map(str, args)])
        return int(end.value.code or 0), " ".join(capsys.readouterr().err.split())

    return call


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory of two episodes in the working folder."""
    monkeypatch.chdir(tmp_path)
    with SQLiteStore("m.db") as store:
        put(store, sample_episode("e1"))
        put(store, sample_episode("e2"))
    return tmp_path / "m.db"


def keys(path: object) -> list[str]:
    with SQLiteStore(str(path), readonly=True) as store:
        assert store.check() == []
        return [e.key for e in store.episodes()]


# --- export -----------------------------------------------------------------------------------


@POSIX
@pytest.mark.parametrize(
    "target",
    ["m.db", "./m.db", "m.db-wal", "m.db-shm", "m.db-journal", "m.db.lock", "link.db", "hard.db"],
)
def test_an_export_spares_the_memory_and_what_belongs_to_it(
    jitrl: Call, file: Path, target: str
) -> None:
    Path("link.db").symlink_to("m.db")
    os.link("m.db", "hard.db")
    before = sorted(os.listdir())
    for name in ("m.db", "link.db"):
        code, said = jitrl("export", name, target)
        assert code == 2
        assert "belongs to the memory; name another target" in said
    assert sorted(os.listdir()) == before
    assert keys("m.db") == ["e1", "e2"]


@POSIX
def test_an_export_follows_a_link(jitrl: Call, file: Path) -> None:
    Path("elsewhere").mkdir()
    Path("elsewhere/real.jsonl").write_text("old")
    Path("link.jsonl").symlink_to("elsewhere/real.jsonl")
    assert jitrl("export", "m.db", "link.jsonl")[0] == 0
    assert Path("link.jsonl").is_symlink()
    assert len(Path("elsewhere/real.jsonl").read_bytes().splitlines()) == 2
    assert os.listdir("elsewhere") == ["real.jsonl"]


@POSIX
def test_an_export_writes_into_a_pipe_and_leaves_it_one(jitrl: Call, file: Path) -> None:
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    assert jitrl("export", "m.db", "pipe")[0] == 0
    reader.join(10)
    assert len(got[0].splitlines()) == 2
    assert Path("pipe").is_fifo()
    assert Path("m.db").is_file()


def test_an_export_beside_a_memory_named_like_its_part_leaves_that_alone(
    jitrl: Call, file: Path
) -> None:
    shutil.copy("m.db", "out.jsonl.part")
    assert jitrl("export", "out.jsonl.part", "out.jsonl")[0] == 0
    assert keys("out.jsonl.part") == ["e1", "e2"]


# --- import -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "code"), [('{"schema": "nonsense"}\n', 4), ("\n", 0)], ids=["bad", "none"]
)
def test_an_import_that_brings_nothing_leaves_no_name_in_the_file(
    jitrl: Call, file: Path, lines: str, code: int
) -> None:
    Path("in.jsonl").write_text(lines)
    assert jitrl("import", "m.db", "in.jsonl", "--memory", "other")[0] == code
    assert "it has ['default']" in jitrl("ls", "m.db", "--memory", "other")[1]


def test_an_import_makes_a_new_name_in_a_file(jitrl: Call, file: Path) -> None:
    jitrl("export", "m.db", "out.jsonl")
    assert jitrl("import", "m.db", "out.jsonl", "--memory", "other", "--gamma", 0.5)[0] == 0
    with SQLiteStore("m.db", memory="other", readonly=True) as store:
        assert [e.key for e in store.episodes()] == ["e1", "e2"]
        assert store.settings()["gamma"] == 0.5


def importing(pipe: str) -> subprocess.Popen[bytes]:
    """An import into new.db that waits for its lines."""
    command = [sys.executable, "-m", "jitrl", "memory", "import", "new.db", pipe]
    return subprocess.Popen([*command, "--gamma", "0.5"], stderr=subprocess.DEVNULL)


def folders() -> list[Path]:
    return list(Path().glob(".jitrl-import-*"))


def wait_for_lines(pipe: str, path: str) -> int:
    """Hand the lines of ``path`` over; the pipe stays open."""
    end = os.open(pipe, os.O_WRONLY)
    os.write(end, Path(path).read_bytes())
    until = time.monotonic() + 30
    while not any(folder.joinpath("memory.db").exists() for folder in folders()):
        assert time.monotonic() < until
        time.sleep(0.01)
    return end


@POSIX
def test_what_a_killed_import_left_is_removed_by_the_next_and_no_other(
    jitrl: Call, file: Path
) -> None:
    jitrl("export", "m.db", "out.jsonl")
    for name in ("killed", "slow"):
        os.mkfifo(name)
    killed = importing("killed")
    end = wait_for_lines("killed", "out.jsonl")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    os.close(end)
    (left,) = folders()
    slow = importing("slow")
    end = wait_for_lines("slow", "out.jsonl")
    until = time.monotonic() + 30
    while left in folders() or not folders():
        assert time.monotonic() < until
        time.sleep(0.01)
    (used,) = folders()
    assert jitrl("import", "new.db", "m.db")[0] == 4
    assert folders() == [used]
    os.close(end)
    assert slow.wait(30) == 0
    assert folders() == []
    assert keys("new.db") == ["e1", "e2"]


def test_the_log_of_a_file_that_was_deleted_is_not_laid_beside_an_imported_one(
    jitrl: Call, file: Path
) -> None:
    jitrl("export", "m.db", "out.jsonl")
    with SQLiteStore("old.db") as store:
        for i in range(20):
            put(store, sample_episode(f"old {i}", steps=20))
        shutil.copy("old.db-wal", "new.db-wal")
    assert jitrl("import", "new.db", "out.jsonl", "--gamma", 0.5)[0] == 0
    assert keys("new.db") == ["e1", "e2"]
