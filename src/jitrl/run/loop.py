"""One episode: an environment, a frozen model and an agent, step by step."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jitrl.config import Rewards
from jitrl.errors import InputError, JitRLError
from jitrl.language import counted
from jitrl.ports import Codec, Environment, EpisodeAgent, Proposer
from jitrl.types import (
    Episode,
    EpisodeStatus,
    Observation,
    Outcome,
    Prompt,
    State,
    Task,
    TimeStep,
    Transition,
)

_MODEL, _ENVIRONMENT = 2**31, 2**31 + 1
"""Uses of chance, beyond any child that an agent may spawn from its own generator."""


class Stopped(JitRLError):
    """The run was stopped while this episode was under way; a resumed run plays it again."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Which episode of an experiment: the place of ``task`` in its environment is ``index``."""

    task: Task
    index: int
    attempt: int
    seed: int

    @property
    def key(self) -> str:
        """The episode's idempotency key; ``attempt_of`` reads it."""
        return f"{self.task.id}/{self.attempt}/{self.seed}"

    @property
    def world_seed(self) -> int:
        """What the environment is reset with."""
        return int(self.chance(_ENVIRONMENT).generate_state(1)[0])

    def chance(self, *use: int) -> np.random.SeedSequence:
        """The source of all chance of this episode, or of one ``use`` apart from the agent's.

        The model has its own at each step, so that what it draws does not depend on whether
        earlier answers came from a cache.
        """
        return np.random.SeedSequence([self.seed, self.attempt, self.index], spawn_key=use)


def attempt_of(key: str) -> int:
    """The attempt in the key of an episode that was played here."""
    return int(key.rsplit("/", 2)[1])


def trial_of(key: str, tasks: Sequence[Task]) -> Trial:
    """The trial that an episode was played as.

    Args:
        tasks: All of the environment, in its order.

    Raises:
        InputError: If no run played it in this environment.
    """
    for index, task in enumerate(tasks):
        found = re.fullmatch(rf"{re.escape(task.id)}/(\d+)/(\d+)", key)
        if found:
            return Trial(task, index, int(found[1]), int(found[2]))
    raise InputError(
        f"no run played episode {key!r} in this environment: its key is not TASK/ATTEMPT/SEED of "
        f"a task that it has ({counted(len(tasks), 'task')})"
    )


def play(
    trial: Trial,
    environment: Environment,
    proposer: Proposer,
    agent: EpisodeAgent,
    *,
    rewards: Rewards = "after",
    max_steps: int | None = None,
    stop: threading.Event | None = None,
    config: str = "",
    pages: bool = False,
) -> Episode:
    """Play one episode to its end; nothing is learned from it here.

    Args:
        rewards: ``during``: the agent is told each step's reward. ``after``: the episode holds
            them when it is over. ``outcome``: it holds only their sum, as its outcome.
        max_steps: Cut it off after so many steps; ``None``: the environment decides.
        stop: Once set, the episode is given up before its next step.
        config: Digest of the settings, for the record.
        pages: Keep what a model is shown of each page, the last one included, for an evaluator
            that reads it: ``info["pages"]``, shape [T + 1].

    Returns:
        The episode. ``info["score"]`` is the sum of the environment's rewards, ``info["goal"]``
        the task in words, ``info["checks"]`` what the environment checked at the end, if it did,
        ``info["readings"]`` what was read at which steps, where the codec tells, and
        ``info["screenshots"]`` the pictures of its pages, where it keeps some.

    Raises:
        Stopped: If ``stop`` was set.
    """
    codec, started = environment.codec, time.time()
    declared, reading = str(getattr(codec, "features", "")), getattr(codec, "reading", None)
    now = environment.reset(trial.task, seed=trial.world_seed)
    agent.begin(trial.task, key=trial.key, rng=np.random.default_rng(trial.chance()))
    steps: list[Transition] = []
    history: list[str] = []
    readings: list[list[Any]] = []
    shown = [codec.text(now.observation)] if pages else []
    score, calls, scorers, model = 0.0, 0, dict[str, None](), ""
    pictures = [now.observation.info.get("screenshot")]
    state = _state(codec, now.observation, history)
    while not (now.terminated or now.truncated or len(steps) == max_steps):
        if stop is not None and stop.is_set():
            raise Stopped(f"episode {trial.key} was given up after {len(steps)} steps")
        prompt = Prompt(
            goal=now.observation.goal,
            observation=codec.text(now.observation),
            history=tuple(history),
            actions=codec.actions(now.observation),
            features=declared,
            read=tuple(text for _, text in readings),
        )
        prompt = agent.advise(state, prompt)
        proposal = proposer.propose(prompt, np.random.default_rng(trial.chance(_MODEL, len(steps))))
        decision = agent.act(state, prompt, proposal)
        now = environment.step(codec.ground(decision.action, now.observation))
        history.append(decision.action)
        if pages:
            shown.append(codec.text(now.observation))
        pictures.append(now.observation.info.get("screenshot"))
        following = None if now.terminated else _state(codec, now.observation, history)
        if reading is not None and following == state:
            told = _told(reading(now.observation), codec)
            if told:
                readings.append([len(steps), told])
        agent.observe(now.reward if rewards == "during" else None, following)
        kept = None if rewards == "outcome" else now.reward
        steps.append(Transition(state, decision.action, decision, kept, following))
        score, calls, model = score + now.reward, calls + proposal.calls, proposal.model
        scorers[proposal.scorer] = None
        if following is not None:
            state = following
    more: dict[str, Any] = {"pages": shown} if pages else {}
    if reading is not None:
        more["readings"] = readings
    if "checks" in now.observation.info:
        more["checks"] = dict(now.observation.info["checks"])
    return Episode(
        key=trial.key,
        task=trial.task.id,
        scope=trial.task.scope,
        steps=tuple(steps),
        status=_status(now),
        outcome=Outcome(score, "state_check", environment.name) if rewards == "outcome" else None,
        agent=agent.name,
        config=config,
        holdout=any(step.decision.holdout for step in steps if step.decision),
        started=started,
        finished=time.time(),
        info={
            "family": trial.task.family,
            "features": declared,
            "attempt": trial.attempt,
            "seed": trial.seed,
            "goal": now.observation.goal,
            "score": score,
            "calls": calls,
            "model": model,
            "scorers": list(scorers),
            "rewards": rewards,
            "excluded": max((s.decision.excluded for s in steps if s.decision), default=0),
            **more,
            **({"screenshots": pictures} if any(pictures) else {}),
        },
    )


def _told(said: object, codec: Codec) -> str:
    """What a codec says that an observation tells; nothing else than a text can be read."""
    if isinstance(said, str):
        return _written(said, "reading", codec)
    raise InputError(
        f"reading of codec {type(codec).__name__} gave {said!r:.60}, of type "
        f"{type(said).__name__}; it must be text or ''"
    )


def _state(codec: Codec, observation: Observation, history: Sequence[str]) -> State:
    """What the codec makes of an observation, if a journal can keep it."""
    state = codec.state(observation, history)
    for part in (state.text, state.context, state.place):
        _written(part, "state", codec)
    return state


def _written(text: str, what: str, codec: Codec) -> str:
    """A text of a codec, if it has a form in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} of codec {type(codec).__name__} has half of a surrogate pair "
            f"({text[error.start]!r}) at character {error.start}; decode what it is made of with "
            "errors='replace'"
        ) from error
    return text


def _status(last: TimeStep) -> EpisodeStatus:
    return "terminated" if last.terminated else "truncated"
