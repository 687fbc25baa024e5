"""Checks of what learning costs beside acting, by the run's own ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jitrl.analysis.doctor.case import Case
from jitrl.analysis.doctor.finding import Finding, found, unknown
from jitrl.run.ledger import PHASES, Phase, Total

MOST_SHARE = 0.25
"""Share of a bill above which judging or learning is no longer a side cost of acting."""
FEWEST_CALLS = 20
"""Below, a single retry moves a share by a twentieth."""


def judging(case: Case) -> Finding:
    """The judge's share of answers, tokens and dollars."""
    return _share(case, "judge")


def learning(case: Case) -> Finding:
    """The share of what is written in learning: reflections, workflows, notes."""
    return _share(case, "learn")


def _share(case: Case, phase: Phase) -> Finding:
    totals = case.spent or ()
    calls = _sums(totals, lambda t: t.calls + t.cached)
    whole = sum(calls.values())
    if whole < FEWEST_CALLS:
        return unknown(int(whole))
    shares: dict[str, Any] = {
        "calls": calls[phase] / whole,
        "tokens": _part(_sums(totals, lambda t: t.tokens_in + t.tokens_out), phase),
        "dollars": _part(_sums(totals, lambda t: t.dollars), phase),
    }
    return found(
        max(share or 0.0 for share in shares.values()) > MOST_SHARE,
        int(whole),
        **shares,
        act=int(calls["act"]),
        judge=int(calls["judge"]),
        learn=int(calls["learn"]),
    )


def _sums(totals: Sequence[Total], amount: Callable[[Total], float]) -> dict[Phase, float]:
    return {phase: sum(amount(t) for t in totals if t.phase == phase) for phase in PHASES}


def _part(sums: Mapping[Phase, float], phase: Phase) -> float | None:
    """``None`` where nothing was spent at all."""
    whole = sum(sums.values())
    return sums[phase] / whole if whole else None
