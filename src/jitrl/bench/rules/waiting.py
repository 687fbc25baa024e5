"""How long a rule of a known effect is told before the gates retire it, by simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jitrl.agents.rulebook.telling import chance_of
from jitrl.core.effect import Promise, Use
from jitrl.core.gates import Gates, judged

EFFECTS = (-0.3, -0.6, -0.9)
_RUNS = 20
_TASKS = 3


def tellings(effect: float, *, runs: int = _RUNS, seed: int = 0) -> list[int]:
    """How often candidates of such an effect were told until they went, sorted.

    Each is drawn with the chance that the agent gives it, in tasks that succeed with a chance of
    ``.5 - effect / 2`` without it, and the gates are tried after every episode.
    """
    return sorted(_told(effect, np.random.default_rng([seed, run])) for run in range(runs))


def _told(effect: float, rng: np.random.Generator) -> int:
    uses, gates, promise = list[Use](), Gates(), Promise()
    while judged(uses, "candidate", gates).status == "candidate":
        chance = chance_of("candidate", promise.value, sum(use.given for use in uses), 0.2)
        given = bool(rng.random() < chance)
        won = rng.random() < 0.5 - effect / 2.0 + effect * given
        uses.append(Use(given, chance, float(won), f"t{int(rng.integers(_TASKS))}"))
        promise.add(uses[-1])
    return sum(use.given for use in uses)


def median_and_ninth(found: Sequence[int]) -> tuple[int, int]:
    """The median of sorted numbers, and what nine of ten do not exceed."""
    return found[len(found) // 2], found[-(-9 * len(found) // 10) - 1]
