"""What cannot come to an end is refused before anything is played."""

import os
import subprocess
import sys

import pytest

from jitrl.errors import ModelError
from jitrl.models.embedded import installed

ENV = ("--env", "toy", "--env-options", "tasks=6,size=2", "--model", "scripted")
SMALL = (*ENV, "--attempts", "2")
TWO = ("--arm", "static", "--arm", "again=static,run.options.choose=argmax")


def without(package, folder, *args):
    """Run a command line where ``package`` cannot be imported."""
    (folder / f"{package}.py").write_text("raise ImportError('not installed')\n")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "jitrl", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_a_chart_that_cannot_be_drawn_is_refused_before_the_first_episode(tmp_path):
    files = ("--report", "r.html", "--report", "r.png")
    done = without("matplotlib", tmp_path, "compare", *SMALL, *TWO, "--out", "c", *files)
    assert (done.returncode, "PNG charts need matplotlib" in done.stderr) == (3, True)
    assert not (tmp_path / "c").exists()


def test_a_report_without_a_folder_to_lie_in_is_refused_before_the_first_episode(jitrl, tmp_path):
    done = jitrl("compare", *SMALL, *TWO, "--out", "c", "--report", "no/r.md")
    assert (done.code, "there is no folder no" in done.err) == (4, True)
    assert not (tmp_path / "here" / "c").exists()
    judge = jitrl("bench", "judge", "--chart", "no/r.svg")
    assert (judge.code, "there is no folder no" in judge.err) == (4, True)


def test_a_report_may_lie_in_the_folder_that_the_command_makes(jitrl, tmp_path):
    done = jitrl("compare", *SMALL, *TWO, "--out", "c", "--report", "c/r.md")
    assert done.code == 0
    assert (tmp_path / "here" / "c" / "r.md").is_file()


def test_the_table_is_printed_also_where_a_report_cannot_be_written(jitrl, tmp_path):
    (tmp_path / "here" / "r.md").mkdir()
    done = jitrl("compare", *SMALL, *TWO, "--base", "static", "--out", "c", "--report", "r.md")
    assert done.code == 4
    said = done.err.splitlines()
    assert "r.md cannot be written" in said[-1]
    assert "6 tasks × 2 attempts" in done.err
    read = jitrl("report", "c", "--json", "--out", "r.md")
    assert (read.code, read.data["schema"]) == (4, "jitrl.report/1")


def test_an_agent_that_does_not_go_with_the_model_stops_all_arms(jitrl, tmp_path):
    done = jitrl("compare", *SMALL, "--arm", "static", "--arm", "gradient", "--out", "c")
    assert (done.code, "'scripted' cannot be trained" in done.err) == (3, True)
    assert not (tmp_path / "here" / "c").exists()


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("judged=jitrl,memory.evaluator=judge", "does not write text"),
        ("far=jitrl,environment.options.tasks=3", "run.tasks is 6, the environment has 3"),
        ("odd=static,run.options.choose=never", "choose"),
        ("other=static,model.options.nois=1", "did you mean 'noise'"),
    ],
)
def test_every_arm_is_made_before_the_first_is_played(jitrl, tmp_path, second, said):
    arms = ("--arm", "static", "--arm", second)
    done = jitrl("compare", *SMALL, "--tasks", "6", *arms, "--out", "c")
    assert (done.code, said in done.err) == (3, True), done.err
    assert not (tmp_path / "here" / "c").exists()


@pytest.mark.model
@pytest.mark.torch
def test_an_agent_that_cannot_play_the_protocol_stops_all_arms(jitrl, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed (extra lora)")
    try:
        installed()
    except ModelError:
        pytest.skip("the embedded model is not installed (jitrl model install)")
    arms = ("--arm", "static", "--arm", "past=gradient,model.name=embedded")
    done = jitrl("compare", *SMALL, "--protocol", "transfer", *arms, "--out", "c")
    assert (done.code, "gradient" in done.err) == (3, True), done.err
    assert not (tmp_path / "here" / "c").exists()


def test_a_folder_of_another_run_stops_all_arms(jitrl, tmp_path):
    asked = ("compare", *SMALL, *TWO, "--base", "static", "--out", "c")
    jitrl("run", *SMALL, "--agent", "jitrl", "--out", "c/again")
    done = jitrl(*asked)
    assert (done.code, "holds a run of other settings" in done.err) == (3, True)
    assert not (tmp_path / "here" / "c" / "static").exists()


def test_an_environment_without_its_package_stops_all_arms(tmp_path):
    arms = ("--arm", "static", "--arm", "text=jitrl,environment.name=textworld-express")
    done = without(
        *("textworld_express", tmp_path, "compare", "--env", "toy", "--model", "scripted"),
        *(*arms, "--differ", "environment", "--out", "c"),
    )
    assert (done.returncode, "textworld-express is not installed" in done.stderr) == (3, True)
    assert not (tmp_path / "c").exists()


def test_an_agent_that_does_not_go_with_the_model_leaves_no_folder_of_a_run(jitrl, tmp_path):
    done = jitrl("run", *SMALL, "--agent", "gradient", "--out", "r")
    assert (done.code, "cannot be trained" in done.err) == (3, True), done.err
    assert not (tmp_path / "here" / "r").exists()


def test_a_missing_package_of_the_search_leaves_no_folder_of_a_run(tmp_path):
    asked = ("run", *SMALL, "--set", "memory.kernel=numba", "--out", "r")
    done = without("numba", tmp_path, *asked)
    assert (done.returncode, "needs numba" in done.stderr) == (3, True), done.stderr
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_model_without_an_option_that_it_needs_leaves_no_folder_of_a_run(
    jitrl, tmp_path, command
):
    done = jitrl(command, "--env", "toy", "--model", "openai", "--out", "r")
    assert done.code == 3, done.err
    assert "'openai' needs the option model: give --model-options model=…" in done.err
    assert not (tmp_path / "r").exists()
