"""An import that is killed, at whatever moment, and done again: the memory of an unbroken one."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jitrl.cli import main
from jitrl.stores.sqlite import SQLiteStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by a signal of POSIX")

RUNS = 300
"""So many that half of them are more than a pipe holds: what is handed over is being read."""


def run(n: int, of: str = "run") -> str:
    steps = [{"state": f"{of} {n} at {step} " + "x" * 400, "action": "go on"} for step in range(2)]
    about = {"schema": "jitrl.run", "key": f"{of}/{n}", "task": f"task {n % 7}"}
    return json.dumps(about | {"steps": steps, "outcome": n % 2 == 0})


def trace(n: int) -> str:
    said = [{"key": "gen_ai.evaluation.score.label", "value": {"stringValue": "pass"}}]
    span = {
        "traceId": f"t{n}",
        "spanId": "a",
        "name": "execute_tool look_up",
        "attributes": [
            {"key": "gen_ai.tool.name", "value": {"stringValue": "look_up"}},
            {
                "key": "gen_ai.tool.call.arguments",
                "value": {"stringValue": '{"q": "%s"}' % ("x" * 600)},
            },
        ],
        "events": [{"name": "gen_ai.evaluation.result", "attributes": said}],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


LINES = {
    form: "".join(f"{made(n)}\n" for n in range(RUNS)).encode()
    for form, made in (("lines", run), ("otlp", trace))
}


def importing(file: Path, form: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "jitrl", "memory", "import", str(file), "-", "--form", form]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)


def killed(file: Path, form: str, share: float, wait: float | None) -> None:
    """An import killed with a share of its lines handed over, or so long after the last."""
    lines = LINES[form]
    with importing(file, form) as process:
        assert process.stdin is not None
        process.stdin.write(lines[: int(share * len(lines))])
        process.stdin.flush()
        if wait is not None:
            process.stdin.close()
            time.sleep(wait)
        process.send_signal(signal.SIGKILL)


def held(file: Path) -> list[object]:
    """All that a memory has of its episodes."""
    if not file.exists():
        return []
    with SQLiteStore(file, readonly=True) as store:
        assert store.check() == []
        return [
            (
                e.key,
                e.task,
                e.scope,
                len(e.steps),
                [(r.id, r.step, r.action, r.reward) for r in store.rows(e.key)],
            )
            for e in store.episodes()
        ]


def imported(file: Path, lines: Path, form: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(["memory", "import", str(file), str(lines), "--form", form])
    assert not end.value.code


@pytest.mark.parametrize(("form", "was_there"), [("lines", False), ("lines", True), ("otlp", True)])
def test_an_import_killed_at_any_moment_and_done_again_is_the_same_as_an_unbroken_one(
    tmp_path: Path, form: str, was_there: bool
) -> None:
    source, before = tmp_path / "source", tmp_path / "before"
    source.write_bytes(LINES[form])
    before.write_text("\n".join(run(n, "before") for n in range(3)), encoding="utf-8")
    whole, file = tmp_path / "whole.db", tmp_path / "m.db"
    if was_there:
        imported(whole, before, "lines")
        imported(file, before, "lines")
    old = held(file)
    imported(whole, source, form)
    new = held(whole)
    assert len(new) == len(old) + RUNS
    for share, wait in ((0.5, None), (1.0, 0.01), (1.0, 0.04)):
        killed(file, form, share, wait)
        assert held(file) in ([old, new] if wait else [old])
    imported(file, source, form)
    assert held(file) == new
    assert not list(tmp_path.glob(".jitrl-import-*"))
