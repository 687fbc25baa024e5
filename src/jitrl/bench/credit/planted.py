"""Rounds of attempts whose decisive steps are known, since the errors were planted.

A good attempt follows the world's own solution, with detours after which it still succeeds. A bad
one is such an attempt, too, but for one or two steps at which something else is done. What comes
after is done as if nothing had happened; where that cannot be, the attempt wanders and ends. Each
error alone costs something, and no bad attempt comes back to the good one's way after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from jitrl.agents.past import PastEpisode
from jitrl.agents.rulebook.contrasts import Compared
from jitrl.core.credit import derive_rows
from jitrl.core.loops import straight
from jitrl.envs.backoffice import Backoffice
from jitrl.envs.extraction import Extraction
from jitrl.envs.toy import Toy
from jitrl.errors import InputError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.ports import Receipt
from jitrl.run.loop import Trial, play
from jitrl.run.replaying import Listed
from jitrl.types import Decision, Episode, Prompt, Proposal, State, Task

Errors = Literal["one", "own", "two"]
WorldName = Literal["toy", "backoffice", "extraction"]

GOOD, BAD = 3, 5
_DETOURS = 2  # of an attempt, at most
_TRIES = 24  # to draw a bad attempt
_ROUNDS = 6  # tries to draw a round
_DRAWN = 8  # scripts of which that with most detours that led on is taken
_LEAST = 3  # steps of a task
_LOST = 2  # steps of an attempt that has lost its way

WORLDS: Mapping[WorldName, Callable[[], Any]] = {
    "toy": lambda: Toy("protocol", size=6, choices=4, tasks=16),
    "backoffice": lambda: Backoffice(instances=1, steps=40),
    "extraction": lambda: Extraction(instances=1, levels=(2, 3, 4), steps=40),
}
"""Each knows the right action wherever an episode has strayed to."""

KINDS: Mapping[WorldName, tuple[Errors, ...]] = {
    "toy": ("one", "own"),
    "backoffice": ("one", "own", "two"),
    "extraction": ("one", "own", "two"),
}
"""In the toy world an error ends the episode, so there is no second one."""


class Undrawn(InputError):
    """No round of this kind could be drawn at a task."""


@dataclass(frozen=True, slots=True)
class Round:
    """A contrast with its truth.

    Attributes:
        decisive: States of the best attempt's way at which bad attempts erred.
        worth: What each step of an attempt was worth, by its key: 1 led on, 0 was a detour, -1 was
            an error.
    """

    contrast: Compared
    decisive: frozenset[State]
    worth: Mapping[str, tuple[int, ...]]


class Playing:
    """Takes listed actions one after the other; what is not there ends the attempt."""

    name = "playing"

    def __init__(self, actions: Sequence[str]) -> None:
        self._left = list(actions)

    def begin(self, task: Task, *, key: str, rng: np.random.Generator) -> None:
        """Nothing is drawn."""

    def advise(self, state: State, prompt: Prompt) -> Prompt:
        """The prompt as it is."""
        return prompt

    def act(self, state: State, prompt: Prompt, proposal: Proposal) -> Decision:
        """The next action.

        Raises:
            InputError: If there is none, or the page does not list it.
        """
        if not self._left or self._left[0] not in prompt.actions:
            raise InputError(f"{self._left[:1]} cannot be taken here")
        return Decision(self._left.pop(0), (), mode="off", reason="off")

    def observe(self, reward: float | None, next_state: State | None) -> None:
        """Nothing follows."""

    def learn(self, episode: Episode) -> Receipt:
        """Nothing is learned."""
        return Receipt(episode.key, 0, 0)


@dataclass(frozen=True, slots=True)
class Way:
    """A script.

    Attributes:
        states: Where its actions are taken, shape [T].
        others: What else could be done there.
        led: How many of its detours led on, so that it never was there again.
    """

    actions: tuple[str, ...]
    states: tuple[State, ...]
    others: tuple[tuple[str, ...], ...]
    led: int


@dataclass(frozen=True, slots=True)
class Gone:
    """What was done in an attempt.

    Attributes:
        erred: Which of its steps were errors; not all that were planned, if it lost its way before.
    """

    actions: tuple[str, ...]
    score: float
    erred: frozenset[int]


class Planter:
    """Draws rounds at the tasks of a world."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self._lengths: dict[str, int] = {}

    def tasks(self, most: int) -> list[int]:
        """Places of tasks with enough steps, spread over the list."""
        listed = self.world.tasks()
        long = [i for i, task in enumerate(listed) if self._length(task) >= _LEAST]
        return sorted({long[round(i)] for i in np.linspace(0, len(long) - 1, min(most, len(long)))})

    def round(self, place: int, errors: Errors, rng: np.random.Generator) -> Round:
        """Attempts at the task of this place: good ones, and bad ones with errors of this kind.

        Raises:
            Undrawn: If the task has no such errors.
        """
        task = self.world.tasks()[place]
        for _ in range(_ROUNDS):
            try:
                return self._round(task, place, errors, rng)
            except Undrawn:
                continue
        raise Undrawn(f"no round with errors {errors!r} at task {task.id!r}")

    def _round(self, task: Task, place: int, errors: Errors, rng: np.random.Generator) -> Round:
        ways = [self._way(task, rng) for _ in range(GOOD)]
        good = [self._past(task, place, n, way.actions) for n, way in enumerate(ways)]
        direct = good[0].direct
        number = 2 if errors == "two" else 1
        if len(direct) < number:
            raise Undrawn("too short")
        planted, bad = set[State](), list[PastEpisode]()
        worth = {one.key: _worth(one, ()) for one in good}
        chosen = self._drawn(direct, number, rng)
        for n in range(BAD):
            if errors == "own":
                chosen = self._drawn(direct, number, rng)
            attempt, at = self._bad(task, place, GOOD + n, chosen, good[0], rng)
            bad.append(attempt)
            worth[attempt.key] = _worth(attempt, at)
            planted |= chosen.keys()
        order = tuple(sorted(bad, key=lambda attempt: attempt.score))
        gap = good[0].score - order[0].score
        return Round(Compared(task.goal, tuple(good), order, gap), frozenset(planted), worth)

    def _drawn(
        self, direct: Sequence[Any], number: int, rng: np.random.Generator
    ) -> dict[State, str]:
        """States of the way to err at, with what is right there."""
        at = rng.choice(len(direct), number, replace=False)
        return {direct[i].state: direct[i].action for i in at}

    def _bad(
        self,
        task: Task,
        place: int,
        number: int,
        chosen: Mapping[State, str],
        good: PastEpisode,
        rng: np.random.Generator,
    ) -> tuple[PastEpisode, tuple[int, ...]]:
        """An attempt with errors in these states, and which of its steps they are.

        One that comes back to the good attempt's way after an error has made a detour, no error.
        """
        full, on = good.score, {row.state for row in good.direct}
        for _ in range(_TRIES):
            way = self._way(task, rng)
            at = [
                t
                for t, (state, action) in enumerate(zip(way.states, way.actions, strict=True))
                if chosen.get(state) == action and way.others[t]
            ]
            if len(at) != len(chosen):
                continue
            wrong = {t: str(rng.choice(way.others[t])) for t in at}
            alone = [self._gone(task, way, {t: wrong[t]}, rng).score for t in at]
            gone = self._gone(task, way, wrong, rng)
            if max(alone) < full and gone.erred == set(at):
                made = self._past(task, place, number, gone.actions)
                after = [row.next_state for row in made.rows[min(at) :]]
                if made.score < full and on.isdisjoint(after):
                    return made, tuple(at)
        raise Undrawn("no error there")

    def _gone(
        self, task: Task, way: Way, wrong: Mapping[int, str], rng: np.random.Generator
    ) -> Gone:
        """The way with errors; where it cannot be gone any further, some steps more and the end."""
        codec, now = self.world.codec, self.world.reset(task)
        actions, score, lost, erred = list[str](), 0.0, 0, set[int]()
        while not (now.terminated or now.truncated or lost > _LOST):
            t, listed = len(actions), codec.actions(now.observation)
            action = wrong.get(t, way.actions[t] if t < len(way.actions) else "")
            if lost or action not in listed:
                lost += 1
                action = str(rng.choice(listed))
            elif t in wrong:
                erred.add(t)
            now = self.world.step(codec.ground(action, now.observation))
            actions.append(action)
            score += now.reward
        return Gone(tuple(actions), score, frozenset(erred))

    def _way(self, task: Task, rng: np.random.Generator) -> Way:
        """A script that succeeds, with detours: of several the one where most of them led on.

        What comes back to where it began is easily seen to be a detour; what leads on is not.
        """
        detours = int(rng.integers(_DETOURS + 1))
        drawn = [self._strayed(task, detours, rng) for _ in range(_DRAWN if detours else 1)]
        found = [way for way in drawn if way is not None]
        if found:
            return max(found, key=lambda way: way.led)
        plain = self._strayed(task, 0, rng)
        if plain is None:
            raise Undrawn(f"task {task.id!r} is not solved by the right actions")
        return plain

    def _strayed(self, task: Task, detours: int, rng: np.random.Generator) -> Way | None:
        """A script with so many detours; ``None`` if one of them led astray for good."""
        length = self._length(task) if detours else 0
        codec, now = self.world.codec, self.world.reset(task)
        at = set(rng.choice(length, min(detours, length), replace=False).tolist()) if length else ()
        actions, states, others = list[str](), list[State](), list[tuple[str, ...]]()
        score, strayed = 0.0, set[int]()
        while not (now.terminated or now.truncated):
            listed = codec.actions(now.observation)
            try:
                right = self.world.oracle_action()
            except InputError:
                return None
            rest = tuple(action for action in listed if action != right)
            is_detour = len(actions) in at and bool(rest)
            if is_detour:
                strayed.add(len(actions))
            states.append(codec.state(now.observation, actions))
            actions.append(str(rng.choice(rest)) if is_detour else right)
            others.append(rest)
            now = self.world.step(codec.ground(actions[-1], now.observation))
            score += now.reward
        won = now.terminated and score >= 1.0
        if not won:
            return None
        led = len(strayed.intersection(straight(states)))
        return Way(tuple(actions), tuple(states), tuple(others), led)

    def _length(self, task: Task) -> int:
        """Steps of the world's own solution."""
        if task.id not in self._lengths:
            plain = self._strayed(task, 0, np.random.default_rng(0))
            if plain is None:
                raise Undrawn(f"task {task.id!r} is not solved by the right actions")
            self._lengths[task.id] = len(plain.actions)
        return self._lengths[task.id]

    def _past(self, task: Task, place: int, number: int, actions: Sequence[str]) -> PastEpisode:
        episode = play(
            Trial(task, place, number, 0),
            self.world,
            Listed(),
            Playing(actions),
            max_steps=len(actions),
        )
        rows = derive_rows(episode, EnvironmentRewards().judge(episode), gamma=1.0)
        return PastEpisode(rows, task.goal, episode.info)


def _worth(attempt: PastEpisode, errors: Sequence[int]) -> tuple[int, ...]:
    """1 for steps that led on, 0 for detours, -1 for errors."""
    led = {row.step for row in attempt.direct}
    return tuple(-1 if t in errors else int(t in led) for t in range(len(attempt.rows)))
