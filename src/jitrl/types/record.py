"""What happened: episodes, judgments, and the memory rows made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from jitrl.types.choice import Decision
from jitrl.types.world import State

Basis = Literal[
    "test",
    "state_check",
    "human",
    "user_feedback",
    "llm_judge",
    "agent_self_report",
    "import",
]
"""What an outcome rests on. The first three are trusted unless the settings say otherwise."""

BASES: tuple[Basis, ...] = get_args(Basis)
TRUSTED_BASES: frozenset[Basis] = frozenset({"test", "state_check", "human"})

LARGEST = 1e100
"""Most that a reward, an outcome or a logit may be; sums of them stay finite."""

RowStatus = Literal["active", "quarantined", "retired"]
EpisodeStatus = Literal["terminated", "truncated", "aborted"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended, from whom, and on what basis.

    Attributes:
        value: Added to the last step's reward (True counts 1, False 0).
        basis: What it rests on.
        evaluator: Name of the evaluator that said so.
        told: Whether that evaluator had seen the gold outcome.
        principal: Who is answerable for it; the source of untrusted rows.
    """

    value: float
    basis: Basis = "test"
    evaluator: str = "outcome"
    told: bool = False
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Transition:
    """One decided step of an episode.

    Attributes:
        reward: Reward given during the episode for this step; ``None`` when none was given.
        next_state: State after the action; ``None`` at the end or when it is not known.
        novelty: How new the newest action was that the state still held when it was left, [0, 1].
    """

    state: State
    action: str
    decision: Decision | None = None
    reward: float | None = None
    next_state: State | None = None
    novelty: float = 0.0


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished run as the journal keeps it.

    Attributes:
        key: Idempotency key; an episode is stored once per key.
        terminated: The task ended by itself (else it was cut off).
        holdout: Acted without memory on purpose; learned from like any other.
    """

    key: str
    task: str
    scope: str
    steps: tuple[Transition, ...]
    status: EpisodeStatus = "terminated"
    outcome: Outcome | None = None
    agent: str = "jitrl"
    config: str = ""
    principal: str = ""
    holdout: bool = False
    started: float = 0.0
    finished: float = 0.0
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scored:
    """Step rewards, shape [T], in the evaluator's own units.

    Attributes:
        info: How they came about, for the journal: scores, verdicts, flags. Plain JSON values.
    """

    rewards: tuple[float, ...]
    evaluator: str
    basis: Basis = "test"
    told: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unscored:
    """Could not judge. Nothing is learned from the episode, and it is counted.

    Attributes:
        reason: A few words, the same for the same cause; reports count by it.
        info: What it rests on, for the journal: raw answers of a model. Plain JSON values.
    """

    reason: str
    evaluator: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)


Judgment = Scored | Unscored


@dataclass(frozen=True, slots=True)
class Row:
    """One memory row, derived from a step of an episode and a judgment.

    Attributes:
        id: 0 until it is stored; unique in a memory file.
        version: Version of the memory that brought it.
        step: Index in the episode.
        state: The state acted in.
        next_state: The state that followed; ``None`` if the task ended there or it is unknown.
        terminal: Whether the task ended with this step.
        source: Episode for trusted bases, principal for others; influence is bounded per source.
        digest: Digest of evaluator, gamma and schema that derived it.
        novelty: How new the newest action was that the state still held when it was left, [0, 1].
        state_id, next_state_id: The store's ids of the two states (0: not stored, or no state).
    """

    episode: str
    step: int
    task: str
    scope: str
    state: State
    action: str
    reward: float
    ret: float
    next_state: State | None
    terminal: bool
    evaluator: str
    told: bool
    basis: Basis
    principal: str
    source: str
    digest: str
    novelty: float = 0.0
    status: RowStatus = "active"
    id: int = 0
    version: int = 0
    state_id: int = 0
    next_state_id: int = 0

    @property
    def trusted(self) -> bool:
        """Whether the basis is one of the trusted ones."""
        return self.basis in TRUSTED_BASES
