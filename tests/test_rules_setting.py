"""The settings `[rules]`: off unless they say so, and what a caller says counts before them."""

import inspect

import pytest

import jitrl
from jitrl import config, rulebook
from jitrl.agents.rulebook.book import rulebook as agent
from jitrl.config import Rules
from jitrl.errors import ConfigError


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(memory):
    return memory.book and memory.book.telling.told


def test_a_memory_has_no_rules_unless_it_is_told_to(here):
    with jitrl.open("m.db") as memory:
        assert memory.book is None


def test_a_file_and_a_variable_give_rules_and_a_caller_counts_before_them(here, monkeypatch):
    (here / "jitrl.toml").write_text("[rules]\nenabled = true\ntold = 2\nholdout = 0.5\n")
    with jitrl.open("m.db") as memory:
        assert (told(memory), memory.book.telling.holdout) == (2, 0.5)
    monkeypatch.setenv("JITRL_RULES_TOLD", "4")
    monkeypatch.setenv("JITRL_RULES_GATES", "trial=9")
    with jitrl.open("m.db") as memory:
        assert told(memory) == 4
        assert memory.book.learning.gating.gates.trial == 9
    with jitrl.open("m.db", rules={"told": 1}) as memory:
        assert (told(memory), memory.book.telling.holdout) == (1, 0.5)
    with jitrl.open("m.db", rules=False) as memory:
        assert memory.book is None


def test_settings_that_are_there_count_where_a_caller_says_that_there_are_rules(here):
    (here / "jitrl.toml").write_text("[rules]\nscores = false\nthreshold = 0.5\n")
    with jitrl.open("m.db") as memory:
        assert memory.book is None
    with jitrl.open("m.db", rules=True) as memory:
        assert memory.book.learning.threshold == 0.5
        assert memory.agent.mode == "off"


def test_an_impossible_setting_is_refused_with_its_name(here):
    (here / "jitrl.toml").write_text("[rules]\nenabled = true\nholdout = 0\n")
    with pytest.raises(ConfigError, match=r"rules\.holdout is 0"):
        jitrl.open("m.db")
    (here / "jitrl.toml").write_text("[rules]\ntolled = 3\n")
    with pytest.raises(ConfigError, match=r"no setting 'tolled'.*did you mean 'told'"):
        jitrl.open("m.db")


def test_each_option_of_the_book_is_a_setting_with_the_same_default():
    options = {
        name: one.default
        for name, one in inspect.signature(agent).parameters.items()
        if one.kind is one.KEYWORD_ONLY and name not in ("temperature", "choose")
    }
    options |= {"scores": True, "gates": {}, "enabled": False}  # as the library has them
    assert {name: getattr(Rules(), name) for name in Rules.__struct_fields__} == options


def test_what_is_as_usual_is_left_to_the_book():
    assert rulebook.chosen(None, Rules(enabled=True)) is True
    assert rulebook.chosen(True, Rules()) is True
    assert rulebook.chosen({"told": 2}, Rules(gap=0.5)) == {"told": 2, "gap": 0.5}


def test_rules_leave_a_run_what_it_was():
    from jitrl.run.folder import default

    assert default(config.Settings()) == default(config.Settings(rules=Rules(enabled=True)))
