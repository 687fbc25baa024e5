"""Checks of scores: whether the scorer tells episodes apart, and whether they get better."""

from __future__ import annotations

import numpy as np

from jitrl.analysis.doctor.case import Case
from jitrl.analysis.doctor.finding import (
    Finding,
    found,
    unknown,
)

BAND = 0.1
"""Width of the band in which scores count as alike: a tenth of what lies between 0 and 1."""
SAME = 0.9
"""Share of the episodes in one band from which the scorer tells nothing: the advantages of the
rest are noise against it."""
TOP = 0.9
"""A band that begins here holds solved tasks, and there is nothing left to tell apart."""
FEWEST_SCORES = 20
"""Below, nine in ten in one band is what a scorer with two in three there does by chance."""
ENDS = 5
"""Attempts at each end of the learning curve, as in the tables of results."""
UNTAUGHT = frozenset({"static", "oracle-hint"})
"""Agents that learn nothing, so that their curve is level by design."""


def spread(case: Case) -> Finding:
    """Whether scores differ: the share in one band of ``BAND``, and the middle half."""
    sums = np.sort([a.judged for a in case.attempts() if a.judged is not None])
    n = len(sums)
    if n < FEWEST_SCORES:
        return unknown(n)
    inside = np.searchsorted(sums, sums + BAND + 1e-9, "right") - np.arange(n)
    first = int(inside.argmax())
    share, low = float(inside[first] / n), float(sums[first])
    high = float(sums[first + inside[first] - 1])
    quarter, three = np.quantile(sums, (0.25, 0.75))
    distinct = np.unique(np.round(sums, 9))
    is_verdict = len(distinct) <= 2 and not np.any(distinct % 1)
    return found(
        share >= SAME and low < TOP,
        n,
        "verdicts" if is_verdict else "",
        share=share,
        band=[low, high],
        iqr=float(three - quarter),
        distinct=len(distinct),
    )
