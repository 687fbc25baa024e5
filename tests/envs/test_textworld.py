"""Games that textworld generates; the first tests need no package."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from jitrl.envs.textworld import TextWorld
from jitrl.envs.textworld_making import CHALLENGES, Recipe, story
from jitrl.errors import ConfigError, InputError
from jitrl.testing.environment import CHECKS, Factory


@pytest.fixture(scope="module")
def env(made_games: Path) -> Iterator[TextWorld]:
    env = TextWorld(challenges=CHALLENGES, seeds=[7], folder=made_games)
    yield env
    env.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"challenges": ["zork"]},
        {"challenges": []},
        {"seeds": []},
        {"seeds": [-1]},
        {"goal": "vague"},
        {"level": 301},
        {"treasure_level": 0},
        {"rooms": 5, "challenges": ["cooking"]},
        {"take": 2, "recipe": 1},
        {"skills": ["fly"]},
        {"steps": 0},
    ],
)
def test_impossible_settings_of_textworld_are_refused(settings: dict[str, object]):
    with pytest.raises(ConfigError):
        TextWorld(**settings)  # type: ignore[arg-type]


@pytest.mark.textworld
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_textworld_keeps_the_contract(made_games: Path, check: Callable[[Factory], None]):
    check(partial(TextWorld, challenges=["simple", "coin-collector"], seeds=[7], folder=made_games))


@pytest.mark.textworld
def test_the_gold_path_wins_each_challenge_and_the_rewards_sum_to_one(env: TextWorld):
    for task in env.tasks():
        path = env.gold(task)
        shown, total = env.reset(task), 0.0
        for action in path:
            shown = env.step(action)
            total += shown.reward
        assert shown.terminated, task.id
        assert total == pytest.approx(1.0), task.id


@pytest.mark.textworld
def test_a_task_says_its_challenge_seed_and_points(env: TextWorld):
    task = env.task("simple:7")
    assert (task.family, task.params["challenge"], task.params["seed"]) == ("simple", "simple", 7)
    assert task.params["max_score"] > 1
    with pytest.raises(InputError, match="challenge:seed"):
        env.task("zork:1")


@pytest.mark.textworld
def test_a_state_holds_place_look_inventory_and_score_and_idle_actions_are_left_out(
    env: TextWorld,
):
    shown = env.reset(env.task("simple:7"))
    state = env.codec.state(shown.observation, ())
    assert state.place == "Bedroom"
    assert state.text.startswith("-= Bedroom =-")
    assert state.text.endswith(" || You are carrying nothing. || score 0")
    assert not [a for a in shown.observation.actions if a.startswith(("examine", "look", "inv"))]
    assert env.codec.text(shown.observation).count("-= Bedroom =-") == 1


@pytest.mark.textworld
def test_the_goal_can_say_all_steps_or_nothing(made_games: Path):
    goals = {}
    for goal in ("detailed", "brief", "none"):
        env = TextWorld(challenges=["coin-collector"], goal=goal, folder=made_games)  # type: ignore[arg-type]
        goals[goal] = env.task("coin-collector:7").goal
        env.close()
    assert len(goals["detailed"]) > len(goals["brief"]) > 0
    assert "coin" in goals["brief"]
    assert goals["none"] == "Find out what gives points, and do it."


@pytest.mark.textworld
def test_a_game_is_made_once_and_the_same_in_another_process(tmp_path: Path):
    recipe = Recipe("coin-collector", {"level": 3, "goal": "brief"})
    first = story(recipe, 5, tmp_path / "here")
    stamp = first.stat().st_mtime_ns
    assert story(recipe, 5, tmp_path / "here").stat().st_mtime_ns == stamp
    code = (
        "import sys; from pathlib import Path; from jitrl.envs.textworld_making import *; "
        "story(Recipe('coin-collector', {'level': 3, 'goal': 'brief'}), 5, Path(sys.argv[1]))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "there")], check=True)
    (other,) = (tmp_path / "there").glob("tw-*/*.json")
    told, again = (json.loads(path.read_text()) for path in (first.with_suffix(".json"), other))
    del told["grammar"], again["grammar"]  # holds a set, in any order
    assert told == again
    left = sorted(path.suffix for path in first.parent.iterdir())
    assert left == [".json", ".z8"]
    assert story(recipe, 6, tmp_path / "here") != first


@pytest.mark.textworld
def test_a_game_that_cannot_be_made_or_kept_says_so(tmp_path: Path):
    with pytest.raises(InputError, match="no game coin-collector:1"):
        story(Recipe("coin-collector", {"level": 300, "goal": "brief"}), 1, tmp_path)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="JITRL_CACHE_DIR"):
        story(Recipe("coin-collector", {"level": 1, "goal": "brief"}), 1, tmp_path / "file")


@pytest.mark.textworld
def test_the_page_of_a_cookbook_is_read_and_is_no_part_of_the_kitchen(env: TextWorld):
    task = env.task("cooking:7")
    path = env.gold(task)
    shown = env.reset(task)
    for action in path[: path.index("examine cookbook")]:
        shown = env.step(action)
    read = env.step("examine cookbook")
    assert env.codec.state(read.observation, ()) == env.codec.state(shown.observation, ())
    assert "Directions:" in env.codec.reading(read.observation)
    assert "Directions:" not in env.codec.reading(shown.observation)
