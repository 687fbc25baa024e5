"""A judge of known reliability, to measure how good a judge must be; it is no judge to use."""

from __future__ import annotations

import zlib
from typing import Literal

import numpy as np

from jitrl.core.loops import straight
from jitrl.errors import ConfigError
from jitrl.evaluators.gold import gold
from jitrl.types import Basis, Episode, Judgment, Scored, Unscored

Kind = Literal["outcome", "steps", "told"]


class Simulated:
    """Knows how an episode ended, and reports it right with a known probability.

    It reports the true outcome with probability ``reliability`` and the opposite otherwise; a
    failure is moreover reported as a success with probability ``bias``. So it calls a success a
    success with probability p, and a failure a success with 1 - p (1 - b). The reported outcome,
    1 or 0, is added to the last step's reward.

    With ``steps`` or ``told`` each step is scored besides; with ``told`` the reported outcome is
    always the true one. What a step was worth in truth is read off the outcome: in a success +1 if
    it led on (a loop led nowhere) and 0 otherwise; in a failure -1 for the step that ended the task
    and 0 for the others. The sign is reported right with probability p, else the opposite one (for
    0: either), and counts ``weight``.

    It says that it is told, because it is: it stands for a blind judge, whose errors it makes.

    Args:
        reliability: Probability p of a right report.
        bias: Probability b that a failure is reported as a success whatever else.
        kind: What is reported: the ``outcome`` alone, ``steps``, too, or steps by one who is
            ``told`` the outcome.
        weight: Reward of a step that is reported as good.
        success: Least sum of rewards that counts as a success.
        seed: Another seed, other errors; the errors of an episode depend on it and the episode's
            key alone.
    """

    told = True

    def __init__(
        self,
        *,
        reliability: float = 1.0,
        bias: float = 0.0,
        kind: Kind = "outcome",
        weight: float = 0.1,
        success: float = 1.0,
        seed: int = 0,
    ) -> None:
        for option, value in (("reliability", reliability), ("bias", bias)):
            if not 0.0 <= value <= 1.0:
                raise ConfigError(f"{option} must be in [0, 1], got {value}")
        self._p, self._b, self._kind = reliability, bias, kind
        self._weight, self._success, self._seed = weight, success, seed
        self.name = f"simulated({kind}, p={reliability:g}, b={bias:g})"

    def judge(self, episode: Episode) -> Judgment:
        """The outcome as it is reported; ``Unscored`` if the episode has none."""
        value = gold(episode)
        if value is None:
            return Unscored("no outcome yet", self.name)
        is_success = value >= self._success
        rng = np.random.default_rng([self._seed, zlib.crc32(episode.key.encode())])
        is_wrong, is_flattered = rng.random(2) >= (self._p, 1.0 - self._b)
        reported = bool(is_success ^ is_wrong) or (not is_success and bool(is_flattered))
        if self._kind == "told":
            reported = is_success
        rewards = np.zeros(len(episode.steps))
        if self._kind != "outcome":
            rewards += self._weight * self._signs(worth(episode, is_success=is_success), rng)
        rewards[-1] += reported
        info = {"verdict": "success" if reported else "failure"}
        basis: Basis = "llm_judge"
        if self._kind == "told":
            basis = episode.outcome.basis if episode.outcome else "state_check"
        return Scored(tuple(rewards.tolist()), self.name, basis, self.told, info)

    def _signs(self, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """What is reported of each step, shape [T]."""
        either = np.where(rng.random(len(truth)) < 0.5, 1, -1)
        wrong = np.where(truth == 0, either, -truth)
        return np.where(rng.random(len(truth)) < self._p, truth, wrong)


def worth(episode: Episode, *, is_success: bool) -> np.ndarray:
    """What each step was worth in hindsight: +1, 0 or -1, shape [T]."""
    found = np.zeros(len(episode.steps), int)
    if not is_success:
        if episode.status == "terminated":
            found[-1] = -1
        return found
    found[straight([step.state for step in episode.steps])] = 1
    return found
