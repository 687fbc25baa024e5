"""Programmatic checks, graded: how much of what was wanted is there, not one yes or no."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from jitrl.errors import ConfigError, InputError
from jitrl.functions import own_function
from jitrl.types import LARGEST, Basis, Episode, Judgment, Scored, Unscored

Checked = Mapping[str, float | bool] | float | bool | None
Function = Callable[[Episode], Checked]


class Checks:
    """Scores an episode by checks of how it ended, each true, false or a share in [0, 1].

    The score is ``sum(w * x) / sum(w)`` over the checks. If a hard check is below 1 nothing else
    counts: the score is that of the worst hard check. It is the reward of the last step, the other
    steps get 0.

    Args:
        function: A function of the episode that returns a share in [0, 1], a mapping of names to
            such, or ``None`` if it cannot tell; or where to import it from:
            ``package.module:name``. A module that is not installed is looked for in the
            present folder. Without a function, what the environment checked:
            ``Episode.info["checks"]``.
        weights: Weight of each check; those that are not named weigh 1.
        hard: Checks that must be met in full.
        name: What it is called in records.

    Raises:
        ConfigError: If the function cannot be imported or called, or a weight is impossible.
    """

    told = False

    def __init__(
        self,
        function: Any = None,
        *,
        weights: Mapping[str, float] | None = None,
        hard: tuple[str, ...] = (),
        name: str = "",
    ) -> None:
        called = None if function is None else own_function(function)
        self._weights, self._hard = dict(weights or {}), tuple(hard)
        for check, weight in self._weights.items():
            if not 0 <= weight <= LARGEST:
                raise ConfigError(
                    f"weight of check {check!r} is {weight}; it must be in [0, {LARGEST:g}]"
                )
        self._function: Function | None = called
        self._basis: Basis = "test" if called else "state_check"
        own = "checks" if called is None else getattr(called, "__name__", type(called).__name__)
        self.name = name or own

    def judge(self, episode: Episode) -> Judgment:
        """The graded score as the last step's reward; ``Unscored`` if nothing could be checked.

        Raises:
            InputError: If a check gives something else than a truth value or a share in [0, 1].
        """
        if not episode.steps:
            return Unscored("the episode has no steps", self.name)
        if self._function is None and episode.status == "aborted":
            return Unscored("the episode was aborted", self.name)
        given = episode.info.get("checks") if self._function is None else self._function(episode)
        if given is None and self._function is None:
            return Unscored(
                "this environment gives no checks; name a function of your own: --set "
                "memory.evaluator_options=function=package.module:name",
                self.name,
            )
        if given is None:
            return Unscored("nothing was checked", self.name)
        checks = {
            name: _share(name, value)
            for name, value in (
                given.items() if isinstance(given, Mapping) else [(self.name, given)]
            )
        }
        missing = [name for name in (*self._weights, *self._hard) if name not in checks]
        if missing:
            return Unscored(f"check {missing[0]!r} was not made", self.name, {"checks": checks})
        failed = [name for name in self._hard if checks[name] < 1.0]
        weights = {name: self._weights.get(name, 1.0) for name in checks}
        if not failed and not sum(weights.values()):
            return Unscored("no check has a weight", self.name, {"checks": checks})
        score = graded(checks, weights, failed)
        info: dict[str, Any] = {"checks": checks}
        if failed:
            info["failed"] = failed
        rewards = (0.0,) * (len(episode.steps) - 1) + (score,)
        return Scored(rewards, self.name, self._basis, self.told, info)


def graded(
    checks: Mapping[str, float], weights: Mapping[str, float], failed: Collection[str] = ()
) -> float:
    """``sum(w * x) / sum(w)`` over all checks; the worst of the ``failed`` hard ones, if any."""
    if failed:
        return min(checks[name] for name in failed)
    return sum(weights[name] * x for name, x in checks.items()) / sum(weights.values())


def complete(required: Collection[str], given: Mapping[str, object]) -> float:
    """Share of the required fields that are given and not empty; 1 if none is required."""
    there = [field for field in required if given.get(field) not in (None, "", [], {})]
    return len(there) / len(required) if required else 1.0


def flawless(errors: int, *, tolerable: int = 1) -> float:
    """``1 / (1 + errors / tolerable)``: 1 without errors, 1/2 at as many as are tolerable.

    Raises:
        InputError: If a number is negative, or nothing is tolerable.
    """
    if errors < 0 or tolerable < 1:
        raise InputError(
            f"errors is {errors} and tolerable {tolerable}; they must be at least 0 and 1"
        )
    return 1.0 / (1.0 + errors / tolerable)


def _share(name: str, value: object) -> float:
    if not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InputError(
            f"check {name!r} gave {value!r}; it must give a truth value or a share in [0, 1]"
        )
    return float(value)
