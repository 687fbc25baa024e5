"""Returns: what a step's action was worth, from the rewards that followed it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def returns_to_go(rewards: Sequence[float] | np.ndarray, gamma: float) -> np.ndarray:
    """Discounted sum of rewards from each step to the end of the episode.

    ``G[t] = r[t] + gamma * G[t + 1]``, ``G[T] = 0``  (eq. 3).

    Args:
        rewards: Step rewards, shape [T], in the evaluator's own units.
        gamma: Discount in [0, 1].

    Returns:
        Shape [T], same units as ``rewards``.

    Raises:
        ValueError: If ``gamma`` is outside [0, 1] or a reward is not finite.
    """
    r = _checked(rewards, gamma)
    out, tail = np.empty(len(r)), 0.0
    for t in reversed(range(len(r))):
        out[t] = tail = r[t] + gamma * tail
    return out


def substituted_returns(rewards: Sequence[float] | np.ndarray, gamma: float) -> np.ndarray:
    """Returns in which a later reward of 0 counts as the step's own (released code, not in the
    paper): ``G[t] = sum_u gamma^(u-t) x_u`` with ``x_u = r[u]``, or ``r[t]`` where ``r[u]`` is 0.

    Args and errors are those of ``returns_to_go``. 3, 0, 0 with gamma .5 becomes 5.25 at step 0.
    """
    r = _checked(rewards, gamma)
    out = np.empty(len(r))
    for t in range(len(r)):
        later = np.where(r[t:] == 0.0, r[t], r[t:])
        out[t] = float(later @ gamma ** np.arange(len(later)))
    return out


def discount_mass(steps: int, gamma: float) -> np.ndarray:
    """What a constant reward of 1 adds to the return of each step: ``sum_u gamma^(u-t)``, [T].

    Adding c to every reward of an episode adds ``c * discount_mass`` to its returns, so rewards
    can be centred after the returns were stored.
    """
    return returns_to_go(np.ones(steps), gamma)


def _checked(rewards: Sequence[float] | np.ndarray, gamma: float) -> np.ndarray:
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma must be in [0, 1], got {gamma}")
    r = np.asarray(rewards, dtype=float)
    if not np.isfinite(r).all():
        bad = int(np.flatnonzero(~np.isfinite(r))[0])
        raise ValueError(f"rewards[{bad}] is {r[bad]}; an unscored step has no return")
    return r
