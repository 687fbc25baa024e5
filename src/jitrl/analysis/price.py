"""What learning at inference costs beside fine-tuning, and from which volume on it is dearer."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from math import isclose
from typing import Literal

from jitrl.analysis.spend import Spent
from jitrl.errors import ConfigError

Origin = Literal["assumed", "given", "measured"]

_MILLION = 1e6
_LARGEST = 1e12


def _assumed(value: float, help: str) -> float:
    """A field with what it is, which is the help of its option, too."""
    return field(default=value, metadata={"help": help})


@dataclass(frozen=True, slots=True)
class Assumptions:
    """All that the account rests on. The defaults are round numbers and no offers of anybody.

    What each of them is, its ``help`` says.
    """

    tokens_in: float = _assumed(
        40_000.0, "Tokens that acting reads in one attempt, all of its steps together."
    )
    tokens_out: float = _assumed(2_000.0, "Tokens that acting writes in one attempt.")
    price_in: float = _assumed(0.5, "Dollars per million tokens read.")
    price_out: float = _assumed(2.0, "Dollars per million tokens written.")
    tasks: float = _assumed(100.0, "Tasks that are learned on.")
    attempts: float = _assumed(5.0, "Attempts at each task in a round.")
    rounds: float = _assumed(3.0, "Rounds over all tasks.")
    judging: float = _assumed(0.2, "What judging an attempt costs, as a share of acting.")
    learning: float = _assumed(0.1, "What writing down lessons of it costs, as a share of acting.")
    used: float = _assumed(0.0, "Share of the tasks in use that are judged and learned from, too.")
    gpus: float = _assumed(8.0, "GPUs that fine-tuning takes.")
    hours: float = _assumed(100.0, "Hours that it takes them, failed tries included.")
    gpu_price: float = _assumed(2.5, "Dollars for an hour of a GPU.")
    served: float = _assumed(
        500.0, "Tasks that a GPU which serves the tuned model can do in an hour."
    )
    load: float = _assumed(0.5, "Share of the hours paid for in which it has something to do.")

    def __post_init__(self) -> None:
        """Reject what no account can be made of."""
        for name in NAMES:
            value = getattr(self, name)
            if not 0 <= value <= _LARGEST:
                raise ConfigError(f"{name} is {value}; it must be from 0 to {_LARGEST:g}")
        for name in ("used", "load"):
            if getattr(self, name) > 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; a share is at most 1")
        for name in ("served", "load"):
            if getattr(self, name) < 1 / _LARGEST:
                raise ConfigError(
                    f"{name} is {getattr(self, name)}; it must be at least {1 / _LARGEST:g}, as "
                    "what is never served has no price"
                )


NAMES = tuple(one.name for one in fields(Assumptions))


Cheaper = Literal["memory", "tuning", "same"]


@dataclass(frozen=True, slots=True)
class Way:
    """What one way costs: dollars paid once, and dollars for each task in use."""

    once: float
    each: float

    def total(self, volume: float) -> float:
        """Dollars by the time so many tasks were done."""
        return self.once + self.each * volume


@dataclass(frozen=True, slots=True)
class Account:
    """Both ways side by side.

    Attributes:
        attempts: Attempts that are learned from.
        beside: Share of what learning at inference is paid once that goes into judging and
            learning.
        even: Tasks in use after which both have cost the same; ``None`` if one is cheaper at any
            volume, or both cost the same at any.
    """

    attempts: float
    beside: float
    memory: Way
    tuning: Way
    even: float | None

    def cheaper(self, volume: float) -> Cheaper:
        """The cheaper way for so many tasks."""
        return _cheaper(_beyond(self.memory.total(volume), self.tuning.total(volume)))

    @property
    def always(self) -> Cheaper:
        """Where there is no even volume: the way that is cheaper from the first task in use on."""
        each = _beyond(self.memory.each, self.tuning.each)
        return _cheaper(each or _beyond(self.memory.once, self.tuning.once))


def _beyond(memory: float, tuning: float) -> float:
    """Dollars by which learning at inference is dearer; 0 where only rounding tells them apart."""
    return 0.0 if isclose(memory, tuning, rel_tol=1e-9) else memory - tuning


def _cheaper(beyond: float) -> Cheaper:
    return "same" if beyond == 0.0 else "tuning" if beyond > 0.0 else "memory"


def account(given: Assumptions) -> Account:
    """Dollars of both ways.

    An attempt costs ``tokens_in * price_in + tokens_out * price_out``. Learning at inference is
    paid once for ``tasks * attempts * rounds`` attempts, judged and learned from; then each task
    in use is an attempt. Fine-tuning is paid once in GPU hours; then each task in use takes
    ``1 / (served * load)`` of one.
    """
    acting = (given.tokens_in * given.price_in + given.tokens_out * given.price_out) / _MILLION
    beside = given.judging + given.learning
    attempts = given.tasks * given.attempts * given.rounds
    memory = Way(attempts * acting * (1 + beside), acting * (1 + given.used * beside))
    tuning = Way(
        given.gpus * given.hours * given.gpu_price,
        given.gpu_price / (given.served * given.load),
    )
    once, each = -_beyond(memory.once, tuning.once), _beyond(memory.each, tuning.each)
    even = once / each if each and once / each > 0 else None
    return Account(attempts, beside / (1 + beside), memory, tuning, even)


def measured(found: Spent, given: Assumptions) -> Assumptions:
    """``given`` with the tokens and shares of a run."""
    acting = found.of("act")
    beside = {phase: found.of(phase).dollars for phase in ("judge", "learn")}
    if acting.dollars:
        beside = {phase: dollars / acting.dollars for phase, dollars in beside.items()}
    else:
        beside = {"judge": given.judging, "learn": given.learning}
    return replace(
        given,
        tokens_in=acting.tokens_in / found.episodes,
        tokens_out=acting.tokens_out / found.episodes,
        judging=beside["judge"],
        learning=beside["learn"],
    )
