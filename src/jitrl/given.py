"""What a caller of the library hands in: each value is checked before anything is done with it."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from jitrl.errors import InputError, StoreError, brief
from jitrl.types import (
    BASES,
    LARGEST,
    RISKS,
    Basis,
    Candidate,
    CandidateSource,
    EpisodeStatus,
    Outcome,
    Risk,
    State,
)

Candidates = Mapping[str, float] | Iterable[Candidate]

_LONGEST = 1_000_000  # characters of a state that are looked at
_LONG = 10_000  # characters of every other text; a longer action or key is a page by mistake
_WHOLE = 2**63  # no id of a row is as large
_DIGITS = 18  # of a step
_MOST = 10_000  # candidates of a step
_SHOWN = 5  # actions that an error lists
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
        raise InputError(f"path is {brief(given)}; it must be the path of a file, or ':memory:'")
    try:
        os.stat(text)
    except FileNotFoundError:
        pass  # the store makes it
    except ValueError as error:
        raise InputError(f"path is {brief(given)}; no file can have this name: {error}") from error
    except OSError as error:
        raise StoreError(f"the memory file {text} cannot be used: {error.strerror}") from error
    return _plain(text)


def text(given: str, what: str, most: int = _LONG) -> str:
    """``given`` as a plain text, if it is a text that can be written down.

    Args:
        most: Characters it may have.

    Raises:
        InputError: If it is none, too long, or has half of a surrogate pair.
    """
    if not isinstance(given, str):
        raise InputError(f"{what} is {brief(given)}; it must be a text")
    if len(given) > most:
        raise InputError(f"{what} has {len(given)} characters; at most {most} ({brief(given)})")
    plain = _plain(given)
    try:
        plain.encode()
    except UnicodeEncodeError as error:
        place = error.start
        raise InputError(
            f"{what} has half of a surrogate pair ({plain[place]!r}) at character {place}; "
            "decode it with errors='replace'"
        ) from error
    return plain


def name(given: str, what: str) -> str:
    """As ``text``, but not empty."""
    if not isinstance(given, str) or not given:
        raise InputError(f"{what} is {brief(given)}; it must be a text that is not empty")
    return text(given, what)


def _plain(given: str) -> str:
    """A text of a subclass (numpy's, an enum's) as what it holds; only plain ones are stored."""
    return given if type(given) is str else str.__str__(given)


def decision_id(given: str) -> str:
    """``given``, if it can be the id of a decision.

    Raises:
        InputError: If it cannot.
    """
    if not isinstance(given, str) or not given:
        raise InputError(f"decision is {brief(given)}; it must be a text that is not empty")
    key, _, step = given.rpartition("#")
    if len(key) > _LONG or (key and len(step) > _DIGITS):
        raise InputError(f"{brief(given)} is not a decision id; it must be EPISODE_KEY#STEP")
    return text(given, "decision", _LONGEST)


def names(given: Collection[str], what: str) -> frozenset[str]:
    """``given``, if it is a collection of texts.

    Raises:
        InputError: If it is not; one text is no collection.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what} is {brief(given)}; it must be a collection of texts")
    found = list(given)
    for one in found:
        if not isinstance(one, str):
            raise InputError(f"{what} holds {brief(one)}; it must be a collection of texts")
    return frozenset(map(_plain, found))


def allowed(given: Collection[str] | Mapping[str, Risk]) -> frozenset[str] | dict[str, Risk]:
    """The actions that can be executed; a mapping says what each may do, too.

    Raises:
        InputError: If it is neither a collection of texts nor a mapping of texts to risks.
    """
    found = names(given, "allowed")
    if not isinstance(given, Mapping):
        return found
    return {_plain(action): risk(mark, action) for action, mark in given.items()}


def risk(given: Risk, action: str) -> Risk:
    """``given``, if it says what an action may do.

    Raises:
        InputError: If it does not.
    """
    if not isinstance(given, str) or given not in RISKS:
        raise InputError(
            f"risk of {brief(action)} is {brief(given)}; it must be one of {', '.join(RISKS)}"
        )
    return RISKS[RISKS.index(given)]


def version(given: str | int) -> str | int:
    """``given``, if it can be the name of a snapshot or the number of a version.

    Raises:
        InputError: If it cannot.
    """
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return int(given)
    return name(given, "version")  # type: ignore[arg-type]


def row_ids(given: Collection[int], what: str) -> frozenset[int]:
    """``given``, if it is a collection of whole numbers.

    Raises:
        InputError: If it is not.
        StoreError: If one is too large for a row of any memory.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what} is {brief(given)}; it must be a collection of row ids")
    found = list(given)
    for one in found:
        if isinstance(one, bool) or not isinstance(one, int | np.integer):
            raise InputError(f"{what} holds {brief(one)}; a row id is a whole number")
        if not -_WHOLE <= one < _WHOLE:
            raise StoreError(f"there is no row {brief(one)}; no memory holds so many")
    return frozenset(map(int, found))


def state(given: str | State) -> State:
    """The state that ``given`` names.

    Raises:
        InputError: If it is none, empty, too long, or cannot be written down.
    """
    made = State(given) if isinstance(given, str) else given
    if not isinstance(made, State):
        raise InputError(
            f"state is {brief(given)}, a {type(given).__name__}; it must be a text or a State"
        )
    long = sum(len(part) for part in (made.text, made.context) if isinstance(part, str))
    if long > _LONGEST:
        raise InputError(f"the state has {long} characters; at most {_LONGEST} can be compared")
    checked = State(
        text(made.text, "text of the state", _LONGEST),
        text(made.context, "context of the state", _LONGEST),
        text(made.place, "place of the state"),
    )
    if not (checked.text.strip() or checked.context.strip() or checked.place.strip()):
        raise InputError(
            f"state is {brief(given)}, which is empty, so that all such states would be one; "
            "give a text of what the agent sees, or name where it is: State(text, place=...)"
        )
    return checked


def candidates(given: Candidates, allowed: Collection[str] | None) -> tuple[Candidate, ...]:
    """The candidates that are allowed, shape [A], each with the greater of the risks it is given.

    Raises:
        InputError: If one of them cannot be used, or none is allowed.
    """
    if isinstance(given, Mapping):
        made = [_candidate(action, logit, "caller") for action, logit in given.items()]
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(
            f"candidates is {brief(given)}; it must be a mapping of actions to logits, or "
            "Candidates"
        )
    else:
        made = []
        for c in given:
            if not isinstance(c, Candidate):
                raise InputError(
                    f"{brief(c)} is no candidate; it must be a jitrl.Candidate, or all of them a "
                    "mapping {action: logit}"
                )
            if c.source not in ("model", "caller"):
                raise InputError(
                    f"source of {brief(c.action)} is {brief(c.source)}; what is proposed comes "
                    "from 'model' or 'caller'"
                )
            made.append(_candidate(c.action, c.logit, c.source, risk(c.risk, c.action)))
    if len(made) > _MOST:
        raise InputError(f"{len(made)} candidates; at most {_MOST}")
    if not made:
        raise InputError("no candidates; a decision needs at least one")
    kept = tuple(c for c in made if allowed is None or c.action in allowed)
    if not kept:
        raise InputError(
            f"no candidate of {len(made)} is among the allowed actions: proposed are "
            f"{_some([c.action for c in made])}, allowed {_some(sorted(allowed or ()))}; an action "
            "must be the same text in both"
        )
    if len({c.action for c in kept}) < len(kept):
        twice = Counter(c.action for c in kept).most_common(1)[0][0]
        raise InputError(f"candidate {brief(twice)} occurs twice; each action once")
    if not isinstance(allowed, Mapping):
        return kept
    marks = [max(c.risk, allowed[c.action], key=RISKS.index) for c in kept]
    return tuple(replace(c, risk=mark) for c, mark in zip(kept, marks, strict=True))


def _candidate(
    action: str, logit: float, source: CandidateSource, risk: Risk = "read"
) -> Candidate:
    """A candidate of plain values; action and logit are checked."""
    if not isinstance(action, str) or not action:
        raise InputError(
            f"an action is {brief(action)}; an action must be a text that is not empty"
        )
    plain = text(action, "an action")
    if type(logit) is not float or not -LARGEST <= logit <= LARGEST:
        logit = number(logit, f"logit of {brief(plain)}")
    return Candidate(plain, logit, "model" if source == "model" else "caller", risk)


def outcome(
    value: float | bool | None, basis: Basis, evaluator: str, told: bool, principal: str
) -> Outcome | None:
    """The outcome that is told; ``None`` if the value is. All else is checked in any case.

    Raises:
        InputError: If a value cannot be used.
    """
    if not isinstance(basis, str) or basis not in BASES:
        raise InputError(f"basis is {brief(basis)}; it must be one of {', '.join(BASES)}")
    if not isinstance(told, bool):
        raise InputError(f"told is {brief(told)}; it must be True or False")
    basis, evaluator = BASES[BASES.index(basis)], text(evaluator, "evaluator")
    principal = text(principal, "principal")
    if value is None:
        return None
    return Outcome(number(value, "outcome"), basis, evaluator, told, principal)


def status(given: EpisodeStatus) -> EpisodeStatus:
    """``given``, if an episode can end so.

    Raises:
        InputError: If it cannot.
    """
    if not isinstance(given, str) or given not in _STATUSES:
        raise InputError(f"status is {brief(given)}; it must be one of {', '.join(_STATUSES)}")
    found: EpisodeStatus = _STATUSES[_STATUSES.index(given)]
    return found


def number(value: object, what: str) -> float:
    """``value`` as a float; True counts 1.

    Raises:
        InputError: If it is no number, not finite, or too large.
    """
    try:
        found = float(value) if isinstance(value, _NUMBERS) else math.nan
    except OverflowError:  # an int
        found = math.inf
    if not abs(found) <= LARGEST:
        raise InputError(
            f"{what} is {brief(value)}; it must be a finite number, at most {LARGEST:g}"
        )
    return found


def total(before: float | None, more: float, what: str) -> float:
    """Both together, ``None`` counting 0.

    Raises:
        InputError: If that is too large.
    """
    return number((before or 0.0) + more, f"sum of {what}")


def _some(actions: Sequence[str]) -> str:
    """The first few of ``actions``, and how many more there are."""
    shown = ", ".join(repr(a if len(a) <= 60 else f"{a[:57]}...") for a in actions[:_SHOWN])
    more = len(actions) - _SHOWN
    return f"[{shown}{f', and {more} more' if more > 0 else ''}]"
