"""Arms of all benches: how they are chosen by name, and how the tables of returns were tuned."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

from jitrl.bench.pool import Arm
from jitrl.errors import InputError

AnyArm = TypeVar("AnyArm", bound=Arm)

TABLES: Mapping[str, Mapping[str, Any]] = {
    "ucb": {"gamma": 0.6, "width": 0.0001},
    "thompson": {"gamma": 0.6, "sd": 0.0001},
}
"""Options of these agents, whatever becomes of their defaults."""


def chosen(
    arms: Sequence[AnyArm], pattern: str, always: Collection[str] = ()
) -> tuple[AnyArm, ...]:
    """The first arm, those that are always in, and those whose name matches, with their bases.

    Raises:
        InputError: If the pattern is no regular expression, or matches no arm.
    """
    try:
        found = [arm for arm in arms if re.search(pattern, arm.name)]
    except re.error as error:
        raise InputError(f"--arms {pattern!r} is no regular expression: {error}") from error
    if not found:
        names = ", ".join(repr(arm.name) for arm in arms)
        raise InputError(f"--arms {pattern!r} matches no arm; there are {names}")
    bases = {getattr(arm, "against", "") for arm in found}
    kept = {arms[0].name, *always, *bases, *(arm.name for arm in found)}
    return tuple(arm for arm in arms if arm.name in kept)
