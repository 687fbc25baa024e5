"""Rules by key words: the best first, those without any of the words not at all.

Words count the more the fewer rules have them, and the more the shorter the rule (Robertson,
Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from jitrl.core.similarity import is_unspaced, words
from jitrl.types import Rule

_SATURATION = 1.2
_LENGTH = 0.75
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]+(?:[-_./:@][^\W_]+)+", re.ASCII)


class FoundRule(NamedTuple):
    """A rule and how well it fits the words; scores compare within one search only."""

    rule: Rule
    score: float


def search(query: str, rules: Sequence[Rule], limit: int | None = None) -> list[FoundRule]:
    """Rules that have words of ``query``, the best first; of equals, the earlier one."""
    wanted = set(_terms(query))
    texts = [_counted(rule) for rule in rules]
    lengths = [sum(text.values()) for text in texts]
    mean = sum(lengths) / max(len(lengths), 1) or 1.0
    having = {term: sum(term in text for text in texts) for term in wanted}
    found = []
    for rule, text, length in zip(rules, texts, lengths, strict=True):
        norm = _SATURATION * (1.0 - _LENGTH + _LENGTH * length / mean)
        score = math.fsum(
            math.log1p((len(rules) - having[term] + 0.5) / (having[term] + 0.5))
            * text[term]
            * (_SATURATION + 1.0)
            / (text[term] + norm)
            for term in wanted
            if text[term]
        )
        if score > 0.0:
            found.append(FoundRule(rule, score))
    found.sort(key=lambda f: -f.score)
    return found[:limit]


def _counted(rule: Rule) -> Counter[str]:
    """Its terms, and each character of scripts without blanks: one alone is a query, too."""
    text = " ".join((rule.text, rule.kind, *rule.entities))
    return Counter(_terms(text) + [c for c in text if is_unspaced(c)])


def _terms(text: str) -> list[str]:
    """Words, and what signs join to one as it stands: ``gen-itgc``, ``YYYY-MM-DD``."""
    text = unicodedata.normalize("NFKC", text)
    if not any(c.isalnum() for c in text):
        return []
    return words(text) + [compound.casefold() for compound in _COMPOUND.findall(text)]
