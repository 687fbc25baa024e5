"""Toy worlds: what is hidden is fixed by the seed, and the known optimum is right."""

from __future__ import annotations

import numpy as np
import pytest

from jitrl.envs.toy import Toy, ToyPrior
from jitrl.errors import ConfigError, InputError
from jitrl.types import Prompt

WORLDS = ["protocol", "bandit", "maze", "mdp"]


def average_return(env: Toy, episodes: int) -> float:
    """Mean return of the best policy, played."""
    task = env.tasks()[0]
    world = env.world(task)
    best = world.values(0.999).q.argmax(axis=1)  # at 1.0 a maze has no hurry
    total = 0.0
    for seed in range(episodes):
        shown = env.reset(task, seed=seed)
        while not (shown.terminated or shown.truncated):
            state = world.states.index(shown.observation.text.split()[1])
            shown = env.step(world.actions[int(best[state])])
            total += shown.reward
    return total / episodes


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_playing_the_best_policy_brings_the_best_return(world: str, slip: float):
    env = Toy(world, slip=slip, seed=3)  # type: ignore[arg-type]
    best = env.best_return(env.tasks()[0])
    played = average_return(env, 600)
    assert played == pytest.approx(best, abs=max(0.06, 0.08 * abs(best)))


def test_a_slip_takes_another_action_so_four_stages_cap_at_its_fourth_power():
    env = Toy("protocol", slip=0.1)
    assert env.best_return(env.tasks()[0]) == pytest.approx(0.9**4)


def test_a_protocol_has_one_right_action_a_stage_and_a_wrong_one_ends_it():
    env = Toy("protocol", seed=1)
    task = env.tasks()[0]
    right = env.world(task).values().q[:4].argmax(axis=1)
    shown = env.reset(task)
    for stage in range(4):
        assert shown.observation.text == f"protocol0 stage{stage}"
        env.reset(task)
        for done in range(stage):
            env.step(f"push{right[done]}")
        wrong = env.step(f"push{(right[stage] + 1) % 3}")
        assert (wrong.terminated, wrong.reward) == (True, 0.0)
        env.reset(task)
        for done in range(stage + 1):
            shown = env.step(f"push{right[done]}")
    assert (shown.terminated, shown.reward) == (True, 1.0)


def test_values_of_a_policy_agree_with_the_linear_equations():
    world = Toy("mdp", seed=5, size=7).world(Toy("mdp", seed=5, size=7).tasks()[0])
    policy = np.full((8, 3), 1 / 3)
    flow = (policy[:, :, None] * world.chance).sum(axis=1)
    gain = (policy[:, :, None] * world.chance * world.reward).sum(axis=(1, 2))
    flow[world.terminal], gain[world.terminal] = 0.0, 0.0
    exact = np.linalg.solve(np.eye(8) - 0.9 * flow, gain)
    np.testing.assert_allclose(world.values(0.9, policy).v, exact, atol=1e-9)


def test_every_cell_of_a_maze_leads_to_the_goal():
    env = Toy("maze", size=6, seed=2)
    assert env.world(env.tasks()[0]).values(0.9).v[:-1].min() > 0


def test_tasks_hide_different_worlds_and_seeds_too():
    env = Toy("bandit", tasks=3)
    worlds = [env.world(t).chance.tolist() for t in env.tasks()]
    other = Toy("bandit", seed=1, tasks=3)
    worlds += [other.world(t).chance.tolist() for t in other.tasks()]
    assert len({str(w) for w in worlds}) == 6


def test_a_step_limit_truncates():
    env = Toy("maze", steps=2)
    env.reset(env.tasks()[0])
    assert not env.step("north").truncated
    last = env.step("north")
    assert (last.truncated, last.terminated) == (True, False)


@pytest.mark.parametrize(
    "settings",
    [{"world": "zoo"}, {"slip": 1.5}, {"size": -1}, {"tasks": 0}, {"world": "maze", "choices": 3}],
)
def test_impossible_settings_are_refused(settings: dict[str, object]):
    with pytest.raises(ConfigError):
        Toy(**settings)  # type: ignore[arg-type]


def test_a_foreign_task_is_refused():
    with pytest.raises(InputError, match="has no task"):
        Toy("bandit").reset(Toy("maze").tasks()[0])


def test_the_prior_is_fixed_normal_and_differs_by_seed():
    rng = np.random.default_rng(0)
    prompts = [Prompt("g", f"s{i}", actions=("a", "b", "c")) for i in range(700)]
    z = [[c.logit for c in ToyPrior().propose(p, rng).candidates] for p in prompts]
    assert z == [[c.logit for c in ToyPrior().propose(p, rng).candidates] for p in prompts]
    assert np.std(z) == pytest.approx(1.5, abs=0.05)
    assert ToyPrior(seed=1).propose(prompts[0], rng).candidates[0].logit != z[0][0]
    assert {c.logit for c in ToyPrior(sd=0.0).propose(prompts[0], rng).candidates} == {0.0}
