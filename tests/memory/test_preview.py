"""Logged decisions made again under another rule or memory say what it would have got."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import jitrl
from jitrl.agents.corrected import Corrected
from jitrl.cli import main
from jitrl.config import Memory
from jitrl.core.offpolicy import preview
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.memory.preview import logged
from jitrl.stores.sqlite import SQLiteStore

SAMPLED = {"choose": "sample", "beta": 1.0, "novelty": 0.5}
LINKS = {"good": 0.0, "bad": 0.0, "ugly": 0.3}


def play(memory, task, n):
    with memory.episode(task, key=f"{task}/{n}") as episode:
        total = 0
        for page in range(2):
            total += episode.decide(f"page {page} of {task}", LINKS).action == "good"
            episode.reward(float(total == page + 1))
        episode.finish()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("preview") / "m.db"
    with jitrl.open(path, rule=SAMPLED, seed=1) as memory:
        for n in range(14):
            for task in ("a", "b", "c", "d", "e", "f"):
                play(memory, task, n)
    return path


def told(store, rule, **more):
    settings = Memory(rule=rule, **more)
    return Corrected(store, EnvironmentRewards(), settings)


def test_the_logged_setting_has_the_weight_one_at_every_step(file):
    with SQLiteStore(file, readonly=True) as store:
        found = logged(store.records(), store, told(store, SAMPLED))
    assert len(found.episodes) == 84
    assert all((e.ratio == 1.0).all() for e in found.episodes)
    assert (found.turned, found.decisions) == (0, 168)
    assert preview(found.episodes).overlap.effective == pytest.approx(84)


def test_a_ratio_is_what_the_rule_itself_gives_the_action_it_took(file):
    """Doubling beta alone, recomputed from the numbers in the journal (one cell is near)."""
    with SQLiteStore(file, readonly=True) as store:
        found = logged(store.records(), store, told(store, {**SAMPLED, "temperature": 2.0}))
        records = [r.episode for r in store.records()]
    for weighed, episode in zip(found.episodes, records, strict=True):
        for t, step in enumerate(episode.steps):
            z = np.array([c.corrected for c in step.decision.candidates])
            chances = np.exp(z / 2 - (z / 2).max())
            place = [c.action for c in step.decision.candidates].index(step.action)
            expected = chances[place] / chances.sum() / step.decision.chosen.propensity
            assert weighed.ratio[t] == pytest.approx(expected, rel=1e-9)


def test_a_sharper_rule_is_seen_to_be_better_and_no_memory_worse(file):
    with SQLiteStore(file, readonly=True) as store:
        better = preview(
            logged(store.records(), store, told(store, {**SAMPLED, "beta": 1.6})).episodes
        )
        off = told(store, SAMPLED, mode="off")
        worse = preview(logged(store.records(), store, off, is_off=True).episodes)
    assert better.dr.gain > 0.0
    assert worse.dr.gain < 0.0


def test_a_rule_that_takes_the_best_is_refused_on_what_another_best_was_taken(file, tmp_path):
    with jitrl.open(tmp_path / "m.db", seed=1) as memory:  # argmax
        for n in range(40):
            play(memory, "a", n)
        rule = {"beta": 0.5, "novelty": 0.0}
        found = logged(memory.store.records(), memory.store, told(memory.store, rule))
    made = preview(found.episodes)
    assert found.turned > 0
    assert made.verdict == "refused"
    assert "never could" in made.refusal


def test_a_memory_of_a_version_does_not_judge_the_episodes_it_holds(file):
    with SQLiteStore(file, readonly=True) as store:
        half = store.head() // 2
        found = logged(store.records(), store, told(store, SAMPLED), at=half)
        assert found.left_out == {"part of that memory": half}
        assert len(found.episodes) == 84 - half


def test_another_memory_is_looked_at_in_the_place_of_the_own(file, tmp_path):
    with SQLiteStore(tmp_path / "e.db") as other, SQLiteStore(file, readonly=True) as store:
        found = logged(store.records(), store, told(store, SAMPLED), other=other)
        off = told(store, SAMPLED, mode="off")
        alone = logged(store.records(), store, off, is_off=True)
    first = [e.ratio[0] for e in found.episodes]
    assert first == pytest.approx([e.ratio[0] for e in alone.episodes])


def test_a_decision_whose_chances_nobody_knows_says_nothing(file):
    """As of a run that was recorded elsewhere."""
    with SQLiteStore(file, readonly=True) as store:
        first, second = list(store.records())[:2]
        step = first.episode.steps[0]
        blind = [replace(c, propensity=math.nan) for c in step.decision.candidates]
        steps = (replace(step, decision=replace(step.decision, candidates=tuple(blind))),)
        lived = [replace(first, episode=replace(first.episode, steps=steps)), second]
        found = logged(lived, store, told(store, SAMPLED))
    assert len(found.episodes) == 1
    assert found.left_out == {"taken without a propensity": 1}


def command(*args):
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    return end.value.code or 0


def test_the_command_prints_what_it_found_and_ends_with_1_where_it_refuses(
    file, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    given = ["--set", "memory.rule=choose=sample,beta=1.2,novelty=0.5"]
    assert command("memory", "preview", file, *given, "--json") == 0
    out = capsys.readouterr()
    data = json.loads(out.out)
    assert data["schema"] == "jitrl.memory.preview/1"
    assert data["verdict"] in ("better", "worse", "no evidence")
    assert data["dr"]["interval"]["low"] < data["dr"]["gain"] < data["dr"]["interval"]["high"]
    assert data["decisions"] == 168
    assert "self-normalised" in out.err
    assert command("memory", "preview", file, *given, "--effective", 500, "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "refused"


def test_what_cannot_be_used_is_said(tmp_path, capsys):
    with jitrl.open(tmp_path / "m.db") as memory, memory.episode("t") as episode:
        episode.decide("s", {"a": 0.0})
    assert command("memory", "preview", tmp_path / "m.db") == 2
    assert "can be used: 1 not scored" in capsys.readouterr().err
