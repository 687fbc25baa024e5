"""What the service answers, as its client has it; the service describes each value."""

from __future__ import annotations

import msgspec


class Choice(msgspec.Struct, frozen=True):
    """What to do; see the service's own description of each value."""

    action: str
    decision: str = ""
    step: int = 0
    degraded: bool = False
    reason: str = ""
    changed: bool = False
    probability: float | None = None
    prior: float | None = None
    propensity: float | None = None
    source: str = "caller"
    mode: str = "act"
    holdout: bool = False
    version: int | None = None
    rules: list[str] = []
    notes: str = ""


class Notes(msgspec.Struct, frozen=True):
    """What the model's prompt is to say at a step."""

    episode: str
    step: int
    notes: str
    rules: list[str]
    degraded: bool


class Seat(msgspec.Struct, frozen=True):
    """An episode as the service has it."""

    id: str
    key: str
    task: str
    scope: str
    status: str
    holdout: bool
    steps: int
    notes: str = ""
    rules: list[str] = []


class Receipt(msgspec.Struct, frozen=True):
    """What was stored."""

    episode: str
    version: int
    rows: int
    duplicate: bool


class Row(msgspec.Struct, frozen=True):
    """A row of the memory."""

    id: int
    episode: str
    step: int
    task: str
    scope: str
    state: dict[str, str]
    action: str
    reward: float
    ret: float
    basis: str
    evaluator: str
    told: bool
    principal: str
    source: str
    status: str
    version: int


class Rows(msgspec.Struct, frozen=True):
    """A page of rows; ``next`` is ``before`` of the next page."""

    rows: list[Row]
    next: int | None


class Effect(msgspec.Struct, frozen=True):
    """Mean score told minus held out, with its bounds, and of how many episodes."""

    mean: float | None
    low: float
    high: float
    told: int
    held_out: int


class Rule(msgspec.Struct, frozen=True):
    """A rule in words, and what it has shown."""

    id: str
    text: str
    scope: str
    kind: str
    status: str
    reason: str
    author: str
    version: int
    effect: Effect
    wins: int
    occasions: int
    obeyed: int
    unknown: int


class Marked(msgspec.Struct, frozen=True):
    """How many rows changed."""

    status: str
    changed: int
    version: int
