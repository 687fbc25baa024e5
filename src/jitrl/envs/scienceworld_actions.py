"""Actions of ScienceWorld: which ones are worth offering, and other names for the same one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

ROOMS = (
    "art studio",
    "bathroom",
    "bedroom",
    "foundry",
    "greenhouse",
    "hallway",
    "kitchen",
    "living room",
    "outside",
    "workshop",
)
_IDLE = ("look around", "inventory", "task", "reset task")
_IDLE_VERBS = ("look at ", "examine ", "go to door to ")
_WIRING = ("connect ", "disconnect ")
_SEPARATORS = {
    "move ": " to ",
    "pour ": " into ",
    "dunk ": " into ",
    "use ": " on ",
    "mix ": "",
    "focus on ": "",
    "pick up ": "",
    "look in ": "",
    "eat ": "",
}
_SCENERY = {
    *("agent", "air", "inventory", "sewer"),
    *(name for room in ROOMS for name in (room, f"{room} door", f"door to {room}")),
}
_FIXED = re.compile(
    r"\b(bath tub|bed|beehive|blast furnace|bookcase|chair|closet|couch|counter|cupboard|desk|drain"
    r"|drawer|fire pit|fountain|freezer|fridge|ground|inclined plane|oven|painting|picture|shelf"
    r"|sink|stove|table|toilet)\b"
)
_VESSEL = re.compile(r"\b(bottle|bowl|box|cup|flask|glass|jar|jug|pot|tin)\b")
_PORTABLE = ("move ", "pour ", "dunk ", "mix ", "pick up ")
_FROM_VESSELS = ("pour ", "dunk ", "mix ")
_NEAR = 0.6  # share of words, of actions that mean the same


def lean(actions: Sequence[str], *, wires: bool) -> tuple[str, ...]:
    """The valid actions without those that no task is solved by, sorted.

    Left out are looking at things and other actions that show what the state shows anyway; a second
    name of a way; using rooms, doors and air as if they were things; carrying furniture away;
    pouring, dunking and mixing what is no vessel; and, unless ``wires``, connecting things.
    """
    known = set(actions)
    return tuple(sorted(a for a in known if not _is_idle(a, known, wires)))


def _is_idle(action: str, known: set[str], wires: bool) -> bool:
    if action in _IDLE or action.startswith(_IDLE_VERBS):
        return True
    if action.startswith(_WIRING):
        return not wires
    room = action.removeprefix("teleport to ")
    if room != action:
        return f"go to {room}" in known
    for verb, separator in _SEPARATORS.items():
        if action.startswith(verb):
            first, *rest = _things(action.removeprefix(verb), separator)
            if verb in _PORTABLE and _FIXED.search(first.partition(" in ")[0]):
                return True
            if verb in _FROM_VESSELS and not _VESSEL.search(first):
                return True
            return any(thing in _SCENERY for thing in (first, *rest))
    return False


def _things(rest: str, separator: str) -> list[str]:
    return rest.split(separator) if separator else [rest]


def closest(action: str, offered: Sequence[str], valid: str, things: str) -> str | None:
    """The offered action that means ``action``: by its other names, else by the words they share.

    Args:
        action: From the package's own path, which says ``egg in inventory`` where the list of valid
            actions says ``egg``.
        valid: The package's JSON of valid actions with the ids of their objects.
        things: Its JSON of objects with all that each is called.

    Returns:
        ``None`` if no offered action with the same verb comes near.
    """
    known: Mapping[str, Mapping[str, Any]] = json.loads(things)
    verb, best, nearest = action.split()[0], None, (_NEAR, 0.0)
    for entry in sorted(json.loads(valid)["validActions"], key=lambda entry: entry["action"]):
        name = str(entry["action"])
        if name not in offered or name.split()[0] != verb:
            continue
        named = [known[str(id)]["referents"] for id in entry["obj_ids"] if str(id) in known]
        for text in _renamed(name, named):
            if text == action:
                return name
            near = (_shared(_bare(text), _bare(action)), _shared(text, action))
            if near > nearest:
                best, nearest = name, near
    return best


def _bare(action: str) -> str:
    """``action`` without where its things are."""
    if action.startswith("pour ") and " into " not in action:
        source, _, target = action.rpartition(" in ")
        action = f"{source} into {target}"
    return re.sub(r" in .*?(?= to | into | on |$)", "", action)


def _shared(one: str, other: str) -> float:
    """Share of the words of both that are in each."""
    ones, others = set(one.lower().split()), set(other.lower().split())
    return len(ones & others) / len(ones | others)


def _renamed(action: str, named: Sequence[Sequence[str]]) -> Iterator[str]:
    """``action`` with each of its objects called by each of its names."""
    template = action
    for place, names in enumerate(named):
        used = max((n for n in names if n in template), key=len, default=None)
        if used is None:
            yield action
            return
        template = template.replace(used, f"\0{place}", 1)
    for choice in product(*named):
        text = template
        for place, name in enumerate(choice):
            text = text.replace(f"\0{place}", name, 1)
        yield text
