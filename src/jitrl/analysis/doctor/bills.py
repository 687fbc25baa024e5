"""Checks of what learning costs beside acting, by the run's own ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jitrl.analysis.doctor.case import Case
from jitrl.analysis.doctor.finding import Finding, found, unknown
from jitrl.run.ledger import PHASES, Phase, Total

MOST_SHARE = 0.25
"""Share of a bill above which judging and learning are no longer a side cost of acting."""
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
    bills = {
        "calls": calls,
        "tokens": _sums(totals, lambda t: t.tokens_in + t.tokens_out),
        "dollars": _sums(totals, lambda t: t.dollars),
    }
    own = {name: _part(bill, phase) for name, bill in bills.items()}
    both = {name: _part(bill, "judge", "learn") for name, bill in bills.items()}
    is_alone = any((share or 0.0) > MOST_SHARE for share in own.values())
    is_both = not is_alone and any(
        (share or 0.0) > MOST_SHARE and _larger(bills[name]) == phase
        for name, share in both.items()
    )
    return found(
        is_alone or is_both,
        int(whole),
        "both" if is_both else "",
        **own,
        together=both,
        act=int(calls["act"]),
        judge=int(calls["judge"]),
        learn=int(calls["learn"]),
    )


def _larger(bill: Mapping[Phase, float]) -> Phase:
    """That of judging and learning which costs more, where both together are too much."""
    return "learn" if bill["learn"] > bill["judge"] else "judge"


def _sums(totals: Sequence[Total], amount: Callable[[Total], float]) -> dict[Phase, float]:
    return {phase: sum(amount(t) for t in totals if t.phase == phase) for phase in PHASES}


def _part(sums: Mapping[Phase, float], *phases: Phase) -> float | None:
    """``None`` where nothing was spent at all."""
    whole = sum(sums.values())
    return sum(sums[phase] for phase in phases) / whole if whole else None
