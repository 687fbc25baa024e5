"""Explanations for people: the decisions that a memory changed, and the numbers of one."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from jitrl.analysis import explain as views
from jitrl.analysis.notes import Heard
from jitrl.cli.explain import lessons
from jitrl.cli.explain.words import Words
from jitrl.cli.shared.listing import Listing
from jitrl.core.rule import UpdateRule
from jitrl.language import singular
from jitrl.memory.explain import Explanation
from jitrl.report.taught import WORDS
from jitrl.types import Decision, Weighed

_LINES = 8  # of each table


def changes(found: Sequence[views.Turned], words: Words) -> RenderableType:
    """A table of decisions that the memory changed."""
    if not found:
        return Text(words.none)
    heads = (words.decision, words.choice, words.model, words.why)
    listing = Listing(heads, texts=frozenset({0, 1, 2}), left=frozenset({3}))
    for one in found:
        listing.add(
            one.id,
            f"{one.chosen.action} {one.chosen.prior:.0%} → {one.chosen.probability:.0%}",
            f"{one.unaided.action} {one.unaided.prior:.0%} → {one.unaided.probability:.0%}",
            words.causes[one.why],
        )
    return listing


def explained(
    of: Explanation,
    rule: UpdateRule,
    words: Words,
    heard: Sequence[Heard] = (),
    lines: int = _LINES,
) -> RenderableType:
    """An explanation for people: the choice, the numbers, their causes, and without each.

    Args:
        lines: Most lines of each table; the choice and the model's own have one in any case.
    """
    mine = views.memorys(of.decision, rule)
    parts: list[RenderableType] = [
        _choice(of, mine, rule, words),
        "",
        _candidates(of, mine, rule, words, lines),
        Text(_note(of.decision, rule, words), style="dim"),
        *_limits(of.decision, words),
    ]
    if heard:
        parts += ["", Text(words.rules, style="bold"), _rules(heard, words)]
        parts.append(Text(words.rules_note, style="dim"))
    if of.taught is not None and of.decision.lesson is not None:
        parts += ["", *lessons.shown(of.taught, of.decision.lesson, words.lang, lines)]
    if of.decision.neighbors:
        parts += ["", Text(words.neighbors, style="bold"), _neighbors(of, mine, rule, words, lines)]
    if of.without:
        parts += ["", Text(words.without, style="bold"), _without(of, mine, words, lines)]
        parts.append(Text(words.taken.format(of.decision.action), style="dim"))
    if of.others:
        parts.append(Text(singular(words.unseen.format(of.others)), style="dim"))
    return Group(*parts)


def _rules(heard: Sequence[Heard], words: Words) -> RenderableType:
    """The rules that spoke at the step, what was made of them, and what each is worth."""
    heads = (words.rule_text, words.was_told, words.chance, words.obeyed, words.effect)
    listing = Listing(heads, texts=frozenset({0}), left=frozenset({1}))
    for one in heard:
        listing.add(
            one.rule.text,
            words.told[one.spoken.told],
            f"{one.spoken.chance:.0%}",
            words.done[one.spoken.obeyed],
            one.shown.bounds,
            style="bold" if one.spoken.told else "",
        )
    return listing


def _choice(of: Explanation, mine: Weighed, rule: UpdateRule, words: Words) -> RenderableType:
    decision, own = of.decision, views.unaided(of.decision)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(words.decision, Text(of.id))
    if of.state.context:
        table.add_row(words.context, Text(of.state.context))
    where = of.state.text.partition("\n")[0]
    table.add_row(words.place, Text(" · ".join(filter(None, (where, of.state.place)))))
    told, is_off = views.told(decision), decision.reason == "off"
    label = singular(words.advised.format(told)) if told else words.alone
    table.add_row(label, Text(f"{own.action}  {own.prior:.0%}"))
    is_other = mine.action != own.action
    is_changed = is_other and views.has_say(decision)
    end = words.turned if is_changed else words.drawn if is_other else words.same
    chosen = Text(f"{mine.action}  {mine.probability:.0%}", style="bold")
    chosen.append(f"  ← {end}", style="green" if is_changed else "dim")
    table.add_row(words.done_here if is_off else words.memory, chosen)
    if views.is_shadow(decision):
        table.add_row("", Text(words.shadow.format(decision.action, mine.action)))
    if is_changed and not decision.reason:
        table.add_row("", Text(words.because[views.why(decision, rule, mine)]))
    elif decision.reason:
        table.add_row("", Text(_silence(decision, words)))
    return table


def _silence(decision: Decision, words: Words) -> str:
    """Why the memory had no say; where scores are off, what rules were told in their place."""
    if decision.reason != "off":
        return words.silent.format(words.reasons.get(decision.reason, decision.reason))
    if not decision.notes:
        return words.off
    told = views.told(decision)
    return singular(words.off_told.format(told)) if told else words.off_none


def _limits(decision: Decision, words: Words) -> list[RenderableType]:
    """What admission kept the memory from doing, a line each."""
    said = [words.capped[c.limit].format(c.action, c.nats) for c in decision.capped]
    if decision.silenced:
        said.append(words.silenced.format(decision.silenced))
    return [Text(line, style="yellow") for line in said]


def _note(decision: Decision, rule: UpdateRule, words: Words) -> str:
    """How the columns add up to z'."""
    is_plain = rule.prior == "logit" and rule.temperature_prior == 1.0
    is_nudged = rule.untrusted is not None and not all(n.trusted for n in decision.neighbors)
    has_others = any(c.transfer for c in decision.candidates)
    said = words.note.format(
        value=decision.value,
        nudged=words.nudged if is_nudged else "",
        base="" if is_plain else words.base,
        others=f" + {WORDS[words.lang].column}" if has_others else "",
    )
    parts = [said]
    if decision.neighbors and decision.share < 1.0:
        parts.append(words.share.format(share=decision.share, warmup=rule.warmup))
    if rule.kl_cap is not None:
        parts.append(words.cap.format(cap=rule.kl_cap))
    return (" " if words.lang == "en" else "").join(parts)


def _candidates(
    of: Explanation, mine: Weighed, rule: UpdateRule, words: Words, lines: int
) -> RenderableType:
    decision = of.decision
    heads = [words.prior, words.visits, words.q, words.returns, words.bonus]
    if has_others := any(c.transfer for c in decision.candidates):
        heads.append(WORDS[words.lang].column)
    listing = Listing((words.candidate, *heads, words.logits, words.after), is_numbered=True)
    ranked = sorted(decision.candidates, key=lambda c: -c.corrected)
    shown = ranked[:lines]
    shown += [
        c for c in ranked[lines:] if c.action in (mine.action, decision.action, decision.unaided)
    ]
    for c in shown:
        listing.add(
            c.action,
            f"{c.prior:.1%}",
            f"{c.visits:g}" if c.visits else "–",
            f"{c.q:.3f}",
            f"{views.by_returns(c, decision, rule):+.1f}",
            f"{c.bonus:+.1f}",
            *[f"{c.transfer:+.1f}"] * has_others,
            f"{c.corrected - c.correction:+.1f} → {c.corrected:+.1f}",
            f"{c.probability:.1%}",
            style="bold green" if c.action == mine.action else "",
        )
    listing.cut(len(ranked) - len(shown), words.more)
    return listing


def _neighbors(
    of: Explanation, mine: Weighed, rule: UpdateRule, words: Words, lines: int
) -> RenderableType:
    heads = (words.similarity, words.weight, words.visits, words.returned)
    listing = Listing(
        (words.candidate, *heads, words.episodes, words.rows),
        texts=frozenset({0, 5, 6}),
        is_numbered=True,
    )
    found = views.causes(of, rule)
    for cause in found[:lines]:
        listing.add(
            cause.action,
            f"{cause.similarity:.3f}",
            f"{cause.weight:.0%}",
            f"{cause.visits:g}",
            f"{cause.value:+.3f}",
            ", ".join(cause.episodes) or words.running,
            " ".join(map(str, cause.rows)) or "–",
            style="bold" if cause.action == mine.action else "",
        )
    listing.cut(len(found) - lines, words.more)
    return listing


def _without(of: Explanation, mine: Weighed, words: Words, lines: int) -> RenderableType:
    heads = (words.episodes, words.would, words.instead)
    listing = Listing(heads, texts=frozenset({0, 1}))
    for other in of.without[:lines]:
        is_turned = other.action != mine.action
        said = Text(other.action, style="yellow") if is_turned else Text(words.still, style="dim")
        listing.add(other.episode, said, f"{other.probability:.1%}")
    listing.cut(len(of.without) - lines, words.more)
    return listing
