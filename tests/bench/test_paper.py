import json

import pytest

from jitrl.bench import choices
from jitrl.bench.paper import figures, measured
from jitrl.cli.shared.settings import merge
from jitrl.errors import InputError
from jitrl.presets import load


def test_the_figures_are_those_of_the_paper_and_its_lead_is_their_difference():
    [ours] = [f for f in figures.FIGURES if f.table == figures.WEBARENA and f.agent == "jitrl"]
    assert (ours.avg, ours.final) == (46.98, 51.35)
    assert figures.lead("jitrl") == pytest.approx(0.1135)
    assert figures.lead("static") == 0.0
    assert figures.lead("ucb") is None
    assert all(f.avg is not None or f.final is not None for f in figures.FIGURES)
    keys = [(f.table, f.method) for f in figures.FIGURES]
    assert len(set(keys)) == len(keys)


def test_every_arm_of_the_table_is_an_agent_of_the_table():
    agents = {f.agent for f in figures.FIGURES if f.table == figures.WEBARENA}
    assert set(figures.ARMS) == agents


def test_a_folder_that_is_none_is_refused_and_other_json_is_no_result(tmp_path):
    with pytest.raises(InputError, match="is no folder"):
        measured.groups(tmp_path / "none")
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "b.json").write_text('{"schema": "other/1", "rows": [1]}')
    (tmp_path / "c.json").write_text("{")
    assert measured.groups(tmp_path) == ()


def test_results_in_json_are_found_where_their_runs_are_not(tmp_path):
    row = {
        "label": "a", "agent": "jitrl", "folder": "gone", "environment": "toy", "model": "m",
        "scorers": ["s"], "tasks": ["t"], "attempts": 2, "seeds": [0], "evaluator": "environment",
        "told": True, "protocol": "repeat", "commit": "abc",
    }  # fmt: skip
    (tmp_path / "r.json").write_text(json.dumps({"schema": "jitrl.compare/1", "rows": [row]}))
    [group] = measured.groups(tmp_path)
    assert group.rows == (row,)
    assert "1 task × 2 attempts × 1 seed, evaluator environment (told the gold" in group.terms


@pytest.mark.parametrize("what", choices.CHOICES)
def test_every_arm_of_a_choice_has_settings_that_exist(what):
    choice = choices.CHOICES[what]
    labels = [arm.partition("=")[0] for arm in choice.arms]
    assert len(set(labels)) == len(labels)
    assert set(choice.values) <= {label.partition(",")[0] for label in labels}
    for arm in choice.arms:
        flags = {}
        merge(flags, arm.split(",")[1:], "test")
        memory = flags.get("memory", {})
        load("default").changed(memory.get("rule"), memory.get("retrieval"), memory.get("gamma"))


@pytest.mark.parametrize("what", [w for w, c in choices.CHOICES.items() if c.values])
def test_the_default_is_one_of_the_values_of_its_setting(what):
    choice, preset = choices.CHOICES[what], load("default")
    assert choice.values.count(choices.DEFAULT) == 1
    for arm in choice.arms:
        flags = {}
        merge(flags, arm.split(",")[1:], "test")
        memory = flags.get("memory", {})
        if memory:
            assert (
                preset.changed(memory.get("rule"), memory.get("retrieval"), memory.get("gamma"))
                != preset
            )


def test_settings_of_a_world_give_way_to_those_of_the_command_line():
    world = choices.WORLDS["backoffice"]
    other = choices.given(world, {"environment": {"name": "toy"}, "run": {"attempts": 2}})
    assert other["environment"] == {"name": "toy"}
    assert other["run"]["attempts"] == 2
    assert other["run"]["seeds"] == 3
    assert other["model"] == {"name": "scripted"}
