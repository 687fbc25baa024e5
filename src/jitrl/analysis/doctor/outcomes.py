"""Checks of where scores come from: mixed sources, missing outcomes, what nothing is learned from,
and whether the tasks are fit to be learned from at all."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np

from jitrl.analysis.doctor.case import Attempt, Case
from jitrl.analysis.doctor.finding import Finding, found, unknown
from jitrl.types import TRUSTED_BASES

FEWEST_EPISODES = 20
"""Below, one episode is more than a twentieth of all."""
MOST_WAITING = 0.2
"""Share of episodes without their outcome: one in five may well be another sort than the rest."""
LATE = 0.95
"""An outcome that has not come when so many others had is not late, but missing."""
MOST_UNSCORED = 0.1
"""Share of episodes that are lost for learning for another reason than a missing outcome."""
LEAST_CHECKED = 0.1
"""Share of scores that rest on a check or a person; with less nobody can tell a good judge."""
LEAST_RECURRING = 0.5
"""Share of episodes whose task or family comes more than once; memory serves no others."""


def mixed(case: Case, what: Literal["told", "scorer", "evaluator"]) -> Finding:
    """Scopes that hold numbers which were made in ways that do not compare."""
    scored = sum(a.judged is not None for a in case.attempts())
    if not scored:
        return unknown(0)
    scopes: dict[str, dict[str, int]] = {}
    for journal in case.journals:
        for mixture in journal.stats.mixed:
            if mixture.what == what:
                counts = Counter(scopes.get(mixture.scope, {}))
                scopes[mixture.scope] = dict(counts + Counter(mixture.values))
    return found(
        bool(scopes),
        scored,
        scopes=len(scopes),
        values=dict(sum((Counter(v) for v in scopes.values()), Counter[str]())),
        named=sorted(scopes)[:3],
    )


def waiting(case: Case) -> Finding:
    """Episodes that wait for an outcome, and those for which it should have come by now."""
    attempts = list(case.attempts())
    if len(attempts) < FEWEST_EPISODES:
        return unknown(len(attempts))
    delays = [a.delay for a in attempts if a.delay is not None]
    usual = float(np.quantile(delays, LATE)) if len(delays) >= FEWEST_EPISODES else None
    now = max(a.finished for a in attempts)
    wait = [a for a in attempts if a.is_waiting]
    stale = sum(usual is not None and now - a.finished > usual for a in wait)
    share = len(wait) / len(attempts)
    return found(
        share > MOST_WAITING,
        len(attempts),
        waiting=len(wait),
        share=share,
        stale=stale,
        usual_s=usual if stale else None,
    )


def unscored(case: Case) -> Finding:
    """Episodes that nothing is learned from for another reason, by reason."""
    attempts = list(case.attempts())
    if len(attempts) < FEWEST_EPISODES:
        return unknown(len(attempts))
    reasons = Counter(a.reason for a in attempts if _is_lost(a))
    share = reasons.total() / len(attempts)
    lost = {j.path: sum(_is_lost(a) for a in j.attempts) for j in case.journals}
    return found(
        share > MOST_UNSCORED,
        len(attempts),
        unscored=reasons.total(),
        share=share,
        reasons=dict(reasons.most_common(3)),
        **case.named(max(lost, key=lambda path: lost[path])),
    )


def _is_lost(attempt: Attempt) -> bool:
    return attempt.judged is None and not attempt.is_waiting


def checkable(case: Case) -> Finding:
    """What scores rest on: a test, a check or a person, or the word of a model or a user."""
    bases = Counter(str(a.basis) for a in case.attempts() if a.basis is not None)
    n = bases.total()
    if n < FEWEST_EPISODES:
        return unknown(n)
    share = sum(count for basis, count in bases.items() if basis in TRUSTED_BASES) / n
    return found(
        share < LEAST_CHECKED,
        n,
        share=share,
        bases=dict(bases.most_common()),
        **case.named(case.path),
    )


def recurrence(case: Case) -> Finding:
    """Whether tasks, or at least their families, come back."""
    attempts = list(case.attempts())
    n = len(attempts)
    if n < FEWEST_EPISODES:
        return unknown(n)
    tasks = Counter((a.scope, a.task, a.seed) for a in attempts)
    kinds = Counter((a.scope, a.kind, a.seed) for a in attempts)
    again = sum(tasks[a.scope, a.task, a.seed] > 1 for a in attempts)
    alike = sum(kinds[a.scope, a.kind, a.seed] > 1 for a in attempts)
    return found(alike / n < LEAST_RECURRING, n, same_task=again / n, same_kind=alike / n)
