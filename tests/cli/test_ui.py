"""`jitrl ui` on a port of this machine: one browser, one token, and a clean end."""

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from importlib.util import find_spec

import pytest

import jitrl

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(find_spec("fastapi") is None, reason="needs fastapi: jitrl[server]"),
]


@pytest.fixture
def file(tmp_path):
    with jitrl.open(tmp_path / "m.db") as memory, memory.episode("t") as episode:
        episode.decide("s", {"a": 0.0, "b": 0.0})
        episode.finish(True)
    return tmp_path / "m.db"


def ui(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "jitrl", "ui", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")
def test_the_address_that_is_printed_opens_the_pages_until_it_is_ended(file):
    process = ui(file, "--no-open")
    try:
        address = process.stderr.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        home = address.partition("/open/")[0]
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(home, timeout=60)
        assert refused.value.code == 401
        refused.value.close()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=60) as page:
            assert "m.db" in page.read().decode()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)
    finally:
        process.kill()
        process.communicate()


def test_what_cannot_be_shown_is_said_before_anything_is_served(tmp_path, file):
    for words, code, said in (
        ([tmp_path / "none.db"], 4, "there is no memory file or run folder"),
        ([tmp_path], 2, "holds no run"),
        ([file, "--memory", "other"], 4, "has no memory 'other'"),
        ([], 2, "PATH"),
    ):
        process = ui(*words, "--no-open")
        _, errors = process.communicate(timeout=120)
        assert process.returncode == code, errors
        assert said in errors


def test_a_folder_whose_runs_lie_deeper_is_answered_with_the_folders_that_hold_them(tmp_path):
    for name in ("forms/static", "forms/rulebook", "orders/static"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}")
    process = ui(tmp_path / "runs", "--no-open")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2, errors
    runs = tmp_path / "runs"
    assert f"name one or more of them: {runs / 'forms'}, {runs / 'orders'}" in errors


def test_scripts_get_the_address_as_json(file):
    process = ui(file, "--no-open", "--json")
    try:
        read = ""
        while "}" not in read:
            read += process.stdout.readline()
        assert json.loads(read)["schema"] == "jitrl.ui/1"
    finally:
        process.kill()
        process.communicate()
