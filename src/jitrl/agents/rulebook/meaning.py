"""Rules that say the same in other words: found by an embedder, where no word is shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jitrl.core.rulesearch import FoundRule
from jitrl.core.sentences import parts
from jitrl.ports import Embedder
from jitrl.types import Rule


@dataclass(frozen=True, slots=True)
class Meaning:
    """Which rules are about what a goal says.

    Attributes:
        least: Least similarity of a rule's condition and a goal. It depends on the embedder; too
            low, and each goal is told the rules of others.
    """

    embedder: Embedder
    least: float

    def near(self, goal: str, rules: Sequence[Rule]) -> frozenset[str]:
        """Ids of those whose condition, or whole text where it has none, is near the goal.

        Raises:
            ModelError: If the embedder failed.
        """
        found = by_meaning(goal, rules, self.embedder)
        return frozenset(one.rule.id for one in found if one.score >= self.least)


def by_meaning(text: str, rules: Sequence[Rule], embedder: Embedder) -> list[FoundRule]:
    """All rules, those whose condition is most similar to ``text`` first; scores in [-1, 1].

    Raises:
        ModelError: If the embedder failed.
    """
    if not (text and rules):
        return []
    vectors = embedder.embed([text, *map(_condition, rules)])
    alike = (vectors[1:] @ vectors[0]).tolist()
    found = [FoundRule(rule, score) for rule, score in zip(rules, alike, strict=True)]
    return sorted(found, key=lambda one: -one.score)


def _condition(rule: Rule) -> str:
    split = parts(rule.text)
    return (split.condition if split else "") or rule.text
