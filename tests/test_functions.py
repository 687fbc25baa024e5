"""Functions of the user's own, given or named, wherever one is asked for."""

import os.path
import sys

import pytest

from jitrl.errors import ConfigError
from jitrl.evaluators.checks import Checks
from jitrl.functions import own_function
from jitrl.models.callable import CallableModel


@pytest.fixture
def apart(tmp_path, monkeypatch):
    """An empty folder to stand in, as the installed command does: the path does not hold it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    yield tmp_path
    sys.modules.pop("own_of_this_folder", None)


def test_a_function_is_taken_as_it_is():
    assert own_function(len) is len


def test_a_function_is_named_by_its_module():
    assert own_function("os.path:join") is os.path.join


def test_a_function_is_found_in_a_file_of_the_present_folder(apart):
    (apart / "own_of_this_folder.py").write_text("def f(x):\n    return 2 * x\n")
    assert own_function("own_of_this_folder:f")(3) == 6


def test_a_file_of_the_present_folder_hides_no_installed_module(apart):
    (apart / "own_of_this_folder.py").write_text("def f(x):\n    return x\n")
    (apart / "colorsys.py").write_text("def f(x):\n    return x\n")
    own_function("own_of_this_folder:f")
    with pytest.raises(ConfigError, match="no attribute 'f'"):
        own_function("colorsys:f")


@pytest.mark.parametrize("make", [CallableModel, Checks])
def test_the_model_and_the_evaluator_are_called_like_the_function_that_is_named(apart, make):
    (apart / "own_of_this_folder.py").write_text("def score(x):\n    return 0.5\n")
    assert make("own_of_this_folder:score").name == "score"


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ("nowhere_at_all:f", "No module named 'nowhere_at_all'"),
        ("os.path:nothing", "has no attribute 'nothing'"),
        ("os.path", "has no attribute ''"),
        (":f", "Empty module name"),
    ],
)
def test_what_cannot_be_imported_says_why_and_how_to_write_it(given, wrong):
    with pytest.raises(ConfigError) as raised:
        own_function(given)
    message = str(raised.value)
    assert f"function {given!r} cannot be imported: " in message
    assert wrong in message
    assert message.endswith("; write it as package.module:name")


@pytest.mark.parametrize("given", [3, "os.path:sep"])
def test_what_cannot_be_called_is_no_function(given):
    with pytest.raises(ConfigError, match=f"function {given!r} cannot be called; give a function"):
        own_function(given)


def test_what_a_module_raises_comes_through(apart):
    (apart / "own_of_this_folder.py").write_text("1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        own_function("own_of_this_folder:f")


def test_a_module_that_misses_another_says_which(apart):
    (apart / "own_of_this_folder.py").write_text("import nowhere_at_all\n")
    with pytest.raises(ConfigError, match="No module named 'nowhere_at_all'"):
        own_function("own_of_this_folder:f")


@pytest.mark.parametrize("path", ["../own:f", ".own:f", "."])
def test_a_module_named_from_somewhere_else_is_refused(path):
    with pytest.raises(ConfigError, match=r"write it as package\.module:name"):
        own_function(path)
