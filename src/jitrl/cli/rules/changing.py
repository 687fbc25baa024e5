"""`jitrl rules add`, `retire` and `restore`: the book changed by hand; every change keeps why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from jitrl import given
from jitrl.agents.rulebook.settling import contest, contest_all
from jitrl.agents.rulebook.telling import ROOM
from jitrl.cli.memory.options import FILE, NAME, existing
from jitrl.cli.rules.naming import named, some
from jitrl.cli.rules.options import IDS, PRINCIPAL, REASON
from jitrl.cli.shared.answerable import answerable
from jitrl.cli.shared.output import JSON, emit, note
from jitrl.core.faults import described, faults
from jitrl.core.rules import tokens
from jitrl.core.sentences import cleaned, rule_id
from jitrl.errors import InputError
from jitrl.memory.scoped import scoped
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Rule, RuleStatus


def add(
    file: FILE,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="One imperative sentence.")],
    scope: Annotated[
        str | None,
        typer.Option(
            help="Scope whose episodes are told it; that of the memory's episodes and rules, if "
            "all are of one."
        ),
    ] = None,
    kind: Annotated[str, typer.Option(help="Type of task it is for; any if not given.")] = "",
    entry: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Score it begins with, as one use.")
    ] = 0.5,
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Add a rule by hand, as a candidate: it is tested like any other.

    Rules that speak of its case and cannot be followed beside it become candidates, too.
    """
    if wrong := faults(text):
        raise InputError(
            f"{described(text, wrong)}; write one imperative sentence with a condition, in "
            "English or Chinese, as 'When the input contains a date, first write it as YYYY-MM-DD'"
        )
    given.text(text, "the rule")
    scope, kind = scope and given.text(scope, "--scope"), given.text(kind, "--kind")
    principal = answerable(principal)
    with existing(file, name) as store, store.batch():
        scopes = _scopes(store)
        rule = Rule(
            id=rule_id(text),
            text=cleaned(text),
            scope=_only(scopes) if scope is None else scope,
            kind=kind,
            entry=entry,
            author="human",
            principal=principal,
        )
        rule = scoped(store, rule)
        new = store.add_rules([rule], reason="added by hand", principal=principal)
        there = store.rule(rule.id)
        against = contest(store, rule.id, principal=principal) if new else ()
    if not new and there.kind not in ("", kind):
        raise InputError(
            f"rule {rule.id} is there already, in scope {there.scope!r} for tasks of kind "
            f"{there.kind!r} ({there.status}), and is not told in those of kind "
            f"{kind or 'any'!r}; say it in other words for them"
        )
    known = f"is there already, {there.status}"
    note(f"{rule.id} {'added' if new else known}: {rule.text}")
    of = f"tasks of kind {there.kind!r}" if there.kind else "tasks of any kind"
    note(f"it is for {of} in scope {there.scope!r}")
    if new and scopes and there.scope not in scopes:
        others = ", ".join(map(repr, scopes))
        note(f"nothing else in the memory is of that scope; there are {others}", style="yellow")
    _tell_contested(rule.id, against)
    size = tokens(rule.text)
    if size > ROOM:
        note(
            f"it takes about {size} tokens, and rules have room for {ROOM}: it is told only by an "
            f"agent with tokens = {size} or more",
            style="yellow",
        )
    if json:
        added = {
            "id": rule.id,
            "new": bool(new),
            "scope": there.scope,
            "kind": there.kind,
            "disagrees_with": list(against),
        }
        emit({"schema": "jitrl.rules.add/1", **added})


def _tell_contested(id: str, against: Sequence[str]) -> None:
    """Say which rules became candidates beside one that they disagree with."""
    if against:
        note(
            f"{id} disagrees with {some(against)}: all of them are candidates now; retire "
            "what is wrong, or leave it to their effects",
            style="yellow",
        )


def _scopes(store: SQLiteStore) -> list[str]:
    """Those of the memory's episodes and rules."""
    return sorted({*store.stats().scopes, *(rule.scope for rule in store.rules())})


def _only(scopes: Sequence[str]) -> str:
    """The scope of the memory.

    Raises:
        InputError: If there are several: a rule is told in its own scope alone.
    """
    if len(scopes) > 1:
        raise InputError(
            f"the memory has episodes or rules of the scopes {', '.join(map(repr, scopes))}; say "
            "with --scope in which of them the rule is told"
        )
    return scopes[0] if scopes else ""


def retire(
    file: FILE,
    ids: IDS,
    reason: REASON,
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Tell rules no longer, until they are restored."""
    if not reason.strip():
        raise InputError(
            f"the reason is {reason!r}; say why the rules go, as --reason 'the page was changed': "
            "it is all that others can judge it by later"
        )
    principal = answerable(principal)
    with existing(file, name) as store, store.batch():
        meant = named(store, ids)
        there = [store.rule(id) for id in meant]
        changed = store.set_rule_status("retired", meant, reason=reason, principal=principal)
    for rule in there:
        how = "was retired before" if rule.status == "retired" else "retired"
        note(f"{rule.id} {how}: {rule.text}")
    note(f"{changed} retired")
    if json:
        emit({"schema": "jitrl.rules.retire/1", "changed": changed})


def restore(
    file: FILE,
    ids: IDS,
    reason: REASON = "",
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Give rules that were retired or quarantined the status they had before.

    What came in quarantined, as from an import, becomes a candidate, as does what disagrees with
    a rule that is told, and that one. Where other rules that are told stand for a restored one,
    that is said.
    """
    principal, reason = answerable(principal), reason.strip() or "restored by hand"
    with existing(file, name) as store, store.batch():
        meant = named(store, ids)
        why = {"reason": reason, "principal": principal}
        back = {id for id in meant if store.set_rule_status(_before(store, id), [id], **why)}
        against = contest_all(store, [id for id in meant if id in back], principal=principal)
        known = {rule.id: rule for rule in store.rules()}
        spoken = _speakers(known.values(), meant)
    there = [known[id] for id in meant]
    active = {rule.id for rule in there if rule.status == "active"}
    for rule in there:
        how = "restored" if rule.id in back else "was there already"
        note(f"{rule.id} {how}, {rule.status}: {rule.text}")
    changed = len(back)
    note(f"{changed} restored")
    for id, rivals in against.items():
        _tell_contested(id, rivals)
    for id, others in spoken.items():
        told = (
            "it is active and told all the same"
            if id in active
            else "a candidate is told only where what stands for it may not be"
        )
        note(f"{id} is stood for by {some(others)}: {told}", style="yellow")
    if json:
        facts = {"changed": changed, "spoken_for": spoken, "disagrees_with": against}
        emit({"schema": "jitrl.rules.restore/1", **facts})


def _speakers(rules: Iterable[Rule], ids: Iterable[str]) -> dict[str, list[str]]:
    """Those of ``ids`` that rules which are told stand for → ids of these."""
    found = dict[str, list[str]]()
    for rule in rules:
        for parent in rule.parents if rule.status in ("candidate", "active") else ():
            found.setdefault(parent, []).append(rule.id)
    return {id: found[id] for id in ids if id in found}


def _before(store: SQLiteStore, id: str) -> RuleStatus:
    """The status a rule had before it was taken out; what it has if it was not."""
    now = store.rule(id).status
    if now in ("candidate", "active"):
        return now
    history = [change.status for change in store.rule_history(id)]
    return next((s for s in reversed(history) if s in ("candidate", "active")), "candidate")
