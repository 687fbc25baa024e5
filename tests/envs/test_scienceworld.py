"""Tasks of scienceworld; the first tests need neither the package nor Java."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from jitrl.envs.scienceworld import KINDS, ScienceWorld
from jitrl.envs.scienceworld_actions import closest, lean
from jitrl.errors import ConfigError, InputError, MissingExtra
from jitrl.testing.environment import CHECKS, Factory


@pytest.fixture(scope="module")
def env() -> Iterator[ScienceWorld]:
    env = ScienceWorld(kinds=["find-animal", "lifespan-longest-lived"], variations=2)
    yield env
    env.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"kinds": ["cook"]},
        {"split": "all"},
        {"actions": "some"},
        {"simplifications": ["easier"]},
        {"variations": 0},
        {"steps": 0},
        {"failure": 0.5},
    ],
)
def test_impossible_settings_of_scienceworld_are_refused(settings: dict[str, object]):
    with pytest.raises(ConfigError):
        ScienceWorld(**settings)  # type: ignore[arg-type]


@pytest.mark.scienceworld
def test_a_java_that_does_not_start_is_told_with_what_it_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho Unable to locate a Java Runtime. >&2\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match=r"java does not start: Unable to .*: install a Java"):
        ScienceWorld()


def test_without_java_scienceworld_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingExtra, match="install"):
        ScienceWorld()


def test_lean_actions_leave_out_what_no_task_is_solved_by():
    actions = [
        *("look around", "reset task", "inventory", "task", "look at orange", "wait1"),
        *("go to kitchen", "go to door to kitchen", "teleport to kitchen", "teleport to outside"),
        *("use lighter on agent", "use lighter on orange", "connect battery to wire"),
        *("move orange to bowl", "move counter to bowl", "move orange to kitchen"),
        *("pour cup into sink", "pour orange into sink", "mix orange", "mix cup"),
        *("pick up cup in sink", "pick up sink", "open door to hallway", "0"),
    ]
    assert lean(actions, wires=False) == (
        *("0", "go to kitchen", "mix cup", "move orange to bowl", "open door to hallway"),
        *("pick up cup in sink", "pour cup into sink", "teleport to outside"),
        *("use lighter on orange", "wait1"),
    )
    assert "connect battery to wire" in lean(actions, wires=True)


def test_an_action_is_found_by_another_name_of_its_thing():
    things = json.dumps({"1": {"referents": ["egg", "bird egg"]}, "2": {"referents": ["red box"]}})
    valid = json.dumps(
        {
            "validActions": [
                {"action": "move egg to red box", "obj_ids": [1, 2]},
                {"action": "pick up egg", "obj_ids": [1]},
            ]
        }
    )
    offered = ("move egg to red box", "pick up egg")
    assert closest("move bird egg to red box", offered, valid, things) == "move egg to red box"
    assert closest("move bird egg in inventory to red box", offered, valid, things) == offered[0]
    assert closest("move bird egg to red box", ("pick up egg",), valid, things) is None
    assert closest("open door", offered, valid, things) is None


@pytest.mark.scienceworld
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_scienceworld_keeps_the_contract(env: ScienceWorld, check: Callable[[Factory], None]):
    check(partial(ScienceWorld, kinds=["lifespan-longest-lived"], steps=10))


@pytest.mark.scienceworld
def test_the_gold_path_reaches_the_whole_score(env: ScienceWorld):
    for task in env.tasks()[::2]:
        path = env.gold(task)
        shown, total = env.reset(task), 0.0
        for action in path:
            shown = env.step(action)
            total += shown.reward
        assert shown.terminated, task.id
        assert total == pytest.approx(1.0), task.id


@pytest.mark.scienceworld
def test_tasks_are_named_by_kind_and_variation_of_the_split(env: ScienceWorld):
    assert [task.id for task in env.tasks()] == [
        *("find-animal:0", "find-animal:1"),
        *("lifespan-longest-lived:0", "lifespan-longest-lived:1"),
    ]
    task = env.tasks()[2]
    assert (task.family, task.scope, task.params["variation"]) == (KINDS[20], KINDS[20], 0)
    assert "longest life span" in task.goal
    for unknown in ("cook:1", "boil", "boil:999"):
        with pytest.raises(InputError, match=r"kind:variation|variations of boil"):
            env.task(unknown)
    held_out = ScienceWorld(kinds=["find-animal"], split="test", variations=2)
    ids = {task.id for task in held_out.tasks()}
    held_out.close()
    assert len(ids) == 2
    assert not ids & {task.id for task in env.tasks()}


@pytest.mark.scienceworld
@pytest.mark.parametrize("failure", [0.0, -1.0])
def test_a_fatal_mistake_ends_the_episode_at_the_score_of_failure(failure: float):
    env = ScienceWorld(kinds=["lifespan-longest-lived"], failure=failure, actions="all")
    (task,) = env.tasks()
    env.reset(task)
    earned = env.step("teleport to outside").reward
    assert earned > 0.0
    shown = env.step("focus on agent")
    env.close()
    assert shown.terminated
    assert shown.reward == pytest.approx(failure - earned)
    with pytest.raises(InputError, match="call reset"):
        env.step("wait1")


@pytest.mark.scienceworld
def test_a_question_of_the_game_is_answered_by_its_number(env: ScienceWorld):
    task = env.task("find-animal:0")
    env.reset(task)
    env._server().step("go to kitchen")
    asked = env._observe(str(env._server().step("pick up orange")), task, 0.0)
    assert asked.actions == ("0", "1")
    assert "Ambiguous request" in env.codec.state(asked, ()).text


@pytest.mark.scienceworld
def test_closing_ends_the_java_process(env: ScienceWorld):
    def running() -> set[int]:
        return {p.pid for p in psutil.Process().children() if p.name().startswith("java")}

    before = running()
    other = ScienceWorld(kinds=["find-animal"])
    other.reset(other.tasks()[0])
    assert len(running() - before) == 1
    other.close()
    assert running() == before
