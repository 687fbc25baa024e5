"""Which rules of a book are told: by signature, by what they have shown, by the room there is."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from jitrl.core.similarity import words

_LITTLE = """
a an the of to in on at for from by with and or is are be it its this that as into your you i we one
all any each every please 的 了 在 把 和 与 请 将 一个 这个 那个
"""
SAY_LITTLE = frozenset(_LITTLE.split())


class Signature(NamedTuple):
    """What a rule or a task is about.

    Attributes:
        kind: Type of task; "" goes with any.
        words: Entities and constraints it names.
    """

    kind: str
    words: frozenset[str]


def signature(kind: str, *goals: str) -> Signature:
    """That of a task, or of a rule that several goals taught: the words that all of them name."""
    named = [frozenset(words(goal)) - SAY_LITTLE for goal in goals]
    return Signature(kind, frozenset.intersection(*named) if named else frozenset())


def fits(rule: Signature, task: Signature) -> float:
    """Share of the rule's words that the task names; 0 for another type, 1 if it has no words."""
    if rule.kind and rule.kind != task.kind:
        return 0.0
    return len(rule.words & task.words) / len(rule.words) if rule.words else 1.0


@dataclass(frozen=True, slots=True)
class Standing:
    """What a rule has shown so far.

    Attributes:
        entry: Score in [0, 1] it came in with; it counts as one use.
        uses: Scored episodes in which it was told.
        wins: Those of them that succeeded.
    """

    entry: float
    uses: int = 0
    wins: int = 0

    def bound(self, total: int, c: float) -> float:
        """``mean + c sqrt(log n / (uses + 1))``: high for what did well, or was hardly tried.

        Args:
            total: Uses of all rules, n.

        Source: Auer, Cesa-Bianchi, Fischer, *Finite-time analysis of the multiarmed bandit problem*
        (2002).
        """
        mean = (self.entry + self.wins) / (1.0 + self.uses)
        return mean + c * math.sqrt(math.log(max(total, 1)) / (self.uses + 1.0))


def ranked(rules: Iterable[tuple[str, Standing]], *, c: float) -> list[str]:
    """Ids of rules, the best bound first; equal ones by id."""
    known = list(rules)
    total = sum(standing.uses for _, standing in known)
    order = sorted(known, key=lambda one: (-one[1].bound(total, c), one[0]))
    return [rule for rule, _ in order]


def leading(texts: Iterable[str], *, most: int, room: int) -> list[int]:
    """Places of the first texts that a prompt has room for; one too long is left out whole.

    Args:
        most: How many at most.
        room: In tokens, about.
    """
    chosen = list[int]()
    for place, text in enumerate(texts):
        if len(chosen) == most:
            break
        size = tokens(text)
        if size <= room:
            chosen.append(place)
            room -= size
    return chosen


def tokens(text: str) -> int:
    """About so many tokens of a prompt: a token is four Latin letters, or one and a half others."""
    return sum(1 if ord(c) < 128 else 3 for c in text) // 4 + 1


ALIKE = 0.1
"""Diversity below which attempts are nearly the same, so that more of them are wasted."""


def diversity(attempts: Sequence[Collection[Hashable]]) -> float:
    """How much attempts differ: mean share of actions that two of them do not have in common.

    0 where all are the same, 1 where no two share an action.
    """
    bags = [frozenset(attempt) for attempt in attempts]
    apart = [
        1.0 - len(a & b) / len(a | b) if a | b else 0.0
        for i, a in enumerate(bags)
        for b in bags[:i]
    ]
    return sum(apart) / len(apart) if apart else 0.0


def lowest(bounds: Collection[tuple[float, str]], share: float) -> list[str]:
    """Ids of the lowest ``share`` of bounds, rounded down; equal ones by id."""
    return [rule for _, rule in sorted(bounds)[: int(share * len(bounds))]]
