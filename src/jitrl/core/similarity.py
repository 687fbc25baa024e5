"""Similarity of states: text to features, and how much two bags of features overlap.

A state becomes one or two *bags*: sets of strings. Multisets and n-grams are sets too: the second
``open`` of a multiset is a feature of its own, and a 2-gram is one feature ``open door``. So one
measure, the Jaccard index of two sets (arXiv:2601.18510, eq. 24), serves all of them, and an index
needs to know nothing but interned integers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass
from typing import Literal, NamedTuple

from jitrl.core.rule import check_number
from jitrl.types import STAGE, State

# Scripts written without blanks: Thai, Lao, Burmese, Khmer, Han, Kana, Bopomofo.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa"
    "\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Vowel signs and accents, which ``\w`` does not count as part of a word.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_ASCII = "".join(chr(c).lower() if chr(c).isalnum() else " " for c in range(128))
_WORD = re.compile(rf"([{_UNSPACED}]+)|((?:[^\W_{_UNSPACED}]|[{_MARKS}])+(?:[+#]++(?!\w))?)")
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_PIECE = 256  # Folding takes quadratic time on a run of accents, so a long text is cut first.


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Which states of the memory count as similar, and how similar they are.

    Attributes:
        kind: Whether a word that occurs twice counts once (``set``) or twice (``multiset``), or
            whether texts are compared by their vectors instead (``embedding``).
        embedder: What makes the vectors of ``embedding``: an entry point of ``jitrl.embedders``, or
            a function ``package.module:name`` of your own.
        ngram: Words per feature of the text; a shorter text is taken word by word.
        context_weight: ``None`` puts text and context in one bag; a weight w compares them apart:
            ``(1 - w) * J(text) + w * J(context)``, or with cosines in place of J.
        context_ngram: Words per feature of the context; ``None`` means as for the text.
        match_place: Whether only states of the same place are compared; else the place joins the
            text's bag as one feature, or is embedded with the text.
        threshold: Least similarity of a neighbor.
        k: Most rows (not states) that a decision uses; ``None`` uses all. Where all rows of one
            state and action are one neighbor, the state at which k is reached counts whole.
        cap: Most similarity that two different states can have; 1.0 means the same state.

    Raises:
        ValueError: If a value is outside its range.
    """

    kind: Literal["set", "multiset", "embedding"] = "set"
    embedder: str = "embedded"
    ngram: int = 1
    context_weight: float | None = None
    context_ngram: int | None = None
    match_place: bool = False
    threshold: float = 0.7
    k: int | None = None
    cap: float = 0.999

    def __post_init__(self) -> None:
        """Reject settings that mean nothing."""
        if self.kind not in ("set", "multiset", "embedding"):
            raise ValueError(f"kind is {self.kind!r}; use 'set', 'multiset' or 'embedding'")
        if not isinstance(self.embedder, str) or not self.embedder.strip():
            raise ValueError(
                f"embedder is {self.embedder!r}; it must be a name or package.module:name"
            )
        for name in ("ngram", "context_ngram", "k"):
            value = getattr(self, name)
            if value is None and name != "ngram":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; it must be a whole number of at least 1")
        if self.context_weight is not None:
            check_number("context_weight", self.context_weight, 0.0, 1.0)
        check_number("threshold", self.threshold, 0.0, 1.0)
        check_number("cap", self.cap, 0.0, 1.0)
        if self.cap in (0.0, 1.0):
            raise ValueError(f"cap is {self.cap}; it must be in (0, 1)")
        if not isinstance(self.match_place, bool):
            raise ValueError(f"match_place is {self.match_place!r}; it must be True or False")


class Bags(NamedTuple):
    """The features of a state; ``context`` is empty where both texts share one bag."""

    text: set[str]
    context: set[str]


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script that is written without blanks."""
    return _UNSPACED_CHARACTER.match(character) is not None


def words(text: str) -> list[str]:
    """Comparable words of ``text``, in order; time is linear in its length.

    Compatibility forms and case are folded (NFKC, casefold). Text of scripts that are written
    without blanks becomes pairs of neighboring characters (a lone character stays), so that
    ``日期`` is found in ``输入包含日期时``. A text without any word is cut at blanks instead, so
    that maps and emoji can be compared.
    """
    if text.isascii() and "+" not in text and "#" not in text:
        return text.translate(_ASCII).split() or text.split()
    text = text.translate(_INVISIBLE)
    pieces = (text[i : i + _PIECE] for i in range(0, len(text), _PIECE))
    text = "".join([unicodedata.normalize("NFKC", piece) for piece in pieces]).casefold()
    found: list[str] = []
    for run, word in _WORD.findall(text):
        if word:
            found.append(word)
        elif len(run) == 1:
            found.append(run)
        else:
            found += [run[i : i + 2] for i in range(len(run) - 1)]
    return found or text.split()


def ngrams(tokens: list[str], n: int) -> list[str]:
    """Runs of ``n`` tokens joined by a blank; the tokens themselves if there are fewer."""
    if n == 1 or len(tokens) < n:
        return tokens
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def numbered(tokens: list[str]) -> set[str]:
    """A multiset as a set: the i-th occurrence of a token (i > 1) is a feature of its own."""
    seen: dict[str, int] = {}
    found = set()
    for token in tokens:
        seen[token] = count = seen.get(token, 0) + 1
        found.add(token if count == 1 else f"{token}\x1f{count}")
    return found


def bags(state: State, retrieval: Retrieval) -> Bags:
    """The features of ``state`` under the settings of ``retrieval``.

    Raises:
        ValueError: If states are compared by vectors; see ``core.vectors``.
    """
    if retrieval.kind == "embedding":
        raise ValueError("kind is 'embedding': states are compared by their vectors, not by words")
    collect = set if retrieval.kind == "set" else numbered
    text = ngrams(words(state.text), retrieval.ngram)
    context = ngrams(words(state.context), retrieval.context_ngram or retrieval.ngram)
    if retrieval.context_weight is None:
        result = Bags(collect(text + context), set())
    else:
        result = Bags(collect(text), collect(context))
    if state.place and not group(state, retrieval):
        result.text.add(f"place:{state.place}")
    return result


def group(state: State, retrieval: Retrieval) -> str:
    """What must be equal where two states are compared: the place, or "" where it need not be."""
    is_apart = retrieval.match_place or state.place.startswith(STAGE)
    return state.place if is_apart else ""


def jaccard(a: Set[str], b: Set[str]) -> float:
    """``|a & b| / |a | b|``, in [0, 1]; 0 if a side is empty (eq. 24)."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0


def similarity(a: State, b: State, retrieval: Retrieval) -> float:
    """Similarity of two states, in [0, 1]; 1.0 if, and only if, they are the same state.

    This is the definition; ``memory.index`` finds the same values without comparing all pairs.
    """
    return alike(a, b, bags(a, retrieval), bags(b, retrieval), retrieval)


def alike(a: State, b: State, x: Bags, y: Bags, retrieval: Retrieval) -> float:
    """``similarity`` of states whose bags are at hand."""
    if a == b:
        return 1.0
    if group(a, retrieval) != group(b, retrieval):
        return 0.0
    value = jaccard(x.text, y.text)
    if retrieval.context_weight is not None:
        weight = retrieval.context_weight
        value = (1.0 - weight) * value + weight * jaccard(x.context, y.context)
    return min(value, retrieval.cap)
