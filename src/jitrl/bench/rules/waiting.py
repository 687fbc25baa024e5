"""How long a rule of a known effect is told before the gates retire it, by simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitrl.agents.rulebook.telling import chance_of
from jitrl.core.effect import Promise, Use
from jitrl.core.gates import Gates, Trial
from jitrl.types import RuleStatus

EFFECTS = (-0.3, -0.6, -0.9)
STATUSES: tuple[RuleStatus, ...] = ("candidate", "active")
_RUNS = 100
_TASKS = 3


def tellings(effect: float, status: RuleStatus, *, runs: int = _RUNS, seed: int = 0) -> list[int]:
    """How often rules of such an effect were told until they went, sorted.

    Each begins without uses, is drawn with the chance that the agent gives it, in tasks that
    succeed with a chance of ``.5 - effect / 2`` without it, and the gates are tried after every
    episode.
    """
    seeds = ([seed, run] for run in range(runs))
    return sorted(_told(effect, status, np.random.default_rng(one)) for one in seeds)


def _told(effect: float, status: RuleStatus, rng: np.random.Generator) -> int:
    trial, promise, told = Trial(Gates()), Promise(), 0
    while trial.judged(status).status == status:
        chance = chance_of(status, promise.value, told, 0.2)
        given = bool(rng.random() < chance)
        won = rng.random() < 0.5 - effect / 2.0 + effect * given
        use = Use(given, chance, float(won), f"t{int(rng.integers(_TASKS))}")
        trial.add(use)
        promise.add(use)
        told += given
    return told


def median_and_ninth(found: Sequence[int]) -> tuple[int, int]:
    """The median of sorted numbers, and what nine of ten do not exceed."""
    return found[len(found) // 2], found[-(-9 * len(found) // 10) - 1]
