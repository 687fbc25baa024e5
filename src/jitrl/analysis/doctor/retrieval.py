"""Checks of what decisions are given by a memory, and of how much it weighs against the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jitrl.analysis.doctor.case import Case, Choice, Journal
from jitrl.analysis.doctor.finding import Finding, found, unknown
from jitrl.analysis.doctor.likeness import nearest
from jitrl.core.rule import UpdateRule

FEWEST_DECISIONS = 30
"""Below, "never" is no surprise: what happens one time in ten is missed in 1 of 24 samples."""
FEWEST_STATES = 10
"""States that a memory must hold before a decision can be expected to be near one."""
REVISITS = 3
"""Visits to a state after which something else could have been tried."""
ONE_ACTION = 0.5
"""Share of the poor, revisited states with a single tried action: there, nothing is compared."""
WIDE = 0.5
"""Share of a memory's states in one neighborhood; a mean over half of all is no neighborhood."""
UNREACHED = 0.02
"""Share of decisions with a neighbor, up to which a threshold counts as reached by nothing."""
MEMORYS = 0.5
"""Share of choices that the model never proposed, above which it is hardly the model that acts."""
SEARCHING = frozenset({"", "jitrl"})
"""Agents that look for similar states; in a memory file, those that did are not told apart."""
ALWAYS = 0.95
"""Share of decisions in which the model could not have changed the choice."""


def single(case: Case) -> Finding:
    """Poor states that were visited again and again with a single action.

    Poor: their mean return is below that of their scope. States with one candidate are left out.
    """
    tried = poor = 0
    for journal in case.journals:
        rows = journal.rows
        forced = {c.state for a in journal.attempts for c in a.choices if c.options < 2}
        known, at, visits = np.unique(rows.state, return_inverse=True, return_counts=True)
        mean = np.bincount(at, rows.ret, len(known)) / visits
        pairs = np.unique(np.stack((at, rows.action)), axis=1)
        actions = np.bincount(pairs[0], minlength=len(known))
        names = {scope: i for i, scope in enumerate(dict.fromkeys(journal.scopes.values()))}
        scope = np.array([names[journal.scopes[state]] for state in known.tolist()], np.int64)
        whole = np.bincount(scope, mean * visits) / np.maximum(1, np.bincount(scope, visits))
        for i in np.flatnonzero((visits >= REVISITS) & (mean < whole[scope] - 1e-9)).tolist():
            if journal.states[int(known[i])] not in forced:
                poor += 1
                tried += bool(actions[i] == 1)
    if poor < FEWEST_STATES:
        return unknown(poor)
    more = 2.0 * case.preset.rule.novelty or UpdateRule().novelty
    return found(tried / poor > ONE_ACTION, poor, single=tried, share=tried / poor, more=more)


def width(case: Case) -> Finding:
    """Neighborhoods that are never full, where ``k`` says what full is, or hold half of all."""
    reading = _reading(case)
    given = [(c, held) for c, held in reading if c.known]
    if len(given) < FEWEST_DECISIONS:
        return unknown(len(given))
    k = case.preset.retrieval.k
    rows = np.array([c.known for c, _ in given])
    cover = float(np.median([c.reached / held for c, held in given]))
    full = None if k is None else float((rows >= k).mean())
    is_empty = len(given) < len(reading)
    is_wide = cover > WIDE and not is_empty
    return found(
        is_wide or full == 0.0,
        len(given),
        "wide" if is_wide else "never full",
        rows=float(np.median(rows)),
        cover=cover,
        k=k,
        full=full,
        is_ever_empty=is_empty,
        higher=round((1.0 + case.preset.retrieval.threshold) / 2.0, 2),
    )


def threshold(case: Case) -> Finding:
    """Whether anything is similar enough to be a neighbor.

    Where what is nearest is, and still no neighbor, it is of other tasks, whose rows no longer
    count: the tasks are named too narrowly.
    """
    reading = _reading(case)
    if len(reading) < FEWEST_DECISIONS:
        return unknown(len(reading))
    share = sum(c.known > 0 for c, _ in reading) / len(reading)
    is_finding = share < UNREACHED
    retrieval = case.preset.retrieval
    near = None
    if is_finding and retrieval.kind != "embedding":
        near = max(_nearest(journal, case) for journal in case.journals)
    level = retrieval.threshold
    form = "other tasks" if near is not None and near >= level else ""
    below = None if form or near is None else round(0.95 * near, 2) or None
    return found(
        is_finding, len(reading), form, share=share, threshold=level, nearest=near, below=below
    )


def _nearest(journal: Journal, case: Case) -> float:
    """Median similarity of decided states to the nearest state of another episode."""
    seen = {c.state for a in journal.attempts for c in a.choices}
    return nearest(sorted(seen, key=lambda s: s.text), list(journal.states.values()), case)


def memory_only(case: Case) -> Finding:
    """Choices that the model had not proposed."""
    given = _given(case)
    if len(given) < FEWEST_DECISIONS:
        return unknown(len(given))
    share = sum(c.is_memorys for c in given) / len(given)
    return found(share > MEMORYS, len(given), share=share)


def prior_wins(case: Case) -> Finding:
    """Whether the memory ever changes a choice."""
    given = [c for c in _given(case) if c.options > 1]
    if len(given) < FEWEST_DECISIONS:
        return unknown(len(given))
    turned = sum(c.turned is not None for c in given)
    form = "" if any(c.push > 0.0 for c in given) else "silent"
    weights = _weights(given)
    more = max(2.0 * case.preset.rule.beta, np.ceil(weights["spread"]) + 1.0)
    return found(turned == 0, len(given), form, turned=turned, **weights, more=float(more))


def prior_loses(case: Case) -> Finding:
    """Whether the model could ever have changed a choice, where it has any preference."""
    given = [c for c in _given(case) if c.spread > 0.0]
    if len(given) < FEWEST_DECISIONS:
        return unknown(len(given))
    share = sum(c.is_outweighed for c in given) / len(given)
    half = case.preset.rule.beta / 2.0
    return found(share >= ALWAYS, len(given), share=share, **_weights(given), half=half)


def _weights(given: Sequence[Choice]) -> dict[str, Any]:
    return {
        "push": float(np.median([c.push for c in given])),
        "spread": float(np.median([c.spread for c in given])),
    }


def _given(case: Case) -> list[Choice]:
    return [choice for choice in case.choices() if choice.known]


def _reading(case: Case) -> list[tuple[Choice, int]]:
    """Decisions at which their scope held ``FEWEST_STATES``, and how many it held."""
    out = []
    for journal in case.journals if case.agent in SEARCHING else ():
        order = np.lexsort((journal.rows.version, journal.rows.state))
        known, at = np.unique(journal.rows.state[order], return_index=True)
        first = journal.rows.version[order][at]
        by_scope: dict[str, list[int]] = {}
        for state, version in zip(known.tolist(), first.tolist(), strict=True):
            by_scope.setdefault(journal.scopes[state], []).append(version)
        born = {scope: np.sort(versions) for scope, versions in by_scope.items()}
        for attempt in journal.attempts:
            for choice in attempt.choices:
                held = int(np.searchsorted(born.get(attempt.scope, []), choice.version, "right"))
                if held >= FEWEST_STATES:
                    out.append((choice, held))
    return out
