import os
import signal
import subprocess
import sys
import time

import pytest

ENV = ("--env", "toy", "--env-options", "tasks=8,size=2")
MODEL = ("--model", "scripted", "--model-options", "noise=1")
SMALL = (*ENV, *MODEL, "--attempts", "12")


def test_a_run_prints_its_numbers_for_people_and_nothing_else(jitrl):
    done = jitrl("run", *SMALL, "--agent", "static")
    assert (done.code, done.out) == (0, "")
    assert "static" in done.err
    assert "8 tasks × 12 attempts × 1 seed " in " ".join(done.err.split())


def test_a_single_run_is_called_by_its_agent_and_has_no_notes_that_do_not_apply(jitrl):
    done = jitrl("run", *ENV, *MODEL, "--attempts", "1", "--tasks", "2", "--agent", "static")
    assert done.code == 0, done.err
    table = done.err[done.err.index("agent") :].splitlines()
    assert table[0].split() == ["agent", "Avg"]
    assert table[1].split()[0] == "static"
    for said in ("pass@", "Best of", "verdict", "Intervals", "toy-static-"):
        assert said not in "\n".join(table[:-1])
    assert len(table) < 10


def test_a_run_that_scored_nothing_warns_of_it_with_what_to_set(jitrl):
    done = jitrl("run", *ENV, *MODEL, "--attempts", "1", "--evaluator", "checks")
    said = " ".join(done.err.split())
    assert "No episode of 8 was scored, so nothing was learned (8 × this env" in said
    assert "--set memory.evaluator_options=function=package.module:name" in said
    scored = jitrl("run", *ENV, *MODEL, "--attempts", "1")
    assert "was scored" not in scored.err


def test_a_run_that_scored_some_says_how_many_it_did_not_why_and_what_to_do(jitrl, tmp_path):
    (tmp_path / "here" / "own_checks.py").write_text(
        "def done(episode):\n    return None if episode.task.endswith('1') else 1.0\n"
    )
    own = ("--set", "memory.evaluator_options=function=own_checks:done", "--out", "r")
    done = jitrl("run", *ENV, *MODEL, "--attempts", "1", "--evaluator", "checks", *own)
    said = " ".join(done.err.split())
    assert "1 not scored, so nothing learned" in said, said
    assert "(1 × nothing was checked); jitrl memory ls r/seed-0.db names them" in said


def test_a_run_prints_data_when_asked_to(jitrl):
    done = jitrl("run", *SMALL, "--agent", "static", "--json", "--out", "r")
    assert done.data["schema"] == "jitrl.run/1"
    assert done.data["folder"] == "r"
    [row] = done.data["rows"]
    assert (row["agent"], row["attempts"], row["seeds"]) == ("static", 12, [0])


def test_the_same_command_again_plays_nothing_and_says_the_same(jitrl):
    first = jitrl("run", *SMALL, "--agent", "static", "--json")
    again = jitrl("run", *SMALL, "--agent", "static", "--json")
    assert first.data == again.data
    other = jitrl("run", *SMALL, "--agent", "static", "--seeds", "3,", "--json")
    assert other.data["folder"] != first.data["folder"]


def test_the_settings_of_a_file_count(jitrl, tmp_path):
    (tmp_path / "here" / "jitrl.toml").write_text("[run]\nagent = 'static'\nseeds = [4, 5]\n")
    assert jitrl("run", *SMALL, "--json").data["rows"][0]["seeds"] == [4, 5]


def test_set_reaches_every_setting(jitrl):
    done = jitrl(
        *("run", *SMALL, "--agent", "static", "--json"),
        *("--set", "run.options.temperature=0.5", "--set", "run.options.choose=argmax"),
    )
    assert done.code == 0
    wrong = jitrl("run", *SMALL, "--agent", "static", "--set", "run.options.temprature=1")
    assert (wrong.code, "did you mean 'temperature'" in wrong.err) == (3, True)


def test_an_option_of_the_model_is_checked_before_the_first_episode(jitrl):
    run = ("run", *ENV, "--agent", "static", "--out", "r", "--model", "scripted")
    done = jitrl(*run, "--model-options", "nois=1")
    assert (done.code, "did you mean 'noise'" in done.err) == (3, True)
    assert jitrl(*run, "--model-options", "noise=1").code == 0  # the folder is not taken


def test_the_verdict_is_better_when_memory_helps_and_require_is_met(jitrl):
    arms = ("--arm", "static", "--arm", "mem=tabular")
    done = jitrl("compare", *SMALL, *arms, "--require", "better", "--out", "c", "--json")
    assert done.code == 0
    assert done.data["schema"] == "jitrl.compare/1"
    assert (done.data["required"], done.data["met"]) == ("better", True)
    assert [row["label"] for row in done.data["rows"]] == ["static", "mem"]
    assert done.data["rows"][1]["difference"]["low"] > 0
    read = jitrl("compare", "c", "--json")
    assert {r["label"]: r["avg"] for r in read.data["rows"]} == {
        r["label"]: r["avg"] for r in done.data["rows"]
    }


def test_a_comparison_with_itself_is_no_evidence_and_exits_with_0_unless_more_is_asked(jitrl):
    arms = ("--arm", "static", "--arm", "again=static", "--base", "static", "--out", "c")
    plain = jitrl("compare", *SMALL, *arms)
    assert plain.code == 0
    assert "no evidence" in plain.err
    assert jitrl("compare", "c", "--base", "static", "--require", "not-worse").code == 0
    asked = jitrl("compare", "c", "--base", "static", "--require", "better")
    assert asked.code == 1
    assert "not better" in asked.err


def test_worse_is_said_and_exits_with_0_unless_not_worse_is_asked(jitrl):
    jitrl("compare", *SMALL, "--arm", "static", "--arm", "tabular", "--out", "c")
    done = jitrl("compare", "c", "--base", "tabular", "--json")
    assert (done.code, done.data["rows"][0]["verdict"]) == (0, "worse")
    assert jitrl("compare", "c", "--base", "tabular", "--require", "not-worse").code == 1


def test_arms_may_differ_in_settings_of_their_own(jitrl):
    done = jitrl(
        *("compare", *SMALL, "--json", "--arm", "static"),
        *("--arm", "cold=static,run.options.choose=argmax"),
    )
    assert [row["label"] for row in done.data["rows"]] == ["static", "cold"]
    assert done.data["rows"][0]["avg"] != done.data["rows"][1]["avg"]


def test_runs_on_other_models_are_compared_only_with_leave(jitrl):
    jitrl("run", *SMALL, "--agent", "static", "--out", "a")
    other = ("--model-options", "noise=2")
    jitrl("run", *SMALL, *other, "--agent", "tabular", "--out", "b")
    refused = jitrl("compare", "a", "b")
    assert (refused.code, "differ in model" in refused.err) == (3, True)
    allowed = jitrl("compare", "a", "b", "--differ", "model", "--json")
    assert allowed.data["rows"][1]["differs"][0].startswith("model: ")


@pytest.mark.parametrize("args", [("a",), ("a", "--attempts", "3")])
def test_a_comparison_needs_two_runs_or_settings_to_run_them(jitrl, args):
    jitrl("run", *SMALL, "--agent", "static", "--out", "a")
    assert jitrl("compare", *args).code == 2


def test_a_report_is_markdown_on_stdout_or_files_by_their_suffix(jitrl, tmp_path):
    jitrl("compare", *SMALL, "--arm", "static", "--arm", "tabular", "--out", "c")
    assert jitrl("report", "c").out.startswith("# Learning report\n")
    assert jitrl("report", "c", "--lang", "zh").out.startswith("# 学习报告\n")
    assert jitrl("report", "c", "--json").data["schema"] == "jitrl.report/1"
    files = [tmp_path / f"r.{kind}" for kind in ("md", "html", "json")]
    done = jitrl("report", "c", *(part for file in files for part in ("--out", file)))
    assert (done.code, done.out) == (0, "")
    starts = ["# Learning", "<!doctype html>", "{"]
    assert [f.read_text("utf-8").startswith(s) for f, s in zip(files, starts, strict=True)] == [
        True
    ] * 3


def test_a_report_that_cannot_be_written_is_a_clear_error(jitrl, tmp_path):
    jitrl("run", *SMALL, "--agent", "static", "--out", "a")
    unknown = jitrl("report", "a", "--out", "r.docx")
    assert (unknown.code, "use .md, .html, .json or .png" in unknown.err) == (2, True)
    missing = jitrl("report", "a", "--out", tmp_path / "no" / "r.md")
    assert (missing.code, "cannot be written" in missing.err) == (4, True)


def test_a_run_at_its_limit_of_calls_exits_with_6_and_goes_on_with_a_higher_one(jitrl):
    run = ("run", *SMALL, "--agent", "static", "--out", "r", "--json")
    stopped = jitrl(*run, "--max-calls", "30")
    assert (stopped.code, stopped.out) == (6, "")
    assert stopped.err.splitlines()[-1].startswith("error: the budget of 30 calls is used up")
    done = jitrl(*run)
    assert done.code == 0
    [cost] = done.data["rows"][0]["cost"]
    assert cost["phase"] == "act"
    assert cost["calls"] > 30


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C there")
@pytest.mark.parametrize("asked", [("run", "--agent", "static"), ("compare",)])
def test_episodes_that_failed_are_counted_and_exit_with_1(jitrl, tmp_path, asked):
    (tmp_path / "here" / "failing_prior.py").write_text(
        "def prior(prompt):\n"
        "    if 'protocol1' in prompt.observation:\n"
        "        raise RuntimeError('no answer')\n"
        "    return dict.fromkeys(prompt.actions, 0.0)\n"
    )
    model = ("--model", "callable", "--model-options", "function=failing_prior:prior")
    world = ("--env", "toy", "--env-options", "tasks=2,size=1", "--attempts", "1")
    done = jitrl(*asked, *world, *model, "--max-failures", "5", "--out", "f", "--json")
    assert (done.code, done.out) == (1, "")
    said = " ".join(done.err.split())
    assert (
        "1 episode of static failed; the same command plays what failed again (tracebacks" in said
    )


def test_an_interrupt_exits_with_130_and_the_run_can_be_resumed(tmp_path):
    command = [
        *(sys.executable, "-m", "jitrl", "run", *ENV, *MODEL, "--agent", "static"),
        *("--attempts", "2000", "--out", str(tmp_path / "r")),
    ]
    child = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    journal, deadline = tmp_path / "r" / "seed-0.db", time.monotonic() + 60
    while not journal.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "interrupted"


def test_many_agents_are_compared_and_reported_with_one_command(jitrl, tmp_path):
    asked = ("compare", *SMALL, "--agents", "static,tabular", "--arm", "mem=jitrl")
    done = jitrl(*asked, "--out", "c", "--report", "r.html", "--report", "r.md", "--json")
    assert done.code == 0
    assert [row["label"] for row in done.data["rows"]] == ["static", "tabular", "mem"]
    line = f"jitrl {' '.join(asked)} --out c --report r.html --report r.md --json"
    for row in done.data["rows"]:
        assert row["commands"] == [line]
        assert [(tmp_path / "here" / path).is_file() for path in row["journals"]] == [True]
        assert row["bill"]["acting"] > 0
        assert row["bill"]["wall_s"] > 0
    assert done.data["rows"][1]["rival"]["label"] == "mem"
    assert f"<pre>{line}</pre>" in (tmp_path / "here" / "r.html").read_text(encoding="utf-8")
    assert f"    {line}" in (tmp_path / "here" / "r.md").read_text(encoding="utf-8")
    read = jitrl("compare", "c", "--json")
    assert [row["label"] for row in read.data["rows"]] == ["static", "tabular", "mem"]


def test_an_agent_that_does_not_exist_stops_a_comparison_before_its_first_episode(jitrl, tmp_path):
    done = jitrl("compare", *SMALL, "--agents", "static,statik", "--out", "c")
    assert (done.code, "did you mean 'static'" in done.err) == (3, True)
    assert not (tmp_path / "here" / "c").exists()
    slash = jitrl("compare", *SMALL, "--agents", "static", "--arm", "a/b=static", "--out", "c")
    assert (slash.code, "cannot be a label" in slash.err) == (2, True)
    report = jitrl("compare", *SMALL, "--report", "r.doc", "--out", "c")
    assert (report.code, (tmp_path / "here" / "c").exists()) == (2, False)
