"""What callers are told of rules, and of decisions that rules spoke to."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import msgspec
from pydantic import Field

from jitrl.analysis.notes import Heard
from jitrl.analysis.rulebook import Shown
from jitrl.service.bodies import CANDIDATES, In, Name, Out, Page, Step, Where, plain
from jitrl.service.calls import Noted
from jitrl.service.desk import Desk
from jitrl.service.ids import decision_id, episode_id
from jitrl.types import Rule, RuleStatus


class Ask(In):
    """A step before the model is asked."""

    state: Annotated[Page | Where, Field(description="Where the agent stands.")]
    actions: Annotated[
        list[Name],
        Field(
            max_length=CANDIDATES,
            description="Names of all that can be done here, if they are known by now.",
        ),
    ] = Field(default_factory=list)
    step: Annotated[Step | None, Field(description="Number of that step, to be sure.")] = None


class NotesOut(Out):
    """What the model's prompt is to say at this step: ``notes``, which is "" if nothing is told.

    ``rules`` are the ids of those told. ``degraded`` says that they could not be found out.
    """

    episode: str
    step: int
    notes: str
    rules: list[str]
    degraded: bool

    @staticmethod
    def of(key: str, noted: Noted) -> NotesOut:
        """As the desk says it."""
        return NotesOut.model_construct(
            episode=episode_id(key),
            step=noted.step,
            notes=noted.notes,
            rules=list(noted.rules),
            degraded=bool(noted.degraded),
        )


class EffectOut(Out):
    """Mean score told minus held out, with bounds that hold at every look.

    ``told`` and ``held_out`` count episodes; ``mean`` is null where there is none.
    """

    mean: float | None
    low: float
    high: float
    told: int
    held_out: int

    @staticmethod
    def of(seen: Shown) -> EffectOut:
        """As its uses show it."""
        return EffectOut.model_construct(**seen.plain()["effect"])


class RuleOut(Out):
    """A rule in words, and what it has shown.

    ``wins`` counts episodes in which it was told, ``obeyed`` and ``unknown`` steps of ``occasions``
    at which its condition held and it was told.
    """

    id: str
    text: str
    scope: str
    kind: str
    status: RuleStatus
    reason: str
    author: str
    version: int
    effect: EffectOut
    wins: int
    occasions: int
    obeyed: int
    unknown: int

    @staticmethod
    def of(rule: Rule, seen: Shown) -> RuleOut:
        """As the memory has it."""
        return RuleOut.model_construct(
            id=rule.id,
            text=rule.text,
            scope=rule.scope,
            kind=rule.kind,
            status=rule.status,
            reason=rule.reason,
            author=rule.author,
            version=rule.version,
            effect=EffectOut.of(seen),
            wins=seen.counts.wins,
            occasions=seen.occasions,
            obeyed=seen.obeyed,
            unknown=seen.unknown,
        )


class RulesOut(Out):
    """Rules in the order they came."""

    rules: list[RuleOut]


class HeardOut(Out):
    """A rule that spoke at a decision.

    ``told`` or held out, by a draw with that ``chance``; ``obeyed`` is null where nobody can tell.
    """

    id: str
    text: str
    status: RuleStatus
    told: bool
    chance: float
    obeyed: bool | None
    effect: EffectOut

    @staticmethod
    def of(heard: Heard) -> HeardOut:
        """As the decision and the book say it."""
        plain = heard.plain() | {"effect": EffectOut.of(heard.shown)}
        return HeardOut.model_construct(**plain)


class DecisionOut(Out):
    """A decision with every number that made it."""

    id: str
    episode: str
    step: int
    task: str
    scope: str
    state: dict[str, str]
    action: str
    decision: dict[str, Any]
    rules: list[HeardOut]

    @staticmethod
    def of(desk: Desk, key: str, step: int) -> DecisionOut:
        """As it was made.

        Raises:
            Unknown: If there is none.
        """
        found = desk.decision(key, step)
        made = msgspec.to_builtins(replace(found.decision, neighbors=()))
        made["notes"] = [one._asdict() for one in found.decision.notes]
        made["neighbors"] = [neighbor._asdict() for neighbor in found.decision.neighbors]
        return DecisionOut.model_construct(
            id=decision_id(key, step),
            episode=episode_id(key),
            step=step,
            task=found.task,
            scope=found.scope,
            state=plain(found.state),
            action=found.action,
            decision=made,
            rules=[HeardOut.of(one) for one in desk.heard(found)],
        )
