"""Toy worlds whose best return is known."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from jitrl.envs.codecs.plain import PlainCodec
from jitrl.errors import ConfigError, InputError
from jitrl.types import Candidate, Observation, Prompt, Proposal, Task, TimeStep

WorldName = Literal["protocol", "bandit", "maze", "mdp"]

_SIZES: dict[str, tuple[int, int, int]] = {  # size, choices, step limit
    "protocol": (4, 3, 100),
    "bandit": (1, 5, 1),
    "maze": (4, 4, 60),
    "mdp": (6, 3, 200),
}


@dataclass(frozen=True, slots=True)
class Values:
    """State values, shape [S], and action values, shape [S, A]; 0 at terminal states."""

    v: np.ndarray
    q: np.ndarray


@dataclass(frozen=True, slots=True)
class World:
    """A finite decision process that starts in state 0.

    Attributes:
        states: Names, shape [S].
        actions: Names, shape [A]; every action is valid everywhere.
        chance: P(s' | s, a), shape [S, A, S].
        reward: Reward for arriving in s' from (s, a), shape [S, A, S].
        terminal: States that end the episode, shape [S].
    """

    states: tuple[str, ...]
    actions: tuple[str, ...]
    chance: np.ndarray
    reward: np.ndarray
    terminal: np.ndarray

    def slipping(self, slip: float) -> World:
        """The world in which, with probability ``slip``, one of the *other* actions happens."""
        if slip == 0.0 or len(self.actions) == 1:
            return self
        n = len(self.actions)
        mix = (1 - slip) * np.eye(n) + slip / (n - 1) * (1 - np.eye(n))
        chance = np.einsum("ab,sbt->sat", mix, self.chance)
        flow = np.einsum("ab,sbt->sat", mix, self.chance * self.reward)
        reward = np.divide(flow, chance, out=np.zeros_like(flow), where=chance > 0)
        return World(self.states, self.actions, chance, reward, self.terminal)

    def values(self, gamma: float = 1.0, policy: np.ndarray | None = None) -> Values:
        """Values of ``policy`` (action probabilities, shape [S, A]), or of the best one.

        By value iteration to 1e-12; with ``gamma`` 1 every policy has to end by itself.
        """
        gain = (self.chance * self.reward).sum(axis=2)
        v = np.zeros(len(self.states))
        for _ in range(100_000):
            q = gain + gamma * self.chance @ v
            q[self.terminal] = 0.0
            new = q.max(axis=1) if policy is None else (policy * q).sum(axis=1)
            if np.abs(new - v).max() < 1e-12:
                return Values(new, q)
            v = new
        raise InputError(f"values do not converge at gamma {gamma}; use a gamma below 1")


@dataclass(slots=True)
class _Run:
    """The episode under way."""

    task: Task
    world: World
    rng: np.random.Generator
    state: int = 0
    taken: int = 0


class Toy:
    """Small worlds for tests and for studying rules, with step rewards and known values.

    Worlds: ``protocol`` (``size`` stages, one right action each, a wrong one ends the episode,
    1 at the end), ``bandit`` (``choices`` arms that pay 1 with a hidden probability), ``maze``
    (``size`` x ``size`` cells without loops, 1 at the far corner), ``mdp`` (``size`` states with
    random transitions and rewards; each step ends the episode with probability .1).

    Args:
        world: Which world.
        seed: What is hidden is drawn from it.
        slip: Probability that one of the other actions is executed instead.
        size: Stages, side or states; 0 takes the world's default.
        choices: Actions; 0 takes the world's default (a maze always has 4).
        tasks: Number of tasks, each with its own hidden world.
        steps: Step limit of an episode; 0 takes the world's default.
    """

    name = "toy"
    is_replayable = True

    def __init__(
        self,
        world: WorldName = "protocol",
        *,
        seed: int = 0,
        slip: float = 0.0,
        size: int = 0,
        choices: int = 0,
        tasks: int = 1,
        steps: int = 0,
    ) -> None:
        if world not in get_args(WorldName):
            raise ConfigError(f"toy has no world {world!r}; it has {list(get_args(WorldName))}")
        if not 0.0 <= slip <= 1.0:
            raise ConfigError(f"slip must be in [0, 1], got {slip}")
        if world == "maze" and choices not in (0, 4):
            raise ConfigError(f"a maze has 4 choices, got {choices}")
        if min(seed, size, choices, steps) < 0 or tasks < 1:
            raise ConfigError(
                "seed, size, choices and steps must not be negative, and tasks at least 1; got "
                f"seed={seed}, size={size}, choices={choices}, steps={steps}, tasks={tasks}"
            )
        defaults = _SIZES[world]
        self.codec = PlainCodec()
        self._kind, self._seed, self._slip = world, seed, slip
        self._size, self._choices = size or defaults[0], choices or defaults[1]
        self._limit = steps or defaults[2]
        self._tasks = tuple(
            Task(f"{world}:{i}", f"Reach the best return in {world}{i}.", "toy", world, {"i": i})
            for i in range(tasks)
        )
        self._worlds: dict[str, World] = {}
        self._run: _Run | None = None

    def tasks(self) -> Sequence[Task]:
        """All tasks; each hides another world."""
        return self._tasks

    def world(self, task: Task) -> World:
        """The hidden world of ``task``, slip included."""
        if task not in self._tasks:
            raise InputError(f"toy has no task {task.id!r}; it has {[t.id for t in self._tasks]}")
        if task.id not in self._worlds:
            rng = np.random.default_rng([self._seed, self._tasks.index(task)])
            made = _BUILDERS[self._kind](self._size, self._choices, rng)
            self._worlds[task.id] = made.slipping(self._slip)
        return self._worlds[task.id]

    def best_return(self, task: Task) -> float:
        """Expected return of the best policy from the start."""
        return float(self.world(task).values().v[0])

    def reset(self, task: Task, *, seed: int = 0) -> TimeStep:
        """Start ``task``; the same task and seed give the same chances."""
        self._run = _Run(task, self.world(task), np.random.default_rng(seed))
        return TimeStep(self._observe(self._run))

    def step(self, action: str) -> TimeStep:
        """Take an action.

        Raises:
            InputError: If no episode is under way or the action is not one of the world's.
        """
        run = self._run
        if run is None:
            raise InputError(f"no episode is under way, so {action!r} cannot be taken; call reset")
        world = run.world
        if action not in world.actions:
            raise InputError(
                f"{world.states[run.state]!r} has no {action!r}; it has {list(world.actions)}"
            )
        a = world.actions.index(action)
        odds = np.cumsum(world.chance[run.state, a])
        # Rounding may leave the last sum a little under 1.
        state = min(int(np.searchsorted(odds, run.rng.random(), "right")), len(odds) - 1)
        reward = float(world.reward[run.state, a, state])
        run.state, run.taken = state, run.taken + 1
        terminated = bool(world.terminal[state])
        truncated = not terminated and run.taken >= self._limit
        if terminated or truncated:
            self._run = None
        return TimeStep(self._observe(run), reward, terminated, truncated)

    def oracle_action(self) -> str:
        """An action of the shortest way to the best return, wherever the episode has got to.

        Raises:
            InputError: If no episode is under way.
        """
        if self._run is None:
            raise InputError("no episode is under way; call reset")
        world = self._run.world
        return world.actions[int(world.values(0.99).q[self._run.state].argmax())]

    def close(self) -> None:
        """Nothing is held."""
        self._run = None

    def _observe(self, run: _Run) -> Observation:
        world = run.world
        text = f"{run.task.id.replace(':', '')} {world.states[run.state]}"
        actions = () if world.terminal[run.state] else world.actions
        return Observation(text, run.task.goal, actions)


class ToyPrior:
    """A frozen model that knows nothing: a fixed normal logit for each (goal, text, action).

    Args:
        sd: Standard deviation of the logits, nats; 0 is the uniform prior.
        seed: Another seed is another model.
    """

    name = "toy-prior"

    def __init__(self, sd: float = 1.5, seed: int = 0) -> None:
        self._sd, self._seed = sd, seed
        self._known: dict[str, float] = {}

    def propose(self, prompt: Prompt, rng: np.random.Generator) -> Proposal:
        """Every action of the prompt with its logit; ``rng`` is not used."""
        candidates = tuple(
            Candidate(action, self._logit(f"{prompt.goal}\n{prompt.observation}\n{action}"))
            for action in prompt.actions
        )
        return Proposal(candidates, "toy", f"{self.name}/sd={self._sd:g}/seed={self._seed}")

    def _logit(self, key: str) -> float:
        if key not in self._known:
            rng = np.random.default_rng([self._seed, zlib.crc32(key.encode())])
            self._known[key] = self._sd * float(rng.standard_normal())
        return self._known[key]


def _blank(states: int, choices: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.zeros((states, choices, states)),
        np.zeros((states, choices, states)),
        np.zeros(states, dtype=bool),
    )


def _protocol(stages: int, choices: int, rng: np.random.Generator) -> World:
    chance, reward, terminal = _blank(stages + 2, choices)
    won, lost = stages, stages + 1
    terminal[[won, lost]] = True
    chance[:stages, :, lost] = 1.0
    for stage, right in enumerate(rng.integers(choices, size=stages)):
        chance[stage, right] = np.eye(stages + 2)[stage + 1]
    reward[stages - 1, :, won] = 1.0
    names = (*(f"stage{i}" for i in range(stages)), "won", "lost")
    return World(names, tuple(f"push{a}" for a in range(choices)), chance, reward, terminal)


def _bandit(_: int, arms: int, rng: np.random.Generator) -> World:
    chance, reward, terminal = _blank(3, arms)
    terminal[1:] = True
    chance[0, :, 1] = rng.random(arms)
    chance[0, :, 2] = 1.0 - chance[0, :, 1]
    reward[0, :, 1] = 1.0
    names = ("arms", "paid", "unpaid")
    return World(names, tuple(f"pull{a}" for a in range(arms)), chance, reward, terminal)


_MOVES = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}


def _maze(side: int, choices: int, rng: np.random.Generator) -> World:
    chance, reward, terminal = _blank(side * side, choices)
    goal = side * side - 1
    terminal[goal] = True
    for cell in range(side * side):
        chance[cell, :, cell] = 1.0
    moves, seen, path = list(_MOVES.values()), {0}, [0]
    while path:  # a depth-first walk leaves a spanning tree
        row, column = divmod(path[-1], side)
        ways = [
            (a, (row + dr) * side + column + dc)
            for a, (dr, dc) in enumerate(moves)
            if 0 <= row + dr < side and 0 <= column + dc < side
        ]
        ways = [(a, cell) for a, cell in ways if cell not in seen]
        if not ways:
            path.pop()
            continue
        a, cell = ways[int(rng.integers(len(ways)))]
        chance[path[-1], a] = np.eye(side * side)[cell]
        chance[cell, (a + 2) % 4] = np.eye(side * side)[path[-1]]
        seen.add(cell)
        path.append(cell)
    reward[:, :, goal] = 1.0
    return World(
        tuple(f"cell{c}" for c in range(side * side)), tuple(_MOVES), chance, reward, terminal
    )


def _mdp(size: int, choices: int, rng: np.random.Generator) -> World:
    chance, reward, terminal = _blank(size + 1, choices)
    terminal[size] = True
    chance[:size, :, :size] = 0.9 * rng.dirichlet(np.full(size, 0.5), size=(size, choices))
    chance[:size, :, size] = 0.1
    reward[:size] = rng.normal(size=(size, choices, 1))
    names = (*(f"state{i}" for i in range(size)), "end")
    return World(names, tuple(f"do{a}" for a in range(choices)), chance, reward, terminal)


_BUILDERS = {"protocol": _protocol, "bandit": _bandit, "maze": _maze, "mdp": _mdp}
