"""The arms of the transfer results: which agent, with which memory of other tasks.

All of them follow the default settings as they are now, but the tables, whose options are fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from jitrl.config import Rewards

Prior = Literal["noisy", "stated", "uniform"]
Learned = Literal[
    "nothing",
    "as it is",
    "goals shuffled",
    "another menu",
    "10 % planted",
    "30 % planted",
    "30 % planted, untrusted",
]
"""What the memory holds: of other tasks what happened, or what was made of it."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One agent with one memory.

    Attributes:
        agent: Entry point of ``jitrl.agents``.
        memory: Settings of the memory that differ from the default ones.
        learned: What the memory holds.
        rewards: When the agent learns of rewards.
    """

    name: str
    agent: str = "jitrl"
    memory: Mapping[str, Any] = field(default_factory=dict)
    learned: Learned = "as it is"
    rewards: Rewards = "after"


_ROWS: Mapping[str, Any] = {"rule": {"transfer": 0.0}}

COLD = Arm("cold", learned="nothing")
DEFAULT = Arm("default")

MAIN: tuple[Arm, ...] = (
    COLD,
    DEFAULT,
    Arm("rows of other tasks", memory=_ROWS),
    Arm("ucb", agent="ucb"),
    Arm("thompson", agent="thompson"),
)
WRONG: tuple[Arm, ...] = (
    COLD,
    DEFAULT,
    Arm("goals shuffled", learned="goals shuffled"),
    Arm("another menu", learned="another menu"),
    Arm("10 % planted", learned="10 % planted"),
    Arm("30 % planted", learned="30 % planted"),
    Arm("30 % planted, untrusted", learned="30 % planted, untrusted"),
)
TEXT: tuple[Arm, ...] = (
    COLD,
    DEFAULT,
    Arm("rows of other tasks", memory=_ROWS),
    Arm("cold, rewards during", learned="nothing", rewards="during"),
    Arm("default, rewards during", rewards="during"),
)

SETS: Mapping[str, tuple[Arm, ...]] = {"backoffice": MAIN, "wrong": WRONG, "text": TEXT}
