"""How rules are told: the settings of it, and the chance of each."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.agents.rulebook.meaning import Meaning
from jitrl.types import RuleStatus

MOST_TOLD = 3
"""Rules that a prompt holds at most, unless the agent's option says otherwise."""
ROOM = 200
"""Tokens of all rules in a prompt, unless the agent's option says otherwise."""

_LEAST = 0.2  # chance that a rule is told at least
_EVEN = 0.5  # promise below which an active rule seems to do harm
_KNOWN = 50  # uses after which half as much is held out


@dataclass(frozen=True, slots=True)
class Telling:
    """How rules are chosen; as the options of the agent.

    Attributes:
        meaning: What finds rules that name no word of a goal; ``None``: words alone do.
    """

    told: int
    tokens: int
    overlap: float
    explore: float
    holdout: float
    success: float
    meaning: Meaning | None = None


def chance_of(status: RuleStatus, promise: float, told: int, holdout: float) -> float:
    """Chance that a rule is told: all but a share, or, of one that has to show it, by its promise.

    That is a candidate, and an active rule that seems to do harm: told nearly always, it would be
    held out too rarely for the gates to find that it does.

    Args:
        promise: About how likely its effect is above 0, as ``core.effect.Promise`` has it.
        told: In how many scored episodes it was.
        holdout: Share that is held out at first.
    """
    chance = 1.0 - holdout / (1.0 + told / _KNOWN)
    has_to_show = status == "candidate" or promise < _EVEN
    return min(chance, max(_LEAST, promise)) if has_to_show else chance
