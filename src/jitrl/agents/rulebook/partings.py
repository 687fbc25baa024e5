"""Rules by comparison: where bad attempts parted from a good one, and what the good one did there.

Nothing is asked of a model. Values that the goal names become placeholders, so that a rule of one
task speaks of the next one, too, and are filled in again when it is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jitrl.agents.induction import abstracted
from jitrl.agents.past import PastEpisode
from jitrl.agents.rulebook.contrasts import Contrast
from jitrl.agents.rulebook.words import words
from jitrl.types import State

_SEEN = 60  # characters of what a state shows that a rule names
PLACEHOLDER = re.compile(r"\{[^{}]*?\d+\}")
_TITLE = re.compile(r"“(.+?)”")


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


def distilled(contrast: Contrast, most: int) -> list[str]:
    """At most so many rules of a contrast, the clearest first."""
    found = partings(contrast.good[0], contrast.bad)[:most]
    return [sentence(contrast.goal, parting) for parting in found]


def sentence(goal: str, parting: Parting) -> str:
    """What to do there, as a rule.

    What not to do is left unsaid: a small model takes what is named, whether or not a *not* stands
    before it.
    """
    flow = abstracted(goal, [parting.action])
    where, (action,) = seen(parting.state), flow.steps
    return words(goal).rule.format(goal=flow.title, where=where, action=action)


def seen(state: State) -> str:
    """What tells where one is: the place, or the beginning of what is shown."""
    if state.place:
        return state.place
    text = " ".join(state.text.split())
    head = re.split(r"(?<=[.!?。！？])\s|\s\|\|\s", text, maxsplit=1)[0].rstrip(".!?。！？")
    return head if len(head) <= _SEEN else head[:_SEEN].rsplit(" ", 1)[0]


def title(rule: str) -> str:
    """The goal that a rule names, with its placeholders; "" if it names none."""
    named = _TITLE.search(rule)
    return named[1] if named else ""


def speaks_of(rule: str, goal: str) -> bool:
    """Whether a goal is the one that a rule names, whatever its values."""
    named = title(rule)
    return not named or _values(named, goal) is not None


def filled(rule: str, goal: str) -> str:
    """The rule with the values of a goal in place of its placeholders, where the goal fits its."""
    for name, value in (_values(title(rule), goal) or {}).items():
        rule = rule.replace(name, value)
    return rule


def _values(named: str, goal: str) -> dict[str, str] | None:
    """What stands for each placeholder; ``None`` if the goal is another."""
    names = list(dict.fromkeys(PLACEHOLDER.findall(named)))
    pattern = re.escape(named)
    for n, name in enumerate(names):
        pattern = pattern.replace(re.escape(name), f"(?P<v{n}>.+?)", 1)
        pattern = pattern.replace(re.escape(name), f"(?P=v{n})")
    found = re.fullmatch(pattern, goal)
    return None if found is None else {name: found[f"v{n}"] for n, name in enumerate(names)}
