"""Texts of a page that are offered as answers to a question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from jitrl.envs.shop.data import STATUSES, Shop

_MOST = 12

_PATTERNS: Mapping[str, re.Pattern[str]] = {
    "money": re.compile(r"\$[\d,]+\.\d\d"),
    "number": re.compile(r"(?<![\w.,:/$#-])\d{1,3}(?![\w:/%-]|[.,]\d)"),
    "percent": re.compile(r"\d+\.\d\d%"),
    "email": re.compile(r"[\w.]+@[\w.]+\w"),
    "phone": re.compile(r"\+\d{9,}"),
    "code": re.compile(r"(?<!\d)\d{8}(?!\d)"),
    "score": re.compile(r"\d\.0 / 5\.0"),
}
KINDS = (*_PATTERNS, "status", "customer", "count")
"""Kinds of answer: what a page says of this kind, or how many rows its table has."""


def offered(kind: str, text: str, rows: int, shop: Shop) -> list[str]:
    """At most a dozen answers of a kind, in page order, without repeats.

    Args:
        text: The page as it is read.
        rows: Rows of its table; numbers near to it are offered for a count, none for 0.
    """
    if kind == "count":
        return [str(n) for n in range(max(0, rows - 2), rows + 3)] if rows else []
    if kind == "status":
        return _named(STATUSES, text)
    if kind == "customer":
        return _named([customer.name for customer in shop.customers], text)
    return list(dict.fromkeys(_PATTERNS[kind].findall(text)))[:_MOST]


def _named(names: Sequence[str], text: str) -> list[str]:
    """Those names that stand in a text, by their place in it."""
    return sorted((name for name in names if name in text), key=text.index)[:_MOST]
