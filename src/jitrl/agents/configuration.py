"""What ``evotest`` evolves: configurations, the tree they form, and how the next one is chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from jitrl.agents.asked import read_field
from jitrl.agents.past import PastEpisode
from jitrl.agents.words import look, words
from jitrl.types import State

Shown = Literal["all", "guidance", "memory"]

COLDEST, HOTTEST = 0.25, 2.0
_SHOWN: tuple[Shown, ...] = get_args(Shown)
_PLACE = 200  # characters of a state by which it is remembered
_LINES, _PLACES = 8, 40  # most sentences of guidance, and remembered actions


@dataclass(frozen=True, slots=True)
class Configuration:
    """How an episode is to be gone about.

    Attributes:
        guidance: Sentences in front of every step.
        remembered: Place to action, for what was right there.
        temperature: Factor of the agent's prior temperature, in [``COLDEST``, ``HOTTEST``].
        explore: Whether the prompt asks for what was not tried before.
        shown: Which of the notes are shown.
    """

    guidance: tuple[str, ...] = ()
    remembered: Mapping[str, str] = field(default_factory=dict)
    temperature: float = 1.0
    explore: bool = False
    shown: Shown = "all"

    def values(self) -> dict[str, Any]:
        """As plain values; ``read_configuration`` reads them."""
        return {
            "guidance": list(self.guidance),
            "remember": [{"place": p, "action": a} for p, a in self.remembered.items()],
            "temperature": self.temperature,
            "explore": self.explore,
            "notes": self.shown,
        }


@dataclass(slots=True)
class Node:
    """A configuration and how it did."""

    configuration: Configuration
    parent: str = ""
    scores: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Mean score; 0 before the first."""
        return sum(self.scores) / len(self.scores) if self.scores else 0.0


ROOT = "root"
"""Name of the configuration that says nothing; others are named by the episode they came from."""


def place(state: State) -> str:
    """By what a state is remembered."""
    return look(state, _PLACE)


def read_configuration(found: Mapping[str, Any]) -> Configuration:
    """A configuration of plain values, cut to what is allowed.

    Raises:
        ValueError: If a value is missing or of another kind.
    """
    lines = read_field(found, "guidance", list)
    kept = dict[str, str]()
    for one in read_field(found, "remember", list):
        if not isinstance(one, dict):
            raise ValueError(f"what is remembered is {one!r}; it must be an object")
        where = " ".join(read_field(one, "place", str).split())[:_PLACE]
        kept[where] = read_field(one, "action", str)
    if not all(isinstance(line, str) for line in lines):
        raise ValueError("guidance must be a list of texts")
    temperature = found.get("temperature")
    if isinstance(temperature, bool) or not isinstance(temperature, int | float):
        raise ValueError(f"'temperature' is {temperature!r}; it must be a number")
    if not -math.inf < temperature < math.inf:
        raise ValueError(f"'temperature' is {temperature}; it must be finite")
    shown = next((word for word in _SHOWN if word == found.get("notes")), None)
    if shown is None:
        raise ValueError(f"'notes' is {found.get('notes')!r}; it must be one of {_SHOWN}")
    return Configuration(
        tuple(" ".join(line.split()) for line in lines if line.strip())[-_LINES:],
        dict(list(kept.items())[-_PLACES:]),
        float(min(max(temperature, COLDEST), HOTTEST)),
        read_field(found, "explore", bool),
        shown,
    )


def tree(episodes: Iterable[PastEpisode]) -> tuple[dict[str, Node], str]:
    """The configurations that episodes of one task used and led to, and the one used last.

    What an imported journal holds in their place, in another form, is no configuration.
    """
    nodes, last = {ROOT: Node(Configuration())}, ROOT
    for episode in episodes:
        told = episode.info.get("evotest")
        used = told.get("used") if isinstance(told, Mapping) else None
        if not isinstance(used, str) or used not in nodes:
            continue  # of another agent, or of a configuration whose episode was taken back
        last = used
        nodes[last].scores.append(episode.score)
        child = episode.info.get("configuration")
        if isinstance(child, Mapping):
            with suppress(ValueError):
                nodes[episode.key] = Node(read_configuration(child), last)
    return nodes, last


def chosen(nodes: Mapping[str, Node], last: str, width: float) -> str:
    """The next configuration: of the last one, its children and the best one, by upper bounds.

    The bound is ``mean + width * sqrt(ln(1 + N) / (1 + n))``, ``N`` tries of all of them; what was
    not tried yet is credited with its parent's mean. Among equals, the newest.
    """
    tried = [name for name, node in nodes.items() if node.scores]
    best = max(tried, key=lambda name: nodes[name].mean, default=ROOT)
    pool = [name for name, node in nodes.items() if name in (last, best) or node.parent == last]
    total = sum(len(nodes[name].scores) for name in pool)

    def bound(name: str) -> float:
        node = nodes[name]
        mean = node.mean if node.scores or not node.parent else nodes[node.parent].mean
        return mean + width * math.sqrt(math.log1p(total) / (1 + len(node.scores)))

    return max(reversed(pool), key=bound)


def evolved(
    parent: Configuration, lived: PastEpisode, *, success: float, best: float
) -> Configuration:
    """The child that rules make of a configuration and the episode it led to.

    After a success: what led there is remembered, and chance is cooled down. Else: what was paid is
    remembered, what failed or was repeated is warned of, and where the best so far was not passed,
    chance is warmed up.

    Args:
        best: Best score of the task before this episode; minus infinity if there was none.
    """
    said, rows, last = words(lived.goal), lived.rows, lived.rows[-1]
    kept = dict(parent.remembered)
    if lived.score >= success:
        right = lived.direct
        lines = [said.repeat_success.format(actions="; ".join(row.action for row in right[:20]))]
        warmth, explore = parent.temperature / 2, False
    else:
        paid = [i for i, row in enumerate(rows) if row.reward > 0]
        right = rows[: paid[-1] + 1] if paid else ()
        lines = [*parent.guidance]
        if lived.ended:
            lines.append(said.avoid.format(place=look(last.state), action=last.action))
        else:
            lines += [*_stuck(lived), said.hurry]
        is_better = lived.score > best
        warmth, explore = parent.temperature * (1.0 if is_better else 1.25), not is_better
    for row in right:
        kept.pop(place(row.state), None)
        kept[place(row.state)] = row.action
    return Configuration(
        tuple(dict.fromkeys(reversed(lines)))[:_LINES][::-1],
        dict(list(kept.items())[-_PLACES:]),
        min(max(warmth, COLDEST), HOTTEST),
        explore,
        "all",
    )


def _stuck(lived: PastEpisode) -> list[str]:
    """Warnings of what was taken again in a state that it had already been taken in."""
    said, seen, found = words(lived.goal), set[tuple[State, str]](), dict[str, None]()
    for row in lived.rows:
        if (row.state, row.action) in seen:
            found[said.stuck.format(place=look(row.state), action=row.action)] = None
        seen.add((row.state, row.action))
    return list(found)[:2]
