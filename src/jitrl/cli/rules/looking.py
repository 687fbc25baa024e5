"""`jitrl rules ls`, `show` and `why`: what is in the book, what it has shown, where it is from."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from jitrl.agents.rulebook.cases import COMPARED
from jitrl.agents.rulebook.conflicts import disagreements
from jitrl.agents.rulebook.meaning import by_meaning
from jitrl.analysis.rulebook import GATES, Shown, shown
from jitrl.cli.memory.options import FILE, NAME, check_scope, reading
from jitrl.cli.rules.options import RULE, SCOPE, STATUS, SUCCESS
from jitrl.cli.shared.listing import Listing, figures
from jitrl.cli.shared.output import JSON, emit, people, tell
from jitrl.core.patterns import PLACEHOLDER
from jitrl.core.rulesearch import search
from jitrl.errors import InputError
from jitrl.run.embedding import embedder_of
from jitrl.types import Rule


def ls(
    file: FILE,
    name: NAME = "default",
    scope: SCOPE = None,
    status: STATUS = None,
    find: Annotated[str, typer.Option(help="Only rules with these words, the best first.")] = "",
    embedder: Annotated[
        str,
        typer.Option(
            help="With `--find`: all rules, by how near in meaning they are; `wordllama` or "
            "`package.module:name`."
        ),
    ] = "",
    success: SUCCESS = 1.0,
    json: JSON = False,
) -> None:
    """List rules with what they have shown: their effect, and the share of wins beside it.

    The effect compares episodes that were told a rule with those in which it was held out, by a
    draw. Wins of all uses say little: a rule that only rides along has as many. Rules that speak
    of one case and cannot both be followed name each other.
    """
    if embedder and not find:
        raise InputError(f"--embedder is {embedder}, and there is no --find TEXT to compare with")
    with reading(file, name) as store:
        found = store.rules(scope=scope, status=status)
        if find:
            made = embedder_of(embedder) if embedder else None
            near = by_meaning(find, found, made) if made else search(find, found)
            found = tuple(one.rule for one in near)
        if not found:
            check_scope(store, scope)
        uses = store.rule_uses([rule.id for rule in found])
        counts, tainted = store.rule_counts(success), store.tainted()
        against = disagreements(store.rules())
    heads = ["rule", "id", "status", "effect", "told", "held out", "wins", "obeyed"]
    is_disputed = any(rule.id in against for rule in found)
    heads += ["disagrees with"] if is_disputed else []
    listed = Listing(heads, texts=frozenset({0, 8} if is_disputed else {0}), left=frozenset({1, 2}))
    data = []
    for rule in found:
        seen = shown(uses.get(rule.id, ()), counts.get(rule.id))
        listed.add(
            rule.text,
            rule.id,
            rule.status + (" (tainted)" if rule.id in tainted else ""),
            seen.bounds,
            str(seen.effect.given),
            str(seen.effect.held),
            f"{seen.counts.wins}/{seen.counts.uses}",
            _obeyed(seen),
            ", ".join(against.get(rule.id, ())),
        )
        row = {"rule": msgspec.to_builtins(rule), **seen.plain()}
        row["tainted_by"] = list(tainted.get(rule.id, ()))
        row["disagrees_with"] = list(against.get(rule.id, ()))
        data.append(row)
    if json:
        emit({"schema": "jitrl.rules.ls/1", "rules": data})
        return
    if not found:
        tell("no rules")
        return
    people().print(listed)
    _note(
        f"Effect: mean score told minus held out, with {1 - GATES.alpha:.0%} bounds that hold "
        "at every look. Wins: of the episodes that were told. Obeyed: of the steps at which its "
        "condition held; unknown where it names none of the actions there."
    )
    _note_placeholders(found)
    if is_disputed:
        _note(
            "Rules that disagree speak of one case and cannot both be followed: retire one of "
            "them, or leave it to their effects.",
            style="yellow",
        )


def show(
    file: FILE,
    rule: RULE,
    name: NAME = "default",
    success: SUCCESS = 1.0,
    json: JSON = False,
) -> None:
    """Show a rule: what it says, when it is told, and what it has shown, told and held out."""
    with reading(file, name) as store:
        found = store.rule(rule)
        uses = store.rule_uses([rule])[rule]
        seen = shown(uses, store.rule_counts(success).get(rule))
        tainted = store.tainted().get(rule, ())
        against = disagreements(store.rules()).get(rule, ())
    if json:
        facts = {"last_at": seen.counts.last_at or None, "tainted_by": list(tainted)}
        about = {"rule": msgspec.to_builtins(found), **seen.plain(), **facts}
        emit({"schema": "jitrl.rules.show/1", **about, "disagrees_with": list(against)})
        return
    _tell_what(found)
    tell(f"{found.status} since: {found.reason or '-'}")
    tell(f"in the book since {_day(found.created)}, entry score {found.entry:.2f}")
    if seen.bounds:
        tell(f"effect {seen.bounds}: mean score told minus held out, by draws")
    else:
        tell("effect not known: no scored episode could be told it yet")
    counts = seen.counts
    listed = figures("", "episodes", "wins", "mean score", "condition held", "obeyed", "unknown")
    for label, is_told, n, wins, held, obeyed, unknown in (
        ("told", True, counts.uses, counts.wins, seen.occasions, seen.obeyed, seen.unknown),
        (
            "held out",
            False,
            counts.held,
            counts.held_wins,
            seen.held_occasions,
            seen.held_obeyed,
            seen.held_unknown,
        ),
    ):
        scores = [one.score for one in uses if one.use.told is is_told]
        mean = f"{sum(scores) / len(scores):.2f}" if scores else ""
        listed.add(label, str(n), str(wins), mean, str(held), str(obeyed), str(unknown))
    people().print(listed)
    _note(
        "Condition held, obeyed, unknown: steps of these episodes; unknown where the rule names "
        "none of the actions there. The effect allows for the chance of each draw and for how hard "
        "each task is, so it may differ from the means."
    )
    _note_placeholders([found])
    tell(f"last told {_day(counts.last_at)}" if counts.last else "never told")
    if against:
        tell(f"disagrees with {', '.join(against)}", style="yellow")
    if tainted:
        tell(f"rests on episodes in quarantine: {', '.join(tainted)}", style="yellow")
    tell(f"jitrl rules why {file} {rule} says where it comes from", style="dim")


def why(file: FILE, rule: RULE, name: NAME = "default", json: JSON = False) -> None:
    """Show where a rule comes from, and what became of it."""
    with reading(file, name) as store:
        found, history = store.rule(rule), store.rule_history(rule)
        contrasts = store.contrasts(ids=found.evidence)
        tainted = store.tainted().get(rule, ())
    if json:
        parts = {"rule": found, "history": history, "contrasts": contrasts}
        plain = {what: msgspec.to_builtins(part) for what, part in parts.items()}
        emit({"schema": "jitrl.rules.why/1", **plain, "tainted_by": list(tainted)})
        return
    _tell_what(found)
    if found.parents:
        tell(f"stands for {', '.join(found.parents)}")
    for contrast in contrasts:
        scored = [
            f"{key} ({score:.2g})"
            for key, score in zip((*contrast.good, *contrast.bad), contrast.scores, strict=True)
        ]
        good, bad = scored[: len(contrast.good)], scored[len(contrast.good) :]
        tell(
            f"round {contrast.round} of {contrast.task}, episodes (scores): {', '.join(good)} "
            f"against {', '.join(bad) or 'none'}"
        )
    before = ""
    for change in history:
        by = f" (by {change.principal})" if change.principal else ""
        what = change.status if change.status != before else "more evidence"
        before = change.status
        tell(f"version {change.version}: {what}; {change.reason or '-'}{by}")
    if tainted:
        tell(f"rests on episodes in quarantine: {', '.join(tainted)}", style="yellow")
    if contrasts:
        tell(f"jitrl memory show {file} EPISODE shows an attempt", style="dim")


def _obeyed(seen: Shown) -> str:
    """At how many of the steps at which it can be told, and at how many it cannot."""
    known = f"{seen.obeyed}/{seen.occasions - seen.unknown}"
    return f"{known}, {seen.unknown} unknown" if seen.unknown else known


def _note(text: str, style: str = "dim") -> None:
    """A remark below a table, in lines that end between words."""
    people().print(Text(text, style=style))


def _note_placeholders(rules: Iterable[Rule]) -> None:
    """Say what a placeholder is, if there is one."""
    found = (PLACEHOLDER.search(rule.text) for rule in rules)
    if first := next(filter(None, found), None):
        _note(f"{first[0]}: whatever the goal of the task has in its place.")


def _tell_what(rule: Rule) -> None:
    tell(rule.text, style="bold")
    about = f"{rule.kind or 'any kind of task'}, scope {rule.scope or '-'}"
    words = ", ".join(rule.entities) or "any goal"
    by = {COMPARED: "comparison of attempts", "human": "hand"}.get(rule.author, rule.author)
    tell(f"{rule.id}: {rule.status}, by {by}, for {about}; key words: {words}")


def _day(at: float) -> str:
    try:
        return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M") if at else "-"
    except (OverflowError, ValueError, OSError):  # an older version took any number
        return f"{at:g} s"
