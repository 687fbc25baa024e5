"""Admission: what may become memory, from whom, and how much a memory may do with it.

Three questions, each a pure function of what is known when it is asked:

    may_assert   may this principal say that an outcome rests on that basis?
    objection    is there a reason to keep an episode's rows out until somebody has looked?
    held_back    how much of a correction may reach actions that are marked as more than reading?

What an objection keeps out is in quarantine, not lost: a person can restore it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jitrl.core.rule import check_number
from jitrl.types import Capped, Risk, Row

_ROUNDING = 1e-9
_MOST = 1e6
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Admission:
    """Limits on what comes into a memory, and on what may come of it.

    The defaults limit nothing but actions that are marked as more than reading.

    Attributes:
        votes: Give each source one vote in a neighborhood. Of single rows (``unit: rows``), the
            nearest of each of its actions counts, all of them together as one row. Untrusted rows
            nudge once, divided among the actions that their source speaks of.
        nudge: Most that an untrusted source may move a logit where ``votes`` holds and the rule
            itself has no bound (``untrusted``), nats.
        returns: Least and most return that an episode may have; others start in quarantine.
        rate: Episodes of one principal that are learned from in an hour; those beyond it start in
            quarantine. ``None``: any number.
        anomaly: Rewards of untrusted rows that are so many times as large as what two sources of
            the scope bear out start in quarantine. ``None``: none do.
        write: Most nats that the memory may add to the odds of an action that writes, against what
            the model gives it.
        support: Trusted episodes that must have taken a writing action before the memory may bring
            it in where the model did not propose it.
        asserting: Principals whose word is enough for a trusted basis; ``None``: anybody's is.

    Raises:
        ValueError: If a value is outside its range.
    """

    votes: bool = False
    nudge: float = 0.02
    returns: tuple[float, float] | None = None
    rate: float | None = None
    anomaly: float | None = None
    write: float = 5.0
    support: int = 2
    asserting: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Reject settings that mean nothing, and take lists as settings files write them."""
        if not isinstance(self.votes, bool):
            raise ValueError(f"votes is {self.votes!r}; it must be True or False")
        check_number("nudge", self.nudge, 0.0, _MOST)
        check_number("write", self.write, 0.0, _MOST)
        if isinstance(self.support, bool) or not isinstance(self.support, int) or self.support < 1:
            raise ValueError(f"support is {self.support!r}; it must be a whole number, at least 1")
        if self.rate is not None:
            check_number("rate", self.rate, 1.0, _MOST)
        if self.anomaly is not None:
            check_number("anomaly", self.anomaly, 1.0, _MOST)
        if self.returns is not None:
            object.__setattr__(self, "returns", _range(self.returns))
        if self.asserting is not None:
            object.__setattr__(self, "asserting", _names(self.asserting))

    def limit(self, risk: Risk) -> float:
        """Most nats that the memory may add to the odds of an action of that risk."""
        return {"read": math.inf, "write": self.write, "irreversible": 0.0}[risk]


AS_PUBLISHED = Admission()
"""What the presets of the paper and of the released code are used with."""


def _range(given: object) -> tuple[float, float]:
    """Two finite numbers, the lower first."""
    said = f"returns is {given!r}; it must be two numbers, the least and the most"
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise ValueError(said)
    low, high = given
    for value in (low, high):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(said)
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"{said}, both finite")
    return float(low), float(high)


def _names(given: object) -> frozenset[str]:
    if isinstance(given, str) or not isinstance(given, Collection):
        raise ValueError(f"asserting is {given!r}; it must be a list of principals")
    for name in given:
        if not isinstance(name, str) or not name:
            raise ValueError(f"asserting holds {name!r}; a principal is a text that is not empty")
    return frozenset(given)


def may_assert(principal: str, basis: str, trusted: Collection[str], admission: Admission) -> bool:
    """Whether ``principal`` may say that an outcome rests on ``basis``."""
    if admission.asserting is None or basis not in trusted:
        return True
    return principal in admission.asserting


class Known(NamedTuple):
    """What is known when an episode comes.

    Attributes:
        recent: Episodes of the same principal that were learned from in the hour before.
        reach: Size of rewards that two sources of the scope bear out; 0 where nothing is known.
    """

    recent: int = 0
    reach: float = 0.0


def objection(
    rows: Sequence[Row], trusted: Collection[str], admission: Admission, known: Known
) -> str:
    """Why the rows of an episode should start in quarantine; "" if they need not."""
    if not rows:
        return ""
    for row in rows:
        if not (math.isfinite(row.ret) and math.isfinite(row.reward)):
            return f"step {row.step} returns {row.ret:g}, which is not finite"
    if admission.returns is not None:
        low, high = admission.returns
        for row in rows:
            if not low - _ROUNDING <= row.ret <= high + _ROUNDING:
                return f"step {row.step} returns {row.ret:g}, outside of [{low:g}, {high:g}]"
    if admission.rate is not None and known.recent >= admission.rate:
        return (
            f"principal {rows[0].principal!r} brought {known.recent} episodes in the hour before, "
            f"at most {admission.rate:g} are learned from"
        )
    if admission.anomaly is not None and known.reach > 0.0 and rows[0].basis not in trusted:
        for row in rows:
            size = abs(row.reward)
            if size > admission.anomaly * known.reach:
                return (
                    f"step {row.step} is paid {row.reward:g}, {size / known.reach:.3g} times what "
                    f"two sources bear out ({known.reach:g})"
                )
    return ""


def held_back(
    base: np.ndarray, correction: np.ndarray, risks: Sequence[Risk], width: float, of: Admission
) -> tuple[np.ndarray, list[float]]:
    """A correction with what risky actions may not be given taken off, and how much that was.

    Two bounds hold for each action a of limit L (nats) afterwards, p being softmax((base +
    correction) / width) and p0 the same without a correction:

        log p(a) <= log p0(a) + L                   no more probable than the limit allows
        correction(a) <= correction(m) + L          nor ahead of m, the model's own choice,
                                                    by more than the model puts it plus L

    So with L = 0 (irreversible) a memory may speak against an action, and never for it: by
    ``argmax`` it is chosen only where the model alone chooses it.

    Args:
        base: What the correction is added to, shape [A].
        risks: Of each candidate, shape [A].

    Returns:
        The correction, shape [A], and the nats that each candidate lost.
    """
    limits = np.array([of.limit(risk) for risk in risks])
    given = np.array(correction, float)
    own = int(base.argmax())
    others = np.arange(len(given)) != own
    given[others] = np.minimum(given[others], given[own] + limits[others])
    most = _softmax(base / width) * np.exp(np.minimum(limits, 700.0))
    fixed = np.zeros(len(given), bool)
    while True:
        policy = _softmax((base + given) / width)
        over = (policy > most * (1.0 + _ROUNDING)) & ~fixed & np.isfinite(limits)
        if not over.any():
            break
        fixed |= over
        if fixed.all():
            given = np.zeros(len(given))
            break
        left = ~fixed
        rest = max(1.0 - float(most[fixed].sum()), _TINY)
        z = (base + given)[left] / width
        whole = float(z.max()) + math.log(float(np.exp(z - z.max()).sum()))
        given[fixed] = width * (np.log(np.maximum(most[fixed] / rest, _TINY)) + whole) - base[fixed]
    return given, np.maximum(correction - given, 0.0).tolist()


def capped(
    actions: Sequence[str], risks: Sequence[Risk], lost: Sequence[float]
) -> tuple[Capped, ...]:
    """What ``held_back`` took off, for the record."""
    return tuple(
        Capped(action, risk, nats)
        for action, risk, nats in zip(actions, risks, lost, strict=True)
        if risk != "read" and nats > _ROUNDING
    )


def unsupported(
    actions: Collection[str],
    risk_of: Mapping[str, Risk],
    support: Mapping[str, int],
    admission: Admission,
) -> tuple[Capped, ...]:
    """Those of the memory's own actions that may not join the model's candidates."""
    found = []
    for action in actions:
        risk = risk_of.get(action, "read")
        if risk == "irreversible":
            found.append(Capped(action, "irreversible"))
        elif risk == "write" and support.get(action, 0) < admission.support:
            found.append(Capped(action, "support"))
    return tuple(found)


def _softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max())
    return np.asarray(e / e.sum())
