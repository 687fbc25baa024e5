import json
import subprocess
import sys

import numpy as np
import pytest

from jitrl.bench import learning, learning_planted, learning_toy
from jitrl.bench.learning_arms import (
    ABLATION,
    DEFAULT,
    MAIN,
    ROBUST,
    RULE_A,
    STATIC,
    TUNED_PAPER,
    changed,
    fewer,
)
from jitrl.bench.learning_planted import Lived, Page
from jitrl.bench.learning_pool import each
from jitrl.bench.learning_priors import Known, next_on_path
from jitrl.core.returns import returns_to_go
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


@pytest.mark.parametrize("baseline", [RULE_A, TUNED_PAPER], ids=["kernel mean", "paper rule"])
def test_a_baseline_has_nothing_of_what_the_default_alone_adds_to_returns(baseline):
    memory = dict(baseline)
    rule = load(memory.pop("preset", "default")).changed(**memory).rule
    assert (rule.warmup, rule.novelty, rule.repeat, rule.repeat_action) == (1.0, 0.0, 0.0, 0.0)


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


def test_results_come_in_the_order_of_the_jobs_whatever_the_number_of_workers():
    jobs = [np.arange(n, dtype=float) for n in (3, 1, 2)]
    shares = []
    alone = each(_tail, jobs, 1, shares.append)
    assert alone == each(_tail, jobs, 2, lambda share: None) == [2.0, 0.0, 1.0]
    assert shares == pytest.approx([1 / 3, 2 / 3, 1.0])


def _tail(rewards):
    return float(returns_to_go(rewards, 0.0)[-1])


def test_one_planted_row_turns_no_clear_decision():
    for basis in ("state_check", "import"):
        turned = learning_planted.planted({}, "default", rows=1, basis=basis, trials=20)
        assert turned.share == 0.0


def test_ten_planted_rows_of_one_source_turn_the_published_rule_but_not_the_default():
    share = {
        preset: learning_planted.planted(
            {"preset": preset}, preset, rows=10, basis="import", trials=20
        ).share
        for preset in ("default", "paper-web")
    }
    assert share["default"] < 0.05 < share["paper-web"]


@pytest.mark.parametrize("size", [0.2, 0.8])
def test_two_honest_episodes_turn_a_wrong_prior(size):
    turned = learning_planted.gap({}, "default", size=size, trials=20)
    assert turned.share >= 0.85


def test_without_evidence_the_wrong_prior_stands():
    page = Page({})
    try:
        page.learn(Lived(["elsewhere"], [0.0]))
        asked = page.ask({"right": 0.0, "wrong": 1.0}, np.random.default_rng(0))
        assert asked.action == "wrong"
    finally:
        page.close()


def test_the_hidden_protocol_is_learned_to_its_best_return_for_five_seeds():
    for seed in range(5):
        job = learning_toy.Job("jitrl", {}, 0.0, (seed,), 60)
        scores = learning_toy.run(job)[0]
        assert scores[-10:] == [1.0] * 10, f"seed {seed}: {scores}"


def test_bad_luck_with_the_right_action_does_not_end_the_search():
    # Seeds where slips made the right action look like the wrong ones at first.
    scores = np.array(learning_toy.run(learning_toy.Job("jitrl", {}, 0.1, (19, 29, 32), 100)))
    assert scores[:, -30:].mean(axis=1).min() > 0.3


def test_the_ceiling_of_the_protocol_is_that_of_its_best_policy():
    found = learning_toy.summed("x", 0.1, np.ones((6, 20)))
    assert found.ceiling == pytest.approx(0.9**4)
    assert found.last_ten == 1.0


@pytest.mark.java
def test_differences_are_paired_and_do_not_depend_on_the_number_of_workers():
    pytest.importorskip("textworld_express")
    arms = fewer((DEFAULT, STATIC), 6)
    reports = [
        learning.measure("test", arms, game_seeds=(1, 2), seeds=(0,), workers=workers)
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
    assert data["schema"] == "jitrl.bench.learn/1"
    assert {row["rule"] for row in data["results"]} >= {"default", "paper-web"}


def test_seeds_that_are_no_numbers_are_refused():
    command = "from jitrl.cli import main; main()"
    options = ["bench", "learn", "--games", "a-b"]
    done = subprocess.run(
        [sys.executable, "-c", command, *options], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "40-57" in done.stderr
