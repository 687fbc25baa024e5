"""The ways to find decisive steps, each with a meter of what it played and asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from jitrl.agents.rulebook.credit import Decisive, Strategy, strategy
from jitrl.agents.rulebook.stepscores import SURE, shown
from jitrl.bench.credit.planted import Round
from jitrl.core.rules import tokens
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.ports import EpisodeAgent, Writer
from jitrl.ports.replay import Replay
from jitrl.run.loop import play, trial_of
from jitrl.run.replaying import Listed
from jitrl.types import Episode, Writing

T = TypeVar("T")

_ALL = 10_000  # more than any round needs


@dataclass(frozen=True, slots=True)
class Arm:
    """One way.

    Attributes:
        budget: Episodes played again, or attempts scored by a model.
        reliability: Chance that the model scores a step right; 0 where none is asked.
    """

    name: str
    credit: Strategy
    budget: int = _ALL
    reliability: float = 0.0


FULL = "substitution"
FULL_STEPS = "steps, .9"
ARMS = (
    Arm("contrast", "contrast"),
    Arm("mixed", "mixed", 12),
    Arm(FULL, "substitution"),
    Arm("steps, 1", "steps", reliability=1.0),
    Arm(FULL_STEPS, "steps", reliability=0.9),
    Arm("steps, .7", "steps", reliability=0.7),
    Arm("mixed-steps, .9", "mixed-steps", 12, 0.9),
)


@dataclass(slots=True)
class Meter:
    """What a way has cost.

    Attributes:
        replays: Episodes played again.
        steps: Steps of the environment in them.
        calls, tokens: Of the model that scores steps; tokens it reads, about.
    """

    replays: int = 0
    steps: int = 0
    calls: int = 0
    tokens: int = 0


class Counted:
    """Plays episodes again, in the world at hand, and counts its steps.

    A replay that loses its way is counted as well.
    """

    def __init__(self, world: Any, meter: Meter) -> None:
        self._world, self._meter = world, meter

    @contextmanager
    def __call__(self) -> Iterator[Replay]:
        """The world itself, which stays open."""
        tasks = self._world.tasks()

        def replay(key: str, agent: EpisodeAgent) -> Episode:
            self._meter.replays += 1
            counting = _Counting(self._world, self._meter)
            return play(trial_of(key, tasks), counting, Listed(), agent)

        yield replay


class _Counting:
    """An environment whose steps are counted."""

    def __init__(self, world: Any, meter: Meter) -> None:
        self.name, self.codec, self.tasks = world.name, world.codec, world.tasks
        self.reset, self.close = world.reset, world.close
        self._world, self._meter = world, meter

    def step(self, action: str) -> Any:
        """Take an action."""
        self._meter.steps += 1
        return self._world.step(action)


@dataclass(slots=True)
class Knowing:
    """A model that knows what each step was worth, and says it right with a known chance.

    Else it says one of the two other things; what it says of an attempt never changes.
    """

    round: Round
    reliability: float
    rng: np.random.Generator
    meter: Meter
    name: str = "knowing"
    _said: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Settle what it says of each attempt."""
        contrast = self.round.contrast
        for attempt in (*contrast.good, *contrast.bad):
            worth = np.array(self.round.worth[attempt.key])
            shift = self.rng.integers(1, 3, len(worth))
            is_right = self.rng.random(len(worth)) < self.reliability
            said = np.where(is_right, worth, (worth + 1 + shift) % 3 - 1)
            self._said[shown(attempt, contrast.goal)] = f'{{"scores": {(SURE * said).tolist()}}}'

    def write(self, writing: Writing, read: Callable[[str], T]) -> T:
        """The scores of the attempt that stands in the question."""
        self.meter.calls += 1
        self.meter.tokens += tokens(writing.system) + tokens(writing.text)
        asked = max((one for one in self._said if one in writing.text), key=len)
        return read(self._said[asked])


@dataclass(frozen=True, slots=True)
class Named:
    """What a way named in a round, and what that cost.

    Attributes:
        named: Steps that it named.
        right: Those of them that are decisive.
        decisive: All that are.
        first: Whether the step with most weight is.
    """

    named: int
    right: int
    decisive: int
    first: bool
    replays: int
    steps: int
    calls: int
    tokens: int


def tried(arm: Arm, world: Any, round: Round, rng: np.random.Generator) -> Named:
    """What a way names in a round."""
    meter = Meter()
    writer: Writer | None = Knowing(round, arm.reliability, rng, meter) if arm.reliability else None
    credit = strategy(
        arm.credit,
        writer=writer,
        evaluator=EnvironmentRewards(),
        replays=Counted(world, meter),
        budget=arm.budget,
    )
    found: tuple[Decisive, ...] = credit(round.contrast)
    hits = [one.parting.state in round.decisive for one in found]
    return Named(
        named=len(found),
        right=sum(hits),
        decisive=len(round.decisive),
        first=bool(hits and hits[0]),
        replays=meter.replays,
        steps=meter.steps,
        calls=meter.calls,
        tokens=meter.tokens,
    )
