import html
import json
import math
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest

from jitrl.cli.demo import command
from jitrl.cli.demo.words import CHINESE, ENGLISH
from jitrl.config import Model
from jitrl.core.stats import Interval
from jitrl.envs.backoffice import Backoffice
from jitrl.models.embedded import Embedded
from jitrl.stores.sqlite import SQLiteStore
from jitrl.study import demo as demos
from jitrl.types import Prompt

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
    known = {
        task.id for task in Backoffice(**plan.settings(demos.JITRL).environment.options).tasks()
    }
    assert set(plan.tasks) | set(plan.unseen) <= known
    assert not set(plan.tasks) & set(plan.unseen)
    smaller = demos.quick(plan)
    assert set(smaller.tasks) < set(plan.tasks)
    assert min(len(smaller.tasks), len(smaller.unseen)) >= 6


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    """A plan, what its race came to, and what was seen of it."""
    plan, seen = small(tmp_path_factory.mktemp("demo")), []
    comparison = demos.race(plan, lambda arm, step: seen.append((arm, step.trial.key)))
    return plan, comparison, seen


def test_the_race_pairs_the_arms_and_both_use_the_same_scores(raced):
    _, comparison, seen = raced
    labels = [line.result.label for line in comparison.lines]
    assert labels == [demos.STATIC, demos.ARGMAX, demos.JITRL]
    assert comparison.shape == (6, 1, 6)
    assert len(set(seen)) == len(seen) == 3 * 36
    static, _, ours = comparison.lines
    assert static.difference is None
    assert ours.difference.verdict == "better"
    assert ours.curve.mean[-1] > ours.curve.mean[0]
    assert all(sum(total.cached for total in line.result.cost) for line in comparison.lines)


def test_an_interrupted_race_stops_both_arms_and_is_resumed_to_the_same_numbers(raced, tmp_path):
    def interrupt(arm, step):
        if step.done == 5 and arm == demos.JITRL:
            raise KeyboardInterrupt

    plan, seen = small(tmp_path), []
    with pytest.raises(KeyboardInterrupt):
        demos.race(plan, interrupt)
    assert len(journal(plan, demos.JITRL)) == 5
    assert len(journal(plan, demos.STATIC)) < 36
    again = demos.race(plan, lambda arm, step: seen.append((arm, step.trial.key)))
    assert len(seen) <= 3 * 36 - 5  # the static arm may not have finished an episode yet
    assert [line.summary for line in again.lines] == [line.summary for line in raced[1].lines]


def test_the_first_attempts_teach_nothing(raced):
    plan, _, _ = raced
    before, moved = [journal(plan, arm) for arm in (demos.STATIC, demos.JITRL)], []
    first = demos.first_attempts(plan, moved.append)
    assert first.tasks == plan.unseen
    assert len(first.static) == len(first.jitrl) == 6
    assert isinstance(first.difference.interval, Interval)
    assert sorted(moved) == [demos.JITRL] * 6 + [demos.STATIC] * 6
    assert [journal(plan, arm) for arm in (demos.STATIC, demos.JITRL)] == before
    assert demos.first_attempts(plan, moved.append) == first


def journal(plan, arm):
    with SQLiteStore(plan.store(arm), readonly=True) as store:
        return [episode.key for episode in store.episodes()]


def test_the_decision_shown_was_turned_by_returns_of_one_episode(raced):
    turning = demos.turning_point(raced[0])
    assert turning.decision.changed
    assert turning.without[0].action != turning.decision.action


def test_the_curve_is_drawn_with_its_points_in_their_places(raced):
    _, comparison, _ = raced
    lines = command.plotted(comparison, ENGLISH).plain.splitlines()
    for k, value in enumerate(comparison.lines[-1].curve.mean):
        height = next(i for i, line in enumerate(lines) if line[7 + 6 * k :][:1] == "●")
        assert 10 - height == round(value * 10)


def test_people_see_progress_table_curve_decision_and_their_own_ten_lines(tmp_path, capsys):
    result = command.show(small(tmp_path / "demo"), "en")
    out, err = capsys.readouterr()
    words = ENGLISH
    assert out == ""
    assert words.again not in err
    for text in (
        words.title,
        words.loading,
        words.result,
        words.turned,
        words.own,
        "jitrl.open",
        "pass@6",
    ):
        assert text in err
    mine = result["rows"][-1]
    assert (mine["label"], mine["verdict"]) == ("jitrl", "better")
    solved = round(6 * mine["final"])
    assert len(re.findall(rf"jitrl +attempt 6: {solved} of 6 tasks solved", err)) == 1
    read = json.loads(json.dumps(result))
    assert (read["schema"], read["turned"]["is_changed"]) == ("jitrl.demo/2", True)
    assert "<svg" in Path(result["report"]).read_text(encoding="utf-8")


def test_a_finished_demo_is_shown_again_without_playing_and_in_chinese(raced, capsys):
    plan, comparison, _ = raced
    (plan.folder / "report.html").touch()  # written last, after what the race does not play
    result = command.show(plan, "zh")
    err = capsys.readouterr().err
    assert CHINESE.again in err
    assert CHINESE.loading not in err
    for text in (CHINESE.title, CHINESE.turned, "结论", "更好", "仅模型"):
        assert text in err
    assert CHINESE.solved.partition("{attempt}")[0][-3:] not in err
    assert result["rows"][-1]["avg"] == comparison.lines[-1].summary.avg
    assert 'lang="zh"' in Path(result["report"]).read_text(encoding="utf-8")


def test_the_last_lines_name_a_command_that_runs_where_jitrl_is_not_on_the_path(
    raced, capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("PATH", str(tmp_path))
    command.show(raced[0], "en")
    [line] = re.findall(r"^more +(.+)$", capsys.readouterr().err, re.MULTILINE)
    done = subprocess.run(shlex.split(line), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_report_says_who_plays_and_holds_all_that_people_were_shown(raced, lang, capsys):
    result = command.show(raced[0], lang)
    words = command.LANGUAGES[lang]
    text = html.unescape(Path(result["report"]).read_text(encoding="utf-8")).replace("\xa0", " ")
    assert f"<title>{words.name}: {words.title}</title>" in text
    for arm in (demos.STATIC, demos.ARGMAX, demos.JITRL):
        assert f"<dt>{arm}</dt><dd>{words.arms[arm]}</dd>" in text
    assert words.unseen.format(n=6) in text
    assert f"{result['first_attempts']['difference']['mean']:+.3f}" in text
    assert words.turned in text
    assert f"<dd>{result['turned']['id']}</dd>" in text
    chosen = result["turned"]["memory"]
    assert f">{chosen}</td>" in text


class Helpdesk:
    """A desk and a model of somebody else's, as the ten lines expect them."""

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
    desk = Helpdesk()
    space = {"desk": desk, "model": desk}
    exec(command.OWN_AGENT, space)
    assert len(desk.done) == 3
    assert len([line for line in command.OWN_AGENT.splitlines() if line]) <= 10
    [episode] = space["agent"].store.episodes()
    assert episode.outcome.value == float(desk.solved())
    space["agent"].close()


@pytest.mark.model
@pytest.mark.slow
def test_the_tasks_are_the_first_six_whose_path_the_prior_follows_with_1_to_10_percent(tmp_path):
    model = demos.Plan(tmp_path).settings(demos.STATIC).model
    proposer = Embedded(**{**model.options, "cache": tmp_path / "scores.db"})
    for template, instances in (("find:list", 10), ("find:narrow", 7)):
        shop = Backoffice(templates=(template,), instances=instances)
        likely = [t.id for t in shop.tasks() if 0.01 <= followed(shop, t, proposer) <= 0.1]
        assert likely == [id for id in demos.TASKS if id.startswith(template)]


def followed(shop, task, proposer):
    """Chance that samples of the prior follow the right path."""
    path, now, chance = shop.oracle(task), shop.reset(task), 1.0
    for action in path:
        seen = now.observation
        prompt = Prompt(task.goal, shop.codec.text(seen), (), shop.codec.actions(seen))
        z = {
            c.action: c.logit for c in proposer.propose(prompt, np.random.default_rng(0)).candidates
        }
        chance *= math.exp(z[action]) / sum(map(math.exp, z.values()))
        now = shop.step(shop.codec.ground(action, seen))
    return chance


@pytest.mark.model
@pytest.mark.slow
def test_the_quick_demo_runs_with_the_real_model(jitrl):
    done = jitrl("demo", "--quick", "--json", "--out", "d")
    assert done.code == 0
    assert re.search(r"of 6 tasks solved, about \d+ (s|min) left", done.err)
    assert done.data["schema"] == "jitrl.demo/2"
    assert done.data["shape"] == {"tasks": 6, "seeds": 1, "attempts": 4}
    assert Path("d/report.html").is_file()
