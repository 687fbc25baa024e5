"""Which actions of the memory join the model's candidates at a step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from jitrl.core.admission import Admission, unsupported
from jitrl.core.rule import UpdateRule
from jitrl.types import Candidate, Capped, Neighborhood, Risk

NO_CONFIDENCE = -700.0
"""A logit whose confidence is 0."""


def candidates_with_memory(
    proposed: Sequence[Candidate],
    tried: Mapping[str, Sequence[float]],
    rule: UpdateRule,
    allowed: Collection[str] | None = None,
    out: Collection[str] = (),
) -> list[Candidate]:
    """The model's candidates, then the memory's own as ``rule.memory_only`` says (eq. 23).

    Args:
        tried: Returns of each action of the neighborhood, nearest first.
        allowed: Actions that may join; ``None`` leaves it to the rule.
        out: Actions that may not, whatever the rule says.
    """
    known = {c.action for c in proposed}
    extra = [a for a in tried if not (a in known or a in out) and may_join(a, allowed)]
    if not extra or keeps_out(rule, allowed):
        return list(proposed)
    if rule.memory_only == "positive":
        extra = [a for a in extra if sum(tried[a]) > 0.0]
    z = min(c.logit for c in proposed) if rule.memory_only == "lowest" else 0.0
    if rule.prior == "confidence":
        z = NO_CONFIDENCE
    return [*proposed, *(Candidate(a, z, "memory", risk_of(a, allowed)) for a in extra)]


def may_join(action: str, allowed: Collection[str] | None) -> bool:
    """Whether an action of the memory is among the allowed ones, if these are named."""
    return allowed is None or action in allowed


def risk_of(action: str, allowed: Collection[str] | None) -> Risk:
    """What an action may do, where the allowed actions are marked with it."""
    return allowed.get(action, "read") if isinstance(allowed, Mapping) else "read"


def keeps_out(rule: UpdateRule, allowed: Collection[str] | None) -> bool:
    """Whether no action of the memory may join."""
    return rule.memory_only == "never" or (rule.memory_only == "lowest" and allowed is None)


def kept_out(
    proposed: Sequence[Candidate],
    tried: Mapping[str, Sequence[float]],
    near: Neighborhood,
    allowed: Collection[str] | None,
    admission: Admission,
) -> tuple[Capped, ...]:
    """Actions of the memory that may not join, because of what they may do."""
    if not isinstance(allowed, Mapping):
        return ()
    known = {c.action for c in proposed}
    joining = [a for a in tried if a not in known and a in allowed]
    return unsupported(joining, allowed, near.support, admission)
