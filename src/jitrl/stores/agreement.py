"""Whether a line of an export agrees with itself: what its schema cannot say."""

from __future__ import annotations

from math import isfinite
from typing import Any

from jitrl.errors import RecordError

LATEST = 253402214400.0
"""9999-12-31 in UTC, in seconds since 1970; in no time zone is it past the last day there is."""

_ROUNDING = 1e-9
_SHARES = {  # in [0, 1]; an unknown number of a candidate is nan
    "candidate": ("prior", "probability", "propensity", "novelty"),
    "neighbor": ("similarity", "terminal", "onward"),
}
_COUNTS = {
    "decision": ("version", "excluded", "scale", "kl"),
    "candidate": ("visits",),
    "neighbor": ("visits", "sources", "taken"),
}


def check_line(line: Any) -> None:
    """Refuse an ``EpisodeLine`` that no episode can have led to.

    What was done may differ from what was decided: a memory that only looks on is not followed.

    Raises:
        RecordError: With the place in the line, the value and what is allowed.
    """
    for name in ("key", "task"):
        if not getattr(line, name):
            raise RecordError(f"{name} is empty; an episode needs a {name}")
    exclude = line.info.get("exclude", [])
    if not isinstance(exclude, list) or not all(isinstance(task, str) for task in exclude):
        raise RecordError(f"info.exclude is {exclude!r}; it must be a list of tasks")
    for name in ("started", "finished"):
        check_time(getattr(line, name), name)
    for i, outcome in enumerate(line.outcomes):
        check_time(outcome.at, f"outcomes[{i}].at")
    for t, step in enumerate(line.steps):
        at = f"steps[{t}]"
        _named(step.action, f"{at}.action")
        _between(step.novelty, f"{at}.novelty")
        if step.decision is not None:
            _check_decision(step.decision, f"{at}.decision")


def check_time(at: float, name: str) -> None:
    """Refuse what is no time that a calendar has.

    Raises:
        RecordError: With the name and the value.
    """
    if not 0.0 <= at < LATEST:
        raise RecordError(f"{name} is {at}; it must be seconds since 1970, up to the year 9999")


def _check_decision(decision: Any, at: str) -> None:
    """A decision must be one that can be made again from what is known of it."""
    actions = [c.action for c in decision.candidates]
    if not actions:
        raise RecordError(f"{at}.candidates is empty; a decision needs at least one")
    if all(c.source == "memory" for c in decision.candidates):
        raise RecordError(f"{at}.candidates are all from memory; at least one must be proposed")
    if decision.action not in actions:
        raise RecordError(f"{at}.action is {decision.action!r}; it must be one of {actions}")
    seen = set[str]()
    for i, candidate in enumerate(decision.candidates):
        where = f"{at}.candidates[{i}]"
        _named(candidate.action, f"{where}.action")
        if candidate.action in seen:
            raise RecordError(f"{where}.action is {candidate.action!r} again; each action once")
        seen.add(candidate.action)
        _number(candidate.logit, f"{where}.logit")
        _check_numbers(candidate, "candidate", where)
    for i, neighbor in enumerate(decision.neighbors):
        where = f"{at}.neighbors[{i}]"
        _named(neighbor.action, f"{where}.action")
        for name in (*_SHARES["neighbor"], *_COUNTS["neighbor"], "ret", "reward"):
            _number(getattr(neighbor, name), f"{where}.{name}")
        _check_numbers(neighbor, "neighbor", where)
    for i, draw in enumerate(decision.draws):
        _number(draw, f"{at}.draws[{i}]")
        _between(draw, f"{at}.draws[{i}]")
    _check_numbers(decision, "decision", at)


def _check_numbers(thing: Any, kind: str, at: str) -> None:
    for name in _SHARES.get(kind, ()):
        _between(getattr(thing, name), f"{at}.{name}")
    for name in _COUNTS[kind]:
        value = getattr(thing, name)
        if value is not None and value < 0:
            raise RecordError(f"{at}.{name} is {value}; it must be at least 0")


def _named(action: str, at: str) -> None:
    if not action:
        raise RecordError(f"{at} is empty; an action is a text")


def _number(value: float | None, at: str) -> None:
    if value is None or not isfinite(value):
        raise RecordError(f"{at} is {value}; it must be a finite number")


def _between(value: float | None, at: str) -> None:
    if value is not None and not -_ROUNDING <= value <= 1.0 + _ROUNDING:
        raise RecordError(f"{at} is {value}; it must be in [0, 1]")
