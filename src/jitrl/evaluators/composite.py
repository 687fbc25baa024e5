"""Several evaluators as one, weighted; a missing part leaves the whole missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from jitrl.errors import ConfigError
from jitrl.ports import Evaluator
from jitrl.types import LARGEST, TRUSTED_BASES, Basis, Episode, Judgment, Scored, Unscored

Maker = Callable[[str, Mapping[str, Any]], Evaluator]


DEFAULT_WEIGHTS: Mapping[str, float] = {"checks": 0.7, "judge": 0.3, "question": 0.3}
"""Weight of a member that has none of its own, by its evaluator: what programs checked counts more
than what a model says."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One member of a composite.

    Attributes:
        weight: Its share, over the sum of all weights; unset for ``DEFAULT_WEIGHTS``.
        evaluator: Entry point of ``jitrl.evaluators``; the member's own name if empty.
        options: The evaluator's own options.
        hard: Whether it must be met in full: an episode that it gives less than 1 altogether gets
            its rewards alone.
    """

    weight: float | None = None
    evaluator: str = ""
    options: dict[str, Any] = {}
    hard: bool = False


class Composite:
    """Scores each step by the weighted mean of what its members give it.

    ``r[t] = sum(w * r_i[t]) / sum(w)``. If one of them could not judge, neither can this: the
    weights of the others are not blown up, and no number is put in the place of the missing one. If
    a hard member, or a hard check inside a member, failed, nothing else counts: the rewards are
    those of the failed member with the lowest sum.

    Members that ask a model come last, and only if what they say can still count: not where one
    before them could not judge, or failed and is hard.

    Args:
        members: Name to weight, evaluator, options and whether it is hard.
        member: Makes a member.

    Raises:
        ConfigError: If there are no members or a weight is not positive.
    """

    def __init__(self, members: dict[str, Part] | None = None, *, member: Maker) -> None:
        if not members:
            raise ConfigError('composite has no members; name some, as {"checks": {"weight": 0.7}}')
        self._weights = {name: _weight(name, part) for name, part in members.items()}
        self._parts = members
        made = {
            name: member(part.evaluator or name, part.options) for name, part in members.items()
        }
        self.members: Mapping[str, Evaluator] = made
        said = (f"{weight:g} {made[name].name}" for name, weight in self._weights.items())
        self.name = f"composite({' + '.join(said)})"
        self.told = any(one.told for one in made.values())
        self.relays = any(getattr(one, "relays", False) for one in made.values())
        self.reads_pages = any(getattr(one, "reads_pages", False) for one in made.values())
        self.asks_model = any(map(_asks_model, made.values()))

    def judge(self, episode: Episode) -> Judgment:
        """The mean of all members; ``Unscored`` if one of them is.

        The journal holds what each said, and whom nobody asked.
        """
        judged: dict[str, Judgment] = {}
        for name in sorted(self.members, key=lambda name: _asks_model(self.members[name])):
            if not (_asks_model(self.members[name]) and self._is_settled(judged)):
                judged[name] = self.members[name].judge(episode)
        said = {
            name: _said(judged[name]) if name in judged else _not_asked(one)
            for name, one in self.members.items()
        }
        info: dict[str, Any] = {"members": said}
        scored = {name: j for name, j in judged.items() if isinstance(j, Scored)}
        for name, judgment in judged.items():
            if isinstance(judgment, Unscored):
                return Unscored(f"{name}: {judgment.reason}", self.name, info)
        failed = [name for name, j in scored.items() if self._has_failed(name, j)]
        if failed:
            worst = min(failed, key=lambda name: sum(scored[name].rewards))
            info["failed"] = failed
            rewards = scored[worst].rewards
        else:
            weights = [self._weights[name] for name in scored]
            table = np.array([j.rewards for j in scored.values()])
            rewards = tuple(np.average(table, axis=0, weights=weights).tolist())
        basis = _weakest([j.basis for j in scored.values()])
        return Scored(rewards, self.name, basis, self.told, info)

    def _is_settled(self, judged: Mapping[str, Judgment]) -> bool:
        """Whether no other member can change the judgment."""
        return any(
            isinstance(judgment, Unscored) or self._has_failed(name, judgment)
            for name, judgment in judged.items()
        )

    def _has_failed(self, name: str, judgment: Scored) -> bool:
        if "failed" in judgment.info:
            return True
        return self._parts[name].hard and sum(judgment.rewards) < 1.0


def _weight(name: str, part: Part) -> float:
    """Its own, or that of its evaluator.

    Raises:
        ConfigError: If it has neither, or its own is impossible.
    """
    weight = part.weight
    if weight is None:
        weight = DEFAULT_WEIGHTS.get(part.evaluator or name)
    if weight is None:
        raise ConfigError(
            f"member {name!r} has no weight; give it one (only "
            f"{', '.join(DEFAULT_WEIGHTS)} have a default)"
        )
    if not 0 < weight <= LARGEST:
        raise ConfigError(
            f"weight of member {name!r} is {weight}; it must be above 0 and at most {LARGEST:g}"
        )
    return weight


def _asks_model(evaluator: Evaluator) -> bool:
    return bool(getattr(evaluator, "asks_model", False))


def _not_asked(evaluator: Evaluator) -> dict[str, Any]:
    return {"evaluator": evaluator.name, "unasked": "the others settle it"}


def _said(judgment: Judgment) -> dict[str, Any]:
    """A member's judgment as plain values."""
    said: dict[str, Any] = {"evaluator": judgment.evaluator, **judgment.info}
    if isinstance(judgment, Unscored):
        return said | {"unscored": judgment.reason}
    return said | {"rewards": list(judgment.rewards)}


def _weakest(bases: list[Basis]) -> Basis:
    """What the whole rests on: the first basis that is not trusted, else the first."""
    return next((basis for basis in bases if basis not in TRUSTED_BASES), bases[0])
