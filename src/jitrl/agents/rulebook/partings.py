"""Where bad attempts parted from a good one, and what the good one did there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jitrl.agents.past import PastEpisode
from jitrl.types import State


@dataclass(frozen=True, slots=True)
class Parting:
    """A step of a good attempt at which bad ones did something else.

    Attributes:
        times: Bad attempts that parted here.
    """

    state: State
    action: str
    times: int


def partings(good: PastEpisode, bad: Sequence[PastEpisode]) -> list[Parting]:
    """Where each bad attempt first left the way of the good one; most attempts first.

    An attempt that took the right action at a state, at any time, went along there.
    """
    way = good.direct
    left: dict[int, int] = {}
    for attempt in bad:
        taken: dict[State, set[str]] = {}
        for row in attempt.rows:
            taken.setdefault(row.state, set()).add(row.action)
        for place, row in enumerate(way):
            tried = taken.get(row.state)
            if tried is None:
                break
            if row.action not in tried:
                left[place] = left.get(place, 0) + 1
                break
    order = sorted(left, key=lambda place: (-left[place], place))
    return [Parting(way[place].state, way[place].action, left[place]) for place in order]
