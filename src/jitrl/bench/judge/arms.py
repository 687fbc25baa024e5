"""Judges of known reliability, and what is learned without one.

All arms follow the default settings as they are now; only who scores differs, and who is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jitrl.evaluators.simulated import Kind

What = Literal["outcome", "steps"]
RELIABILITIES = (0.7, 0.8, 0.9, 0.95, 1.0)
FEWER = (0.7, 0.9, 1.0)
BIAS = 0.3


@dataclass(frozen=True, slots=True)
class Arm:
    """One judge, or none.

    Attributes:
        line: What it belongs to in the chart; "" for a level that needs no judge.
        judge: Options of the simulated judge; ``environment`` for its rewards, ``nobody`` if
            nothing is scored.
        trusted: Whether rows that rest on a judge count by episode.
    """

    name: str
    line: str = ""
    judge: Mapping[str, Any] | Literal["environment", "nobody"] = "environment"
    agent: str = "jitrl"
    trusted: bool = True

    @property
    def reliability(self) -> float | None:
        """Of its judge, if it has one."""
        return None if isinstance(self.judge, str) else float(self.judge["reliability"])


def _judges(
    line: str, kind: Kind, bias: float = 0.0, reliabilities: Sequence[float] = RELIABILITIES
) -> tuple[Arm, ...]:
    return tuple(
        Arm(f"{line}, {p:g}", line, {"reliability": p, "bias": bias, "kind": kind})
        for p in reliabilities
    )


LEVELS = (
    Arm("nothing learned", judge="nobody"),
    Arm("static", agent="static"),
    Arm("environment"),
)
SETS: Mapping[What, tuple[Arm, ...]] = {
    "outcome": (
        *LEVELS,
        *_judges("unbiased", "outcome"),
        *_judges("positively biased", "outcome", BIAS),
        Arm("unbiased, 0.9, not trusted", judge={"reliability": 0.9}, trusted=False),
    ),
    "steps": (
        *LEVELS,
        *_judges("blind, steps", "steps", reliabilities=FEWER),
        *_judges("told, steps", "told", reliabilities=FEWER),
    ),
}
