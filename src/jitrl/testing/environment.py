"""Contract of environments and their codecs, as checks that any implementation can be put to.

Usage, in a test module of a plugin::

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_environment_keeps_the_contract(check):
        check(MyEnvironment)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np

from jitrl.errors import GroundingError, InputError
from jitrl.ports import Environment
from jitrl.types import State, Task, TimeStep

Factory = Callable[[], Environment]

_TASKS = 4  # tasks walked by each check
_STEPS = 30
_NONSENSE = "no such action (at all)"


@dataclass(frozen=True, slots=True)
class Seen:
    """A time step as codec and run loop see it, free of changing ids."""

    state: State
    text: str
    actions: tuple[str, ...]
    reward: float
    terminated: bool
    truncated: bool


def tasks_are_unique_and_in_a_fixed_order(make: Factory) -> None:
    """``tasks`` gives the same list each time, and ids tell tasks apart."""
    with closing(make()) as env, closing(make()) as other:
        tasks = list(env.tasks())
        assert tasks, "there are no tasks"
        assert tasks == list(env.tasks()) == list(other.tasks()), "the list of tasks varies"
        assert len({task.id for task in tasks}) == len(tasks), "two tasks have one id"
        assert all(task.goal for task in tasks), "a task has no goal"


def the_same_task_and_seed_give_the_same_episode(make: Factory) -> None:
    """States, texts, actions, rewards and ends repeat; element ids may differ."""
    with closing(make()) as env, closing(make()) as other:
        for task in _some(env):
            first = list(_walk(env, task))
            assert first == list(_walk(env, task)), f"{task.id} differs when repeated"
            assert first == list(_walk(other, task)), f"{task.id} differs in another instance"


def every_action_comes_back_through_the_codec(make: Factory) -> None:
    """Canonical actions are distinct and ground to listed ones, each to another."""
    with _visited(make) as visits:
        for env, shown in visits:
            observation, codec = shown.observation, env.codec
            actions = codec.actions(observation)
            assert len(set(actions)) == len(actions), f"canonical actions repeat: {actions}"
            raw = [codec.ground(action, observation) for action in actions]
            assert len(set(raw)) == len(raw), f"two canonical actions are one: {raw}"
            if observation.actions:
                assert set(raw) <= set(observation.actions), "an action grounds to none listed"


def an_episode_that_goes_on_offers_actions(make: Factory) -> None:
    """Before its end there is always something to do, and ends and rewards make sense."""
    with _visited(make) as visits:
        for env, shown in visits:
            assert env.codec.actions(shown.observation), "no action, and the episode is not over"
    with closing(make()) as env:
        for task in _some(env):
            seen = list(_walk(env, task))
            assert all(math.isfinite(s.reward) for s in seen), f"{task.id}: a reward is not finite"
            assert not any(s.terminated and s.truncated for s in seen), "both ended and cut off"


def no_state_is_empty(make: Factory) -> None:
    """A state holds something to compare: all empty ones would be one and the same."""
    with closing(make()) as env:
        for task in _some(env):
            for seen in _walk(env, task):
                held = (seen.state.text, seen.state.context, seen.state.place)
                assert any(part.strip() for part in held), f"{task.id}: a state is empty"


def an_action_that_is_not_there_is_refused_and_changes_nothing(make: Factory) -> None:
    """``step`` raises InputError, ``ground`` GroundingError; the episode goes on as it was."""
    with closing(make()) as env:
        for task in _some(env):
            undisturbed = list(_walk(env, task))
            assert undisturbed == list(_walk(env, task, disturb=True)), f"{task.id} was changed"


def steps_outside_an_episode_are_refused(make: Factory) -> None:
    """Before ``reset`` and after the end ``step`` raises InputError."""
    with closing(make()) as env:
        _refuses(env, _NONSENSE)
        for task in _some(env):
            rng, shown = np.random.default_rng(1), env.reset(task)
            action = ""
            for _ in range(10_000):
                if shown.terminated or shown.truncated:
                    break
                actions = env.codec.actions(shown.observation)
                action = env.codec.ground(
                    actions[int(rng.integers(len(actions)))], shown.observation
                )
                shown = env.step(action)
            else:
                raise AssertionError(f"{task.id} has no end within 10,000 random steps")
            _refuses(env, action)


def reset_starts_afresh(make: Factory) -> None:
    """What happened in other episodes, finished or not, leaves no trace."""
    with closing(make()) as env:
        tasks = _some(env)
        fresh = [list(_walk(env, task)) for task in tasks]
        for task in tasks:
            list(_walk(env, task, seed=7, steps=3))
        assert fresh == [list(_walk(env, task)) for task in reversed(tasks)][::-1]


def instances_share_nothing(make: Factory) -> None:
    """Two instances stepped in turn behave as each does alone."""
    with closing(make()) as env, closing(make()) as other:
        task = _some(env)[0]
        alone = list(_walk(env, task))
        assert [alone, alone] == [
            list(side)
            for side in zip(*zip(_walk(env, task), _walk(other, task), strict=True), strict=True)
        ]


def close_may_be_called_twice(make: Factory) -> None:
    """The second time does nothing."""
    env = make()
    env.reset(env.tasks()[0])
    env.close()
    env.close()


CHECKS: tuple[Callable[[Factory], None], ...] = (
    tasks_are_unique_and_in_a_fixed_order,
    the_same_task_and_seed_give_the_same_episode,
    every_action_comes_back_through_the_codec,
    an_episode_that_goes_on_offers_actions,
    no_state_is_empty,
    an_action_that_is_not_there_is_refused_and_changes_nothing,
    steps_outside_an_episode_are_refused,
    reset_starts_afresh,
    instances_share_nothing,
    close_may_be_called_twice,
)


def _some(env: Environment) -> list[Task]:
    """A few tasks, spread over the list."""
    tasks = list(env.tasks())
    return tasks[:: max(1, len(tasks) // _TASKS)][:_TASKS]


def _walk(
    env: Environment, task: Task, *, seed: int = 0, steps: int = _STEPS, disturb: bool = False
) -> Iterator[Seen]:
    """A random episode of at most ``steps`` steps, the same for the same seed."""
    rng, shown, history = np.random.default_rng(seed), env.reset(task, seed=seed), list[str]()
    for _ in range(steps + 1):
        observation, codec = shown.observation, env.codec
        over = shown.terminated or shown.truncated
        actions = () if over else codec.actions(observation)
        yield Seen(
            codec.state(observation, tuple(history)),
            codec.text(observation),
            actions,
            shown.reward,
            shown.terminated,
            shown.truncated,
        )
        if over:
            return
        if disturb:
            _refuses(env, _NONSENSE)
            try:
                codec.ground(_NONSENSE, observation)
            except GroundingError:
                pass
            else:
                raise AssertionError(f"the codec found {_NONSENSE!r} on the page")
        action = actions[int(rng.integers(len(actions)))]
        shown = env.step(codec.ground(action, observation))
        history.append(action)


@contextmanager
def _visited(make: Factory) -> Iterator[Iterator[tuple[Environment, TimeStep]]]:
    """Time steps of random episodes that are not over."""

    def visits(env: Environment) -> Iterator[tuple[Environment, TimeStep]]:
        rng = np.random.default_rng(2)
        for task in _some(env):
            shown = env.reset(task)
            for _ in range(_STEPS):
                if shown.terminated or shown.truncated:
                    break
                yield env, shown
                actions = env.codec.actions(shown.observation)
                action = actions[int(rng.integers(len(actions)))]
                shown = env.step(env.codec.ground(action, shown.observation))

    with closing(make()) as env:
        yield visits(env)


def _refuses(env: Environment, action: str) -> None:
    try:
        env.step(action)
    except InputError:
        return
    raise AssertionError(f"step({action!r}) was accepted")
