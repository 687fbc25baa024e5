import json
import os
import pkgutil
import re
import subprocess
import sys

import pytest

import jitrl as package
from jitrl import cli
from jitrl.cli.main import COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text(jitrl, command):
    done = jitrl(command, "--help")
    assert done.code == 0
    assert "Usage" in done.out


def test_help_lists_every_command_with_its_sentence(jitrl):
    done = jitrl("--help")
    assert done.code == 0
    for command, said in COMMANDS.items():
        assert command in done.out
        assert said.split()[0] in done.out


def test_a_module_or_folder_beside_the_entry_is_a_command():
    found = {module.name for module in pkgutil.iter_modules(cli.__path__)}
    assert found == {*COMMANDS, "main", "usage", "shared"}


def test_without_a_command_the_help_is_shown(jitrl):
    assert "compare" in jitrl().out


def test_the_version_is_printed(jitrl):
    assert jitrl("--version").out == f"jitrl {package.__version__}\n"


@pytest.mark.parametrize(
    "args",
    [
        ("fly",),
        ("run", "--wings"),
        ("report",),
        ("report", "nowhere"),
        ("report", "nowhere", "--out", "r.doc"),
        ("compare", "--require", "great"),
        ("compare", "nowhere", "elsewhere"),
        ("compare", "--arm", "static"),
        ("compare", "--arm", "static", "--arm", "static"),
        ("compare", "--arm", "=static", "--arm", "jitrl"),
        ("compare", "--base", "nobody"),
        ("compare", "--differ", "modle"),
        ("explain", "nowhere"),
        ("explain", "nowhere", "x#0", "--changed"),
        ("model", "check", "nothing"),
        ("bench", "decide", "--preset", "nothing"),
        ("bench", "learn", "--arms", "nothing"),
        ("bench", "learn", "--arms", "("),
        ("bench", "learn", "--what", "toy", "--arms", "default"),
        ("bench", "learn", "--what", "toy", "--set", "gamma=0.5"),
        ("bench", "learn", "--set", "gamma"),
        ("bench", "learn", "--games", "x"),
        ("bench", "transfer", "--right", "nan"),
        ("bench", "judge", "--tasks", "999"),
        ("bench", "choices", "--what", "k", "--agents", "nobody", "--model", "scripted"),
        ("bench", "paper", "--agents", "jitrl,jitrl", "--env", "toy", "--model", "scripted"),
        ("memory", "import", "new.db", "-", "--principal", "\ud800"),
    ],
)
def test_wrong_usage_exits_with_2(jitrl, args):
    done = jitrl(*args)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    assert os.listdir() == []  # nothing was begun


def test_arms_that_match_nothing_are_answered_with_those_that_exist(jitrl):
    said = jitrl("bench", "learn", "--arms", "nothing").err
    assert "--arms 'nothing' matches no arm; there are 'default'" in said
    assert "'thompson'" in said


@pytest.mark.parametrize(
    "args", [("memory", "ls"), ("memory", "check"), ("explain", "--changed"), ("report",)]
)
def test_a_path_that_the_system_refuses_is_one_line_and_exits_with_4(jitrl, args):
    done = jitrl(*args, "x" * 300)
    assert (done.code, done.out, done.err.count("\n")) == (4, "", 1)
    assert "cannot be used: File name too long" in done.err


LONG = "x" * 5_000


@pytest.mark.parametrize(
    "args",
    [
        ("run", "--set", LONG),
        ("run", "--set", f"{LONG}.a=1"),
        ("run", "--set", f"memory.{LONG}=1"),
        ("run", "--set", f"memory.gamma={LONG}"),
        ("run", "--env", "toy", "--set", f"memory.evaluator={LONG}"),
        ("run", "--seeds", LONG),
        ("run", "--env", LONG),
        ("run", "--env-options", LONG),
        ("run", "--env", "toy", "--env-options", json.dumps({LONG: 1})),
        ("run", "--env", "toy", "--env-options", json.dumps({"tasks": LONG})),
        ("run", "--model", LONG),
        ("compare", "--arm", f"/{LONG}"),
        ("rules", "add", "m.db", LONG),
        ("model", "check", "--option", LONG),
        ("model", "check", LONG),
        ("memory", "quarantine", "m.db", "--since", LONG, "--reason", "old"),
    ],
    ids=lambda args: " ".join(args)[:40],
)
def test_an_error_shows_the_beginning_of_a_long_value_and_what_is_wrong(jitrl, args):
    jitrl("rules", "add", "m.db", "When the cart is empty, open the shop.")
    done = jitrl(*args)
    assert done.code != 0
    assert "xxx" in done.err
    assert len(done.err) < 1_500, done.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("run", "--env", "toi"), "error: no environment is named 'toi' (did you mean 'toy'?)"),
        (("run", "--attempts", "0"), "error: --attempts: run.attempts is '0'"),
        (("run", "--set", "memory.gama=1"), "error: --set: memory has no setting 'gama'"),
        (("run", "--set", "gamma=1"), "is not of the form GROUP.SETTING=VALUE"),
        (("run", "--rule", "{"), "--rule: memory.rule is '{'; a table is written a=1,b=x or"),
        (("run", "--max-dollars", "inf"), "budget.max_dollars is 'inf'; a number must be finite"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exits_with_3(jitrl, args, message):
    done = jitrl(*args)
    assert (done.code, done.out) == (3, "")
    assert done.err.count("\n") == 1
    assert message in done.err


BROKEN = """
import sys
from jitrl.cli import main
def emit(data):
    raise KeyError("a bug")
import jitrl.cli.config
jitrl.cli.config.emit = emit
main(sys.argv[1:])
"""


def test_a_bug_is_one_line_unless_one_asks_for_more(tmp_path):
    def run(*args):
        command = [sys.executable, "-c", BROKEN, *args, "config", "--json"]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    short, full = run(), run("--debug")
    assert (short.returncode, full.returncode) == (1, 1)
    line = "error: KeyError: 'a bug' (unexpected; jitrl --debug shows where)\n"
    assert short.stderr == line
    assert "Traceback" in full.stderr


def test_debug_shows_where_a_mistake_was_found(tmp_path):
    command = [sys.executable, "-m", "jitrl", "--debug", "report", "nowhere"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: nowhere holds no run")


def test_config_shows_every_setting_and_where_it_comes_from(jitrl, monkeypatch):
    monkeypatch.setenv("JITRL_RUN_ATTEMPTS", "7")
    done = jitrl("config", "--json")
    assert done.data["schema"] == "jitrl.config/1"
    rows = {row["setting"]: row for row in done.data["settings"]}
    assert (rows["run.attempts"]["value"], rows["run.attempts"]["from"]) == (7, "variable")
    assert rows["memory.mode"]["from"] == "default"
    shown = jitrl("config")
    assert (shown.code, shown.out) == (0, "")
    assert "run.attempts" in shown.err


def test_config_shows_what_the_preset_makes_of_rule_retrieval_and_gamma(jitrl, monkeypatch):
    monkeypatch.setenv("JITRL_MEMORY_PRESET", "paper-web")
    monkeypatch.setenv("JITRL_MEMORY_RULE", "beta=45")
    rows = {row["setting"]: row for row in jitrl("config", "--json").data["settings"]}
    shown = {name: (row["value"], row["from"]) for name, row in rows.items()}
    assert shown["memory.rule.beta"] == (45.0, "variable")
    assert shown["memory.rule.explore"] == (0.05, "preset paper-web")
    assert shown["memory.retrieval.k"] == (10, "preset paper-web")
    assert shown["memory.gamma"] == (0.1, "preset paper-web")


@pytest.mark.parametrize("words", [(), ("explain",), ("memory",), ("memory", "show"), ("bench",)])
def test_help_gives_no_value_to_flags_and_arguments_without_brackets_of_their_own(jitrl, words):
    help = jitrl(*words, "--help").out
    assert "Usage: jitrl" in help
    assert not re.search("<bool>|BOOLEAN|[{]", help)
    if words == ("explain",):
        assert "PLACE [DECISION]" in help
        assert "<path>" in help or "PATH" in help
