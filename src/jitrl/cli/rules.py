"""`jitrl rules`: the rulebook of a memory: what is in it, why, and how to change it by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from jitrl.cli.memory.options import FILE, NAME
from jitrl.cli.shared.listing import Listing
from jitrl.cli.shared.output import JSON, emit, people, tell
from jitrl.core.effect import Effect
from jitrl.core.gates import Gates, drawn, measure
from jitrl.core.rulesearch import search
from jitrl.core.sentences import cleaned, faults, rule_id
from jitrl.errors import InputError
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Rule, RuleStatus

app = typer.Typer(no_args_is_help=True)

IDS = Annotated[list[str], typer.Argument(metavar="RULE…", help="Ids of rules.")]
REASON = Annotated[str, typer.Option(help="Why; kept in the history of the rule.")]
PRINCIPAL = Annotated[str, typer.Option(help="Who is answerable; kept likewise.")]
SUCCESS = Annotated[float, typer.Option(min=0.0, max=1.0, help="Least score that is a win.")]
_GATES = Gates()


@app.callback()
def rules() -> None:
    """List, explain, add, retire and restore the rules of a memory."""


@app.command()
def ls(
    file: FILE,
    name: NAME = "default",
    scope: Annotated[str | None, typer.Option(help="Only this scope.")] = None,
    status: Annotated[RuleStatus | None, typer.Option(help="Only this status.")] = None,
    find: Annotated[str, typer.Option(help="Only rules with these words, the best first.")] = "",
    success: SUCCESS = 1.0,
    json: JSON = False,
) -> None:
    """List rules with what they have shown: their effect, and the share of wins beside it.

    The effect compares episodes that were told a rule with those in which it was held out, by a
    draw. Wins of all uses say little: a rule that only rides along has as many.
    """
    with _reading(file, name) as store:
        found = store.rules(scope=scope, status=status)
        if find:
            found = tuple(one.rule for one in search(find, found))
        uses = store.rule_uses([rule.id for rule in found])
        counts, tainted = store.rule_counts(success), store.tainted()
    shown = Listing(
        ["rule", "id", "status", "effect", "told", "held out", "wins", "obeyed"],
        left=frozenset({1, 2}),
    )
    data = []
    for rule in found:
        seen = measure(drawn(uses.get(rule.id, ())), _GATES)
        told = [one.use for one in uses.get(rule.id, ()) if one.use.told]
        obeyed, times = sum(u.obeyed for u in told), sum(u.occasions for u in told)
        wins = counts[rule.id].wins if rule.id in counts else 0
        mark = " (tainted)" if rule.id in tainted else ""
        shown.add(
            rule.text,
            rule.id,
            rule.status + mark,
            f"{seen.mean:+.2f} [{seen.low:+.2f}, {seen.high:+.2f}]" if told else "",
            str(seen.given),
            str(seen.held),
            f"{wins}/{seen.given}",
            f"{obeyed}/{times}",
        )
        shares = {"wins": wins, "occasions": times, "obeyed": obeyed}
        row = {"rule": msgspec.to_builtins(rule), "effect": _plain(seen), **shares}
        data.append({**row, "tainted_by": list(tainted.get(rule.id, ()))})
    if json:
        emit({"schema": "jitrl.rules.ls/1", "rules": data})
        return
    people().print(shown)
    if found:
        tell(
            f"Effect: mean score told minus held out, with {1 - _GATES.alpha:.0%} bounds that hold "
            "at every look. Wins: of the episodes that were told. Obeyed: of the steps its "
            "condition held.",
            style="dim",
        )
    else:
        tell("no rules")


@app.command()
def why(
    file: FILE,
    rule: Annotated[str, typer.Argument(metavar="RULE", help="Id of the rule.")],
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Show where a rule comes from, and what became of it."""
    with _reading(file, name) as store:
        found, history = store.rule(rule), store.rule_history(rule)
        contrasts = store.contrasts(ids=found.evidence)
        tainted = store.tainted().get(rule, ())
    if json:
        parts = {"rule": found, "history": history, "contrasts": contrasts}
        plain = {what: msgspec.to_builtins(part) for what, part in parts.items()}
        emit({"schema": "jitrl.rules.why/1", **plain, "tainted_by": list(tainted)})
        return
    tell(found.text, style="bold")
    about = f"{found.kind or 'any kind of task'}, scope {found.scope or '-'}"
    words = ", ".join(found.entities) or "any goal"
    tell(f"{found.id}: {found.status}, by {found.author}, for {about}; key words: {words}")
    if found.parents:
        tell(f"settles {' and '.join(found.parents)}")
    for contrast in contrasts:
        tell(
            f"round {contrast.round} of {contrast.task}: {', '.join(contrast.good)} against "
            f"{', '.join(contrast.bad) or 'none'} "
            f"(scores {', '.join(f'{score:.2g}' for score in contrast.scores)})"
        )
    for change in history:
        tell(f"version {change.version}: {change.status}; {change.reason or '-'}")
    if tainted:
        tell(f"rests on episodes in quarantine: {', '.join(tainted)}", style="yellow")


@app.command()
def add(
    file: FILE,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="One imperative sentence.")],
    scope: Annotated[str, typer.Option(help="Scope whose episodes are told it.")] = "",
    kind: Annotated[str, typer.Option(help="Type of task it is for; any if not given.")] = "",
    entry: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Score it begins with, as one use.")
    ] = 0.5,
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Add a rule by hand, as a candidate: it is tested like any other."""
    wrong = faults(text)
    if wrong:
        said = "; ".join(f"{one.fault} ({one.said})" if one.said else one.fault for one in wrong)
        raise InputError(
            f"{text!r} is no rule: {said}; write one imperative sentence with a condition, as "
            "'When the input contains a date, first write it as YYYY-MM-DD'"
        )
    rule = Rule(
        id=rule_id(text),
        text=cleaned(text),
        scope=scope,
        kind=kind,
        entry=entry,
        author="human",
        principal=principal,
    )
    with SQLiteStore(file, memory=name) as store:
        new = store.add_rules([rule], reason="added by hand", principal=principal)
    tell(f"{rule.id} {'added' if new else 'is there already'}: {rule.text}")
    if json:
        emit({"schema": "jitrl.rules.add/1", "id": rule.id, "new": bool(new)})


@app.command()
def retire(
    file: FILE,
    ids: IDS,
    reason: REASON,
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Tell rules no longer, until they are restored."""
    with _writing(file, name) as store:
        changed = store.set_rule_status("retired", ids, reason=reason, principal=principal)
    tell(f"{changed} retired")
    if json:
        emit({"schema": "jitrl.rules.retire/1", "changed": changed})


@app.command()
def restore(
    file: FILE,
    ids: IDS,
    reason: REASON = "",
    principal: PRINCIPAL = "",
    name: NAME = "default",
    json: JSON = False,
) -> None:
    """Give rules that were retired or quarantined the status they had before."""
    with _writing(file, name) as store, store.batch():
        changed = 0
        for id in ids:
            before = _before(store, id)
            changed += store.set_rule_status(before, [id], reason=reason, principal=principal)
    tell(f"{changed} restored")
    if json:
        emit({"schema": "jitrl.rules.restore/1", "changed": changed})


def _before(store: SQLiteStore, id: str) -> RuleStatus:
    """The status a rule had before it was taken out; what it has if it was not."""
    now = store.rule(id).status
    if now in ("candidate", "active"):
        return now
    history = [change.status for change in store.rule_history(id)]
    return next((s for s in reversed(history) if s in ("candidate", "active")), "candidate")


def _plain(seen: Effect) -> dict[str, float | int | None]:
    mean = seen.mean if seen.given + seen.held else None
    return {
        "mean": mean,
        "low": seen.low,
        "high": seen.high,
        "told": seen.given,
        "held_out": seen.held,
    }


def _reading(file: str, name: str) -> SQLiteStore:
    return SQLiteStore(file, memory=name, readonly=True)


def _writing(file: str, name: str) -> SQLiteStore:
    """The memory for a change; it is not made if it is not there."""
    if not Path(file).exists():
        raise InputError(f"there is no memory file {file!r}")
    return SQLiteStore(file, memory=name)
