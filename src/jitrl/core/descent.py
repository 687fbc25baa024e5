"""Minima of smooth, strictly convex functions, several of a kind side by side.

Source: Liu, Nocedal, *On the limited memory BFGS method for large scale optimization* (1989).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

Loss = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Values, shape [k], and gradients, shape [k, F], of k of the functions.

Takes where to look, shape [k, F], and which functions, numbers of shape [k].
"""

_MEMORY, _ITERATIONS, _FLAT = 8, 60, 1e-3


class _Step(NamedTuple):
    """What one step told of the curvature, of each function."""

    moved: np.ndarray
    change: np.ndarray
    curvature: np.ndarray

    def of(self, kept: np.ndarray) -> _Step:
        return _Step(self.moved[kept], self.change[kept], self.curvature[kept])


def minima(loss: Loss, start: np.ndarray) -> Generator[None, None, np.ndarray]:
    """Where each of K functions is least, by L-BFGS; pauses after each step.

    The functions do not touch each other: each is minimised as it would be alone, to the last bit.

    Args:
        start: Where to begin, shape [K, F].

    Returns:
        Shape [K, F].
    """
    found = start.copy()
    which, w = np.arange(len(start)), start.copy()  # of the functions that are not done yet
    value, gradient = loss(w, which)
    steps: list[_Step] = []
    is_over = np.zeros(len(which), bool)
    for _ in range(_ITERATIONS):
        is_over |= np.abs(gradient).max(axis=1, initial=0.0) < _FLAT
        if is_over.any():
            found[which[is_over]] = w[is_over]
            kept = ~is_over
            which, w, value, gradient = which[kept], w[kept], value[kept], gradient[kept]
            steps = [step.of(kept) for step in steps]
        if not len(which):
            return found
        direction = _direction(gradient, steps)
        slope, length = _dot(direction, gradient), np.ones(len(which))
        if not steps:
            length = np.minimum(1.0, 1.0 / np.abs(gradient).sum(axis=1))
        new = w + length[:, None] * direction
        lower, turned = loss(new, which)
        while len(far := np.flatnonzero(_is_too_far(lower, value, length, slope))):
            length[far] /= 2.0
            new[far] = w[far] + length[far, None] * direction[far]
            lower[far], turned[far] = loss(new[far], which[far])
        step = _Step(new - w, turned - gradient, np.zeros(0))
        step = step._replace(curvature=_dot(step.moved, step.change))
        is_over = ~(step.curvature > 0.0)  # no step can be told from rounding any more
        steps = [*steps[1 - _MEMORY :], step]
        w, value, gradient = new, lower, turned
        yield
    found[which] = w
    return found


def _is_too_far(
    lower: np.ndarray, value: np.ndarray, length: np.ndarray, slope: np.ndarray
) -> np.ndarray:
    is_lower = lower <= value + 1e-4 * length * slope
    return np.asarray(~is_lower & (length >= 1e-10))


def _direction(gradient: np.ndarray, steps: Sequence[_Step]) -> np.ndarray:
    """Minus the gradient, scaled by what the last steps told of the curvature."""
    direction = -gradient
    shares = list[np.ndarray]()
    for step in reversed(steps):
        shares.append(_dot(step.moved, direction) / step.curvature)
        direction = direction - shares[-1][:, None] * step.change
    if steps:
        last = steps[-1]
        direction = direction * (last.curvature / _dot(last.change, last.change))[:, None]
    for step, share in zip(steps, reversed(shares), strict=True):
        turn = share - _dot(step.change, direction) / step.curvature
        direction = direction + step.moved * turn[:, None]
    return np.asarray(direction)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of vectors; without BLAS, whose threads wait, and round in another order."""
    return np.asarray((a * b).sum(axis=-1))
