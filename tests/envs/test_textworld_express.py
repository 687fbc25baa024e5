"""Games of textworld-express; the first three tests need no Java."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from jitrl.envs.textworld_express import GAMES, TextWorldExpress
from jitrl.errors import ConfigError, InputError, MissingExtra
from jitrl.testing.environment import CHECKS, Factory


@pytest.fixture(scope="module")
def env() -> Iterator[TextWorldExpress]:
    pytest.importorskip("textworld_express")
    if shutil.which("java") is None:
        pytest.skip("needs Java")
    env = TextWorldExpress(seeds=range(40, 43))
    yield env
    env.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"games": ["zork"]},
        {"seeds": []},
        {"fold": "all"},
        {"slip": -0.1},
        {"steps": 0},
        {"reward_shift": float("nan")},
    ],
)
def test_impossible_settings_are_refused_before_anything_starts(settings: dict[str, object]):
    with pytest.raises(ConfigError):
        TextWorldExpress(**settings)  # type: ignore[arg-type]


def test_without_java_or_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingExtra, match="install"):
        TextWorldExpress()


@pytest.mark.java
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract_is_kept(env: TextWorldExpress, check: Callable[[Factory], None]):
    check(partial(TextWorldExpress, games=["coin"], seeds=(40, 41), slip=0.1))


@pytest.mark.java
def test_the_gold_path_is_the_same_each_time_and_holds_nothing_to_spare(env: TextWorldExpress):
    for id in ("coin:40", "coin:42", "twc:40"):
        task = env.task(id)
        paths = {env.gold(task) for _ in range(4)}
        assert len(paths) == 1
        (path,) = paths
        assert len(path) <= 14


@pytest.mark.java
def test_the_gold_path_of_each_game_wins(env: TextWorldExpress):
    for task in env.tasks():
        path = env.gold(task)
        shown = env.reset(task)
        total = 0.0
        for action in path:
            shown = env.step(action)
            total += shown.reward
            if shown.terminated:
                break
        assert shown.terminated, task.id
        assert total == pytest.approx(1.0), task.id


@pytest.mark.java
def test_tasks_are_named_by_game_and_seed(env: TextWorldExpress):
    assert [task.id for task in env.tasks()[:4]] == ["twc:40", "cook:40", "coin:40", "twc:41"]
    assert env.task("arithmetic:3").goal
    with pytest.raises(InputError, match="game:seed"):
        env.task("zork:1")


@pytest.mark.java
def test_a_state_is_the_look_and_the_inventory_and_idle_actions_are_not_offered(
    env: TextWorldExpress,
):
    shown = env.reset(env.task("cook:40"))
    state = env.codec.state(shown.observation, ())
    assert state.text.startswith("You are in the kitchen.")
    assert " || Inventory: " in state.text
    assert not [a for a in shown.observation.actions if a.startswith(GAMES["cook"].idle)]
    told = env.step("read cookbook").observation
    assert env.codec.state(told, ()) == state
    assert "ingredients:" in env.codec.text(told).lower()


@pytest.mark.java
def test_what_the_game_says_to_an_action_can_be_read_apart_from_the_room(env: TextWorldExpress):
    shown = env.reset(env.task("cook:40"))
    assert env.codec.reading(shown.observation) == ""
    recipe = env.codec.reading(env.step("read cookbook").observation)
    assert recipe.startswith("Gather all following ingredients")
    assert recipe.endswith("prepare meal")
    assert "kitchen" not in recipe


@pytest.mark.java
def test_a_shift_is_added_to_each_reward_and_the_limit_truncates(env: TextWorldExpress):
    shifted = TextWorldExpress(games=["coin"], seeds=[40], steps=3, reward_shift=-1.0)
    shown = shifted.reset(shifted.tasks()[0])
    for _ in range(3):
        shown = shifted.step(shown.observation.actions[0])
        assert shown.reward == -1.0
    assert (shown.truncated, shown.terminated) == (True, False)
    shifted.close()


@pytest.mark.java
def test_a_slip_executes_another_action_now_and_then(env: TextWorldExpress):
    slippery = TextWorldExpress(games=["coin"], seeds=[40], slip=1.0)
    task = slippery.tasks()[0]
    places = set()
    for seed in range(8):
        action = slippery.reset(task, seed=seed).observation.actions[0]
        places.add(slippery.step(action).observation.text)
    slippery.close()
    assert len(places) > 1
