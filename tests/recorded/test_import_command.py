"""`jitrl memory import` on recorded runs and traces: counted, named, restored."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jitrl
from jitrl.cli import main
from jitrl.stores.sqlite import SQLiteStore

Import = Callable[..., tuple[int, dict[str, Any], str]]
STEPS = [{"state": "home", "action": "open B"}]
RUN = {"schema": "jitrl.run", "key": "r1", "task": "find it", "steps": STEPS, "outcome": True}
TRACE = {
    "traceId": "t1",
    "spanId": "a",
    "name": "execute_tool look_up",
    "attributes": [{"key": "gen_ai.tool.name", "value": {"stringValue": "look_up"}}],
    "events": [
        {
            "name": "gen_ai.evaluation.result",
            "attributes": [
                {"key": "gen_ai.evaluation.score.label", "value": {"stringValue": "pass"}}
            ],
        }
    ],
}


@pytest.fixture
def imported(capfd: pytest.CaptureFixture[str]) -> Import:
    def call(*args: object) -> tuple[int, dict[str, Any], str]:
        with pytest.raises(SystemExit) as end:
            main(["memory", "import", *map(str, args), "--json"])
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return int(end.value.code or 0), json.loads(out) if out else {}, err

    return call


def test_recorded_runs_are_imported_and_restored_into_decisions(
    imported: Import, tmp_path: Path
) -> None:
    file, lines = tmp_path / "memory.db", tmp_path / "runs.jsonl"
    unknown = {"schema": "jitrl.run", "key": "r2", "task": "find it", "steps": STEPS}
    lines.write_text("\n".join(json.dumps(run) for run in (RUN, unknown)), encoding="utf-8")
    code, found, said = imported(file, lines, "--principal", "crawler")
    assert code == 0
    assert (found["episodes"], found["quarantined"], found["unscored"]) == (2, 1, 1)
    assert "1 of them have neither a reward nor an outcome" in said
    assert imported(file, lines)[1]["duplicates"] == 2
    with jitrl.open(file) as agent:

        def chance() -> float:
            with agent.episode("find it") as episode:
                decision = episode.decide("home", {"open A": 0.0, "open B": 0.0})
            return next(c.probability for c in decision.candidates if c.action == "open B")

        assert chance() == 0.5
        agent.restore(episodes=["r1"], principal="ann")
        assert chance() > 0.5


def test_the_evaluator_of_the_settings_scores_what_is_imported(
    imported: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, lines = tmp_path / "memory.db", tmp_path / "runs.jsonl"
    lines.write_text(json.dumps(RUN | {"info": {"checks": {"paid": 0.25}}}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    Path("jitrl.toml").write_text('[memory]\nevaluator = "checks"\n', encoding="utf-8")
    assert imported(file, lines)[0] == 0
    with SQLiteStore(file, readonly=True) as store:
        (row,) = store.rows("r1")
        assert (row.evaluator, row.reward) == ("checks", 0.25)


def test_traces_are_known_by_what_they_look_like(imported: Import, tmp_path: Path) -> None:
    file, traces = tmp_path / "memory.db", tmp_path / "traces.json"
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [TRACE]}]}]}
    traces.write_text(json.dumps(document), encoding="utf-8")
    assert imported(file, traces, "--scope", "desk")[1]["quarantined"] == 1
    with SQLiteStore(file, readonly=True) as store:
        (row,) = store.rows("otlp/t1/a")
        assert (row.action, row.reward, row.scope) == ("look_up()", 1.0, "desk")


def test_a_bad_line_of_either_form_is_named_and_leaves_no_file(
    imported: Import, tmp_path: Path
) -> None:
    file, lines = tmp_path / "memory.db", tmp_path / "runs.jsonl"
    lines.write_text(json.dumps(RUN) + "\n" + json.dumps(RUN | {"steps": []}), encoding="utf-8")
    code, _, said = imported(file, lines)
    assert code == 4
    assert f"{lines}:2: steps is empty" in said
    code, _, said = imported(file, lines, "--form", "otlp")
    assert code == 4
    assert f"{lines}:1: " in said
    assert not file.exists()


@pytest.mark.frameworks
def test_a_log_that_is_none_is_refused(imported: Import, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed (extra inspect)")
    for name, wrong in (("a.eval", "is no zip archive"), ("a.json", "cannot be read as a log")):
        log = tmp_path / name
        log.write_bytes(b"nonsense")
        code, _, said = imported(tmp_path / "memory.db", log, "--form", "inspect")
        assert (code, wrong in " ".join(said.split())) == (4, True), said
