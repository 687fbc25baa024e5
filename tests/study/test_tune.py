import subprocess
import sys

import hypothesis
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl import config
from jitrl.errors import BudgetExceeded, ConfigError, InputError, RecordError
from jitrl.run import experiment
from jitrl.study import tune
from jitrl.types import Task

IDS = [f"protocol:{i}" for i in range(10)]
TASKS = [Task(f"{family}:{i}", "", "s", family, {}) for family in "ab" for i in range(10)]


@pytest.fixture
def search(tmp_path, settings, parts):
    """Runs a search on ten toy tasks; keeps the episodes that were played."""
    played = []

    def play(asked, where, label):
        tally = experiment.run(asked, where, parts("jitrl"), watch=played.append)
        assert not tally.failed

    def run(plan=None, memory=None, attempts=3, **budget):
        asked = msgspec.structs.replace(
            settings(attempts=attempts),
            memory=memory or config.Memory(),
            budget=config.Budget(**budget),
        )
        plan = plan or tune.Plan(IDS[:4], IDS[4:], 3, 0)
        return tune.tune(asked, tmp_path / "t", plan, play), played

    return run


def test_a_share_is_held_out_of_each_family_and_both_sides_are_apart():
    search, held = tune.split(TASKS, "0.4", 3)
    assert not set(search) & set(held)
    assert len(held) == 8
    assert sorted(id[0] for id in held) == ["a"] * 4 + ["b"] * 4
    assert tune.split(TASKS, "0.4", 3) == (search, held)
    assert tune.split(TASKS, "0.4", 4) != (search, held)


def test_patterns_hold_out_the_tasks_that_match():
    search, held = tune.split(TASKS, "b:*", 0)
    assert held == [task.id for task in TASKS[10:]]
    assert search == [task.id for task in TASKS[:10]]


@pytest.mark.parametrize("tasks", [7, 8, 9, 20])
def test_too_few_held_out_tasks_are_answered_with_a_share_that_holds_out_enough(tasks):
    with pytest.raises(InputError, match="give --held-out ") as refused:
        tune.split(TASKS[:tasks], "0.1", 0)
    said = str(refused.value).partition("give --held-out ")[2]
    assert ", or more tasks (--tasks" in said
    share = said.partition(",")[0]
    search, held = tune.split(TASKS[:tasks], share, 0)
    assert (len(held), len(search)) == (6, tasks - 6)


def test_where_no_share_is_enough_more_tasks_are_asked_for():
    with pytest.raises(InputError, match=r"give at least 7 tasks .*--env-options tasks=20"):
        tune.split(TASKS[:6], "0.5", 0)


@pytest.mark.parametrize("held_out", ["0.1", "0", "1", "1.5", "c:*", "*"])
def test_a_split_without_room_for_an_interval_is_refused(held_out):
    with pytest.raises(InputError, match=r"held.out"):
        tune.split(TASKS, held_out, 0)


@hypothesis.settings(max_examples=20)
@given(count=st.integers(1, 40), seed=st.integers(0, 5))
def test_candidates_are_the_settings_in_force_and_others_that_all_differ(count, seed):
    found = tune.candidates(config.Settings(), count, seed)
    assert len(found) == count
    assert found[0].changes == {}
    assert len({repr(c.changes) for c in found}) == count
    for candidate in found[1:]:
        assert 1 <= len(candidate.changes) <= 4
        for name, value in candidate.changes.items():
            assert value in tune.SPACE[name]
            assert value != tune._now(tune.load("default"), name)
        made = candidate.applied(config.Settings()).memory
        tune.load("default").changed(made.rule, made.retrieval, made.gamma)


def test_changes_are_laid_over_what_is_set_already():
    asked = config.Settings(memory=config.Memory(rule={"floor": 0.1, "beta": 5.0}))
    made = tune.Candidate("c", {"gamma": 0.9, "rule.beta": 30.0}).applied(asked).memory
    assert (made.gamma, made.rule) == (0.9, {"floor": 0.1, "beta": 30.0})


def test_rounds_halve_the_candidates_down_to_two():
    assert tune.sizes(16) == [16, 8, 4]
    assert tune.sizes(5) == [5, 3, 2]
    assert tune.sizes(2) == [2]


@hypothesis.settings()
@given(budget=st.integers(60, 50_000))
def test_what_is_affordable_fits_the_budget_and_one_more_does_not(budget):
    asked = config.Settings(run=config.Run(attempts=3, seeds=2))
    if budget < tune.episodes(2, asked, 5, 6):
        with pytest.raises(InputError, match="too small"):
            tune.affordable(budget, asked, 5, 6)
        return
    count = tune.affordable(budget, asked, 5, 6)
    assert tune.episodes(count, asked, 5, 6) <= budget
    assert count == tune.MOST or tune.episodes(count + 1, asked, 5, 6) > budget


def test_a_search_takes_no_more_episodes_than_it_said(search, settings):
    found, played = search(tune.Plan(IDS[:4], IDS[4:], 5, 0))
    assert len(played) <= tune.episodes(5, settings(attempts=3), 4, 6)
    rounds = [t.rounds for t in found.tried]
    assert (max(rounds), min(rounds)) == (3, 1)


def test_bad_settings_in_force_are_replaced_and_judged_on_tasks_that_nothing_was_chosen_by(search):
    bad = config.Memory(rule={"beta": 0.0, "choose": "sample", "novelty": 0.0})
    found, _ = search(tune.Plan(IDS[:4], IDS[4:], 6, 0), bad, attempts=10)
    assert found.is_better
    assert found.best.changes
    tasks = {task for line in found.held.lines for task in line.result.record.tasks}
    assert tasks == set(IDS[4:])
    seeds = {seed for line in found.held.lines for seed in line.result.record.seeds}
    assert seeds == {0}
    assert found.held.lines[1].difference.interval.low > 0


def test_a_search_goes_on_where_it_was_stopped_and_ends_the_same(search):
    with pytest.raises(BudgetExceeded):
        search(max_calls=30)
    whole, played = search()
    total = len(played)
    again, _ = search()
    assert len(played) == total  # nothing was played twice
    assert [t.score for t in again.tried] == [t.score for t in whole.tried]


def test_the_budget_is_that_of_all_runs_together(search, tmp_path):
    from jitrl.study import purse

    with pytest.raises(BudgetExceeded):
        search(max_calls=30)
    folders = [path.parent for path in (tmp_path / "t").rglob("ledger.db")]
    assert len(folders) > 1
    assert purse.spent(folders)[0] <= 30


def test_a_plan_is_written_once_and_then_kept(tmp_path):
    first = tune.planned(tmp_path / "t", {}, lambda: tune.Plan(["a"], ["b"], 3, 0))
    again = tune.planned(tmp_path / "t", {}, lambda: tune.Plan(["x"], ["y"], 9, 9))
    assert again == first
    (tmp_path / "t" / "plan.json").write_text("{}")
    with pytest.raises(RecordError, match="is not the plan of a search"):
        tune.planned(tmp_path / "t", {}, lambda: first)


def test_a_search_asked_for_otherwise_is_not_taken_for_the_same(tmp_path):
    plan = tune.Plan(["a"], ["b"], 3, 0)
    asked = {"seed": 0, "tasks": ("*",)}
    tune.planned(tmp_path, asked, lambda: plan)
    assert tune.planned(tmp_path, asked, lambda: plan).candidates == 3
    with pytest.raises(ConfigError, match=r"asked for otherwise \(seed: 0 → 1\); resume it"):
        tune.planned(tmp_path, {**asked, "seed": 1}, lambda: plan)


def test_a_folder_with_something_else_in_it_is_no_place_for_a_search(tmp_path):
    (tmp_path / "jitrl.toml").touch()
    with pytest.raises(InputError, match="is not empty and holds no search"):
        tune.planned(tmp_path, {}, lambda: tune.Plan(["a"], ["b"], 3, 0))
    assert [file.name for file in tmp_path.iterdir()] == ["jitrl.toml"]


def test_new_settings_are_a_section_that_makes_what_was_judged(tmp_path, settings):
    memory = config.Memory(
        preset="paper-web",
        rule={"beta": 1.0, "choose": "sample"},
        evaluator_options={"a key": 'quoted "é"', "list": [1, True], "table": {"x": 1e20}},
        trusted=frozenset({"test", "human"}),
    )
    changes = {"gamma": 0.9, "rule.beta": 30.0, "retrieval.k": 30}
    judged = tune.Candidate("c", changes).applied(
        msgspec.structs.replace(settings(), memory=memory)
    )
    (tmp_path / "jitrl.toml").write_text(tune.toml(judged.memory), encoding="utf-8")
    assert config.load(folder=tmp_path, env={}).memory == judged.memory


def test_what_toml_does_not_have_is_refused():
    with pytest.raises(ConfigError, match=r"memory\.rule has None, which cannot be written"):
        tune.toml(config.Memory(rule={"cap": None}))


FULL = """
import resource, sys
from pathlib import Path
from jitrl.errors import StoreError
from jitrl.study.tune import Plan, planned
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
try:
    planned(Path(sys.argv[1]), {}, lambda: Plan(["a"], ["b"], 2, 0))
except StoreError as error:
    assert "plan.json cannot be written" in str(error)
else:
    raise SystemExit("it was written")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_a_disk_that_is_full_leaves_no_half_of_a_plan(tmp_path):
    subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], check=True)
    assert not list(tmp_path.iterdir())
    plan = tune.Plan(["a"], ["b"], 2, 0)
    assert tune.planned(tmp_path, {}, lambda: plan) == plan
