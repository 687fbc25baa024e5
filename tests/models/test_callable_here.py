"""The function of a model ``callable`` in a file of the present folder."""

import sys

import pytest

from jitrl.errors import ConfigError
from jitrl.models.callable import CallableModel


@pytest.fixture
def apart(tmp_path, monkeypatch):
    """An empty folder to stand in, as the installed command does: the path does not hold it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    yield tmp_path
    sys.modules.pop("prior_of_this_folder", None)


def test_a_function_is_found_in_a_file_of_the_present_folder(apart):
    (apart / "prior_of_this_folder.py").write_text("def f(prompt):\n    return {'a': 0.0}\n")
    assert CallableModel("prior_of_this_folder:f").name == "f"


def test_a_function_that_is_nowhere_is_an_error_that_says_how_to_write_it(apart):
    with pytest.raises(ConfigError, match=r"No module named .*package\.module:name"):
        CallableModel("nowhere_at_all:f")
