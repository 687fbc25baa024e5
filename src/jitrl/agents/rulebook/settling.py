"""Rules that come into a book, and what becomes of those that are there and say something else.

The third gate. Two rules of one case that cannot both be followed become one conditional rule, if
a word tells the tasks they rest on apart; else both are candidates. It is the same whoever brought
the later one, but that rules by comparison are not merged: they are narrowed by later tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from jitrl.agents.rulebook.cases import case_of_rule
from jitrl.agents.rulebook.conflicts import disagree, disagreements, settled
from jitrl.core.sentences import cleaned, rule_id
from jitrl.core.similarity import words
from jitrl.memory.scoped import scoped
from jitrl.ports.rules import RuleStore
from jitrl.types import Contrast, Rule

_TOLD = ("candidate", "active")


def enter(
    store: RuleStore,
    rule: Rule,
    contrasts: Sequence[Contrast] = (),
    *,
    reason: str,
    principal: str = "",
) -> bool:
    """Put a rule in, or its evidence if it is there, and settle it; whether it was new.

    Raises:
        InputError: If the rule cannot be stored; nothing is written.
    """
    with store.batch():
        new = store.add_rules([rule], contrasts, reason=reason, principal=principal)
        if not settle(store, rule.id) and new:
            contest(store, rule.id)
    return bool(new)


def settle(store: RuleStore, id: str) -> str:
    """Put one conditional rule in place of this one and one that it disagrees with.

    Returns:
        Its id; "" if there is none, or nothing tells the cases of two apart.
    """
    rule = store.rule(id)
    for other in rivals(store, rule):
        merged = _merged(store, other, rule)
        if merged is not None:
            why = f"settles {other.id} and {id} by “{merged.by}”"
            store.add_rules([merged.rule], reason=why, principal=rule.principal)
            reason = f"settled in {merged.rule.id}"
            store.set_rule_status("retired", [other.id, id], reason=reason)
            return merged.rule.id
    return ""


def contest(store: RuleStore, id: str, *, principal: str = "") -> tuple[str, ...]:
    """Make candidates of a rule and of those that it disagrees with: each has to prove itself.

    Returns:
        Ids of the others.
    """
    others = tuple(other.id for other in rivals(store, store.rule(id)))
    _put_on_trial(store, {id: others} if others else {}, principal)
    return others


def contest_all(
    store: RuleStore, ids: Collection[str], *, principal: str = ""
) -> dict[str, tuple[str, ...]]:
    """As ``contest`` of many rules at once.

    Returns:
        Those of them that disagree with others → ids of these.
    """
    found = disagreements(rule for rule in store.rules() if rule.status in _TOLD)
    against = {id: found[id] for id in ids if id in found}
    _put_on_trial(store, against, principal)
    return against


def _put_on_trial(store: RuleStore, against: Mapping[str, Collection[str]], principal: str) -> None:
    active = {rule.id for rule in store.rules(status="active")} if against else set()
    for id, others in against.items():
        for this, that in ((id, ", ".join(others)), *((other, id) for other in others)):
            if this in active:
                reason = f"disagrees with {that}: each has to prove itself"
                store.set_rule_status("candidate", [this], reason=reason, principal=principal)
                active.remove(this)


def rivals(store: RuleStore, rule: Rule) -> list[Rule]:
    """Rules that are told in the same tasks and cannot be followed beside this one."""
    if rule.status not in _TOLD:
        return []
    return [
        other
        for other in store.rules(scope=rule.scope)
        if other.id != rule.id
        and other.status in _TOLD
        and (other.kind == rule.kind or not (other.kind and rule.kind))
        and disagree(other.text, rule.text)
    ]


class _Merged(NamedTuple):
    """A conditional rule, and the word it goes by."""

    rule: Rule
    by: str


def _merged(store: RuleStore, old: Rule, new: Rule) -> _Merged | None:
    """What says both, unless it was there and is told nobody; ``None`` if nothing does."""
    is_compared = case_of_rule(old) is not None and case_of_rule(new) is not None
    if is_compared or old.kind != new.kind:
        return None
    found = settled(old.text, new.text, _goals(store, old), _goals(store, new))
    if found is None:
        return None
    made = replace(
        new,
        id=rule_id(found.text),
        text=cleaned(found.text),
        entities=tuple(sorted({*old.entities} & {*new.entities})),
        entry=min(old.entry, new.entry),
        parents=(old.id, new.id),
        evidence=tuple(dict.fromkeys((*old.evidence, *new.evidence))),
        status="candidate",
    )
    made = scoped(store, made)
    there = {rule.id: rule.status for rule in store.rules(scope=new.scope)}
    return None if there.get(made.id, "candidate") not in _TOLD else _Merged(made, found.by)


def _goals(store: RuleStore, rule: Rule) -> list[frozenset[str]]:
    """Words of the goal of each task that a rule rests on."""
    goals = {one.task: one.goal for one in store.contrasts(ids=rule.evidence)}
    return [frozenset(words(goal)) for goal in goals.values()]
