"""What an environment shows: tasks, observations and comparable states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STAGE = "stage: "
"""What the place of a state begins with that is compared with no other place."""


@dataclass(frozen=True, slots=True)
class State:
    """Comparable key of where the agent stands, made by a codec.

    Attributes:
        text: What similarity compares.
        context: A second text (goal, history). It joins ``text`` in one bag, or is compared
            apart with its own weight, as the retrieval settings say.
        place: A key (page, room) that joins the bag as one token, or that must be equal, as the
            retrieval settings say. One that begins with ``stage: `` must be equal whatever they
            say: how far a task is, where long texts stay the same from its first step to its last.
    """

    text: str
    context: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do in an environment; ``id`` is unique in it.

    Attributes:
        family: Kind of task; transfer by family leaves all of it out.
        params: Values that fill the template.
    """

    id: str
    goal: str
    scope: str = ""
    family: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation:
    """Raw view of the environment.

    Attributes:
        text: The page or room as the environment prints it (element ids may change each load).
        goal: What the agent is asked to do.
        actions: Valid actions in the environment's own syntax; empty if it does not list them.
        url: Address of the page, where there is one.
        info: Further values a codec may use; never shown to an agent. ``checks`` says what of the
            task is done: name to truth value or share in [0, 1].
    """

    text: str
    goal: str
    actions: tuple[str, ...] = ()
    url: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimeStep:
    """What ``reset`` and ``step`` return. ``reward`` belongs to the action just taken."""

    observation: Observation
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
