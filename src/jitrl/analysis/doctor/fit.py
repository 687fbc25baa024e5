"""Whether a task is fit for a judge: two lists of what is good, written apart, must overlap."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jitrl.core.similarity import jaccard, words

ALIKE = 0.3
"""Jaccard index of the words of two items from which they say the same: about half of the words of
two items of equal length are shared."""
LEAST_SHARED = 0.4
"""Share beyond chance below which agreement is called no more than fair (Landis and Koch 1977)."""
FEWEST_ITEMS = 4
"""Items of the shorter list below which one more match moves the share by more than a quarter."""
MOST_COMMON = 0.5
"""Share of all items in which a word says nothing of any one of them: ``the``, ``order``."""
_DRAWS = 200
_MARK = re.compile(r"^\s*(?:(?:[-*•·]|\d+[.)、）]|\[[ xX]?\])\s*)+")


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two lists of marks of a good solution, side by side.

    Attributes:
        pairs: Items that say the same, the most similar first.
        only: Items of each list that the other has not.
        share: ``2 M / (A + B)`` for M pairs of A and B items.
        chance: The same for the words of the second list dealt out anew to its items, mean.
        beyond: ``(share - chance) / (1 - chance)``, as Cohen's kappa corrects for chance.
    """

    pairs: tuple[tuple[str, str], ...]
    only: tuple[tuple[str, ...], tuple[str, ...]]
    share: float
    chance: float
    beyond: float

    @property
    def n(self) -> int:
        """Items of the shorter list."""
        return len(self.pairs) + min(map(len, self.only))

    @property
    def is_known(self) -> bool:
        """Whether the lists are long enough to tell."""
        return self.n >= FEWEST_ITEMS

    @property
    def is_low(self) -> bool:
        """Whether there is no shared notion of a good solution."""
        return self.is_known and self.beyond < LEAST_SHARED


def items(text: str) -> tuple[str, ...]:
    """The items of a list: its lines, without bullets and numbers, each once."""
    lines = (_MARK.sub("", line).strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line))


def overlap(one: Sequence[str], other: Sequence[str]) -> Overlap:
    """Match two lists greedily, the most similar items first, each once."""
    told = [_telling(side, (*one, *other)) for side in (one, other)]
    ours, theirs = [set(item) for item in told[0]], told[1]
    matched = _matched(ours, [set(item) for item in theirs])
    whole = len(one) + len(other)
    share = 2 * len(matched) / whole if whole else 0.0
    rng, pool = np.random.default_rng(0), np.array([word for item in theirs for word in item])
    ends = np.cumsum([len(item) for item in theirs])[:-1]
    dealt = [
        len(_matched(ours, [set(part) for part in np.split(rng.permutation(pool), ends)]))
        for _ in range(_DRAWS if whole and theirs else 0)
    ]
    chance = 2 * float(np.mean(dealt)) / whole if dealt else 0.0
    left, right = {i for i, _ in matched}, {j for _, j in matched}
    return Overlap(
        pairs=tuple((one[i], other[j]) for i, j in matched),
        only=(
            tuple(item for i, item in enumerate(one) if i not in left),
            tuple(item for j, item in enumerate(other) if j not in right),
        ),
        share=share,
        chance=chance,
        beyond=(share - chance) / (1.0 - chance) if chance < 1.0 else 0.0,
    )


def _telling(some: Sequence[str], every: Sequence[str]) -> list[list[str]]:
    """The words of each item without those that most items have; all, if it has no others."""
    spread = Counter(word for item in every for word in set(words(item)))
    usual = {word for word, count in spread.items() if count > MOST_COMMON * len(every)}
    return [[w for w in words(item) if w not in usual] or words(item) for item in some]


def _matched(ours: Sequence[set[str]], theirs: Sequence[set[str]]) -> list[tuple[int, int]]:
    near = [(jaccard(a, b), -i, -j) for i, a in enumerate(ours) for j, b in enumerate(theirs)]
    pairs: dict[int, int] = {}
    for value, i, j in sorted(near, reverse=True):
        if value >= ALIKE and -i not in pairs and -j not in pairs.values():
            pairs[-i] = -j
    return list(pairs.items())
