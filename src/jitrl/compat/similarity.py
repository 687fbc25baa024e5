"""Likeness of texts and the threshold it must reach (released code, not in the paper)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def words(text: str) -> list[str]:
    """Lower-case tokens between white space that are wholly alphanumeric; the rest is lost."""
    return [token for token in text.lower().split() if token.isalnum()]


def set_jaccard(a: Iterable[str], b: Iterable[str]) -> float:
    """Shared share of two sets, in [0, 1]; 0 if either is empty, even if both are."""
    left, right = set(a), set(b)
    if not left or not right:
        return 0.0
    return len(left & right) / len(left | right)


def ngram_jaccard(a: str, b: str, n: int) -> float:
    """Multiset Jaccard of the n-grams of :func:`words`, in [0, 1]; 0 if a side is empty.

    A text of fewer than ``n`` words counts as its single words, so it is like no longer text
    (released code, not in the paper).
    """
    left, right = _ngrams(words(a), n), _ngrams(words(b), n)
    if not left or not right:
        return 0.0
    return (left & right).total() / (left | right).total()


def similarity_threshold(base: float, step: int) -> float:
    """Lowest similarity that counts: ``base``, falling by .1 over the first 20 steps."""
    return base - 0.1 * min(step, 20) / 20


def _ngrams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    if len(tokens) < n:
        n = 1
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
