import re
import sys

import pytest

from jitrl import extras, registry
from jitrl.envs.toy import Toy
from jitrl.errors import ConfigError, MissingExtra


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Installs a plugin: a module and entry points that name things in it."""

    def install(code, points, name="lab"):
        (tmp_path / f"jitrl_{name}.py").write_text(code)
        info = tmp_path / f"jitrl_{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: jitrl-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
        monkeypatch.delitem(sys.modules, f"jitrl_{name}", raising=False)

    monkeypatch.syspath_prepend(tmp_path)
    return install


def test_a_name_loads_what_its_entry_point_says():
    assert registry.load("environments", "toy") is Toy


def test_an_unknown_name_lists_the_known_ones_and_the_nearest():
    with pytest.raises(ConfigError, match=r"'toi' \(did you mean 'toy'\?\).* backoffice, .*toy"):
        registry.load("environments", "toi")


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("models", "openai", r"'openai' needs the option model: give --model-options model=…, or "),
        ("models", "callable", r"'callable' needs the option function: give --model-options "),
        ("environments", "lab_desks:Desk", r"needs the options calls, size: give --env-options"),
    ],
)
def test_an_option_that_is_needed_and_not_given_is_named_with_where_to_give_it(
    kind, name, said, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    code = "class Desk:\n  def __init__(self, calls: int, size: int, **more: int): 0\n"
    (tmp_path / "lab_desks.py").write_text(code)
    with pytest.raises(ConfigError, match=said):
        registry.create(kind, name, {})


def test_an_environment_is_a_class_of_a_file_in_the_present_folder_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    (tmp_path / "desk_of_here.py").write_text("class Desk:\n  def __init__(self, calls: int): 0\n")
    made = registry.create("environments", "desk_of_here:Desk", {"calls": "3"})
    assert type(made).__name__ == "Desk"
    with pytest.raises(ConfigError, match=r"environment 'desk_of_here:Dusk' cannot be imported"):
        registry.load("environments", "desk_of_here:Dusk")
    with pytest.raises(ConfigError, match="no evaluator is named 'desk_of_here:Desk'"):
        registry.load("evaluators", "desk_of_here:Desk")
    sys.modules.pop("desk_of_here")


def test_only_what_was_named_is_loaded(plugin):
    plugin("raise SystemExit('imported')", "[jitrl.environments]\nbad = jitrl_lab:Bad\n")
    assert "bad" in registry.names("environments")
    assert registry.load("environments", "toy") is Toy


def test_what_cannot_be_imported_stops_with_the_reason_and_what_to_do(plugin):
    plugin("import does_not_exist", "[jitrl.models]\nbad = jitrl_lab:Bad\n")
    with pytest.raises(ConfigError, match=r"'bad' .*of jitrl-lab.*does_not_exist.*reinstall"):
        registry.load("models", "bad")


def test_a_missing_class_is_named(plugin):
    plugin("", "[jitrl.models]\nbad = jitrl_lab:Bad\n")
    with pytest.raises(ConfigError, match="Bad"):
        registry.load("models", "bad")


def test_a_missing_extra_comes_through_with_its_command(plugin):
    code = "from jitrl.errors import MissingExtra\nraise MissingExtra(\"pip install 'jitrl[x]'\")"
    plugin(code, "[jitrl.models]\nbad = jitrl_lab:Bad\n")
    with pytest.raises(MissingExtra, match=re.escape(extras.command("x"))):
        registry.load("models", "bad")


def test_two_packages_that_offer_one_name_are_an_error(plugin):
    plugin("class A: ...", "[jitrl.models]\ntwice = jitrl_lab:A\n")
    plugin("class B: ...", "[jitrl.models]\ntwice = jitrl_labb:B\n", name="labb")
    with pytest.raises(ConfigError, match=r"several packages: .*jitrl_lab:A.*jitrl_labb:B"):
        registry.load("models", "twice")


def test_options_given_as_text_are_converted_to_their_types():
    toy = registry.create("environments", "toy", {"world": "maze", "tasks": "3"})
    assert [task.id for task in toy.tasks()] == ["maze:0", "maze:1", "maze:2"]


def test_an_unknown_option_names_the_nearest():
    with pytest.raises(ConfigError, match=r"no option 'task' \(did you mean 'tasks'\?\)"):
        registry.create("environments", "toy", {"task": 3})


@pytest.mark.parametrize("value", [["a", "none"], ["none"]])
def test_an_option_that_is_none_of_its_words_is_told_with_those_that_are_allowed(plugin, value):
    code = (
        "from collections.abc import Sequence\nfrom typing import Literal\n"
        "def make(*, one: Literal['a', 'b'] = 'a', some: Sequence[Literal['a', 'b']] = ()): ..."
    )
    plugin(code, "[jitrl.environments]\nlab = jitrl_lab:make\n")
    with pytest.raises(ConfigError, match=r"; allowed: a, b$"):
        registry.create("environments", "lab", {"some": value})
    with pytest.raises(ConfigError, match=r"; allowed: a, b$"):
        registry.create("environments", "lab", {"one": value[-1]})


@pytest.mark.parametrize(("name", "value"), [("tasks", "three"), ("world", "moon"), ("slip", [1])])
def test_an_option_of_the_wrong_type_is_named_with_its_value(name, value):
    with pytest.raises(ConfigError, match=rf"option {name} is "):
        registry.create("environments", "toy", {name: value})


def test_a_text_where_a_list_is_wanted_is_told_with_the_form_of_a_list(plugin):
    code = "def make(games: tuple[str, ...] = (), size: int = 1): ..."
    plugin(code, "[jitrl.environments]\nlab = jitrl_lab:make\n")
    wanted = r"""option games is 'coin': .*; a list is written as JSON: \{"games": \["coin"\]\}$"""
    with pytest.raises(ConfigError, match=wanted):
        registry.create("environments", "lab", {"games": "coin"})
    with pytest.raises(ConfigError) as told:
        registry.create("environments", "lab", {"size": "coin"})
    assert "a list" not in str(told.value)


def test_a_path_and_a_python_object_are_options_too(plugin):
    code = """
from pathlib import Path
from typing import Protocol
class Clock:
    pass
class Box:
    def __init__(self, path: Path, clock: Clock | None = None):
        self.path, self.clock = path, clock
def make(path: Path, clock: Clock):
    return Box(path, clock)
"""
    plugin(code, "[jitrl.models]\nbox = jitrl_lab:make\n")
    clock = registry.load("models", "box").__globals__["Clock"]()
    box = registry.create("models", "box", {"path": "a/b", "clock": clock})
    assert (box.path.name, box.clock) == ("b", clock)
    with pytest.raises(ConfigError, match=r"clock .*only be given from Python"):
        registry.create("models", "box", {"path": "a/b", "clock": "noon"})


def test_lent_parts_go_where_they_are_asked_for_and_are_no_options(plugin):
    code = "def keen(x: int = 1, store=None): return x, store\ndef shy(x: int = 1): return x"
    plugin(code, "[jitrl.agents]\nkeen = jitrl_lab:keen\nshy = jitrl_lab:shy\n")
    assert registry.create("agents", "keen", {"x": 2}, store="s") == (2, "s")
    assert registry.create("agents", "shy", {}, store="s") == 1
    with pytest.raises(ConfigError, match=r"no option 'store'.*it has x"):
        registry.create("agents", "keen", {"store": "mine"}, store="s")
