import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jitrl.cli import demo as command
from jitrl.config import Model
from jitrl.core.stats import Interval
from jitrl.envs.backoffice import Backoffice
from jitrl.models.cache import AnswerFile
from jitrl.run import demo as demos

SHOP = Backoffice(templates=("find:list",), instances=12)
TASKS = tuple(task.id for task in SHOP.tasks())


def script():
    """A model that knows the lists that somebody may ask for, but not which one is asked for."""
    paths = [SHOP.oracle(task) for task in SHOP.tasks()]
    logits = dict.fromkeys((path[0] for path in paths), 0.0)
    logits |= dict.fromkeys((action for path in paths for action in path[1:]), 2.0)
    return Model(name="scripted", options={"logits": logits, "default": -1.5, "noise": 0.3})


def small(folder, **changed):
    plan = {
        "tasks": TASKS[:6],
        "unseen": TASKS[6:],
        "attempts": 6,
        "model": script(),
    }
    return demos.Plan(folder, **{**plan, **changed})


def test_the_arms_differ_in_the_agent_alone(tmp_path):
    plan = demos.Plan(tmp_path)
    ours, base = (plan.settings(arm) for arm in (demos.JITRL, demos.STATIC))
    assert (ours.run.agent, base.run.agent) == ("jitrl", "static")
    assert (ours.model, ours.environment, ours.memory) == (
        base.model,
        base.environment,
        base.memory,
    )
    assert (ours.run.tasks, ours.run.seeds, ours.run.attempts) == (
        base.run.tasks,
        base.run.seeds,
        base.run.attempts,
    )


def test_every_task_of_the_demo_exists_and_none_is_called_unseen(tmp_path):
    plan = demos.Plan(tmp_path)
    known = {task.id for task in Backoffice(**plan.settings(demos.JITRL).environment.options).tasks()}
    assert set(plan.tasks) | set(plan.unseen) <= known
    assert not set(plan.tasks) & set(plan.unseen)
    smaller = demos.quick(plan)
    assert set(smaller.tasks) < set(plan.tasks)
    assert min(len(smaller.tasks), len(smaller.unseen)) >= 6


def test_the_race_pairs_the_arms_and_every_score_is_computed_once_for_both(tmp_path):
    plan = small(tmp_path)
    seen = []
    comparison = demos.race(plan, lambda arm, step: seen.append((arm, step.trial.key)))
    assert [line.result.label for line in comparison.lines] == [
        demos.STATIC,
        demos.ARGMAX,
        demos.JITRL,
    ]
    assert comparison.shape == (6, 1, 6)
    assert len(set(seen)) == len(seen) == 3 * 36
    static, _, ours = comparison.lines
    assert static.difference is None
    assert ours.difference.verdict == "better"
    assert ours.curve.mean[-1] > ours.curve.mean[0]
    assert all(sum(total.cached for total in line.result.cost) for line in comparison.lines)


def test_the_first_attempts_teach_nothing(tmp_path):
    plan = small(tmp_path, attempts=2)
    demos.race(plan, lambda arm, step: None)
    before = {arm: len(list(journal(plan, arm))) for arm in (demos.STATIC, demos.JITRL)}
    moved = []
    first = demos.first_attempts(plan, moved.append)
    assert first.tasks == plan.unseen
    assert len(first.static) == len(first.jitrl) == 6
    assert isinstance(first.difference.interval, Interval)
    assert sorted(moved) == [demos.JITRL] * 6 + [demos.STATIC] * 6
    assert {arm: len(list(journal(plan, arm))) for arm in before} == before
    assert demos.first_attempts(plan, moved.append) == first


def journal(plan, arm) -> Iterator[str]:
    from jitrl.stores.sqlite import SQLiteStore

    with SQLiteStore(plan.store(arm), readonly=True) as store:
        yield from (episode.key for episode in store.episodes())


def test_the_decision_shown_was_turned_by_returns_of_one_episode(tmp_path):
    plan = small(tmp_path)
    demos.race(plan, lambda arm, step: None)
    turning = demos.turning_point(plan)
    assert turning.decision.changed
    assert turning.without[0].action != turning.decision.action


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_people_see_progress_table_curve_decision_and_their_own_ten_lines(tmp_path, capsys, lang):
    plan = small(tmp_path / "demo")
    result = command.show(plan, lang)
    out, err = capsys.readouterr()
    words = command.LANGUAGES[lang]
    assert out == ""
    for text in (words.title, words.result, words.turned, words.own, "jitrl.open", "pass@6"):
        assert text in err
    solved = words.solved.format(seconds=0, arm="jitrl", attempt=6, won=5, tasks=6)
    assert solved.strip().partition("  ")[2].split() == next(
        line for line in err.splitlines()[::-1] if line.split()[2:3] == ["jitrl"]
    ).strip().partition("  ")[2].split()
    assert result["schema"] == "jitrl.demo/1"
    assert [row["label"] for row in result["rows"]][-1] == "jitrl"
    assert result["rows"][-1]["verdict"] == "better"
    assert json.loads(json.dumps(result)) == result
    assert "<svg" in Path(result["report"]).read_text(encoding="utf-8")


def test_the_curve_is_drawn_with_its_first_and_last_point_in_their_places(tmp_path):
    comparison = demos.race(small(tmp_path), lambda arm, step: None)
    lines = command.plotted(comparison, command.ENGLISH).plain.splitlines()
    ours = comparison.lines[-1].curve.mean
    for k, at in ((0, 7), (5, 7 + 5 * 6)):
        height = next(i for i, line in enumerate(lines[:11]) if line[at : at + 1] == "●")
        assert 10 - height == round(ours[k] * 10)


class Helpdesk:
    """An agent of somebody else's, as the ten lines expect it."""

    goal = "close it"

    def __init__(self):
        self.done = []

    def start(self):
        return "inbox"

    def score(self, page):
        return {"search(order)": -0.4, "refund(order)": -1.2}

    def do(self, action):
        self.done.append(action)
        return "order" if len(self.done) < 3 else None

    def solved(self):
        return "refund(order)" in self.done


def test_the_ten_lines_run_as_they_are_printed_and_are_ten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent = Helpdesk()
    space = {"agent": agent}
    exec(command.OWN_AGENT, space)
    assert len(agent.done) == 3
    assert len([line for line in command.OWN_AGENT.splitlines() if line]) <= 10
    [episode] = space["memory"].store.episodes()
    assert episode.outcome.value == float(agent.solved())
    space["memory"].close()


@pytest.mark.model
@pytest.mark.slow
def test_the_quick_demo_runs_with_the_real_model(jitrl):
    done = jitrl("demo", "--quick", "--json", "--out", "d")
    assert done.code == 0
    assert done.data["schema"] == "jitrl.demo/1"
    assert done.data["shape"] == {"tasks": 6, "seeds": 1, "attempts": 4}
    assert AnswerFile("d/scores.db")
