"""What ails a memory or a run: one function for each check, and the list of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from jitrl.analysis.doctor import (
    bills,
    effects,
    learned,
    likeness,
    outcomes,
    retrieval,
    rules,
    scores,
)
from jitrl.analysis.doctor.case import Case
from jitrl.analysis.doctor.finding import Finding

CHECKS: Mapping[str, Callable[[Case], Finding]] = {
    "spread": scores.spread,
    "curve": effects.curve,
    "effect": effects.effect,
    "families": effects.families,
    "flips": effects.flips,
    "judging": bills.judging,
    "learning": bills.learning,
    "kinds": likeness.kinds,
    "threshold": retrieval.threshold,
    "width": retrieval.width,
    "single": retrieval.single,
    "memory-only": retrieval.memory_only,
    "prior-wins": retrieval.prior_wins,
    "prior-loses": retrieval.prior_loses,
    "mixed-told": partial(outcomes.mixed, what="told"),
    "mixed-scorer": partial(outcomes.mixed, what="scorer"),
    "mixed-evaluator": partial(outcomes.mixed, what="evaluator"),
    "waiting": outcomes.waiting,
    "unscored": outcomes.unscored,
    "checkable": outcomes.checkable,
    "recurrence": outcomes.recurrence,
    "rules-more": rules.more,
    "rules-idle": rules.idle,
    "rules-form": rules.form,
    "rules-obeyed": rules.obeyed,
    "rules-harm": rules.harm,
    "rules-conflict": rules.conflict,
    "rules-rounds": learned.rounds,
    "rules-alike": learned.alike,
    "rules-undecided": learned.undecided,
    "rules-stale": learned.stale,
}
"""All checks, in the order in which they are told. A new one is a function of a case, a line here
and its words in both languages (``report.ailments``). Those of rules are told where there is a
book."""

OF_RULES = frozenset(name for name in CHECKS if name.startswith("rules-"))


def examine(case: Case) -> dict[str, Finding]:
    """What each check says of ``case``."""
    return {name: check(case) for name, check in CHECKS.items()}
