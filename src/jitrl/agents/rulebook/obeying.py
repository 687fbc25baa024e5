"""Whether an action does as an order says, where the order is free text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jitrl.agents.rulebook.conflicts import AGAINST
from jitrl.core.clauses import unquoted
from jitrl.core.similarity import words

_NAMED = 0.6  # share of the words of an action that the order must name
_CLAUSE = re.compile(r"[,，;；。]|\bbut\b")
_VERBS = {
    "click": re.compile("点击|单击|点开|点选|按下"),
    "fill": re.compile("填写|填入|填上|输入"),
    "type": re.compile("填写|填入|填上|输入"),
    "select": re.compile("选择|选中|勾选"),
}
"""What actions are called, and how an order in Chinese calls them."""


def is_obeyed(order: str, action: str, actions: Iterable[str]) -> bool | None:
    """Whether ``action``, one of ``actions``, does as ``order`` says; ``None``: nobody can tell.

    That is so where it names none of the actions that could be taken: doing something else is then
    neither. What an order forbids is obeyed by any other action, unless it asks for one of them.
    """
    asked, forbidden = _words(order)
    only = forbidden - asked
    named = [one for one in {*actions, action} if _is_named(one, asked | forbidden)]
    against = [one for one in named if only and not only.isdisjoint(words(one))]
    for_it = [one for one in named if one not in against]
    if for_it:
        return action in for_it
    return action not in against if against else None


def _is_named(action: str, said: frozenset[str]) -> bool:
    of = frozenset(words(action))
    return bool(of) and len(of & said) >= _NAMED * len(of)


def _words(order: str) -> tuple[frozenset[str], frozenset[str]]:
    """Those of what an order asks for, and those of what it forbids."""
    asked, forbidden = set[str](), set[str]()
    plain = unquoted(order)
    ends = [match.end() for match in _CLAUSE.finditer(plain)]
    for start, end in zip([0, *ends], [*ends, len(order)], strict=True):
        turn = AGAINST.search(plain, start, end)
        asked |= _said(order[start : turn.start() if turn else end])
        forbidden |= _said(order[turn.end() : end]) if turn else set()
    return frozenset(asked), frozenset(forbidden)


def _said(text: str) -> set[str]:
    return {*words(text), *(verb for verb, form in _VERBS.items() if form.search(text))}
