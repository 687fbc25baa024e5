"""Agents get better where the model listens to notes, and only there."""

import json

import numpy as np
import pytest
from made_agents import opened
from suggestible import WORLD, Suggestible, actions, lived, scores

from jitrl.envs.toy import Toy
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.run.oracle import Oracle
from jitrl.stores.sqlite import SQLiteStore

BY_NOTES = ("memory", "reflexion", "awm", "evotest", "prompt-update")
SEEDS, ATTEMPTS, LAST = range(3), 40, 12


def run(label, model, seed, attempts=ATTEMPTS, **given):
    with SQLiteStore(":memory:") as store:
        agent = opened(label, store, EnvironmentRewards(), **given)
        return lived(agent, model, attempts, seed=seed)


def late(label, model):
    """Mean score of the last attempts over all seeds."""
    return np.mean([scores(run(label, model, seed))[-LAST:] for seed in SEEDS])


@pytest.mark.parametrize("label", [*BY_NOTES, "replay-best"])
def test_it_learns_where_the_model_listens(label):
    assert late(label, Suggestible()) >= 0.9


def test_the_frozen_model_alone_stays_as_bad_as_chance():
    assert late("static", Suggestible()) < 0.35  # 1 / 9 on average


@pytest.mark.parametrize("label", BY_NOTES)
def test_with_a_model_that_does_not_listen_it_is_the_frozen_model(label):
    for seed in SEEDS:
        deaf, static = (run(name, Suggestible(0.0), seed, 20) for name in (label, "static"))
        assert actions(deaf) == actions(static)


def test_a_hint_of_the_environment_is_the_ceiling_of_a_model_that_listens():
    oracle = Oracle("toy", lambda: Toy(**WORLD))
    with SQLiteStore(":memory:") as store:
        agent = opened("oracle-hint", store, EnvironmentRewards(), hint=oracle.hint)
        world = oracle.environment()
        assert np.mean(scores(lived(agent, Suggestible(), 20, world=world))) > 0.9
        deaf = lived(agent, Suggestible(0.0), 20, world=world, first=20)
        assert np.mean(scores(deaf)) < 0.5


@pytest.mark.parametrize("label", ["reflexion-model", "awm-model", "evotest-model"])
def test_what_a_model_wrote_is_in_the_prompts_that_follow(label):
    model = Suggestible()
    q = Toy(**WORLD).world(Toy(**WORLD).tasks()[0]).values().q
    path = [f"push{q[stage].argmax()}" for stage in range(2)]
    places = [{"place": f"protocol0 stage{i}", "action": a} for i, a in enumerate(path)]
    answer = {
        "reflexion-model": f"What led there was: {'; '.join(path)}.",
        "awm-model": json.dumps({"workflows": [{"description": "Win", "steps": path}]}),
        "evotest-model": json.dumps(
            {
                "guidance": [],
                "remember": places,
                "temperature": 1,
                "explore": False,
                "notes": "all",
            }
        ),
    }[label]

    class Knowing:
        name = "knowing"

        def write(self, writing, read):
            return read(answer)

    episodes = run(label, model, 0, 40, writer=Knowing())
    assert np.mean(scores(episodes)[-LAST:]) >= 0.9
    assert any(path[0] in notes for notes in model.notes)
    assert {e.agent for e in episodes} == {label}
