"""Checks of a rulebook at work: whether its rules ever speak, followed, or do harm."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from jitrl.agents.rulebook.book import rulebook
from jitrl.agents.rulebook.conflicts import disagreements
from jitrl.analysis.doctor.case import Case, Journal
from jitrl.analysis.doctor.finding import (
    Cells,
    Finding,
    beyond,
    difference,
    found,
    is_known,
    said,
    unknown,
)
from jitrl.core.effect import Effect
from jitrl.core.faults import faults
from jitrl.core.gates import Gates, drawn, measure
from jitrl.core.gates import gates_of as chosen
from jitrl.core.rules import tokens
from jitrl.types import Rule, RuleUse, ScoredUse

FEWEST_USES = 20
"""Below, one use is more than a twentieth of all."""
MOST_IDLE = 0.5
"""Share of told rules whose condition held nowhere: with more, what is fetched is mostly noise."""
NEEDLESS = 0.9
"""Obeyed so often where it is held out, a rule says what is done anyway."""
MOST_NAMED = 5
"""Rules that are named; who looks at those sees soon whether there is more to it."""
_DEFAULTS = {name: of.default for name, of in signature(rulebook).parameters.items()}


def option(case: Case, name: str) -> Any:
    """An option of the agent ``rulebook``, as a run has it, or its default."""
    given = {} if case.record is None else case.record.settings["run"]["options"]
    return given.get(name, _DEFAULTS[name])


def doubled(case: Case, name: str, most: float = math.inf) -> Any:
    """Twice an option of ``rulebook``; ``None`` if no run says what it is, or it is at its most."""
    now = option(case, name)
    more = min(most, 2 * now)
    return None if case.record is None or more == now else more


def more(case: Case) -> Finding:
    """Whether more rules make results worse: against runs with fewer, else by the logged draws.

    Without such runs, the effect of one more rule told is estimated: how many are told is drawn, so
    the number beyond what its chances let expect is independent of all that came before.
    """
    if not case.has_rules:
        return unknown(0)
    fewer = {n: arm for n, arm in case.arms.items() if n < option(case, "told")}
    if case.base is not None:
        fewer[0] = case.base
    against = {n: difference(beyond(case.attempts(), arm)) for n, arm in sorted(fewer.items())}
    known = {n: change for n, change in against.items() if is_known(change)}
    if known:
        worse = [n for n, change in known.items() if change.verdict == "worse"]
        return found(
            bool(worse),
            min(change.clusters for change in known.values()),
            "arms",
            arms={_name(case, n): said(change) for n, change in known.items()},
            best=min(known, key=lambda n: known[n].mean),
        )
    episodes = list(_episodes(case))
    change = difference(_slopes(episodes))
    if len(episodes) < FEWEST_USES or not is_known(change):
        return unknown(change.clusters)
    return found(
        change.verdict == "worse",
        change.clusters,
        "" if case.place == "run" else "own agent",
        by={str(n): round(score, 2) for n, score in _by_number(episodes).items()},
        **said(change),
        fewer=option(case, "told") // 2,
    )


def idle(case: Case) -> Finding:
    """Rules for nothing: their condition held at no step since they came, or they are too long."""
    room = option(case, "tokens")
    present = [(j, rule) for j in case.journals for rule in j.book.present()]
    tried = [(j, rule) for j, rule in present if _chances(j, rule) >= FEWEST_USES]
    tried = [(j, r) for j, r in tried if _has_held(j, r.id) or r.id not in j.book.covered()]
    silent = [(j.path, rule.id) for j, rule in tried if not _has_held(j, rule.id)]
    is_noise = len(silent) > MOST_IDLE * len(tried)
    long = [(j.path, rule.id) for j, rule in present if tokens(rule.text) > room]
    if long and not is_noise:
        numbers = {"long": len(long), "room": room, **_first(case, long)}
        return found(True, len(present), "long", **numbers)
    if not tried:
        return unknown(0)
    numbers = {"idle": len(silent), "least": FEWEST_USES, **_first(case, silent)}
    return found(is_noise, len(tried), **numbers)


def _chances(journal: Journal, rule: Rule) -> int:
    """Scored episodes of a rule's scope and type of task since it came."""
    return sum(
        one.judged is not None
        and one.finished > rule.created
        and one.scope == rule.scope
        and rule.kind in ("", one.family)
        for one in journal.attempts
    )


def _first(case: Case, rules: Sequence[tuple[Path, str]]) -> dict[str, Any]:
    """The first file of some rules, and those in it, as far as they are named."""
    if not rules:
        return {}
    file = rules[0][0]
    ids = [id for path, id in rules if path == file][:MOST_NAMED]
    return {"ids": ids, **case.named(file)}


def form(case: Case) -> Finding:
    """Stored texts that are no rules: analysis, platitudes, no condition, too long."""
    place, bad, why = "", list[str](), Counter[str]()
    n = 0
    for journal in case.journals:
        for rule in journal.book.present():
            n += 1
            wrong = faults(rule.text)
            why.update(one.fault for one in wrong[:1])
            if wrong and place in ("", str(journal.path)):
                place = str(journal.path)
                bad.append(rule.id)
    if not n:
        return unknown(0)
    return found(
        bool(bad),
        n,
        bad=why.total(),
        why=dict(why.most_common()),
        ids=bad[:MOST_NAMED],
        **case.named(place),
    )


def obeyed(case: Case) -> Finding:
    """What telling does: how often a rule is followed where it is told, and where it is held out.

    Compared within each task, over the steps at which the condition of a rule held and it names an
    action that could be taken; at others nobody can tell.
    """
    sides: dict[tuple[str, int], tuple[list[RuleUse], list[RuleUse]]] = {}
    for journal_number, _, one in _uses(case):
        if one.use.chance < 1.0 and one.use.occasions > one.use.unknown:
            sides.setdefault((one.task, journal_number), ([], []))[one.use.told].append(one.use)
    paired = {place: both for place, both in sides.items() if all(both)}
    change = difference({p: _rate(told) - _rate(held) for p, (held, told) in paired.items()})
    held, told = ([use for both in sides.values() for use in both[i]] for i in (0, 1))
    if min(len(held), len(told)) < FEWEST_USES or not is_known(change):
        return unknown(change.clusters)
    return found(
        change.verdict != "better",
        change.clusters,
        "needless" if _rate(held) >= NEEDLESS else "",
        told=_rate(told),
        held=_rate(held),
        gap=doubled(case, "gap", 1.0),
        **said(change),
    )


def harm(case: Case) -> Finding:
    """Rules that are told though they do harm.

    The bounds of their effect lie below 0; or they are active, and below 0 on the whole since.
    """
    place, bad = "", dict[str, Effect]()
    n = below = 0
    gates = gates_of(case)
    for journal in case.journals:
        for rule in journal.book.present():
            seen = measure(drawn(journal.book.uses.get(rule.id, ())), gates)
            if seen.uses < FEWEST_USES:
                continue
            n += 1
            below += seen.mean < 0.0
            is_past = rule.status == "active" and seen.uses >= gates.grace
            is_bad = seen.high < 0.0 or (is_past and seen.mean < 0.0)
            if is_bad and place in ("", str(journal.path)):
                place = str(journal.path)
                bad[rule.id] = seen
    if not n:
        return unknown(0)
    worst = sorted(bad, key=lambda rule: bad[rule].mean)[:MOST_NAMED]
    effects = {rule: {"mean": bad[rule].shown, "interval": _bounds(bad[rule])} for rule in worst}
    return found(bool(bad), n, below=below, worst=effects, ids=worst, **case.named(place))


def conflict(case: Case) -> Finding:
    """Rules whose conditions hold and whose orders cannot both be followed."""
    place, held = "", list[str]()
    n = pairs = 0
    for journal in case.journals:
        rules = journal.book.present()
        n += len(rules) if len(rules) > 1 else 0
        against = disagreements(rules)
        both = [(one, other) for one in against for other in against[one] if one < other]
        pairs += len(both)
        alive = {id for id in against if _has_held(journal, id)}
        holding = [f"{one} / {other}" for one, other in both if {one, other} <= alive]
        if holding and not place:
            place, held = str(journal.path), holding
    if not n:
        return unknown(0)
    return found(bool(held), n, pairs=pairs, held=held[:MOST_NAMED], **case.named(place))


# --- uses and episodes ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Episode:
    """What was told in an episode: how many rules, and how many its chances let expect."""

    place: tuple[str, int]
    score: float
    told: int
    expected: float


def _uses(case: Case) -> Iterator[tuple[int, str, ScoredUse]]:
    """Number of the journal, id of the rule, and the use."""
    for number, journal in enumerate(case.journals):
        for rule, uses in journal.book.uses.items():
            for one in uses:
                yield number, rule, one


def _episodes(case: Case) -> Iterator[_Episode]:
    """Episodes with a rule that was drawn."""
    by_key: dict[tuple[int, str], list[ScoredUse]] = {}
    for number, _, one in _uses(case):
        if one.use.chance < 1.0:
            by_key.setdefault((number, one.use.episode), []).append(one)
    for (number, _), uses in by_key.items():
        yield _Episode(
            (uses[0].task, number),
            uses[0].score,
            sum(one.use.told for one in uses),
            sum(one.use.chance for one in uses),
        )


def _slopes(episodes: list[_Episode]) -> Cells:
    """Per task and seed, its part of the slope of the score over the rules told beyond chance."""
    places: dict[tuple[str, int], list[_Episode]] = {}
    for episode in episodes:
        places.setdefault(episode.place, []).append(episode)
    moved, spread = dict[tuple[str, int], float](), list[float]()
    for place, some in places.items():
        extra = np.array([episode.told - episode.expected for episode in some])
        score = np.array([episode.score for episode in some])
        moved[place] = float(extra @ (score - score.mean()))
        spread.append(float(extra @ extra))
    whole = float(np.mean(spread)) if spread else 0.0
    return {place: value / whole for place, value in moved.items()} if whole else {}


def _by_number(episodes: list[_Episode]) -> dict[int, float]:
    """Mean score by number of rules told."""
    scores: dict[int, list[float]] = {}
    for episode in episodes:
        scores.setdefault(episode.told, []).append(episode.score)
    return {n: float(np.mean(some)) for n, some in sorted(scores.items())}


def _rate(uses: list[RuleUse]) -> float:
    """Share of the occasions at which they were obeyed, of those at which that is known."""
    occasions = sum(use.occasions - use.unknown for use in uses)
    return sum(use.obeyed for use in uses) / occasions if occasions else 0.0


def _has_held(journal: Journal, rule: str) -> bool:
    return any(one.use.occasions for one in journal.book.uses.get(rule, ()))


def _name(case: Case, n: int) -> str:
    return "static" if not n and case.base is not None else f"told={n}"


def gates_of(case: Case) -> Gates:
    """The gates of a run, or the default ones."""
    return chosen(option(case, "gates")) or Gates()


def _bounds(of: Effect) -> list[float]:
    return [of.low, of.high]
