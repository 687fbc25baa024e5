"""Rules that speak of the same case and say different things, and the one rule that settles it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from jitrl.agents.rulebook.cases import Case, read
from jitrl.agents.rulebook.words import words
from jitrl.core.clauses import QUOTED, unquoted
from jitrl.core.rules import SAY_LITTLE, signature
from jitrl.core.sentences import parts
from jitrl.core.similarity import words as words_of
from jitrl.types import Rule

_NEAR = 0.8  # share of words that two conditions have in common to be one case
_TASKS = 2  # on each side, at least, from which a word that tells them apart is learned
AGAINST = re.compile(
    r"\b(?:not|never|don't|do not|avoid|instead of|without|skip|no)\b"
    r"|不要|不得|不能|不可|切勿|禁止|避免|勿|(?<![类分特级区个差性识鉴告辨派])别(?![名的处人])",
    re.I,
)
"""Words by which an order forbids."""


class Settled(NamedTuple):
    """One rule out of two.

    Attributes:
        text: The conditional rule.
        by: The word that tells the cases of the first from those of the second.
    """

    text: str
    by: str


def disagree(first: str, second: str) -> bool:
    """Whether two rules have nearly the same condition and orders that cannot both be followed.

    Conditions that quote different texts are of different cases. Orders cannot both be followed
    where one forbids what the other asks for, or both ask for one thing and it is not the same.
    """
    a, b = _case(first), _case(second)
    if a is None or b is None or a.quoted != b.quoted:
        return False
    if a.exact is not None and b.exact is not None:
        is_one = (a.exact.goal, a.exact.where) == (b.exact.goal, b.exact.where)
    else:
        is_one = _shared(a.words, b.words) >= _NEAR
    return is_one and _clash(a, b)


def disagreements(rules: Iterable[Rule]) -> dict[str, tuple[str, ...]]:
    """Id of a rule → ids of those that it disagrees with, each in the order they are given.

    Retired rules, and rules of different scopes or types of task, are never told together.
    """
    together: dict[tuple[str, ...], list[tuple[Rule, _Case]]] = {}
    for rule in rules:
        case = _case(rule.text) if rule.status != "retired" else None
        if case is not None:
            together.setdefault((rule.scope, *case.quoted), []).append((rule, case))
    found: dict[str, list[str]] = {}
    for same in together.values():
        for i, near in enumerate(_near([case for _, case in same])):
            one, a = same[i]
            for j in near:
                other, b = same[j]
                if (one.kind == other.kind or not (one.kind and other.kind)) and _clash(a, b):
                    found.setdefault(one.id, []).append(other.id)
                    found.setdefault(other.id, []).append(one.id)
    return {id: tuple(others) for id, others in found.items()}


def _near(cases: Sequence[_Case]) -> Iterator[list[int]]:
    """For each, the places after it of those that are of one exact case, or of near conditions."""
    exact, alike = dict[tuple[str, str], list[int]](), dict[_Condition, list[int]]()
    for i, case in enumerate(cases):
        alike.setdefault(case.condition, []).append(i)
        if case.exact is not None:
            exact.setdefault((case.exact.goal, case.exact.where), []).append(i)
    near = _alike(alike)
    for i, case in enumerate(cases):
        met = set[int]()
        if case.exact is not None:
            met.update(exact[case.exact.goal, case.exact.where])
        for condition in near[case.condition]:
            met.update(alike[condition])
        yield sorted(j for j in met if j > i)


def _alike(conditions: Collection[_Condition]) -> dict[_Condition, list[_Condition]]:
    """For each, those that share ``_NEAR`` of its words, itself among them; not for two exact ones.

    Two such sets have one of their rarest words in common, so that only those that meet there are
    compared, each with those of no more words.

    Source: Xiao, Wang, Lin, Yu, *Efficient similarity joins for near duplicate detection* (2008).
    """
    often = Counter(word for condition in conditions for word in condition.words)
    at_word = dict[tuple[str, bool], list[_Condition]]()
    near: dict[_Condition, list[_Condition]] = {condition: [] for condition in conditions}
    for one in sorted(conditions, key=lambda condition: len(condition.words)):
        words, is_exact = one
        rarest = sorted(words, key=lambda word: (often[word], word))
        met = set[_Condition]()
        for word in rarest[: _spare(len(words), _NEAR)]:
            for of in (False,) if is_exact else (False, True):
                met.update(at_word.get((word, of), ()))
        for other in met:
            if _shared(other.words, words) >= _NEAR:
                near[one].append(other)
                near[other].append(one)
        if words and not is_exact:
            near[one].append(one)
        for word in rarest[: _spare(len(words), 2.0 * _NEAR / (1.0 + _NEAR))]:
            at_word.setdefault((word, is_exact), []).append(one)
    return near


def _spare(size: int, share: float) -> int:
    """So many words of ``size`` cannot all be missing where ``share`` of them are not."""
    return size - math.ceil(share * size - 1e-9) + 1


class _Condition(NamedTuple):
    """All words of a condition, and whether its rule has the form of rules by comparison."""

    words: frozenset[str]
    is_exact: bool


class _Case(NamedTuple):
    """A rule taken apart: the texts that its condition quotes, all its words, and the order.

    Attributes:
        exact: What it says, if it has the form of rules by comparison.
        asked: Words of the order, but for those by which it forbids.
        forbids: Whether it does.
    """

    exact: Case | None
    quoted: tuple[str, ...]
    words: frozenset[str]
    asked: frozenset[str]
    forbids: bool
    verb: str

    @property
    def condition(self) -> _Condition:
        """What rules that may be alike have nearly in common."""
        return _Condition(self.words, self.exact is not None)


def _case(text: str) -> _Case | None:
    split = parts(text)
    if split is None:
        return None
    quoted = tuple(QUOTED.findall(split.condition))
    return _Case(
        read(text),
        quoted,
        signature("", split.condition).words,
        signature("", AGAINST.sub(" ", split.order)).words,
        AGAINST.search(unquoted(split.order)) is not None,
        (words_of(split.order) or [""])[0],
    )


def _clash(a: _Case, b: _Case) -> bool:
    """Whether two rules of one case cannot both be followed."""
    if a.exact is not None and b.exact is not None:
        return a.exact.action != b.exact.action
    alike = _shared(a.asked, b.asked)
    return alike >= 0.5 if a.forbids != b.forbids else a.verb == b.verb and 0.0 < alike < 1.0


def overlap(a: str, b: str) -> float:
    """Share of the words of two texts, but those that say little, that both have."""
    return _shared(signature("", a).words, signature("", b).words)


def _shared(first: frozenset[str], second: frozenset[str]) -> float:
    both = len(first & second)
    return both / (len(first) + len(second) - both) if both else 0.0


def settled(
    first: str, second: str, cases: Sequence[Collection[str]], others: Sequence[Collection[str]]
) -> Settled | None:
    """One rule with a condition that tells the cases of the two apart; ``None`` if none does.

    It is a word that all goals of the first name and none of the second. Of a single goal each
    nearly any word does that, so each rule must rest on two or more.

    Args:
        cases: Words of the goal of each task that the first rule rests on.
        others: The same for the second.
    """
    a, b = parts(first), parts(second)
    if a is None or b is None or min(len(cases), len(others)) < _TASKS:
        return None
    always = frozenset.intersection(*map(frozenset, cases)) - frozenset().union(*others)
    always -= SAY_LITTLE
    if not always:
        return None
    by = max(sorted(always), key=len)
    said = words(first)
    text = said.settled.format(condition=b.condition, word=by, first=a.order, second=b.order)
    return Settled(text, by)
