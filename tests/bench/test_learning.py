import hashlib
import json
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest

from jitrl.bench.arms import TABLES
from jitrl.bench.learning import games, planted, toy
from jitrl.bench.learning.arms import (
    ABLATION,
    DEFAULT,
    KERNEL_MEAN,
    MAIN,
    ROBUST,
    STATIC,
    TUNED_PAPER,
    changed,
    fewer,
)
from jitrl.bench.learning.planted import Case, Page
from jitrl.bench.priors import Known, next_on_path
from jitrl.core.rule import UpdateRule
from jitrl.errors import ConfigError, InputError
from jitrl.presets import load
from jitrl.types import Prompt

ASKED = Prompt("win", "a room", (), ("go", "look", "take"))


def chances(prior, prompt=ASKED):
    logits = {c.action: c.logit for c in prior.propose(prompt, None).candidates}
    return {a: np.exp(z) / sum(map(np.exp, logits.values())) for a, z in logits.items()}


def test_every_arm_has_settings_that_exist_and_a_name_of_its_own():
    for arms in (MAIN, ROBUST, ABLATION):
        names = [arm.name for arm in arms]
        assert len(set(names)) == len(names)
        assert all(arm.against in ("", *names) for arm in arms)
        for arm in arms:
            memory = dict(arm.memory)
            preset = load(memory.pop("preset", "default"))
            other = preset.changed(**memory)
            assert (other == preset) is not bool(memory)


@pytest.mark.parametrize("baseline", [KERNEL_MEAN, TUNED_PAPER], ids=["kernel mean", "paper rule"])
def test_a_baseline_has_nothing_of_what_the_default_alone_adds_to_returns(baseline):
    memory = dict(baseline)
    rule = load(memory.pop("preset", "default")).changed(**memory).rule
    assert (rule.warmup, rule.novelty, rule.repeat, rule.repeat_action) == (1.0, 0.0, 0.0, 0.0)


def test_the_fixed_arms_are_those_that_were_published_whatever_the_default_becomes():
    pinned = []
    for memory in (dict(KERNEL_MEAN), dict(TUNED_PAPER)):
        preset = load(memory.pop("preset", "default")).changed(**memory)
        text = repr(replace(preset, name="")).replace(f", admission={preset.admission!r}", "")
        pinned.append(hashlib.blake2b(text.encode(), digest_size=6).hexdigest())
    assert pinned == ["7ff9340294df", "142ce1428bbd"]
    assert set(KERNEL_MEAN["rule"]) == {field.name for field in fields(UpdateRule)}
    assert {arm.agent: arm.options for arm in MAIN if arm.agent in TABLES} == TABLES


def test_settings_can_be_changed_for_arms_of_ones_own():
    wrong = ROBUST[1]
    arms = changed((DEFAULT, wrong), ["rule.kernel=0.01, gamma=0.5", "retrieval.k=9"])
    assert [arm.name for arm in arms[2:4]] == [
        "default, rule.kernel=0.01, gamma=0.5",
        "default, retrieval.k=9",
    ]
    assert arms[2].memory == {"rule": {"kernel": 0.01}, "gamma": 0.5}
    assert (arms[4].prior, arms[4].p, arms[4].against) == (wrong.prior, wrong.p, wrong.name)
    assert changed((DEFAULT,), []) == (DEFAULT,)
    again = changed(arms[2:3], ["rule.beta=1"])[1]
    assert again.memory == {"rule": {"kernel": 0.01, "beta": 1}, "gamma": 0.5}
    assert arms[2].memory["rule"] == {"kernel": 0.01}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("kernel", InputError),
        ("=1", InputError),
        ("gamma=2", ConfigError),
        ("nothing=1", ConfigError),
        ("rule.nothing=1", ConfigError),
        ("rule.kernel=-1", ConfigError),
    ],
)
def test_a_change_that_means_nothing_is_refused(text, error):
    with pytest.raises(error, match=r"--set|setting|kernel"):
        changed((DEFAULT,), [text])


def test_the_prior_knows_nothing_unless_told():
    assert chances(Known("uniform")) == pytest.approx({"go": 1 / 3, "look": 1 / 3, "take": 1 / 3})


def test_a_misleading_prior_favors_one_action_that_is_not_on_the_path():
    known = chances(Known("misleading", 0.9, ["take"]))
    assert sorted(known.values()) == pytest.approx([0.05, 0.05, 0.9])
    assert known["take"] == pytest.approx(0.05)


def test_an_oracle_favors_the_next_action_of_the_path():
    oracle = Known("oracle", 0.7, ["go", "take"])
    assert chances(oracle)["go"] == pytest.approx(0.7)
    later = Prompt("win", "a room", ("look", "go", "look"), ASKED.actions)
    assert chances(oracle, later)["take"] == pytest.approx(0.7)


def test_an_oracle_knows_nothing_where_its_action_is_not_offered():
    known = chances(Known("oracle", 0.7, ["fly"]))
    assert list(known.values()) == pytest.approx([1 / 3] * 3)


def test_a_repeated_action_of_the_path_is_taken_as_often_as_it_occurs():
    assert next_on_path(["go", "go", "take"], ["go"]) == "go"
    assert next_on_path(["go", "go", "take"], ["go", "go"]) == "take"
    assert next_on_path(["go"], ["go"]) is None


def test_one_planted_row_turns_no_clear_decision():
    for basis in ("state_check", "import"):
        turned = planted.run(Case(DEFAULT, 20, rows=1, basis=basis))
        assert turned.share == 0.0


def test_ten_planted_rows_of_one_source_turn_the_published_rule_but_not_the_default():
    share = {
        arm.name: planted.run(Case(arm, 20, rows=10, basis="import")).share
        for arm in planted.ARMS
        if arm.name in ("default", "paper-web")
    }
    assert share["default"] < 0.05 < share["paper-web"]


@pytest.mark.parametrize("size", [0.2, 0.8])
def test_two_honest_episodes_turn_a_wrong_prior(size):
    turned = planted.run(Case(DEFAULT, 20, gap=size))
    assert turned.share >= 0.85


def test_without_evidence_the_wrong_prior_stands():
    page = Page({})
    try:
        page.learn(["elsewhere"], [0.0])
        asked = page.ask({"right": 0.0, "wrong": 1.0}, np.random.default_rng(0))
        assert asked.action == "wrong"
    finally:
        page.close()


def test_the_hidden_protocol_is_learned_to_its_best_return_for_five_seeds():
    for seed in range(5):
        scores = toy.run(toy.Job(DEFAULT, (seed,), 0.0, 60))[0]
        assert scores[-10:] == [1.0] * 10, f"seed {seed}: {scores}"


def test_bad_luck_with_the_right_action_does_not_end_the_search():
    # Seeds where slips made the right action look like the wrong ones at first.
    scores = np.array(toy.run(toy.Job(DEFAULT, (19, 29, 32))))
    assert scores[:, -30:].mean(axis=1).min() > 0.3


def test_the_ceiling_of_the_protocol_is_that_of_its_best_policy():
    found = toy.summed("x", 0.1, np.ones((6, 20)))
    assert found.ceiling == pytest.approx(0.9**4)
    assert found.last_ten == 1.0


@pytest.mark.java
def test_differences_are_paired_and_do_not_depend_on_the_number_of_workers():
    pytest.importorskip("textworld_express")
    arms = fewer((DEFAULT, STATIC), 6)
    reports = [
        games.measure("test", arms, game_seeds=(1, 2), seeds=(0,), workers=workers)
        for workers in (1, 2)
    ]
    ours, base = reports[0].results
    assert [r.scores for r in reports[0].results] == [r.scores for r in reports[1].results]
    assert np.shape(ours.scores) == (6, 1, 6)
    assert base.differences["avg"].mean == pytest.approx(base.avg.mean - ours.avg.mean, abs=1e-4)
    assert ours.avg.mean > base.avg.mean
    assert list(ours.by_game) == ["twc", "cook", "coin"]


def test_the_command_prints_its_numbers_as_json():
    command = "from jitrl.cli import main; main()"
    options = ["bench", "learn", "--what", "gaps", "--trials", "2", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", command, *options], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["schema"] == "jitrl.bench.learn/2"
    assert {row["rule"] for row in data["results"]} >= {"default", "paper-web"}


def test_seeds_that_are_no_numbers_are_refused():
    command = "from jitrl.cli import main; main()"
    options = ["bench", "learn", "--games", "a-b"]
    done = subprocess.run(
        [sys.executable, "-c", command, *options], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "40-57" in done.stderr
