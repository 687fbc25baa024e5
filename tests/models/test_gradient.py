import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from jitrl.agents.gradient import Gradient
from jitrl.cli import main
from jitrl.config import Model
from jitrl.core.update import softmax
from jitrl.envs.toy import Toy
from jitrl.errors import ConfigError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.models.embedded import Embedded
from jitrl.run import experiment, folder
from jitrl.run.compose import compose
from jitrl.run.loop import Trial, play
from jitrl.run.weights import Weights
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.agent import CHECKS
from jitrl.types import Prompt

pytest.importorskip("torch", reason="torch is not installed (extra lora)")
from gradients import settings

from jitrl.models.lora import LoraFactory, Reading

pytestmark = pytest.mark.torch

SCRIPT = Path(__file__).with_name("gradients.py")
METHODS = ("sft", "grpo", "webrl")
SIZE = {"rank": 4, "layers": 2, "rate": 0.01}


@pytest.fixture
def store():
    with SQLiteStore(":memory:") as opened:
        yield opened


@pytest.fixture(scope="module")
def factory(small_model):
    """Weights on one network, as the seeds of a run share it."""
    return LoraFactory(Reading(small_model, history=0, temperature=8.0))


def made(path, store, **options):
    reading = Reading(path, history=0, temperature=8.0)
    return Gradient(store, EnvironmentRewards(), LoraFactory(reading), **(SIZE | options))


def prior(path):
    return Embedded(path=path, history=0, temperature=8.0)


def live(agent, world, model, attempts, seed=0):
    """Episodes of ``attempts`` at each task, learned one after another."""
    done = []
    for attempt in range(attempts):
        for i, task in enumerate(world.tasks()):
            acting = agent.episode()
            done.append(play(Trial(task, i, attempt, seed), world, model, acting))
            acting.learn(done[-1])
    return done


def expected(world, agent, model):
    """Mean return of the policy as it is now, worked out from the hidden chances."""
    returns = []
    for task in world.tasks():
        hidden, first = world.world(task), world.reset(task)
        prompt = Prompt(
            task.goal, world.codec.text(first.observation), (), first.observation.actions
        )
        z = np.array([c.logit for c in model.propose(prompt, np.random.default_rng(0)).candidates])
        chance = softmax(z + agent.weights.corrections(prompt))
        gain = (hidden.chance[0] * hidden.reward[0]).sum(axis=1)
        returns.append(float(chance @ gain))
    return np.mean(returns)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_it_gets_better_than_the_frozen_model(small_model, store, method, seed):
    world, model = Toy("protocol", size=1, seed=seed), prior(small_model)
    agent = made(small_model, store, method=method, kl=0.0)
    before = expected(world, agent, model)
    live(agent, world, model, 25, seed)
    agent.episode()
    assert before < 0.7
    assert expected(world, agent, model) > before + 0.15


def test_a_decision_holds_the_numbers_that_made_it(small_model, store):
    world, model = Toy("protocol", size=1, tasks=2), prior(small_model)
    agent = made(small_model, store, method="sft", temperature=2.0)
    last = live(agent, world, model, 12)[-1].steps[0].decision
    z, more = (np.array([getattr(c, n) for c in last.candidates]) for n in ("logit", "correction"))
    assert np.abs(more).max() > 0.1
    assert [c.corrected for c in last.candidates] == pytest.approx(z + more)
    assert [c.prior for c in last.candidates] == pytest.approx(softmax(z))
    assert [c.probability for c in last.candidates] == pytest.approx(softmax((z + more) / 2.0))
    assert last.kl == pytest.approx(
        (softmax((z + more) / 2) * np.log(softmax((z + more) / 2) / softmax(z / 2))).sum()
    )
    assert (last.reason, len(last.neighbors), last.rule != "") == ("weights", 0, True)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("method", METHODS)
def test_it_keeps_the_contract_of_agents(factory, method, check):
    size = {"rank": 2, "layers": 1, "epochs": 1, "batch": 4, "rate": 0.05}
    check(lambda store, evaluator: Gradient(store, evaluator, factory, method=method, **size))


def test_before_it_learned_it_acts_as_the_frozen_model(small_model, store):
    world, model = Toy("protocol", size=1, tasks=2), prior(small_model)
    for episode in live(made(small_model, store), world, model, 1):
        decision = episode.steps[0].decision
        assert decision.kl == 0.0
        assert all(c.correction == 0.0 and c.probability == c.prior for c in decision.candidates)


def test_argmax_takes_the_most_probable_action(small_model, store):
    agent = made(small_model, store, choose="argmax")
    decision = live(agent, Toy("protocol", size=1), prior(small_model), 1)[0].steps[0].decision
    assert decision.action == decision.unaided
    assert sorted(c.propensity for c in decision.candidates) == [0.0, 0.0, 1.0]


def test_a_penalty_holds_the_policy_near_the_frozen_model(small_model):
    def divergence(kl):
        with SQLiteStore(":memory:") as store:
            agent = made(small_model, store, method="grpo", kl=kl, clip=5.0)
            done = live(agent, Toy("protocol", size=1), prior(small_model), 15)
            return np.mean([e.steps[0].decision.kl for e in done[-5:]])

    held, free = divergence(50.0), divergence(0.0)
    assert held < 0.02
    assert free > 0.05


def test_a_larger_beta_of_webrl_holds_each_update_nearer_to_where_it_began(small_model):
    def most_moved(beta):
        with SQLiteStore(":memory:") as store:
            agent = made(small_model, store, method="webrl", beta=beta, epochs=20)
            done = live(agent, Toy("protocol", size=1), prior(small_model), 8)
            chances = [[c.probability for c in e.steps[0].decision.candidates] for e in done]
            return np.abs(np.diff(np.log(chances), axis=0)).max()

    assert most_moved(20.0) < 0.25
    assert most_moved(1.0) > 0.8


def numbers(place, seed=0):
    with SQLiteStore(folder.store_path(place, seed), readonly=True) as store:
        return [
            (
                e.key,
                e.info["score"],
                [c.probability for s in e.steps for c in s.decision.candidates],
            )
            for e in store.episodes()
        ]


def command(*words):
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    assert not end.value.code


def run(model, place, method="sft", **changes):
    chosen = settings(model, method, **changes)
    experiment.run(chosen, place, compose(chosen))
    return numbers(place, chosen.run.seeds[-1] if isinstance(chosen.run.seeds, tuple) else 0)


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_a_killed_run_goes_on_with_the_same_numbers(small_model, tmp_path, method, is_kept):
    command = [sys.executable, str(SCRIPT), str(tmp_path / "killed"), str(small_model), method]
    assert subprocess.run([*command, "7"], timeout=60).returncode != 0
    assert len(numbers(tmp_path / "killed")) == 7
    kept = tmp_path / "killed" / "seed-0.weights.npz"
    if not is_kept:
        kept.unlink(missing_ok=True)
    resumed = run(small_model, tmp_path / "killed", method)
    assert resumed == run(small_model, tmp_path / "whole", method)
    assert len({str(row[2]) for row in resumed}) > 3  # the weights did move


def test_a_decision_of_weights_can_be_explained_and_the_run_reported(small_model, tmp_path, capsys):
    rows = run(small_model, tmp_path / "weighed", attempts=2)
    command("explain", tmp_path / "weighed", f"{rows[-1][0]}#0", "--json")
    said = json.loads(capsys.readouterr().out)
    assert sorted(c["probability"] for c in said["candidates"]) == sorted(rows[-1][2])
    command("report", tmp_path / "weighed", "--out", tmp_path / "r.html")
    assert "weighed" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_rounds_give_the_same_numbers_in_threads_and_after_a_stop(small_model, tmp_path):
    serial = run(small_model, tmp_path / "serial", schedule="rounds")
    threads = run(small_model, tmp_path / "threads", schedule="rounds", workers=3)
    assert threads == serial
    chosen = settings(small_model, "sft", schedule="rounds")

    def stop(progress):
        if progress.done == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiment.run(chosen, tmp_path / "cut", compose(chosen), watch=stop)
    assert run(small_model, tmp_path / "cut", schedule="rounds") == serial


def test_seeds_have_weights_of_their_own(small_model, tmp_path):
    first = run(small_model, tmp_path / "both", seeds=2, attempts=2)
    alone = run(small_model, tmp_path / "second", seeds=(1,), attempts=2)
    assert numbers(tmp_path / "both", 1) == alone
    assert [row[1:] for row in alone] != [row[1:] for row in first]


def test_what_was_learned_from_an_episode_is_forgotten_when_it_is_taken_back(small_model, store):
    world, model = Toy("protocol", size=1, tasks=2), prior(small_model)
    agent = made(small_model, store, method="sft")
    done = live(agent, world, model, 8)
    agent.episode()
    prompt = Prompt("Reach", "protocol0 stage0", (), ("push0", "push1", "push2"))
    assert np.abs(agent.weights.corrections(prompt)).max() > 0.0
    store.set_status("quarantined", episodes=[e.key for e in done if e.info["score"] > 0])
    agent.episode()
    assert agent.weights.corrections(prompt).tolist() == [0.0, 0.0, 0.0]


def test_an_episode_with_a_row_in_quarantine_is_not_trained_on(small_model, store):
    world, model = Toy("protocol", size=2, choices=2), prior(small_model)
    agent = made(small_model, store, method="sft")
    assert any(e.info["score"] > 0 for e in live(agent, world, model, 12))
    agent.episode()
    prompt = Prompt("Reach", "protocol0 stage0", (), ("push0", "push1"))
    assert agent.weights.corrections(prompt).any()
    first = [change.rows[0].id for change in store.changes(0)]
    store.set_status("quarantined", rows=first)
    agent.episode()
    assert not agent.weights.corrections(prompt).any()


def test_episodes_of_another_agent_cannot_be_trained_on(small_model, store):
    agent = made(small_model, store)
    world, model = Toy("protocol", size=1), prior(small_model)
    acting = agent.episode()
    agent.learn(play(Trial(world.tasks()[0], 0, 0, 0), world, model, acting))
    with pytest.raises(ConfigError, match="not played by agent gradient"):
        agent.episode()


def test_tasks_cannot_be_left_out_of_weights(small_model, store):
    with pytest.raises(ConfigError, match="cannot leave tasks out"):
        made(small_model, store).episode(exclude=frozenset({"x"}))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "dpo"}, "no method 'dpo'; it has sft, grpo, webrl"),
        ({"temperature": 0.0}, "temperature must be at least"),
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"kl": -1.0}, "kl must be at least 0"),
    ],
)
def test_impossible_options_are_refused(small_model, store, options, said):
    with pytest.raises(ConfigError, match=said):
        made(small_model, store, **options)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Model(name="scripted"), "model 'scripted' cannot be trained"),
        (Model(options={"scorer": "letters"}), "scorer 'letters' cannot be trained"),
    ],
)
def test_models_that_cannot_be_trained_are_refused(store, model, said):
    with pytest.raises(ConfigError, match=said):
        Gradient(store, EnvironmentRewards(), partial(Weights(model), store))
