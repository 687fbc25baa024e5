"""`jitrl evaluator`: checking an evaluator on a run, and labelling its steps from a pipe."""

import io
import json
import sys
from pathlib import Path

import pytest


@pytest.fixture
def run(jitrl):
    """A small run with its pages in the journal."""
    done = jitrl(
        *("run", "--env", "backoffice", "--env-options", "split=demo", "--model", "scripted"),
        *("--model-options", "noise=2", "--tasks", "6", "--attempts", "2", "--out", "r"),
        *("--set", "run.pages=true"),
    )
    assert done.code == 0, done.err
    return "r"


@pytest.fixture
def typing(monkeypatch):
    def typed(text):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))

    return typed


def lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def test_an_evaluator_is_compared_with_the_outcomes_of_a_run(jitrl, run):
    done = jitrl(
        *("evaluator", "check", run, "--evaluator", "simulated", "--repeats", "2", "--json"),
        *("--set", "memory.evaluator_options=reliability=0.5"),
    )
    assert done.code == 0, done.err
    assert done.data["schema"] == "jitrl.evaluator.check/2"
    assert done.data["evaluator"] == "simulated(outcome, p=0.5, b=0)"
    assert done.data["episodes"] == 12
    assert sum(n for said in done.data["gold"]["confusion"].values() for n in said.values()) == 12
    assert done.data["repeats"]["changed"] > 0
    assert done.data["people"] is None


def test_a_demand_that_is_not_met_ends_with_1(jitrl, run):
    done = jitrl("evaluator", "check", run, "--evaluator", "checks", "--least-kappa", "0.9")
    assert done.code == 1
    assert "--least-kappa is 0.9" in done.err


def test_the_evaluator_of_the_outcomes_meets_no_demand(jitrl, run):
    done = jitrl("evaluator", "check", run, "--least-kappa", "0.9")
    assert done.code == 1
    said = " ".join(done.err.split())
    assert "these come from the evaluator itself" in said
    assert "--evaluator judge" in said
    assert "kappa with the outcomes is not known" in said


@pytest.mark.parametrize(
    "members",
    [
        '{"environment": {"weight": 1}}',
        '{"outcome": {"weight": 1}}',
        '{"rewards": {"weight": 1, "evaluator": "environment"}, "checks": {"weight": 1}}',
        '{"inner": {"weight": 1, "evaluator": "composite", '
        '"options": {"members": {"environment": {"weight": 1}}}}}',
    ],
)
def test_a_composite_of_the_evaluator_of_the_outcomes_meets_no_demand_either(jitrl, run, members):
    asked = ("evaluator", "check", run, "--evaluator", "composite", "--least-kappa", "0.1")
    options = ("--set", f'memory.evaluator_options={{"members": {members}}}')
    done = jitrl(*asked, *options, "--json")
    assert done.code == 1, done.err
    assert done.data["is_source"]
    assert done.data["gold"] is None
    assert "kappa with the outcomes is not known" in done.err


def test_a_composite_of_others_is_compared_with_the_outcomes(jitrl, run):
    options = ("--set", 'memory.evaluator_options={"members": {"checks": {"weight": 1}}}')
    done = jitrl("evaluator", "check", run, "--evaluator", "composite", *options, "--json")
    assert done.code == 0, done.err
    assert not done.data["is_source"]
    assert done.data["gold"]["tasks"] > 0


def test_planted_texts_that_nobody_would_read_are_refused(jitrl, run):
    done = jitrl("evaluator", "check", run, "--canaries", "2")
    assert done.code == 2
    assert "'environment' reads no text" in done.err


def test_a_judge_without_a_model_that_writes_says_what_to_set(jitrl, run):
    done = jitrl("evaluator", "check", run, "--evaluator", "judge", "--set", "model.name=scripted")
    assert done.code == 3
    needed = "--set writer.name=openai --set writer.options=model=NAME"
    assert f"{needed}, or [writer]" in done.err
    from jitrl import config
    from jitrl.cli.shared.settings import merge

    flags = {}
    merge(flags, [part for part in needed.split() if part != "--set"], "--set")
    assert config.load(flags).writer == config.Writer(name="openai", options={"model": "NAME"})


def test_where_there_is_no_run_and_no_file_both_are_said(jitrl):
    for command in (("evaluator", "check"), ("evaluator", "label")):
        done = jitrl(*command, "runs/nothere")
        assert done.code == 4
        assert "there is no run folder or memory file runs/nothere" in done.err


def test_an_environment_without_checks_is_named_as_the_reason(jitrl):
    toy = ("--env", "toy", "--env-options", "tasks=6,size=2", "--model", "scripted")
    assert jitrl("run", *toy, "--attempts", "1", "--out", "t").code == 0
    done = jitrl("evaluator", "check", "t", "--evaluator", "checks")
    assert "6 this environment gives no checks; name a function" in " ".join(done.err.split())


def test_a_folder_without_a_run_is_no_input(jitrl, tmp_path):
    assert jitrl("evaluator", "check", tmp_path).code == 2
    assert jitrl("evaluator", "label", tmp_path).code == 2


def test_labels_are_written_line_by_line_and_resumed(jitrl, run, typing):
    typing("3\n−1\nx\nu\nb\n+2\nq\n")
    done = jitrl("evaluator", "label", run, "--limit", "3", "--json")
    assert done.code == 0, done.err
    assert done.data["labelled"] == 3
    assert [label["score"] for label in lines("r/labels.jsonl")] == [3, -1, None, 2]
    assert [label["step"] for label in lines("r/labels.jsonl")] == [0, 1, 2, 2]
    assert "'x' is none of" in done.err
    typing("0\n")  # the input ends: as good as q
    again = jitrl("evaluator", "label", run, "--limit", "3", "--json")
    assert again.data["labelled"] == 4
    assert lines("r/labels.jsonl")[-1]["step"] == 3


def test_another_person_labels_for_herself(jitrl, run, typing):
    typing("1\nq\n")
    jitrl("evaluator", "label", run, "--limit", "1")
    typing("-1\nq\n")
    other = jitrl("evaluator", "label", run, "--limit", "1", "--by", "Li", "--json")
    assert other.data["labelled"] == 1
    mine = jitrl("evaluator", "check", run, "--by", "Li", "--json")
    assert mine.data["people"]["steps"] == 1


def test_labelling_shows_the_step_and_nothing_of_the_outcome(jitrl, run, typing):
    typing("q\n")
    done = jitrl("evaluator", "label", run, "--lang", "zh")
    for word in ("目标", "之前的页面", "动作", "之后的页面", "返回上一步"):
        assert word in done.err
    for word in ("reward", "score", "terminated", "truncated", "success"):
        assert word not in done.err


def test_labels_are_compared_with_the_evaluator(jitrl, run, typing):
    typing("1\n" * 200)
    done = jitrl("evaluator", "label", run, "--json")
    assert done.data["left"] == 0
    checked = jitrl("evaluator", "check", run, "--json")
    assert checked.data["people"]["steps"] == done.data["labelled"]
    assert checked.data["people"]["spearman"] is None  # all labels are alike


def test_a_damaged_file_of_labels_is_named(jitrl, run, tmp_path):
    Path("r/labels.jsonl").write_text('{"episode": "e", "step": 0, "score": 9}\n')
    done = jitrl("evaluator", "check", run)
    assert done.code == 4
    assert "line 1" in done.err


def test_what_a_kill_left_of_a_label_is_no_label_and_spoils_none(jitrl, run, typing):
    typing("1\n1\nq\n")
    jitrl("evaluator", "label", run)
    file = Path("r/labels.jsonl")
    file.write_bytes(file.read_bytes()[:-9])
    typing("-2\nq\n")
    done = jitrl("evaluator", "label", run, "--json")
    assert done.code == 0, done.err
    assert [label["score"] for label in lines(file)] == [1, -2]
    file.write_bytes(file.read_bytes().rstrip())
    typing("3\nq\n")
    assert jitrl("evaluator", "label", run, "--json").data["labelled"] == 3
    assert [label["score"] for label in lines(file)] == [1, -2, 3]


def test_a_name_may_hold_what_ends_a_line_elsewhere(jitrl, run, typing):
    typing("1\n2\nq\n")
    assert jitrl("evaluator", "label", run, "--by", "Li\u2028Wang").code == 0
    typing("q\n")
    again = jitrl("evaluator", "label", run, "--by", "Li\u2028Wang", "--json")
    assert again.data["labelled"] == 2


def test_wide_digits_and_signs_are_digits_and_signs(jitrl, run, typing):
    typing("３\n－２\n＋１\nq\n")
    assert jitrl("evaluator", "label", run).code == 0
    assert [label["score"] for label in lines("r/labels.jsonl")] == [3, -2, 1]


def test_a_name_that_cannot_be_written_is_refused_before_anything_is_asked(jitrl, run, typing):
    typing("1\nq\n")
    done = jitrl("evaluator", "label", run, "--by", "A\udcff")
    assert done.code == 2
    assert "--by" in done.err


def test_the_budget_holds_for_a_check(jitrl, run, monkeypatch):
    pytest.importorskip("openai", reason="the openai package is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    done = jitrl(
        *("evaluator", "check", run, "--evaluator", "judge", "--set", "writer.name=openai"),
        *("--set", "writer.options=model=m,base_url=http://127.0.0.1:9/v1"),
        *("--set", "budget.max_calls=0"),
    )
    assert "budget of 0 calls" in done.err
    assert done.code != 0
