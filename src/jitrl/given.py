"""What a caller of the library hands in: each value is checked before anything is done with it."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import get_args

import numpy as np

from jitrl.errors import InputError, StoreError
from jitrl.types import BASES, Basis, Candidate, EpisodeStatus, Outcome, State

Candidates = Mapping[str, float] | Iterable[Candidate]

_LONGEST = 1_000_000  # characters of a state that are looked at
_MOST = 10_000  # candidates of a step
_LARGEST = 1e100  # a reward, an outcome or a logit; sums of them stay finite
_NUMBERS = int | float | np.floating | np.integer | np.bool_
_STATUSES = get_args(EpisodeStatus)


def path(given: str | os.PathLike[str]) -> str:
    """The path of a memory file.

    Raises:
        InputError: If it is no text, or one that no path can be.
        StoreError: If the system cannot look there.
    """
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(text, str) or not text:
        raise InputError(f"path is {given!r}; it must be the path of a file, or ':memory:'")
    try:
        os.stat(text)
    except FileNotFoundError:
        pass  # the store makes it
    except ValueError as error:
        raise InputError(f"path is {given!r}; no file can have this name: {error}") from error
    except OSError as error:
        raise StoreError(f"the memory file {text} cannot be used: {error.strerror}") from error
    return text


def text(given: str, what: str) -> str:
    """``given``, if it is a text that can be written down.

    Raises:
        InputError: If it is not.
    """
    if not isinstance(given, str):
        raise InputError(f"{what} is {given!r}; it must be a text")
    try:
        given.encode()
    except UnicodeEncodeError as error:
        place = error.start
        raise InputError(
            f"{what} has half of a surrogate pair ({given[place]!r}) at character {place}; "
            "decode it with errors='replace'"
        ) from error
    return given


def name(given: str, what: str) -> str:
    """``given``, if it is a text that is not empty and can be written down.

    Raises:
        InputError: If it is not.
    """
    if not isinstance(given, str) or not given:
        raise InputError(f"{what} is {given!r}; it must be a text that is not empty")
    return text(given, what)


def names(given: Collection[str], what: str) -> frozenset[str]:
    """``given``, if it is a collection of texts.

    Raises:
        InputError: If it is not; one text is no collection.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what} is {given!r}; it must be a collection of texts")
    found = list(given)
    for one in found:
        if not isinstance(one, str):
            raise InputError(f"{what} holds {one!r}; it must be a collection of texts")
    return frozenset(found)


def row_ids(given: Collection[int], what: str) -> frozenset[int]:
    """``given``, if it is a collection of whole numbers.

    Raises:
        InputError: If it is not.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what} is {given!r}; it must be a collection of row ids")
    found = list(given)
    for one in found:
        if isinstance(one, bool) or not isinstance(one, int | np.integer):
            raise InputError(f"{what} holds {one!r}; a row id is a whole number")
    return frozenset(map(int, found))


def state(given: str | State) -> State:
    """The state that ``given`` names.

    Raises:
        InputError: If it is none, too long, or cannot be written down.
    """
    made = State(given) if isinstance(given, str) else given
    if not isinstance(made, State):
        raise InputError(
            f"state is {_brief(given)}, a {type(given).__name__}; it must be a text or a State"
        )
    for part in ("text", "context", "place"):
        text(getattr(made, part), f"{part} of the state")
    long = len(made.text) + len(made.context)
    if long > _LONGEST:
        raise InputError(f"the state has {long} characters; at most {_LONGEST} can be compared")
    return made


def candidates(given: Candidates, allowed: Collection[str] | None) -> tuple[Candidate, ...]:
    """The candidates that are allowed, shape [A].

    Raises:
        InputError: If one of them cannot be used, or none is allowed.
    """
    if isinstance(given, Mapping):
        made = [Candidate(a, _logit(a, z), "caller") for a, z in given.items()]
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(
            f"candidates is {_brief(given)}; it must be a mapping of actions to logits, or "
            "Candidates"
        )
    else:
        made = []
        for c in given:
            if not isinstance(c, Candidate):
                raise InputError(f"{_brief(c)} is no candidate; it must be a jitrl.Candidate")
            if c.source not in ("model", "caller"):
                raise InputError(
                    f"source of {c.action!r} is {c.source!r}; what is proposed comes from 'model' "
                    "or 'caller'"
                )
            logit = _logit(c.action, c.logit)
            made.append(c if logit is c.logit else replace(c, logit=logit))
    if len(made) > _MOST:
        raise InputError(f"{len(made)} candidates; at most {_MOST}")
    kept = tuple(c for c in made if allowed is None or c.action in allowed)
    if made and not kept:
        raise InputError(f"none of the {len(made)} candidates is among the allowed actions")
    return kept


def _logit(action: str, logit: float) -> float:
    """The logit of a candidate; both are checked."""
    if not isinstance(action, str) or not action:
        raise InputError(f"an action is {action!r}; an action must be a text that is not empty")
    text(action, "an action")
    if type(logit) is float and -_LARGEST <= logit <= _LARGEST:
        return logit
    return number(logit, f"logit of {action!r}")


def outcome(
    value: float | bool | None, basis: Basis, evaluator: str, told: bool, principal: str
) -> Outcome | None:
    """The outcome that is told; ``None`` if the value is. All else is checked in any case.

    Raises:
        InputError: If a value cannot be used.
    """
    if not isinstance(basis, str) or basis not in BASES:
        raise InputError(f"basis is {basis!r}; it must be one of {', '.join(BASES)}")
    if not isinstance(told, bool):
        raise InputError(f"told is {told!r}; it must be True or False")
    text(evaluator, "evaluator")
    text(principal, "principal")
    if value is None:
        return None
    return Outcome(number(value, "outcome"), basis, evaluator, told, principal)


def status(given: EpisodeStatus) -> EpisodeStatus:
    """``given``, if an episode can end so.

    Raises:
        InputError: If it cannot.
    """
    if not isinstance(given, str) or given not in _STATUSES:
        raise InputError(f"status is {given!r}; it must be one of {', '.join(_STATUSES)}")
    return given


def number(value: object, what: str) -> float:
    """``value`` as a float; True counts 1.

    Raises:
        InputError: If it is no number, not finite, or too large.
    """
    try:
        found = float(value) if isinstance(value, _NUMBERS) else math.nan
    except OverflowError:  # an int
        found = math.inf
    if not abs(found) <= _LARGEST:
        raise InputError(
            f"{what} is {_brief(value)}; it must be a finite number, at most {_LARGEST:g}"
        )
    return found


def _brief(value: object) -> str:
    """How a value looks, cut where a page of it would be printed."""
    try:
        shown = repr(value)
    except ValueError:  # an int of too many digits
        shown = f"a {type(value).__name__} that is too long to print"
    return shown if len(shown) <= 200 else f"{shown[:197]}..."
