"""Paths: of an episode, the steps that led to what it gained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jitrl.core.loops import straight
from jitrl.core.similarity import words
from jitrl.types import Row, State

_EPS = 1e-9


class Path(NamedTuple):
    """The best episode of a task, and the steps of it that led to what it gained."""

    episode: str
    gain: float
    steps: tuple[int, ...]

    @property
    def rank(self) -> tuple[float, int]:
        """What gained more ranks higher, then what took fewer steps."""
        return self.gain, -len(self.steps)


def loops(rows: Sequence[Row]) -> Iterator[float]:
    """Mean reward of a step, for each way from a state back to it."""
    before: dict[State, tuple[int, float]] = {}
    so_far = 0.0
    for i, row in enumerate(rows):
        if row.state in before:
            first, then = before[row.state]
            yield (so_far - then) / (i - first)
        before[row.state] = i, so_far
        so_far += row.reward


def path(rows: Sequence[Row], neutral: float) -> Path | None:
    """The steps that led to what an episode gained, ``None`` if it gained nothing.

    States are told apart by their words and by what was gained so far, so that only loops that
    gained nothing are taken out.

    Args:
        neutral: Reward of a step that gains nothing.
    """
    rewards = [row.reward - neutral for row in rows]
    gain = sum(rewards)
    if gain <= _EPS:
        return None
    last = max(i for i, reward in enumerate(rewards) if reward > _EPS)
    kept = straight(_places(rows[: last + 1], rewards))
    return Path(rows[0].episode, round(gain, 9), tuple(rows[i].step for i in kept))


def _places(rows: Sequence[Row], rewards: Sequence[float]) -> list[object]:
    """Where each step was taken; words are only looked at where nothing else tells steps apart."""
    plain, so_far = list[tuple[str, str, float]](), 0.0
    for row, reward in zip(rows, rewards, strict=False):
        plain.append((row.state.context, row.state.place, round(so_far, 6)))
        so_far += reward
    count = Counter(plain)
    return [
        (place, frozenset(words(row.state.text))) if count[place] > 1 else place
        for place, row in zip(plain, rows, strict=True)
    ]
