"""What a rule has shown: its effect where it was told, beside where it was held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jitrl.core.effect import Effect
from jitrl.core.gates import Gates, drawn, measure
from jitrl.types import RuleCounts, ScoredUse

GATES = Gates()
"""By whose bounds effects are shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a rule has shown.

    Attributes:
        obeyed, occasions: Steps where it was told and its condition held; at so many of them the
            episode did as it says.
        unknown: Those at which nobody can tell, as it names none of the actions there.
        held_obeyed, held_occasions, held_unknown: The same where it was held out.
    """

    effect: Effect
    counts: RuleCounts
    obeyed: int
    occasions: int
    unknown: int
    held_obeyed: int
    held_occasions: int
    held_unknown: int

    def plain(self) -> dict[str, Any]:
        """As JSON has it: the estimate as it is; a mean of nothing is none."""
        seen = self.effect
        mean = seen.mean if seen.uses else None
        return {
            "effect": {
                "mean": mean,
                "low": seen.low,
                "high": seen.high,
                "uses": seen.uses,
                "told": seen.given,
                "held_out": seen.held,
            },
            "wins": self.counts.wins,
            "held_wins": self.counts.held_wins,
            "occasions": self.occasions,
            "obeyed": self.obeyed,
            "unknown": self.unknown,
            "held_occasions": self.held_occasions,
            "held_obeyed": self.held_obeyed,
            "held_unknown": self.held_unknown,
        }

    @property
    def is_anew(self) -> bool:
        """Whether the effect changed, so that it rests on later uses alone."""
        return self.effect.uses < self.effect.given + self.effect.held

    @property
    def is_beyond(self) -> bool:
        """Whether the estimate is beyond its bounds, and so the nearer one is shown."""
        return bool(self.bounds) and self.effect.shown != self.effect.mean

    @property
    def bounds(self) -> str:
        """The effect with its bounds, within [-1, 1]; "" without a use it rests on."""
        seen = self.effect
        return str(seen) if seen.uses else ""


def shown(uses: Sequence[ScoredUse], counts: RuleCounts | None) -> Shown:
    """What the scored uses of a rule show."""
    told, held = ([one.use for one in uses if one.use.told is is_told] for is_told in (True, False))
    return Shown(
        measure(drawn(uses), GATES),
        counts or RuleCounts(),
        sum(use.obeyed for use in told),
        sum(use.occasions for use in told),
        sum(use.unknown for use in told),
        sum(use.obeyed for use in held),
        sum(use.occasions for use in held),
        sum(use.unknown for use in held),
    )
