"""The estimator: Q and V from rows come to the true values with the square root of their number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jitrl.core.returns import returns_to_go
from jitrl.core.update import decide
from jitrl.envs.toy import Toy, World
from jitrl.presets import load
from jitrl.types import Candidate, Neighbor

RULE = replace(load("paper-web").rule, explore=0.0)
RNG = np.random.default_rng(0)


def rows(world: World, gamma: float, count: int, rng: np.random.Generator) -> list[list[float]]:
    """Returns of ``count`` visits to each action of state 0, under the uniform policy after it."""
    odds = np.cumsum(world.chance, axis=2)
    found: list[list[float]] = [[] for _ in world.actions]
    for first in range(len(world.actions)):
        for _ in range(count):
            state, action, rewards = 0, first, list[float]()
            while not world.terminal[state] and gamma ** len(rewards) > 1e-6:
                at = int(np.searchsorted(odds[state, action], rng.random() * 0.999999999))
                rewards.append(float(world.reward[state, action, at]))
                state, action = at, int(rng.integers(len(world.actions)))
            found[first].append(float(returns_to_go(rewards, gamma)[0]))
    return found


def estimated(world: World, gains: list[list[float]]) -> np.ndarray:
    """Q of state 0 as a decision sees it."""
    neighbors = [
        Neighbor(world.actions[a], 1.0, ret) for a, found in enumerate(gains) for ret in found
    ]
    made = decide([Candidate(a, 0.0) for a in world.actions], neighbors, RULE, RNG)
    return np.array([c.q for c in made.candidates])


def small_world() -> World:
    toy = Toy("mdp", seed=3, size=4, choices=2)
    return toy.world(toy.tasks()[0])


def test_the_error_falls_with_the_square_root_of_the_number_of_rows() -> None:
    world, gamma, rng = small_world(), 0.5, np.random.default_rng(1)
    uniform = np.full((len(world.states), 2), 0.5)
    true = world.values(gamma, uniform).q[0]
    sizes, errors = (16, 64, 256, 1024), []
    pool = np.array(rows(world, gamma, 16_384, rng))
    for size in sizes:
        runs = 16_384 // size
        split = pool[:, : runs * size].reshape(2, runs, size)
        error = [estimated(world, split[:, run].tolist()) - true for run in range(min(runs, 64))]
        errors.append(float(np.sqrt(np.mean(np.square(error)))))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.1), errors


def test_forty_thousand_transitions_give_q_to_a_hundredth() -> None:
    world, gamma, rng = small_world(), 0.1, np.random.default_rng(2)
    uniform = np.full((len(world.states), 2), 0.5)
    true = world.values(gamma, uniform).q
    odds = np.cumsum(world.chance, axis=2)
    neighbors: dict[int, list[Neighbor]] = {s: [] for s in range(len(world.states))}
    taken = 0
    while taken < 40_000:
        state, path = int(rng.integers(4)), list[tuple[int, int]]()
        rewards: list[float] = []
        while not world.terminal[state]:
            action = int(rng.integers(2))
            at = int(np.searchsorted(odds[state, action], rng.random() * 0.999999999))
            path.append((state, action))
            rewards.append(float(world.reward[state, action, at]))
            state = at
        for (s, a), ret in zip(path, returns_to_go(rewards, gamma).tolist(), strict=True):
            neighbors[s].append(Neighbor(world.actions[a], 1.0, ret))
        taken += len(path)
    proposed = [Candidate(a, 0.0) for a in world.actions]
    errors = []
    for s in range(4):
        made = decide(proposed, neighbors[s], RULE, rng)
        errors += [c.q - true[s, a] for a, c in enumerate(made.candidates)]
        visits = np.array([c.visits for c in made.candidates])
        assert made.value == pytest.approx(
            float(visits @ [c.q for c in made.candidates]) / visits.sum()
        )
    assert float(np.sqrt(np.mean(np.square(errors)))) <= 0.01


@pytest.mark.parametrize(
    ("name", "options", "gamma", "start", "expected"),
    [
        ("FrozenLake-v1", {"is_slippery": False}, 0.99, 0, 0.9510),
        ("FrozenLake-v1", {"is_slippery": True}, 0.99, 0, 0.5420),
        ("CliffWalking-v1", {}, 0.9, 36, -7.4581),
    ],
)
def test_values_of_gymnasiums_worlds_come_out_of_rows_of_their_transitions(
    name: str, options: dict[str, bool], gamma: float, start: int, expected: float
) -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="gymnasium[toy-text] is not installed")
    model = gymnasium.make(name, **options).unwrapped.P
    states, actions = len(model), len(model[0])
    value = np.zeros(states)
    for _ in range(3000):
        q = np.array(
            [
                [
                    sum(p * (r + gamma * value[s2] * (not end)) for p, s2, r, end in model[s][a])
                    for a in range(actions)
                ]
                for s in range(states)
            ]
        )
        value, before = q.max(axis=1), value
        if np.abs(value - before).max() < 1e-10:
            break
    assert value[start] == pytest.approx(expected, abs=5e-5)
    # One step and the value behind it is an unbiased return; the decision averages them.
    rng = np.random.default_rng(0)
    neighbors = []
    for a in range(actions):
        odds = np.array([p for p, *_ in model[start][a]])
        for which in rng.choice(len(odds), size=10_000, p=odds / odds.sum()):
            _, s2, r, end = model[start][a][which]
            neighbors.append(Neighbor(str(a), 1.0, float(r + gamma * value[s2] * (not end))))
    made = decide([Candidate(str(a), 0.0) for a in range(actions)], neighbors, RULE, rng)
    found = np.array([c.q for c in made.candidates])
    assert float(np.sqrt(np.mean(np.square(found - q[start])))) <= 0.01
