"""The options of a guide: how it makes decisions of turns, and what it may bring about."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jitrl.errors import ConfigError
from jitrl.integrations.conversation import StateOf, Turn
from jitrl.integrations.tools import Form, Values, listed
from jitrl.types import BASES, Basis, Risk

Scores = Callable[[Turn, Sequence[str], str], Mapping[str, float]]
"""Logits by action, from the turn, all actions to be scored and the model's own one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """As ``Guide`` takes them; ``writes`` is ``None`` where all tools write."""

    scope: str
    state: StateOf
    values: Values
    unforced: frozenset[str]
    writes: frozenset[str] | None
    observed: bool
    score: Scores | None
    p0: float
    basis: Basis

    def logits(
        self, turn: Turn, actions: Sequence[str], own: str
    ) -> tuple[Mapping[str, float], str]:
        """Those of the actions, and what they come from."""
        if self.score is not None:
            return self.score(turn, actions, own), getattr(self.score, "__name__", "own")
        rest = math.log((1.0 - self.p0) / max(len(actions) - 1, 1))
        return {a: math.log(self.p0) if a == own else rest for a in actions}, "single"

    def risk(self, form: Form | None) -> Risk:
        """What an action may do: answering in words changes nothing."""
        is_writing = form is not None and (self.writes is None or form.tool in self.writes)
        return "write" if is_writing else "read"


def checked(
    *,
    scope: str,
    state: StateOf,
    values: Values | None,
    unforced: Collection[str],
    writes: Collection[str] | bool,
    observed: bool,
    score: Scores | None,
    p0: float,
    basis: Basis,
) -> Options:
    """The options of those values.

    Raises:
        ConfigError: If one is impossible.
    """
    if not isinstance(p0, float) or not 0.5 <= p0 < 1.0:
        raise ConfigError(f"p0 is {p0!r}; it must be a number from .5 to below 1")
    if basis not in BASES:
        raise ConfigError(f"basis is {basis!r}; it must be one of {', '.join(BASES)}")
    if not isinstance(observed, bool):
        raise ConfigError(f"observed is {observed!r}; it must be True or False")
    if not isinstance(scope, str):
        raise ConfigError(f"scope is {scope!r}; it must be a text")
    check_function("state", state)
    if score is not None:
        check_function("score", score)
    tools = frozenset() if writes is True else _tools(writes or (), "writes", ", or True for all")
    return Options(
        scope=scope,
        state=state,
        values=listed(values or {}),
        unforced=_tools(unforced, "unforced", ""),
        writes=None if writes is True or "*" in tools else tools,
        observed=observed,
        score=score,
        p0=p0,
        basis=basis,
    )


def check_function(name: str, given: object) -> None:
    """Refuse what is no function.

    Raises:
        ConfigError: If ``given`` cannot be called.
    """
    if not callable(given):
        raise ConfigError(f"{name} is {given!r}; it must be a function")


def _tools(given: Any, name: str, also: str) -> frozenset[str]:
    """Names of tools."""
    is_list = isinstance(given, Collection) and not isinstance(given, str)
    if not is_list or not all(isinstance(one, str) for one in given):
        raise ConfigError(f"{name} is {given!r}; it must be a list of names of tools{also}")
    return frozenset(given)
