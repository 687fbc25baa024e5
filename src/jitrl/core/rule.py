"""The settings of the update: one rule, of which every published and measured variant is a case."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Literal, get_args, get_origin, get_type_hints

Choose = Literal["argmax", "sample"]
MemoryOnly = Literal["never", "zero", "positive", "lowest"]

_LEAST, _MOST = 1e-6, 1e6  # beyond, a logit that is divided by it, or gets it added, overflows
_WIDTH, _SHARE, _NATS = (_LEAST, _MOST), (0.0, 1.0), (0.0, _MOST)
_COUNT = (1.0, _MOST)
_RANGES: dict[str, tuple[float, float]] = {
    "kernel": _WIDTH,
    "backup": _SHARE,
    "shrink": _NATS,
    "optimism": _SHARE,
    "explore": _SHARE,
    "explore_rate": (0.0, 2.0),
    "bonus": (-_MOST, _MOST),
    "backoff": _WIDTH,
    "floor": _NATS,
    "eps": _NATS,
    "temperature_prior": _WIDTH,
    "beta": _NATS,
    "warmup": _COUNT,
    "novelty": _NATS,
    "novelty_kernel": _WIDTH,
    "onward": _SHARE,
    "repeat": _NATS,
    "repeat_action": _NATS,
    "untrusted": _NATS,
    "temperature": _WIDTH,
    "kl_cap": _NATS,
    "transfer": _SHARE,
}
_OPTIONAL = frozenset({"kernel", "backoff", "untrusted", "kl_cap"})


def check_number(name: str, value: object, low: float, high: float) -> None:
    """Refuse what is no number (a truth value is none) or lies outside [low, high].

    Raises:
        ValueError: With the name, the value and the range.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is {value!r}; it must be a number")
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}; it must be in [{low:g}, {high:g}]")


@dataclass(frozen=True, slots=True)
class UpdateRule:
    """How neighbors correct the frozen model's logits (eqs. 4-10 and their variants).

    Attributes:
        unit: What one neighbor is: a single row (``rows``), or all rows of one state and action
            (``cells``), with values from the memory's graph.
        kernel: Width h of the weight ``exp((similarity - 1) / h)``; ``None`` weighs all alike.
        backup: Share of the graph's value in Q, the rest is the mean return; 0 without a graph.
        shrink: Pseudo-visits n0 that pull a tried action's Q towards V.
        untried: ``share``: an untried action's Q is ``optimism * V`` (plus back-off). ``draw``:
            with probability ``explore``, ``Q = V + bonus / n``, else 0 (eq. 6).
        optimism: Share of V that an untried action is credited with; from one try on it is 1.
        explore: lambda of eq. 6; ``memory`` derives it from how sure the memory is of its best
            action (released code, not in the paper).
        explore_rate: Exponent of that derivation.
        bonus: alpha of eq. 6, return units.
        backoff: Width of the kernel over which immediate rewards of equal actions in less similar
            states are averaged, with one pseudo-visit of reward 0; ``None`` for none.
        baseline: V as the mean over neighbors (eq. 4), or (``actions``) the plain mean of all Q as
            soon as one candidate is untried (released code, not in the paper).
        normalize: ``max_abs`` divides A by its largest size (eq. 25); ``max_positive`` by its
            largest positive value, else by the size of its smallest (released code, not in the
            paper); ``none`` leaves it.
        floor: Least divisor, as a share of the memory's range of rewards.
        eps: Added to the divisor (eq. 25).
        prior: Whether z enters as the ``logit`` it is, or as a ``confidence`` 1 / (1 + exp(-z))
            (released code, not in the paper).
        temperature_prior: z is divided by it.
        beta: Weight of the normalized advantage, nats (eq. 10).
        warmup: Visits of states like this one, the present one counted, from which beta, novelty
            and repeats count in full; after n earlier ones, weighed by ``kernel``, the share
            ``(1 + n) / warmup`` of them does. At 1 they always do. Little is known at first, and
            the prior may be right.
        novelty: Weight of untriedness, nats.
        novelty_kernel: Width of the kernel over which tries of equal actions are counted.
        onward: Discount of novelty that lies behind an action.
        repeat: Nats off for each time this episode took the action in this very state.
        repeat_action: Nats off if this episode took the action in any state.
        episode: Whether what the running episode has shown counts at once, repeats included.
        untrusted: Most that one principal's rows of untrusted bases can move a logit, nats;
            ``None`` treats them like all others.
        memory_only: What becomes of actions that the memory knows and the model did not propose:
            they get logit 0 (``zero``; eq. 23), only if their mean return is above 0
            (``positive``; released code, not in the paper), or the lowest logit proposed
            (``lowest``; only if the caller allows them by name). ``never`` leaves them out.
        choose: Take the best, or sample from ``softmax(z' / temperature)``.
        temperature: Of that sampling; larger is more even.
        kl_cap: Most KL(corrected || prior), nats; all corrections are scaled down to it.
        transfer: Share of what other tasks' solutions teach that is followed; 0 learns nothing of
            them.

    Raises:
        ValueError: If a value is outside its range.
    """

    unit: Literal["rows", "cells"] = "cells"
    kernel: float | None = 0.03
    backup: float = 0.5
    shrink: float = 1.0
    untried: Literal["share", "draw"] = "share"
    optimism: float = 0.8
    explore: float | Literal["memory"] = 0.0
    explore_rate: float = 0.65
    bonus: float = 0.0
    backoff: float | None = 0.1
    baseline: Literal["neighbors", "actions"] = "neighbors"
    normalize: Literal["max_abs", "max_positive", "none"] = "max_abs"
    floor: float = 0.3
    eps: float = 1e-8
    prior: Literal["logit", "confidence"] = "logit"
    temperature_prior: float = 1.0
    beta: float = 90.0
    warmup: float = 10.0
    novelty: float = 30.0
    novelty_kernel: float = 0.05
    onward: float = 0.8
    repeat: float = 9.0
    repeat_action: float = 9.0
    episode: bool = True
    untrusted: float | None = 0.05
    memory_only: MemoryOnly = "lowest"
    choose: Choose = "argmax"
    temperature: float = 1.0
    kl_cap: float | None = None
    transfer: float = 1.0

    def __post_init__(self) -> None:
        """Reject settings that mean nothing."""
        for name, words in _words().items():
            value = getattr(self, name)
            if not (isinstance(value, str) and value in words):
                raise ValueError(f"{name} is {value!r}; use {' or '.join(words)}")
        if not isinstance(self.episode, bool):
            raise ValueError(f"episode is {self.episode!r}; it must be True or False")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if (value is None and name in _OPTIONAL) or (name, value) == ("explore", "memory"):
                continue
            check_number(name, value, low, high)
            object.__setattr__(self, name, float(value))  # 1 and 1.0 are one rule, of one digest

    @property
    def digest(self) -> str:
        """Twelve hex digits that differ where any setting differs."""
        return _digest(self)


@lru_cache(maxsize=1)
def _words() -> dict[str, tuple[str, ...]]:
    """Settings that take one of a few words, and the words."""
    hints = get_type_hints(UpdateRule).items()
    return {name: get_args(hint) for name, hint in hints if get_origin(hint) is Literal}


@lru_cache(maxsize=64)
def _digest(rule: UpdateRule) -> str:
    return hashlib.blake2b(repr(asdict(rule)).encode(), digest_size=6).hexdigest()
