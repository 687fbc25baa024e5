"""Transfer: how other tasks were solved, as a conditional logit over features of the steps.

``pi(a) = softmax(z + c * w f)``: the frozen model's logits z are the offset, w is fitted to the
choices of solved tasks with a ridge penalty, and c is how far its predictions could be relied on
for tasks that were held out of the fit. A regression on the memory; nothing of the LLM changes.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jitrl.core.descent import minima
from jitrl.core.features import Feature

STRENGTHS = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.5])
"""What c is chosen from, shape [S]."""

_RIDGE = 0.3
_AT_ONCE = 100_000  # values of a design that several fits look at, so that they stay in a cache
_FOLDS = 5
_GROUP = 0.4  # goals that are more alike are of one group
_NEAR = 0.15  # how near a held-out task's likeness must be to that of the task at hand
_LEAST = -50.0
_TRUST, _FAILS, _FAILS_IF_TRUE = 0.8, 0.8, 0.6


def log_softmax(z: np.ndarray) -> np.ndarray:
    """Logarithms of ``softmax(z)``, shape [A]; none below -50, which no fit could tell apart."""
    shifted = z - z.max()
    return np.asarray(np.maximum(shifted - math.log(float(np.exp(shifted).sum())), _LEAST))


@dataclass(frozen=True, slots=True)
class Choice:
    """One step of a solved task.

    Attributes:
        z: The frozen model's log-probabilities, shape [A].
        chosen: Place of what was done.
        features: Of each candidate, shape [A].
    """

    z: np.ndarray
    chosen: int
    features: Sequence[Mapping[Feature, float]]


class Block:
    """The choices of one task as columns, one line for each candidate.

    Attributes:
        names: Its features, in the order in which they come.
        lines, columns, values: Of each value that is not 0, its line, the place of its feature in
            ``names``, and itself.
        starts, chosen: First line of each choice, and the line of what was done.
        z: The frozen model's log-probabilities, one for each line.

    Raises:
        ValueError: If there is no choice: a task of none teaches nothing, and is no block.
    """

    def __init__(self, choices: Sequence[Choice]) -> None:
        if not choices:
            raise ValueError("a block needs a choice; leave out tasks that have none")
        place: dict[Feature, int] = {}
        lines, columns, values = list[int](), list[int](), list[float]()
        starts, chosen = list[int](), list[int]()
        line = 0
        for choice in choices:
            starts.append(line)
            chosen.append(line + choice.chosen)
            for found in choice.features:
                lines += [line] * len(found)
                columns += [place.setdefault(name, len(place)) for name in found]
                values += found.values()
                line += 1
        self.names = tuple(place)
        self.lines, self.columns = np.array(lines, np.intp), np.array(columns, np.intp)
        self.values = np.array(values)
        self.starts, self.chosen = np.array(starts, np.intp), np.array(chosen, np.intp)
        self.z = np.concatenate([c.z for c in choices])

    def valued(self, values: np.ndarray) -> Block:
        """The same with other values."""
        other = copy(self)
        other.values = values
        return other


class Design:
    """Choices of many tasks as columns, one line for each candidate: L lines, C choices.

    Attributes:
        place: Feature → its place, F of them.
        task: Number of each choice's task, shape [C].

    Raises:
        ValueError: If there is no task, so nothing to fit.
    """

    def __init__(self, tasks: Sequence[Block]) -> None:
        if not tasks:
            raise ValueError("a design needs a task; without one there is nothing to fit")
        self.place: dict[Feature, int] = {}
        place = self.place
        columns = [
            np.array([place.setdefault(name, len(place)) for name in block.names], np.intp)[
                block.columns
            ]
            for block in tasks
        ]
        line = np.cumsum([0, *(len(block.z) for block in tasks)])
        self.task = np.repeat(np.arange(len(tasks)), [len(block.starts) for block in tasks])
        self._columns = np.concatenate(columns)
        self._values = np.concatenate([block.values for block in tasks])
        self._z = np.concatenate([block.z for block in tasks])
        self._lines, self._starts, self._chosen = (
            np.concatenate([of + at for of, at in zip(those, line, strict=False)])
            for those in zip(*((b.lines, b.starts, b.chosen) for b in tasks), strict=True)
        )
        sizes = np.diff(np.append(self._starts, line[-1]))
        self._choice = np.repeat(np.arange(len(self._starts)), sizes)

    @property
    def size(self) -> int:
        """How many values are not 0; at least 1."""
        return max(1, len(self._values))

    def scores(self, w: np.ndarray) -> np.ndarray:
        """``w f`` of each line, shape [..., L], for weights of shape [..., F]."""
        return self._summed(self._lines, np.take(w, self._columns, -1) * self._values, len(self._z))

    def log_probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Of ``softmax(z + scores)`` within each choice, shape [..., L]."""
        x = self._z + scores
        x = x - np.take(np.maximum.reduceat(x, self._starts, -1), self._choice, -1)
        mass: np.ndarray = np.log(np.add.reduceat(np.exp(x), self._starts, -1))
        return np.asarray(x - np.take(mass, self._choice, -1))

    def loss(self, w: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Negative log-likelihood with its ridge penalty, and its gradient, shapes [...], [..., F].

        Args:
            w: Shape [..., F].
            weight: Of each choice, shape [..., C]; 0 leaves it out.
        """
        log_p = self.log_probabilities(self.scores(w))
        slope = np.exp(log_p) * np.take(weight, self._choice, -1)
        slope[..., self._chosen] -= weight
        values = np.take(slope, self._lines, -1) * self._values
        rising = self._summed(self._columns, values, w.shape[-1])
        likely = (weight * log_p[..., self._chosen]).sum(axis=-1)
        return _RIDGE / 2.0 * (w * w).sum(axis=-1) - likely, rising + _RIDGE * w

    @staticmethod
    def _summed(places: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
        """The sum of the values of each place, shape [..., size]."""
        flat = values.reshape(-1, values.shape[-1])
        sums = np.stack([np.bincount(places, row, size) for row in flat])
        return sums.reshape(*values.shape[:-1], size)

    def gains(self, w: np.ndarray, tasks: np.ndarray) -> np.ndarray:
        """Gain in log-likelihood over z, nats a choice, by task and strength, shape [tasks, S].

        Args:
            tasks: Numbers of the tasks.
        """
        scores = self.scores(w)
        log_p = np.stack([self.log_probabilities(c * scores)[self._chosen] for c in STRENGTHS])
        gain = log_p - log_p[0]
        return np.array([gain[:, self.task == number].mean(axis=1) for number in tasks])


def fitting(
    design: Design, weight: np.ndarray, start: np.ndarray | None = None
) -> Generator[None, None, np.ndarray]:
    """The weights that minimise ``design.loss`` for each weighing, shape [K, F]; pauses on its way.

    The loss is strictly convex, so they depend on the choices alone, in whatever order they came.

    Args:
        weight: Of each choice, for each of K fits, shape [K, C].
        start: Where to begin, shape [K, F]; at 0 if ``None``.
    """
    if start is None:
        start = np.zeros((len(weight), len(design.place)))
    return minima(lambda w, which: design.loss(w, weight[which]), start)


def likeness(goals: Sequence[frozenset[str]], telling: Mapping[str, float]) -> np.ndarray:
    """How alike goals are: weighted Jaccard index of their words, shape [tasks, tasks]."""
    tokens = {token: i for i, token in enumerate(sorted(set().union(*goals)))}
    holds = np.zeros((len(goals), len(tokens)))
    for row, goal in zip(holds, goals, strict=True):
        row[[tokens[token] for token in goal]] = 1.0
    weighed = holds * np.array([telling[token] for token in tokens])
    common = weighed @ holds.T
    size = weighed.sum(axis=1)
    union = size[:, None] + size[None, :] - common
    return np.asarray(np.where(union > 0.0, common / np.where(union > 0.0, union, 1.0), 1.0))


class Trials(NamedTuple):
    """What tasks would have gained from fits that they were left out of.

    Attributes:
        near: Likeness of each task to the nearest one of its fit, shape [T].
        gains: By strength, shape [T, S].
    """

    near: np.ndarray
    gains: np.ndarray


def trials(design: Design, alike: np.ndarray, w: np.ndarray) -> Generator[None, None, Trials]:
    """What each task would have gained from a fit without it, and without all goals like its own.

    Pauses on its way.

    Args:
        alike: Likeness of the tasks' goals, shape [tasks, tasks].
        w: The fit to all tasks.
    """
    out = list[np.ndarray]()  # of each fit, whether a task is left out, shape [tasks]
    for fold in (np.arange(len(alike)), groups(alike)):
        folds = fold % min(_FOLDS, int(fold.max()) + 1)
        out += [folds == number for number in np.unique(folds) if (folds != number).any()]
    if not out:
        return Trials(np.zeros(0), np.zeros((0, len(STRENGTHS))))
    weight = np.stack([~is_held[design.task] for is_held in out]).astype(float)
    without = list[np.ndarray]()
    some = max(1, _AT_ONCE // design.size)
    for at in range(0, len(out), some):
        part = weight[at : at + some]
        without += list((yield from fitting(design, part, np.tile(w, (len(part), 1)))))
    near = [alike[np.ix_(is_held, ~is_held)].max(axis=1) for is_held in out]
    gains = list[np.ndarray]()
    for fit, is_held in zip(without, out, strict=True):
        gains.append(design.gains(fit, np.flatnonzero(is_held)))
        yield
    return Trials(np.concatenate(near), np.concatenate(gains))


def groups(alike: np.ndarray) -> np.ndarray:
    """Number of the group of each task; the first of a group is like all others, shape [tasks]."""
    group = np.full(len(alike), -1)
    found = 0
    for task in range(len(alike)):
        if group[task] < 0:
            group[(group < 0) & (alike[task] >= _GROUP)] = found
            group[task] = found
            found += 1
    return group


def strength(near: np.ndarray, gains: np.ndarray, likeness: float) -> float:
    """The c whose gain over z was surest for tasks about as far from the fitted ones; else 0.

    The largest lower bound (mean minus standard error) of the gains in ``trials``, weighted by
    ``exp(-((near - likeness) / .15)^2)``, with one pseudo-trial that gained nothing.

    Args:
        near, gains: As ``trials`` gives them.
        likeness: Of the goal at hand to the nearest one that was fitted.
    """
    weight = np.exp(-(((near - likeness) / _NEAR) ** 2))
    mass = float(weight.sum())
    if mass < 1.0:
        return 0.0
    mean = weight @ gains / (mass + 1.0)
    spread = (weight @ (gains - mean) ** 2 + mean**2) / (mass + 1.0)
    bound = mean - np.sqrt(spread / (mass * mass / float(weight @ weight) + 1.0))
    return float(STRENGTHS[int(bound.argmax())])


def trust(failures: int) -> float:
    """What is left of c after so many failed attempts at the task at hand, in (0, 1].

    The odds that the correction is right fall by ``.6 / .8`` with each failure, from .8 on.
    """
    wrong = (1.0 - _TRUST) * _FAILS**failures
    right = _TRUST * _FAILS_IF_TRUE**failures
    return right / (right + wrong) / _TRUST
