"""MiniWoB++ in Chromium; those marked ``browser`` need it and the package."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from jitrl.agents.static import Static
from jitrl.envs.miniwob import KINDS, MiniWob
from jitrl.envs.miniwob.gold import EXPERTS
from jitrl.envs.miniwob.kinds import LEFT_OUT
from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.models.scripted import Scripted
from jitrl.run.loop import Trial, play
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.environment import CHECKS, Factory

installed = importlib.util.find_spec("miniwob") is not None
needs_miniwob = pytest.mark.skipif(not installed, reason="needs miniwob: pip install miniwob")


@pytest.fixture(scope="module")
def env() -> Iterator[MiniWob]:
    made = MiniWob()
    yield made
    made.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"kinds": ["click-everything"]},
        {"kinds": ["drag-box"]},
        {"seeds": []},
        {"seeds": [-1]},
        {"steps": 0},
    ],
)
def test_impossible_tasks_are_refused_with_a_reason(settings: dict[str, list[str]]):
    with pytest.raises(ConfigError, match=r"dragging|no MiniWoB task|seed"):
        MiniWob(**settings)  # type: ignore[arg-type]


@needs_miniwob
def test_each_kind_of_the_package_is_offered_or_left_out_for_a_reason():
    spec = importlib.util.find_spec("miniwob")
    assert spec is not None
    assert spec.origin is not None
    pages = {path.stem for path in (Path(spec.origin).parent / "html/miniwob").glob("*.html")}
    assert not set(KINDS) & set(LEFT_OUT)
    assert pages == set(KINDS) | set(LEFT_OUT)
    assert set(EXPERTS) <= set(KINDS)


@pytest.mark.browser
@needs_miniwob
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract_is_kept_in_the_browser(env: MiniWob, check: Callable[[Factory], None]):
    env.task("click-test:0")  # so that one Chromium serves all instances
    check(partial(MiniWob, kinds=["login-user-popup", "search-engine"], steps=4))


@pytest.mark.browser
@needs_miniwob
@pytest.mark.parametrize("kind", EXPERTS)
def test_the_expert_of_a_kind_wins_and_its_path_wins_again(env: MiniWob, kind: str):
    task = env.task(f"{kind}:1")
    path = env.gold(task)
    shown = env.reset(task)
    for action in path:
        assert not shown.terminated
        shown = env.step(env.codec.ground(action, shown.observation))
    assert shown.terminated
    assert shown.reward == 1.0


@pytest.mark.browser
@needs_miniwob
def test_tasks_are_named_by_kind_and_seed_and_say_what_their_page_says(env: MiniWob):
    few = MiniWob(kinds=["click-button", "enter-date"], seeds=[3, 4])
    tasks = few.tasks()
    assert [task.id for task in tasks] == [
        *("click-button:3", "enter-date:3", "click-button:4", "enter-date:4")
    ]
    assert tasks[0].goal.startswith("Click on the ")
    assert (tasks[0].family, tasks[0].params["seed"]) == ("click-button", 3)
    assert tasks[0].goal == env.task("click-button:3").goal
    few.close()
    for id in ("drag-box:1", "click-button:x", "click-button"):
        with pytest.raises(InputError, match="kind:seed"):
            env.task(id)


@pytest.mark.browser
@needs_miniwob
def test_the_reward_is_the_pages_own_and_time_takes_nothing_off_it(env: MiniWob):
    task = env.task("click-test-2:0")
    for label, reward in (("ONE", 1.0), ("TWO", -1.0)):
        shown = env.reset(task)
        for _ in range(3):
            shown = env.step("noop()")
        shown = env.step(env.codec.ground(f"click(<button[{label}]>)", shown.observation))
        assert (shown.reward, shown.terminated) == (reward, True)


@pytest.mark.browser
@needs_miniwob
def test_the_step_limit_counts_as_the_pages_time_limit():
    env = MiniWob(kinds=["click-checkboxes"], steps=2)
    shown = env.reset(env.tasks()[0])
    for _ in range(2):
        shown = env.step(shown.observation.actions[0])
    assert (shown.reward, shown.terminated, shown.truncated) == (-1.0, False, True)
    env.close()


@pytest.mark.browser
@needs_miniwob
def test_dates_and_words_of_the_page_can_be_typed(env: MiniWob):
    shown = env.reset(env.task("enter-date:0")).observation
    assert env.codec.actions(shown)[0] == 'fill(<textbox[tt]>, "2010-05-20")'
    shown = env.reset(env.task("read-table:0")).observation
    assert 'fill(<textbox[tt]>, "Reynolds")' in env.codec.actions(shown)


@pytest.mark.browser
@needs_miniwob
def test_pictures_of_each_step_are_kept_where_the_observation_says(tmp_path: Path):
    env = MiniWob(kinds=["click-tab"], screenshots=tmp_path)
    shown = env.reset(env.tasks()[0], seed=5)
    last = env.step(shown.observation.actions[0]).observation
    assert shown.observation.info["screenshot"] == str(tmp_path / "click-tab-0" / "5" / "000.png")
    assert Path(last.info["screenshot"]).name == "001.png"
    assert Path(last.info["screenshot"]).is_file()
    env.close()


@pytest.mark.browser
@needs_miniwob
def test_an_episode_names_the_pictures_of_its_pages(tmp_path: Path):
    env = MiniWob(kinds=["click-test"], screenshots=tmp_path)
    trial = Trial(env.tasks()[0], 0, 0, 0)
    store = SQLiteStore(":memory:")
    agent = Static(store, EnvironmentRewards()).episode()
    episode = play(trial, env, Scripted(), agent)
    assert [Path(path).name for path in episode.info["screenshots"]] == ["000.png", "001.png"]
    assert all(Path(path).is_file() for path in episode.info["screenshots"])
    store.close()
    env.close()
