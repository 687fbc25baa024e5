"""Why episodes have no score: causes that have something in common to be done about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Cause = Literal["outcome", "judge", "page", "broken", "said", "other"]
"""``said``: the reason itself says what to do."""

_MARKS: tuple[tuple[str, Cause], ...] = (
    ("--set ", "said"),
    ("no outcome yet", "outcome"),
    ("neither rewards nor an outcome", "outcome"),
    ("speaks to the judge", "page"),
    ("the judge", "judge"),
    ("was aborted", "broken"),
    ("no steps", "broken"),
)


def cause(reasons: Mapping[str, int]) -> Cause:
    """The cause of the most frequent of ``reasons``, as evaluators word them."""
    most = max(reasons, key=lambda reason: reasons[reason])
    return next((cause for mark, cause in _MARKS if mark in most), "other")
