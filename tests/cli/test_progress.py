"""What is told while something is played: bars on a terminal, plain lines elsewhere."""

import os
import subprocess
import sys

import pytest

from jitrl.cli.shared.progress import Bar, Lines, about

SMALL = (
    *("--env", "toy", "--env-options", "tasks=6,size=2", "--model", "scripted"),
    *("--attempts", "2", "--seeds", "1"),
)


def on_a_terminal(folder, *args):
    """What a command line writes to an 80 columns wide terminal, and its exit code."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "jitrl", *args],
        cwd=folder,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "80", "TERM": "xterm"},
    )
    os.close(theirs)
    said = bytearray()
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    return child.wait(timeout=60), said.decode()


def test_of_the_lines_that_are_offered_one_is_said_every_thirty_seconds():
    now, said = [0.0], []
    lines = Lines(said.append, lambda: now[0])
    for second in range(100):
        now[0] = float(second)
        lines.offer(f"{second}")
    assert said == ["30", "60", "90"]
    lines.say("end")
    lines.offer("too early")
    assert said[3:] == ["end"]


def test_the_time_left_is_told_at_the_pace_since_the_first_that_was_counted():
    now = [0.0]
    lines = Lines(clock=lambda: now[0])
    assert lines.left(40, 100) is None  # played before
    now[0] = 300.0
    assert lines.left(50, 100) == 1500.0
    assert lines.left(0, 4, "another") is None
    assert [about(left) for left in (None, 0.9, 42.4, 1500.0)] == [
        "",
        "",
        ", about 42 s left",
        ", about 25 min left",
    ]


def test_without_a_terminal_each_arm_leaves_a_plain_line(jitrl):
    done = jitrl("compare", *SMALL, "--agents", "static,jitrl", "--out", "c")
    said = [line for line in done.err.splitlines() if " of 12 episodes" in line]
    assert [line.rpartition(" ")[0] for line in said] == [
        "static (1/2): 12 of 12 episodes, attempt 2,",
        "jitrl (2/2): 12 of 12 episodes, attempt 2,",
    ]
    assert "━" not in done.err
    again = jitrl("compare", *SMALL, "--agents", "static,jitrl", "--out", "c")
    assert "12 of 12 episodes," not in again.err


def test_without_a_terminal_a_bar_is_a_line_now_and_then_and_one_at_the_end():
    offered = [f"{done}, about {100 - done} s left" for done in (30, 60, 90)]
    for stays, shown in ((True, [*offered, "99"]), (False, offered)):
        now, said = [0.0], []
        bar = Bar("x", stays=stays, lines=Lines(said.append, lambda now=now: now[0]))
        for second in range(100):
            now[0] = float(second)
            bar.show(f"{second}", second, 100)
        bar.end()
        assert said == shown


def test_an_error_at_the_start_stands_alone(tmp_path):
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "file").touch()
    code, said = on_a_terminal(tmp_path, "run", *SMALL, "--out", "taken")
    assert code == 2
    assert said.startswith("error: taken is not empty")
    assert "━" not in said


def test_a_bar_on_a_terminal_says_which_arm_of_how_many_is_played(tmp_path):
    code, said = on_a_terminal(tmp_path, "compare", *SMALL, "--out", "c")
    assert code == 0
    assert "static (1/2)" in said
    assert "jitrl (2/2)" in said
    assert "12/12" in said


def test_errors_are_broken_between_words_on_a_terminal(tmp_path):
    code, said = on_a_terminal(tmp_path, "run", *SMALL, "--set", "memory.gama=1")
    assert code == 3
    lines = said.splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 80
    whole = subprocess.run(
        [sys.executable, "-m", "jitrl", "run", *SMALL, "--set", "memory.gama=1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    assert " ".join(said.split()) == " ".join(whole.split())
    assert len(whole.splitlines()) == 1
