"""Rules: what each has shown, told and held out, and which of them disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from jitrl.agents.rulebook.cases import COMPARED
from jitrl.agents.rulebook.conflicts import disagreements
from jitrl.analysis.rulebook import GATES, shown
from jitrl.core.rulesearch import search
from jitrl.errors import InputError
from jitrl.service.pages.asking import Asked, Shown
from jitrl.types import RuleChange, RuleStatus

PAGE = 50
STATUSES: tuple[str, ...] = get_args(RuleStatus)


def listing(asked: Asked) -> Shown:
    """Rules with their effect, the strongest evidence first."""
    status, find = asked.text("status"), asked.text("text", 4_000)
    if status and status not in STATUSES:
        raise InputError(f"status is {status!r}; it must be one of {', '.join(STATUSES)}")
    with asked.place.reading(asked.seed) as opened:
        everything = opened.store.rules()
        found = tuple(r for r in everything if not status or r.status == status)
        if find:
            found = tuple(one.rule for one in search(find, found))
        uses, counts = opened.store.rule_uses([r.id for r in found]), opened.store.rule_counts(1.0)
        tainted, against = opened.store.tainted(), disagreements(everything)
    items = [
        (
            rule,
            shown(uses.get(rule.id, ()), counts.get(rule.id)),
            against.get(rule.id, ()),
            tainted.get(rule.id, ()),
        )
        for rule in found
    ]
    if not find:
        items.sort(key=lambda item: -item[1].effect.low)
    start = asked.whole("start")
    values: dict[str, Any] = {
        "items": items[start : start + PAGE],
        "start": start,
        "onward": start + PAGE if len(items) > start + PAGE else 0,
        "total": len(items),
        "statuses": STATUSES,
        "status": status,
        "text": find,
        "has_any": bool(everything),
        "level": 1 - GATES.alpha,
        "texts": {rule.id: rule.text for rule in everything},
    }
    return Shown("rules.html", values)


def one(asked: Asked) -> Shown:
    """A rule: what it says, what it has shown, what it rests on, and what became of it."""
    id = asked.text("id")
    with asked.place.reading(asked.seed) as opened:
        rule, uses = opened.store.rule(id), opened.store.rule_uses([id])[id]
        counts = opened.store.rule_counts(1.0).get(id)
        everything = opened.store.rules()
        values: dict[str, Any] = {
            "rule": rule,
            "seen": shown(uses, counts),
            "uses": uses[-PAGE:][::-1],
            "number": len(uses),
            "history": _entries(opened.store.rule_history(id)),
            "by": {COMPARED: "rule.by_comparison", "human": "rule.by_hand"}.get(
                rule.author, "rule.by"
            ),
            "contrasts": opened.store.contrasts(ids=rule.evidence),
            "tainted": opened.store.tainted().get(id, ()),
            "against": disagreements(everything).get(id, ()),
            "texts": {one.id: one.text for one in everything},
            "level": 1 - GATES.alpha,
        }
    return Shown("rule.html", values)


def _entries(history: Sequence[RuleChange]) -> list[tuple[RuleChange, bool]]:
    """Each entry of a history, and whether it changed the status; else it brought evidence."""
    before = ["", *(change.status for change in history)]
    return [(change, change.status != was) for change, was in zip(history, before, strict=False)]
