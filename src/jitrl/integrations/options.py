"""How a guide makes decisions of turns: its options, and which values they may have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitrl.errors import ConfigError
from jitrl.integrations.conversation import StateOf, Turn
from jitrl.integrations.tools import Values, listed
from jitrl.types import BASES, Basis

if TYPE_CHECKING:
    from jitrl.integrations.guide import GuidedEpisode

Scores = Callable[[Turn, Sequence[str], str], Mapping[str, float]]
"""Logits by action, from the turn, all its actions and the model's own one."""

Check = Callable[["GuidedEpisode"], "float | bool | None"]
"""How an episode ended, from the world; ``None`` if that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """As ``Guide`` takes them."""

    scope: str
    state: StateOf
    values: Values
    unforced: frozenset[str]
    score: Scores | None
    p0: float
    check: Check | None
    basis: Basis


def checked(
    *,
    scope: str,
    state: StateOf,
    values: Values,
    unforced: Collection[str],
    score: Scores | None,
    p0: float,
    check: Check | None,
    basis: Basis,
) -> Options:
    """The options, if they can be used.

    Raises:
        ConfigError: If one has an impossible value.
    """
    if not isinstance(p0, float) or not 0.5 <= p0 < 1.0:
        raise ConfigError(f"p0 is {p0!r}; it must be a number from .5 to below 1")
    if basis not in BASES:
        raise ConfigError(f"basis is {basis!r}; it must be one of {', '.join(BASES)}")
    if isinstance(unforced, str) or not all(isinstance(name, str) for name in unforced):
        raise ConfigError(f"unforced is {unforced!r}; it must be a list of names of tools")
    for name, given in (("state", state), ("score", score), ("check", check)):
        if given is not None and not callable(given):
            raise ConfigError(f"{name} is {given!r}; it must be a function")
    if not isinstance(scope, str):
        raise ConfigError(f"scope is {scope!r}; it must be a text")
    return Options(
        scope=scope,
        state=state,
        values=listed(values),
        unforced=frozenset(unforced),
        score=score,
        p0=p0,
        check=check,
        basis=basis,
    )
