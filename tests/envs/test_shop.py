"""The shop in Chromium: every kind of task can be won, and only in the right way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial

import pytest

from jitrl.envs.shop import Shop
from jitrl.envs.shop.environment import TEMPLATES
from jitrl.errors import ConfigError, InputError
from jitrl.testing.environment import CHECKS, Factory
from jitrl.types import Task, TimeStep

pytestmark = [pytest.mark.browser, pytest.mark.shop]

TASKS = [f"{name}:0" for name in TEMPLATES]


@pytest.fixture(scope="module")
def english() -> Iterator[Shop]:
    with closing(Shop(instances=2)) as env:
        yield env


@pytest.fixture(scope="module")
def chinese() -> Iterator[Shop]:
    with closing(Shop(instances=1, language="zh")) as env:
        yield env


def task(env: Shop, id: str) -> Task:
    return next(task for task in env.tasks() if task.id == id)


def walk(env: Shop, id: str, path: Iterable[str]) -> TimeStep:
    """An episode of canonical actions."""
    shown = env.reset(task(env, id))
    for action in path:
        shown = env.step(env.codec.ground(action, shown.observation))
    return shown


@pytest.mark.parametrize("id", TASKS)
def test_the_gold_path_wins(english: Shop, id: str):
    shown = english.reset(task(english, id))
    for _ in range(10):
        if shown.terminated:
            break
        shown = english.step(english.codec.ground(english.oracle_action(), shown.observation))
    assert (shown.reward, shown.terminated) == (1.0, True), shown.observation


@pytest.mark.parametrize("id", TASKS[::4])
def test_the_gold_path_wins_in_chinese(chinese: Shop, id: str):
    shown = walk(chinese, id, chinese.gold(task(chinese, id)))
    assert (shown.reward, shown.terminated) == (1.0, True), shown.observation


def test_a_wrong_answer_loses(english: Shop):
    *path, right = english.gold(task(english, "account:total:0"))
    shown = walk(english, "account:total:0", path)
    wrong = next(a for a in shown.observation.actions if a.startswith("answer") and a != right)
    shown = english.step(wrong)
    assert (shown.reward, shown.terminated) == (0.0, True)


def test_the_right_change_of_the_wrong_row_loses(english: Shop):
    path = english.gold(task(english, "basket:remove:0"))
    wrong = english.gold(task(english, "basket:remove:1"))
    assert path != wrong
    shown = walk(english, "basket:remove:0", wrong)
    assert (shown.reward, shown.terminated) == (0.0, True)
    assert shown.observation.info["checks"] == {"no other changes": False, "wanted changes": 0.0}


def test_another_change_besides_the_right_one_loses(english: Shop):
    *path, save = english.gold(task(english, "catalog:hide:0"))
    shown = walk(english, "catalog:hide:0", (*path, "click(<checkbox[Is discountable?]>)", save))
    assert (shown.reward, shown.terminated) == (0.0, True)
    assert shown.observation.info["checks"] == {"no other changes": False, "wanted changes": 1.0}


def test_saving_what_is_already_so_is_neither_won_nor_lost(english: Shop):
    path = english.gold(task(english, "catalog:hide:0"))
    shown = walk(english, "catalog:hide:0", (*path[:-2], path[-1]))
    assert not shown.terminated
    assert shown.observation.info["checks"] == {"no other changes": True, "wanted changes": 0.0}


def test_a_change_on_the_way_to_a_right_answer_loses(english: Shop):
    shown = walk(english, "shop:price:0", english.gold(task(english, "shop:price:0"))[:-1])
    add = "click(<button[Add to cart]>)"
    shown = english.step(english.codec.ground(add, shown.observation))
    assert (shown.reward, shown.terminated) == (0.0, True)


def test_an_episode_is_cut_off_at_its_limit():
    with closing(Shop(templates=["find:mine"], instances=1, steps=1)) as env:
        shown = walk(env, "find:mine:0", ["click(<link[Harbor Shop]>)"])
        assert (shown.truncated, shown.terminated) == (True, False)
        with pytest.raises(InputError, match="no episode is under way"):
            env.oracle_action()


def test_the_oracle_is_silent_off_the_winning_path(english: Shop):
    walk(english, "find:mine:0", ["click(<link[Harbor Shop]>)"])
    assert english.oracle_action() is None


def test_menus_that_are_open_make_the_state_and_not_the_order_of_opening_them(english: Shop):
    catalogue, content = "click(<button[Catalog]>)", "click(<button[Content]>)"

    def state(*path: str) -> object:
        shown = walk(english, "find:list:0", path)
        return english.codec.state(shown.observation, path)

    assert state(catalogue) != state(content) == state(catalogue, content)
    assert state(content, catalogue) == state(catalogue)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_contract_is_kept(check: Callable[[Factory], None]):
    check(partial(Shop, templates=["find:list", "basket:quantity"], instances=1, steps=3))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_there_are_many_templates_and_no_two_tasks_have_one_goal(language: str):
    tasks = Shop(instances=40, language=language).tasks()  # type: ignore[arg-type]
    made = Counter(task.params["template"] for task in tasks)
    assert set(made) == set(TEMPLATES)
    assert sum(n >= 5 for n in made.values()) >= 40
    assert len({task.goal for task in tasks}) == len(tasks)
    asking = sum(bool(template.asks) for template in TEMPLATES.values())
    assert asking >= 15
    assert len(TEMPLATES) - asking >= 15


def test_heldout_tasks_are_none_of_the_training_tasks():
    train = {task.goal for task in Shop(instances=2).tasks()}
    heldout = {task.goal for task in Shop(instances=2, split="heldout").tasks()}
    assert not train & heldout
    assert len(Shop(split="demo").tasks()) == 12


@pytest.mark.parametrize("wrong", [{"split": "test"}, {"language": "fr"}, {"templates": ["buy"]}])
def test_impossible_settings_are_refused(wrong: dict[str, object]):
    with pytest.raises(ConfigError):
        Shop(**wrong)  # type: ignore[arg-type]
