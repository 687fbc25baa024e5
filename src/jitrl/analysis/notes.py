"""What rules said to a decision: which were told, held out and obeyed, and what each is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from jitrl.analysis.rulebook import Shown, shown
from jitrl.ports import DecisionRecord
from jitrl.ports.rules import RuleStore
from jitrl.types import Rule, Spoken


@dataclass(frozen=True, slots=True)
class Heard:
    """A rule that spoke at a step, and what it has shown by now.

    Attributes:
        rule: As the book has it now.
    """

    spoken: Spoken
    rule: Rule
    shown: Shown

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        rule = self.rule
        return {
            "id": rule.id,
            "text": rule.text,
            "status": rule.status,
            **{name: getattr(self.spoken, name) for name in ("told", "chance", "obeyed")},
            "effect": self.shown.plain()["effect"],
        }


def heard(store: object, record: DecisionRecord, success: float = 1.0) -> tuple[Heard, ...]:
    """The rules that spoke at a decision, those that were told first; none without a rulebook.

    Args:
        success: Least score of an episode that is a win.
    """
    spoke = {one.rule: one for one in record.decision.notes}
    if not spoke:
        return ()
    rules = cast(RuleStore, store)
    known = {one.id: one for one in rules.rules() if one.id in spoke}
    uses, counts = rules.rule_uses(list(known)), rules.rule_counts(success, list(known))
    found = [
        Heard(one, known[id], shown(uses.get(id, ()), counts.get(id)))
        for id, one in spoke.items()
        if id in known
    ]
    return tuple(sorted(found, key=lambda one: not one.spoken.told))
