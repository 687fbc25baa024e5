"""Views of an explanation: as plain values, and which decisions a memory changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec
import numpy as np

from jitrl.analysis.notes import Heard
from jitrl.core.evidence import nearness
from jitrl.core.rule import UpdateRule
from jitrl.core.update import drawn, propensities
from jitrl.memory.explain import Explanation
from jitrl.ports import DecisionRecord
from jitrl.types import Decision, State, Weighed

Why = Literal["returns", "exploration", "lessons"]

_CARRIED = 0.99  # share of V that neighbors make up before the rest is of no account


@dataclass(frozen=True, slots=True)
class Cause:
    """One neighbor of a decision, and whose experience it is.

    Attributes:
        weight: Its share in V: visits times ``exp((similarity - 1) / kernel)``, adding up to 1.
            What is not trusted has none where the rule bounds what it moves (``untrusted``).
        value: What the action came to there, return units: the mean return, or where the memory
            keeps a graph that and the value backed up through it.
        episodes: Keys of the episodes behind its rows; empty for steps of the present episode.
    """

    action: str
    similarity: float
    weight: float
    visits: float
    value: float
    rows: tuple[int, ...]
    episodes: tuple[str, ...]
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class Turned:
    """A decision that fell otherwise than the frozen model's own.

    Attributes:
        why: What outweighed the model: ``returns`` of earlier episodes, ``exploration`` (what is
            new, or was already done in this episode), or ``lessons`` of other tasks.
    """

    id: str
    state: State
    chosen: Weighed
    unaided: Weighed
    why: Why


def turned(records: Iterable[DecisionRecord], rule: UpdateRule) -> Iterator[Turned]:
    """The decisions among ``records`` that a memory changed, in their order.

    Args:
        rule: The one in force; earlier decisions may be of another.
    """
    for record in records:
        decision = record.decision
        if decision.mode == "act" and not decision.reason and decision.changed:
            own = unaided(decision)
            yield Turned(record.id, record.state, decision.chosen, own, why(decision, rule))


def unaided(decision: Decision) -> Weighed:
    """The frozen model's most probable candidate."""
    return next(c for c in decision.candidates if c.action == decision.unaided)


def has_say(decision: Decision) -> bool:
    """Whether a memory, or weights that it trained, corrected the model's own choice."""
    return decision.reason == "weights" or (not decision.reason and decision.mode != "off")


def told(decision: Decision) -> int:
    """How many rules stood in the prompt of a decision; its prior is of a model that read them."""
    return sum(one.told for one in decision.notes)


def has_scores(decision: Decision) -> bool:
    """Whether a memory corrects scores where it was made, be it that it held nothing."""
    return decision.reason not in ("off", "static", "weights")


def is_shadow(decision: Decision) -> bool:
    """Whether the memory computed a choice that was not followed."""
    return decision.mode == "shadow" and decision.reason in ("", "empty")


def memorys(decision: Decision, rule: UpdateRule) -> Weighed:
    """What the memory chose, with the same draw; what was taken, unless in ``shadow``."""
    if not is_shadow(decision):
        return decision.chosen
    corrected = np.array([c.corrected for c in decision.candidates])
    draw = decision.draws[0] if decision.draws else 0.0
    return decision.candidates[drawn(propensities(corrected, rule), draw)]


def by_returns(of: Weighed, decision: Decision, rule: UpdateRule) -> float:
    """Nats that returns add to a candidate, ahead of ``kl_cap``; those of trained weights, too."""
    if decision.reason == "weights":
        return of.correction
    return decision.share * rule.beta * of.scaled


def why(decision: Decision, rule: UpdateRule, mine: Weighed | None = None) -> Why:
    """What did more for the choice (``mine``, if it was not taken) against the model's own."""
    mine, own = mine or decision.chosen, unaided(decision)
    explored, taught = mine.bonus - own.bonus, mine.transfer - own.transfer
    if decision.rule == rule.digest:  # ``kl_cap`` may have scaled the correction, not its parts
        paid = by_returns(mine, decision, rule) - by_returns(own, decision, rule)
    else:
        paid = mine.correction - own.correction - explored - taught
    by: dict[Why, float] = {"exploration": explored, "lessons": taught, "returns": paid}
    return max(by, key=lambda cause: by[cause])


def causes(of: Explanation, rule: UpdateRule) -> tuple[Cause, ...]:
    """The neighbors of a decision, the weightiest first; ``rule`` is the one that decided."""
    near = of.decision.neighbors
    weights = [
        n.visits * nearness(n.similarity, rule.kernel) * (n.trusted or rule.untrusted is None)
        for n in near
    ]
    whole = sum(weights) or 1.0
    found = [
        Cause(
            n.action,
            n.similarity,
            weight / whole,
            n.visits,
            n.ret if n.value is None else (1 - rule.backup) * n.ret + rule.backup * n.value,
            n.rows,
            tuple(dict.fromkeys(of.owners[row] for row in n.rows if row in of.owners)),
            n.trusted,
        )
        for n, weight in zip(near, weights, strict=True)
    ]
    return tuple(sorted(found, key=lambda c: (-c.weight, -c.value)))


def carrying(found: Sequence[Cause]) -> int:
    """How many of ``causes``, the weightiest first, make up 99 % of V; all if none has a say."""
    whole = 0.0
    for number, cause in enumerate(found):
        if cause.weight == 0.0 or whole >= _CARRIED:
            return number or len(found)
        whole += cause.weight
    return len(found)


def of_weights(record: DecisionRecord) -> Explanation:
    """A decision of trained weights: its own numbers, as no memory had a say in it.

    The frozen model's own choice is what the same draw gives from its prior.
    """
    decision = record.decision
    prior = np.array([c.prior for c in decision.candidates])
    own = decision.candidates[drawn(prior, decision.draws[0])].action
    alone = replace(decision, action=own)
    return Explanation(
        record.id, record.episode, record.step, record.state, decision, alone, True, ()
    )


def of_itself(record: DecisionRecord) -> Explanation:
    """A decision that no memory had a say in, by its own numbers: it is the model's own."""
    made = record.decision
    return Explanation(record.id, record.episode, record.step, record.state, made, made, True, ())


def data(of: Explanation, rule: UpdateRule, heard: Sequence[Heard] = ()) -> dict[str, Any]:
    """Everything in plain values, candidates by what they came to, and the rules that spoke.

    ``action`` is what was taken, ``memory`` what the memory chose: the two differ in ``shadow``
    only. ``is_changed``, ``why`` and ``is_turned`` are about the memory's choice; where it had no
    say, ``reason`` says why: a draw from the model's own choice is no change of it.
    """
    decision, mine = of.decision, memorys(of.decision, rule)
    is_changed = has_say(decision) and mine.action != decision.unaided
    ranked = sorted(decision.candidates, key=lambda c: -c.corrected)
    return {
        "schema": "jitrl.explain/2",
        "id": of.id,
        "episode": of.episode,
        "step": of.step,
        "state": msgspec.to_builtins(of.state),
        "action": decision.action,
        "unaided": decision.unaided,
        "memory": mine.action,
        "mode": decision.mode,
        "reason": decision.reason,
        "is_changed": is_changed,
        "why": why(decision, rule, mine) if is_changed and not decision.reason else None,
        "value": decision.value,
        "scale": decision.scale,
        "kl": decision.kl,
        "share": decision.share,
        "version": decision.version,
        "rule": decision.rule,
        "scorer": decision.scorer,
        "candidates": [msgspec.to_builtins(c) for c in ranked],
        "capped": [c._asdict() for c in decision.capped],
        "silenced": decision.silenced,
        "lesson": None if decision.lesson is None else decision.lesson._asdict(),
        "taught": msgspec.to_builtins(of.taught),
        "rules": [one.plain() for one in heard],
        "neighbors": [msgspec.to_builtins(c) for c in causes(of, rule)],
        "alone": of.alone.action,
        "without": [
            {**msgspec.to_builtins(other), "is_turned": other.action != mine.action}
            for other in of.without
        ],
        "others": of.others,
    }


def listed(found: Iterable[Turned]) -> dict[str, Any]:
    """The decisions that the memory changed, in plain values."""
    return {
        "schema": "jitrl.explain.changed/2",
        "decisions": [
            {
                "id": one.id,
                "action": one.chosen.action,
                "unaided": one.unaided.action,
                "prior": one.chosen.prior,
                "probability": one.chosen.probability,
                "why": one.why,
            }
            for one in found
        ],
    }
