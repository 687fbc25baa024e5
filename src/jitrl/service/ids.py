"""Ids that stand in an address: an episode's key as it is where that is plain, else in base 64."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error

from jitrl.service.errors import Unknown

LONGEST = 200
"""Characters of a key."""

_PLAIN = re.compile(rf"[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{LONGEST - 1}}}")
_MARK = "~"
_DIGITS = 9  # of a step


def episode_id(key: str) -> str:
    """The id of an episode: ``ticket-4711``, or ``~`` and the key in base 64."""
    if _PLAIN.fullmatch(key):
        return key
    return _MARK + urlsafe_b64encode(key.encode()).decode().rstrip("=")


def episode_key(id: str) -> str:
    """The key that an id stands for.

    Raises:
        Unknown: If it is no id.
    """
    if not id.startswith(_MARK):
        if _PLAIN.fullmatch(id):
            return id
        raise Unknown(f"there is no episode {id[:LONGEST]!r}")
    try:
        key = urlsafe_b64decode(id[1:] + "=" * (-len(id[1:]) % 4)).decode()
    except (Error, ValueError) as error:
        raise Unknown(f"there is no episode {id[:LONGEST]!r}") from error
    if not key or len(key) > LONGEST or episode_id(key) != id:  # each has one id
        raise Unknown(f"there is no episode {id[:LONGEST]!r}")
    return key


def is_episode(id: str) -> bool:
    """Whether an episode can have this id."""
    try:
        episode_key(id)
    except Unknown:
        return False
    return True


def decision_id(key: str, step: int) -> str:
    """The id of a decision: that of its episode, a colon, and the number of the step."""
    return f"{episode_id(key)}:{step}"


def decision_place(id: str) -> tuple[str, int]:
    """Key and step that a decision's id stands for.

    Raises:
        Unknown: If it is no id.
    """
    episode, mark, step = id.rpartition(":")
    if not (mark and step.isascii() and step.isdigit()) or len(step) > _DIGITS:
        raise Unknown(f"there is no decision {id[:LONGEST]!r}; ids look like EPISODE:STEP")
    if step != str(int(step)):
        raise Unknown(f"there is no decision {id[:LONGEST]!r}; ids look like EPISODE:STEP")
    return episode_key(episode), int(step)
