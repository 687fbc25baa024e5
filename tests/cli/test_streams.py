"""Streams that are full, closed or of another encoding than ours."""

import json
import os
import subprocess
import sys

import pytest

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs /dev/full and a shell")
FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
CODES = {
    "cp1252": {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    "ascii": {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a finished run ``r`` of two arms, and a memory of Chinese texts."""
    from jitrl.stores.sqlite import SQLiteStore
    from jitrl.testing.store_samples import put, sample_episode

    folder = tmp_path_factory.mktemp("streams")
    done = call(
        folder, "compare", "--env", "toy", "--model", "scripted", "--attempts", 2, "--out", "r"
    )
    assert done.returncode == 0, done.stderr
    with SQLiteStore(folder / "m.db") as store:
        put(store, sample_episode("订单 → 1"))
    return folder


def call(folder, *args, env=None, **streams):
    command = [sys.executable, "-m", "jitrl", *map(str, args)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(command, cwd=folder, env=os.environ | (env or {}), timeout=60, **streams)


COMMANDS = [
    ("--help",),
    ("run", "--help"),
    ("--version",),
    ("config", "--json"),
    ("report", "r"),
    ("report", "r", "--json"),
    ("compare", "r", "--json"),
    ("memory", "ls", "m.db", "--json"),
    ("memory", "export", "m.db", "-"),
]


@FULL
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_output_to_a_full_device_ends_with_one_line_and_4(place, args):
    with open("/dev/full", "w") as full:
        done = call(place, *args, stdout=full)
    assert done.returncode == 4
    said = done.stderr.decode().splitlines()
    assert [line for line in said if line.startswith("error: ")] == said[-1:]
    assert said[-1] == "error: the output cannot be used: No space left on device"
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@FULL
def test_words_to_a_full_device_do_not_end_well(place):
    with open("/dev/full", "w") as full:
        assert call(place, "memory", "ls", "m.db", stderr=full).returncode != 0


@POSIX
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_a_reader_that_has_enough_is_no_error(place, args):
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as closed:
        done = call(place, *args, stdout=closed)
    assert b"rror" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    assert done.returncode in (0, 1)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    "args",
    [
        *COMMANDS,
        ("report", "r", "--lang", "zh"),
        ("compare", "r"),
        ("memory", "ls", "m.db"),
        ("memory", "show", "m.db", "订单 → 1"),
        ("explain", "r/jitrl", "--changed"),
    ],
    ids=" ".join,
)
def test_a_letter_that_the_encoding_lacks_ends_no_command(place, code, args):
    if code == "C" and not " ".join(args).isascii():
        pytest.skip("the shell's argument is no text there")
    done = call(place, *args, env=CODES[code])
    assert (done.returncode, b"rror" in done.stderr) == (0, False), done.stderr
    if "--json" in args:
        assert json.loads(done.stdout.decode("ascii"))["schema"]


@pytest.mark.parametrize("code", CODES)
def test_json_says_the_same_in_every_encoding(place, code):
    plain = json.loads(
        call(place, "memory", "ls", "m.db", "--json", env={"PYTHONUTF8": "1"}).stdout
    )
    assert plain["episodes"][0]["key"] == "订单 → 1"
    assert (
        json.loads(call(place, "memory", "ls", "m.db", "--json", env=CODES[code]).stdout) == plain
    )


def test_what_an_encoding_lacks_is_written_as_something_like_it(place):
    said = call(place, "memory", "ls", "m.db", env=CODES["ascii"]).stderr.decode("ascii")
    assert "\\u8ba2\\u5355 -> 1" in said


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode there")
def test_a_folder_whose_name_is_no_utf8_is_run_reported_and_read(tmp_path):
    odd = os.fsdecode(b"r\xff")
    done = call(tmp_path, "run", "--env", "toy", "--model", "scripted", "--out", odd, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["folder"] == odd
    for ending in ("md", "html", "json"):
        done = call(tmp_path, "report", odd, "--out", f"{odd}.{ending}", "--json")
        assert done.returncode == 0, done.stderr
        json.loads(done.stdout)
        assert "udcff" in (tmp_path / f"{odd}.{ending}").read_text(encoding="utf-8")
