"""Which id a rule has in its scope: a text may be a rule of several scopes, and is one in each."""

from __future__ import annotations

from dataclasses import replace

from jitrl.core.sentences import rule_id, scoped_id
from jitrl.errors import StoreError
from jitrl.ports.rules import RuleStore
from jitrl.types import Rule


def scoped(store: RuleStore, rule: Rule) -> Rule:
    """The rule under the id that its text has in its scope.

    That is the id of the text, unless a rule of another scope has it; then it is one of the text
    and the scope.
    """
    own, plain = scoped_id(rule.text, rule.scope), rule_id(rule.text)
    is_own = _scope(store, own) is not None or _scope(store, plain) not in (None, rule.scope)
    return replace(rule, id=own if is_own else plain)


def _scope(store: RuleStore, id: str) -> str | None:
    """Of the rule with this id; ``None`` where there is none."""
    try:
        return store.rule(id).scope
    except StoreError:
        return None
