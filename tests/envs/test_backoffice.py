"""The back office: what tasks ask for, what counts as done, and what pages show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
import pytest

from jitrl.envs.backoffice import DEMO, Backoffice
from jitrl.envs.backoffice.chinese import WORDS
from jitrl.envs.backoffice.data import make_shop
from jitrl.envs.backoffice.environment import TEMPLATES
from jitrl.envs.backoffice.phrases import BUTTONS, LISTS
from jitrl.envs.backoffice.spec import KINDS, SECTIONS
from jitrl.errors import ConfigError, InputError
from jitrl.testing.environment import CHECKS, Factory
from jitrl.types import State, Task

LANGUAGES = ["en", "zh"]


class Walk:
    """An episode driven by canonical actions."""

    def __init__(self, env: Backoffice, task: Task, path: Iterable[str] = ()) -> None:
        self.env, self.shown = env, env.reset(task)
        self.history: list[str] = []
        for action in path:
            self.do(action)

    @property
    def over(self) -> bool:
        return self.shown.terminated or self.shown.truncated

    @property
    def actions(self) -> tuple[str, ...]:
        return () if self.over else self.env.codec.actions(self.shown.observation)

    @property
    def state(self) -> State:
        return self.env.codec.state(self.shown.observation, self.history)

    def do(self, action: str) -> float:
        self.shown = self.env.step(self.env.codec.ground(action, self.shown.observation))
        self.history.append(action)
        return self.shown.reward


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_contract_is_kept(language: str, check: Callable[[Factory], None]):
    check(partial(Backoffice, language=language, instances=1))  # type: ignore[arg-type]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_gold_path_of_each_task_wins_in_two_to_eight_steps(language: str):
    env = Backoffice(language=language, instances=5)  # type: ignore[arg-type]
    for task in env.tasks():
        path = env.oracle(task)
        walk = Walk(env, task, path)
        assert (walk.shown.reward, walk.shown.terminated) == (1.0, True), task
        assert 2 <= len(path) <= 8, task


def test_there_are_many_templates_families_and_instances():
    made = Counter(task.params["template"] for task in Backoffice(instances=40).tasks())
    assert set(made) == set(TEMPLATES)
    assert len(made) >= 12
    assert len({template.family for template in TEMPLATES.values()}) >= 5
    assert sum(n >= 6 for n in made.values()) >= 35, made
    assert min(made.values()) >= 3, made


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_two_tasks_have_one_goal(language: str, seed: int):
    tasks = Backoffice(language=language, instances=20, seed=seed).tasks()  # type: ignore[arg-type]
    assert len({task.goal for task in tasks}) == len(tasks)


def test_no_step_can_be_left_out_but_narrowing_a_short_list():
    env = Backoffice(instances=2)
    for task in env.tasks():
        path = env.oracle(task)
        for left_out in range(len(path)):
            walk = Walk(env, task)
            for action in (*path[:left_out], *path[left_out + 1 :]):
                if action in walk.actions and not walk.over:
                    walk.do(action)
            if walk.shown.reward:  # a list may be so short that it need not be narrowed
                found = path[left_out].startswith(("fill(<textbox[Search]>", "select"))
                assert found, (task, path[left_out])
                asked = TEMPLATES[task.params["template"]].question
                assert asked or "Search" in path[left_out], (task, path[left_out])


def test_another_change_besides_the_right_one_loses():
    env = Backoffice(templates=["catalog:price"], instances=1)
    task = env.tasks()[0]
    *path, save = env.oracle(task)
    walk = Walk(env, task, (*path, 'select(<combobox[Enabled]>, "No")', save))
    assert (walk.shown.reward, walk.shown.terminated) == (0.0, True)


def test_the_right_change_of_the_wrong_record_loses():
    env = Backoffice(templates=["orders:cancel"], instances=1)
    task = env.tasks()[0]
    walk = Walk(env, task, ("click(<link[Sales]>)", "click(<link[Orders]>)"))
    wrong = f"click(<link[{task.params['order']}]>)"
    walk.do(next(a for a in walk.actions if a[12:16].isdigit() and a != wrong))
    walk.do("click(<button[Cancel]>)")
    assert (walk.shown.reward, walk.shown.terminated) == (0.0, True)


def test_checks_say_what_is_done_and_what_is_missing():
    env = Backoffice(instances=1)
    for task in env.tasks():
        checks = Walk(env, task, env.oracle(task)).shown.observation.info["checks"]
        assert set(checks.values()) <= {True}
        asked = {"wanted edits", "right answer", "right page"} & checks.keys()
        assert len(asked) == 1
        begun = env.reset(task).observation.info["checks"]
        assert begun["no other edits"] is True
        assert not begun[asked.pop()]


def test_checks_are_graded_and_name_a_wrong_edit():
    env = Backoffice(instances=1)
    for task in env.tasks():
        walk = Walk(env, task)
        seen = []
        for action in env.oracle(task):
            walk.do(action)
            seen.append(walk.shown.observation.info["checks"].get("wanted edits", 0.0))
        if any(0.0 < share < 1.0 for share in seen):
            break
    else:
        pytest.fail("no task is half done on its way")
    env = Backoffice(templates=["catalog:price"], instances=1)
    (task,) = env.tasks()
    *path, save = env.oracle(task)
    walk = Walk(env, task, (*path, 'select(<combobox[Enabled]>, "No")', save))
    checks = walk.shown.observation.info["checks"]
    assert checks == {"no other edits": False, "wanted edits": 1.0}


def test_a_wrong_answer_loses():
    env = Backoffice(templates=["settings:currency"], instances=1)
    task = env.tasks()[0]
    *path, right = env.oracle(task)
    walk = Walk(env, task, path)
    walk.do(next(a for a in walk.actions if a.startswith("answer") and a != right))
    assert walk.shown.observation.info["checks"]["right answer"] is False
    assert (walk.shown.reward, walk.shown.terminated) == (0.0, True)


def test_saving_what_is_already_so_changes_nothing():
    env = Backoffice(templates=["catalog:disable"], instances=1)
    task = env.tasks()[0]
    walk = Walk(env, task, (*env.oracle(task)[:-2], "click(<button[Save]>)"))
    assert not walk.over
    choices = ('select(<combobox[Enabled]>, "No")', 'select(<combobox[Enabled]>, "Yes")')
    for action in (*choices, "click(<button[Save]>)"):
        walk.do(action)
    assert not walk.over


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_right_action_is_known_wherever_one_has_strayed(language: str):
    env = Backoffice(language=language, instances=1, steps=60)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    rescued = 0
    for task in env.tasks():
        walk = Walk(env, task)
        for _ in range(12):
            if not walk.over:
                walk.do(walk.actions[int(rng.integers(len(walk.actions)))])
        strayed = not walk.over
        while not walk.over:
            walk.do(env.oracle_action())
        rescued += strayed
        assert not strayed or walk.shown.reward == 1.0, task
    assert rescued > 10


def test_a_random_policy_hardly_ever_wins():
    rng, won, played = np.random.default_rng(0), 0.0, 0
    for env in (Backoffice(instances=1), Backoffice(split="demo")):
        for task in (*env.tasks(), *env.tasks()):
            walk = Walk(env, task)
            while not walk.over:
                walk.do(walk.actions[int(rng.integers(len(walk.actions)))])
            won, played = won + walk.shown.reward, played + 1
    assert won / played < 0.08


def test_equal_states_have_equal_actions_and_consequences():
    rng = np.random.default_rng(1)
    env = Backoffice(instances=1)
    for task in env.tasks():
        offered: dict[State, tuple[str, ...]] = {}
        followed: dict[tuple[State, str], tuple[State, float, bool]] = {}
        for _ in range(8):
            walk = Walk(env, task)
            while not walk.over:
                state, actions = walk.state, walk.actions
                assert offered.setdefault(state, actions) == actions
                action = actions[int(rng.integers(len(actions)))]
                reward = walk.do(action)
                after = (walk.state, reward, walk.shown.terminated)
                assert followed.setdefault((state, action), after) == after, (state, action)


def test_at_least_sixty_kinds_of_page_are_reached_by_clicking():
    env = Backoffice(templates=["promotions:new"], instances=1, steps=10)
    task, places = env.tasks()[0], set[str]()

    def visit(path: tuple[str, ...]) -> None:
        walk = Walk(env, task, path)
        places.add(walk.state.place)
        if len(path) < 3:
            links = [a for a in walk.actions if a.startswith("click(<link")]
            onward = [
                a for a in links if a not in ("click(<link[Menu]>)", "click(<link[Next Page]>)")
            ]
            records = onward if len(path) < 2 else [*onward[:1], *onward[-1:]]
            for action in records:
                visit((*path, action))

    visit(())
    lists = sum(not kind.single for kind in KINDS.values())
    records = sum(bool(kind.one) for kind in KINDS.values())
    forms = sum(bool(kind.new) for kind in KINDS.values())
    assert len(places) == 1 + len(SECTIONS) + lists + records + forms >= 60


def test_the_menu_lists_each_kind_once():
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(KINDS)


def test_pages_offer_at_most_twenty_actions_and_are_short():
    rng, counts, lengths = np.random.default_rng(2), list[int](), list[int]()
    env = Backoffice(instances=2, steps=25)
    for task in env.tasks():
        for path in ((), env.oracle(task)[:-1]):
            walk = Walk(env, task, path)
            while not walk.over:
                counts.append(len(walk.actions))
                lengths.append(len(env.codec.text(walk.shown.observation)))
                walk.do(walk.actions[int(rng.integers(len(walk.actions)))])
    assert np.percentile(counts, 95) <= 20
    assert max(counts) <= 25
    assert np.percentile(lengths, 95) <= 450


def test_ids_change_at_each_load_and_nothing_else_does():
    env = Backoffice(instances=1)
    task = env.tasks()[0]
    first, second = env.reset(task).observation, env.reset(task).observation
    assert not {a for a in first.actions if "'" in a} & {a for a in second.actions if "'" in a}
    assert env.codec.text(first) == env.codec.text(second)
    assert env.codec.state(first, ()) == env.codec.state(second, ())


def test_another_seed_is_another_shop_and_another_language_the_same_one():
    assert make_shop(0, "en") != make_shop(1, "en")
    english, chinese = Backoffice(), Backoffice(language="zh")
    for one, other in zip(english.tasks(), chinese.tasks(), strict=True):
        assert one.id == other.id
        assert len(english.oracle(one)) == len(chinese.oracle(other))


def test_every_label_and_phrase_has_its_chinese():
    labels = {*SECTIONS, *LISTS.values(), *BUTTONS.values()}
    for kind in KINDS.values():
        labels |= {kind.label, kind.one, kind.save, *kind.columns, *kind.fields, *kind.edit}
        labels |= {*kind.buttons, *kind.bulk, *kind.new}
        labels |= {option for options in kind.options.values() for option in options}
        labels |= {value for _, value in kind.buttons.values()}
    assert labels - {""} - {option for option in labels if option.isdecimal()} <= set(WORDS)
    env = Backoffice(language="zh", templates=["orders:total"], instances=1)
    text = env.codec.text(env.reset(env.tasks()[0]).observation)
    assert text == "仪表板\nlink: 销售 | 目录 | 客户 | 营销 | 内容 | 报表 | 商店 | 系统"


def test_splits_share_no_task_and_templates_can_be_chosen():
    train, heldout = Backoffice(instances=2), Backoffice(split="heldout", instances=2)
    assert not {t.goal for t in train.tasks()} & {t.goal for t in heldout.tasks()}
    demo = Backoffice(split="demo").tasks()
    assert len(demo) == sum(DEMO.values()) == 12
    assert len({task.family for task in demo}) >= 3
    chosen = Backoffice(templates=["orders", "find:list"], instances=1).tasks()
    assert {task.family for task in chosen} == {"orders", "find"}


@pytest.mark.parametrize(
    "settings",
    [
        {"split": "test"},
        {"language": "fr"},
        {"instances": 0},
        {"steps": 0},
        {"seed": -1},
        {"templates": ["orders:nothing"]},
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, object]):
    with pytest.raises(ConfigError):
        Backoffice(**settings)  # type: ignore[arg-type]


def test_a_foreign_task_is_refused():
    with pytest.raises(InputError, match="no task"):
        Backoffice().reset(Task("orders:total:99", "?"))


def test_a_step_limit_truncates():
    env = Backoffice(instances=1, steps=2)
    walk = Walk(env, env.tasks()[0])
    walk.do("click(<link[Sales]>)")
    walk.do("click(<link[Menu]>)")
    assert (walk.shown.truncated, walk.shown.terminated) == (True, False)


def test_what_was_changed_is_shown_on_every_later_page():
    env = Backoffice(templates=["orders:hold_two"], instances=1)
    task = env.tasks()[0]
    start = Walk(env, task).state
    walk = Walk(env, task, env.oracle(task)[:4])
    walk.do("click(<link[Menu]>)")
    assert not walk.over
    assert walk.state.place == start.place
    assert walk.state.text == f"{start.text}\nOrder {task.params['order']}: Status = On Hold"


def test_the_right_action_leaves_a_form_with_a_wrong_entry():
    env = Backoffice(templates=["catalog:price"], instances=1)
    task = env.tasks()[0]
    walk = Walk(env, task, (*env.oracle(task)[:-1], 'select(<combobox[Enabled]>, "No")'))
    assert env.oracle_action() == "back()"
    while not walk.over:
        walk.do(env.oracle_action())
    assert walk.shown.reward == 1.0


def test_the_oracle_turns_back_where_what_is_sought_was_on_an_earlier_page() -> None:
    env = Backoffice(templates=("reports:cart",), instances=2)
    task = env.tasks()[1]
    walk = Walk(env, task)
    for label in ("Reports", "Abandoned Carts", "Next Page"):
        walk.do(f"click(<link[{label}]>)")
    while not walk.shown.terminated:
        walk.do(env.oracle_action())
    assert walk.shown.reward == 1.0
