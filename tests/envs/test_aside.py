"""Ctrl-C with programs that run beside ours."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from jitrl.envs.aside import popen, whole
from jitrl.envs.java import require_java
from jitrl.errors import MissingExtra

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C there")


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.05)


@POSIX
def test_ctrl_c_waits_until_a_block_is_over_and_is_then_heard_as_before():
    before, steps = signal.getsignal(signal.SIGINT), []

    @whole()
    def block():
        interrupt()
        steps.append("first")
        with whole():  # one inside the other raises nothing either
            steps.append("second")
        steps.append("third")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert steps == ["first", "second", "third"]
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        interrupt()


@POSIX
def test_the_second_ctrl_c_does_not_wait():
    steps = []

    @whole()
    def block():
        interrupt()
        steps.append("first")
        interrupt()
        steps.append("second")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert steps == ["first"]


@POSIX
def test_an_inner_block_passes_ctrl_c_on_to_the_outer_one():
    steps = []

    @whole()
    def inner():
        interrupt()
        steps.append("inner")

    @whole()
    def outer():
        inner()
        steps.append("outer")

    with pytest.raises(KeyboardInterrupt):
        outer()
    assert steps == ["inner", "outer"]


def test_in_another_thread_nothing_is_changed():
    before, seen = signal.getsignal(signal.SIGINT), []

    def play():
        with whole():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert seen == [before]


@POSIX
def test_a_program_beside_ours_is_in_a_group_of_its_own():
    with popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as program:
        assert os.getpgid(program.pid) == program.pid != os.getpgid(0)
        program.communicate(b"\n")


RUNS = {
    "textworld_express": ("textworld-express", '{"games": ["coin"]}'),
    "scienceworld": ("scienceworld", '{"kinds": ["boil"]}'),
    "miniwob": ("miniwob", '{"kinds": ["click-test"]}'),
    "oscar": ("shop", "{}"),
}


def wait_until(is_so):
    deadline = time.monotonic() + 90
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children(pid):
    """The programs that any thread of a process runs beside it."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):
            yield from (thread / "children").read_text().split()


@pytest.mark.skipif(sys.platform != "linux", reason="children are looked for in /proc")
@pytest.mark.parametrize("package", RUNS)
@pytest.mark.parametrize("moment", ["at the start", "while it plays"])
def test_ctrl_c_on_a_terminal_ends_a_run_with_one_word(tmp_path, package, moment):
    pytest.importorskip(package, reason=f"{package} is not installed")
    name, options = RUNS[package]
    if package in ("textworld_express", "scienceworld"):
        try:
            require_java(package)
        except MissingExtra:
            pytest.skip("no Java here")
    if package == "miniwob":
        chromium = pytest.importorskip("jitrl.envs.browser.chromium")
        pytest.importorskip("playwright", reason="playwright is not installed")
        if chromium.installed() is None:
            pytest.skip("no Chromium here")
    asked = ("run", "--env", name, "--env-options", options, "--model", "scripted")
    run = subprocess.Popen(
        [sys.executable, "-m", "jitrl", *asked, "--attempts", "900", "--out", "r"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that a group can be told as a terminal tells it
    )
    journal = tmp_path / "r" / "seed-0.db"
    try:
        if moment == "at the start":
            wait_until(lambda: any(children(run.pid)))
        else:
            wait_until(journal.exists)
        time.sleep(0.5)
        assert run.poll() is None, run.communicate()
        os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=90)
    finally:
        run.kill()
    # Python ends by the signal itself where it came while a text was executed, as dataclasses do.
    assert run.returncode in (130, -signal.SIGINT), said
    assert said.splitlines()[-1] == "interrupted", said
    for noise in ("Traceback", "ERROR", "Exception ignored", "refused", "failed"):
        assert noise not in said, said
