"""`jitrl rules ls`, `show` and `why`: what is in the book, what it has shown, where it is from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from shlex import quote
from typing import Annotated

import msgspec
import typer

from jitrl.agents.rulebook.cases import COMPARED
from jitrl.agents.rulebook.conflicts import disagreements
from jitrl.agents.rulebook.meaning import by_meaning
from jitrl.analysis.rulebook import GATES, Shown, shown
from jitrl.cli.memory.options import FILE, NAME, check_scope, reading
from jitrl.cli.rules.naming import named, some
from jitrl.cli.rules.options import LANG, RULE, SCOPE, STATUS, SUCCESS
from jitrl.cli.rules.words import LANGUAGES, Words
from jitrl.cli.shared.listing import Listing, figures
from jitrl.cli.shared.output import JSON, emit, note, people
from jitrl.core.patterns import PLACEHOLDER
from jitrl.core.rulesearch import search
from jitrl.errors import InputError
from jitrl.run.embedding import embedder_of
from jitrl.types import Rule, ScoredUse


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
    lang: LANG = "en",
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
    seen = {rule.id: shown(uses.get(rule.id, ()), counts.get(rule.id)) for rule in found}
    if json:
        data = [
            {
                "rule": msgspec.to_builtins(rule),
                **seen[rule.id].plain(),
                "tainted_by": list(tainted.get(rule.id, ())),
                "disagrees_with": list(against.get(rule.id, ())),
            }
            for rule in found
        ]
        emit({"schema": "jitrl.rules.ls/1", "rules": data})
        return
    words = LANGUAGES[lang]
    if not found:
        note(words.none)
        return
    is_disputed = any(rule.id in against for rule in found)
    last = len(words.heads) - 1
    listed = Listing(
        words.heads if is_disputed else words.heads[:-1],
        texts=frozenset({0, last} if is_disputed else {0}),
        left=frozenset({1, 2}),
    )
    for rule in found:
        of = seen[rule.id]
        listed.add(
            rule.text,
            rule.id,
            words.statuses[rule.status] + (words.tainted if rule.id in tainted else ""),
            of.bounds,
            str(of.effect.given),
            str(of.effect.held),
            f"{of.counts.wins}/{of.counts.uses}",
            _obeyed(of, words),
            *([some(against.get(rule.id, ()))] if is_disputed else []),
        )
    people().print(listed)
    note(words.effect.format(level=1 - GATES.alpha), style="dim")
    if any(of.is_anew for of in seen.values()):
        note(words.anew, style="dim")
    if any(of.is_beyond for of in seen.values()):
        note(words.beyond, style="dim")
    _note_placeholders(found, words)
    if is_disputed:
        note(words.disputed, style="yellow")


def show(
    file: FILE,
    rule: RULE,
    name: NAME = "default",
    success: SUCCESS = 1.0,
    lang: LANG = "en",
    json: JSON = False,
) -> None:
    """Show a rule: what it says, when it is told, and what it has shown, told and held out."""
    with reading(file, name) as store:
        (id,) = named(store, [rule])
        found, uses = store.rule(id), store.rule_uses([id])[id]
        seen = shown(uses, store.rule_counts(success).get(id))
        tainted = store.tainted().get(id, ())
        against = disagreements(store.rules()).get(id, ())
    if json:
        facts = {"last_at": seen.counts.last_at or None, "tainted_by": list(tainted)}
        about = {"rule": msgspec.to_builtins(found), **seen.plain(), **facts}
        emit({"schema": "jitrl.rules.show/1", **about, "disagrees_with": list(against)})
        return
    words = LANGUAGES[lang]
    _tell_what(found, words)
    status = words.statuses[found.status]
    note(words.since.format(status=status, reason=found.reason or words.no_reason))
    note(words.born.format(day=_day(found.created), entry=found.entry))
    if seen.bounds:
        note(words.shown.format(bounds=seen.bounds))
    elif not seen.is_anew:
        note(words.nothing)
    people().print(_arms(seen, uses, words))
    note(words.steps, style="dim")
    if seen.is_anew:
        note(words.anew, style="dim")
    if seen.is_beyond:
        note(words.beyond, style="dim")
    _note_placeholders([found], words)
    counts = seen.counts
    note(words.last.format(day=_day(counts.last_at)) if counts.last else words.never)
    if against:
        note(words.against.format(ids=some(against, words.joint)), style="yellow")
    if tainted:
        note(words.rests.format(keys=some(tainted, words.joint)), style="yellow")
    note(words.origin.format(file=quote(file), id=id), style="dim")


def why(
    file: FILE, rule: RULE, name: NAME = "default", lang: LANG = "en", json: JSON = False
) -> None:
    """Show where a rule comes from, and what became of it."""
    with reading(file, name) as store:
        (id,) = named(store, [rule])
        found, history = store.rule(id), store.rule_history(id)
        contrasts = store.contrasts(ids=found.evidence)
        tainted = store.tainted().get(id, ())
    if json:
        parts = {"rule": found, "history": history, "contrasts": contrasts}
        plain = {what: msgspec.to_builtins(part) for what, part in parts.items()}
        emit({"schema": "jitrl.rules.why/1", **plain, "tainted_by": list(tainted)})
        return
    words = LANGUAGES[lang]
    _tell_what(found, words)
    if found.parents:
        note(words.stands.format(ids=some(found.parents, words.joint)))
    for contrast in contrasts:
        scored = [
            f"{key} ({score:.2g})"
            for key, score in zip((*contrast.good, *contrast.bad), contrast.scores, strict=True)
        ]
        good, bad = scored[: len(contrast.good)], scored[len(contrast.good) :]
        note(
            words.round.format(
                round=contrast.round,
                task=contrast.task,
                good=some(good, words.joint),
                bad=some(bad, words.joint) or words.no_bad,
            )
        )
    before = ""
    for change in history:
        by = words.answers.format(principal=change.principal) if change.principal else ""
        what = words.statuses[change.status] if change.status != before else words.evidence
        before = change.status
        about = {"version": change.version, "day": _day(change.at), "what": what, "by": by}
        note(words.change.format(reason=change.reason or words.no_reason, **about))
    if tainted:
        note(words.rests.format(keys=some(tainted, words.joint)), style="yellow")
    if contrasts:
        note(words.attempt.format(file=quote(file)), style="dim")


def _arms(seen: Shown, uses: Iterable[ScoredUse], words: Words) -> Listing:
    """A line on the episodes that were told the rule, and one on those where it was held out."""
    counts, listed = seen.counts, figures("", *words.figures)
    scores: dict[bool, list[float]] = {True: [], False: []}
    for one in uses:
        scores[one.use.told].append(one.score)
    told = counts.uses, counts.wins, _mean(scores[True])
    held = counts.held, counts.held_wins, _mean(scores[False])
    steps = seen.occasions, seen.obeyed, seen.unknown
    held_steps = seen.held_occasions, seen.held_obeyed, seen.held_unknown
    listed.add(words.told, *map(str, (*told, *steps)))
    listed.add(words.held, *map(str, (*held, *held_steps)))
    return listed


def _mean(scores: Sequence[float]) -> str:
    """The mean score; "" where there is none."""
    return f"{sum(scores) / len(scores):.2f}" if scores else ""


def _obeyed(seen: Shown, words: Words) -> str:
    """At how many of the steps at which it can be told, and at how many it cannot."""
    known = f"{seen.obeyed}/{seen.occasions - seen.unknown}"
    return words.unknown.format(known=known, unknown=seen.unknown) if seen.unknown else known


def _note_placeholders(rules: Iterable[Rule], words: Words) -> None:
    """Say what a placeholder is, if there is one."""
    found = (PLACEHOLDER.search(rule.text) for rule in rules)
    if first := next(filter(None, found), None):
        note(words.placeholder.format(first[0]), style="dim")


def _tell_what(rule: Rule, words: Words) -> None:
    note(rule.text, style="bold")
    author = "" if rule.author == COMPARED else rule.author
    note(
        words.about.format(
            id=rule.id,
            status=words.statuses[rule.status],
            by=words.by.get(author, author),
            kind=rule.kind or words.any_kind,
            scope=rule.scope or "-",
            words=some(rule.entities, words.joint) or words.any_goal,
        )
    )


def _day(at: float) -> str:
    try:
        return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M") if at else "-"
    except (OverflowError, ValueError, OSError):  # an older version took any number
        return f"{at:g} s"
