"""Checks of how a rulebook comes about: what rounds bring, what is never decided, what is stale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jitrl.analysis.doctor.case import Attempt, Book, Case, Journal
from jitrl.analysis.doctor.finding import Finding, found, unknown
from jitrl.analysis.doctor.rules import MOST_NAMED, doubled, gates_of, option
from jitrl.core.gates import drawn
from jitrl.core.rules import ALIKE, diversity
from jitrl.stores.records import RuleRecord
from jitrl.types import Rule, RuleChange

FEWEST_ROUNDS = 5
"""Distillations below which it is no wonder that none brought a rule."""
MOST_ALIKE = 0.5
"""Share of the rounds without a good attempt in which all did nearly the same: with more, most of
them try what failed before, and none can teach."""
MOST_REPEATS = 0.5
"""Share of distillations that were of a task which was distilled before, and brought no new rule:
with more, most of what learning costs is spent on what is known."""
MOST_HOPELESS = 0.5
"""Share of the rules past their grace that were only ever tried on one task."""
FEWEST_EPISODES = 20
"""Later episodes of its kind after which a rule that could not be told in one never will."""
STALE = 10
"""Distillations in a row without an admission; before, rules are still on trial."""


def rounds(case: Case) -> Finding:
    """What distillations brought: new rules, the known ones again, or nothing."""
    books = [journal.book for journal in case.journals]
    n = sum(len(book.contrasts) for book in books)
    if n < FEWEST_ROUNDS:
        return unknown(n)
    brought = repeats = tasks = 0
    for book in books:
        fruitful = {e for record in book.records for e in record.changes[0].evidence}
        seen = Counter((one.scope, one.task) for one in book.contrasts)
        tasks += len(seen)
        met = set[tuple[str, str]]()
        for one in book.contrasts:
            brought += one.id in fruitful
            repeats += (one.scope, one.task) in met and one.id not in fruitful
            met.add((one.scope, one.task))
    return found(
        not brought or repeats > MOST_REPEATS * n,
        n,
        "" if brought else "unwritten" if option(case, "author") == "model" else "barren",
        each=n / tasks,
        tasks=tasks,
        brought=brought,
        repeats=repeats,
        more=doubled(case, "attempts"),
        **case.named(next(j.path for j in case.journals if j.book.contrasts)),
    )


def alike(case: Case) -> Finding:
    """Whether attempts of a round that finds nothing good are nearly the same.

    Once a round has a good attempt it may well be like the others: then the task is solved.
    """
    size, least = option(case, "attempts"), option(case, "threshold")
    all_apart, poor_apart = list[float](), list[float]()
    for journal in case.journals if size and case.has_rules else ():
        for scores, apart in _rounds(journal, size):
            all_apart.append(apart)
            poor_apart += [apart] if max(scores) < least else []
    n, same = len(poor_apart), sum(apart < ALIKE for apart in poor_apart)
    if n < FEWEST_ROUNDS:
        return unknown(n)
    return found(
        same > MOST_ALIKE * n,
        n,
        "" if case.place == "run" else "own agent",
        same=same,
        poor=float(np.mean(poor_apart)),
        diversity=float(np.mean(all_apart)),
    )


def _rounds(journal: Journal, size: int) -> Iterator[tuple[list[float], float]]:
    """The scores of each full round of scored attempts at a task, and how they differ."""
    rows = journal.rows
    places = {key: place for place, key in enumerate(rows.keys)}
    order = np.argsort(rows.episode, kind="stable")
    ends = np.searchsorted(rows.episode[order], np.arange(len(places) + 1))
    taken = np.split(rows.action[order], ends[1:-1]) if places else []
    attempts: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in journal.attempts:
        if attempt.judged is not None and attempt.key in places:
            attempts.setdefault((attempt.scope, attempt.task), []).append(attempt)
    for of in attempts.values():
        for first in range(0, len(of) - size + 1, size):
            lived = of[first : first + size]
            actions = [taken[places[one.key]].tolist() for one in lived]
            yield [one.judged or 0.0 for one in lived], diversity(actions)


def undecided(case: Case) -> Finding:
    """Rules that cannot be admitted: tried on one task alone, or fitting no episode that comes."""
    gates = gates_of(case)
    n = 0
    alone, never, waiting = list[str](), list[str](), dict[Path, list[str]]()
    for journal in case.journals:
        covered = journal.book.covered()
        for record in journal.book.records:
            rule = record.rule
            uses = drawn(journal.book.uses.get(rule.id, ()))
            if not uses and rule.status == "candidate":
                if rule.id in covered:
                    continue
                later = sum(
                    attempt.finished > rule.created and _is_of(rule, attempt.scope, attempt.family)
                    for attempt in journal.attempts
                )
                n += later >= FEWEST_EPISODES
                if later >= FEWEST_EPISODES:
                    never.append(rule.id)
                    waiting.setdefault(journal.path, []).append(rule.id)
            elif len(uses) >= gates.grace:
                n += 1
                is_alone = len({use.task for use in uses}) == 1
                alone += [rule.id] if is_alone and not _admissions(record) else []
    if not n:
        return unknown(0)
    hopeless = [] if gates.tasks == 1 else alone
    played = {attempt.task for attempt in case.attempts()}
    for journal in case.journals:
        played |= {one.task for uses in journal.book.uses.values() for one in uses}
    alone_in = "one task" if case.place == "run" else "one task, own agent"
    form, file = "" if len(played) > 1 else alone_in, None
    if len(hopeless) < len(never):
        form, file = "never", max(waiting, key=lambda path: len(waiting[path]))
    return found(
        len(hopeless) + len(never) > MOST_HOPELESS * n,
        n,
        form,
        alone=len(hopeless),
        never=len(never),
        ids=(waiting[file] if file else hopeless)[:MOST_NAMED],
        **case.named(file),
    )


def stale(case: Case) -> Finding:
    """Distillations since the last admission of a rule, where these are fewest."""
    books = [journal.book for journal in case.journals if journal.book.contrasts]
    n = sum(len(book.contrasts) for book in books)
    since = min((_since(book) for book in books), default=0)
    if max((len(book.contrasts) for book in books), default=0) < STALE:
        return unknown(n)
    admitted = sum(bool(_admissions(record)) for book in books for record in book.records)
    file = next(j.path for j in case.journals if j.book.contrasts)
    return found(
        since >= STALE,
        n,
        "never" if not admitted else "" if case.place == "run" else "memory",
        since=since,
        admitted=admitted,
        **case.named(file),
    )


def _since(book: Book) -> int:
    """Distillations after the newest version in which a rule became active."""
    last = max((change.version for r in book.records for change in _admissions(r)), default=0)
    return sum(one.version > last for one in book.contrasts)


def _admissions(record: RuleRecord) -> list[RuleChange]:
    """When a rule became active: at first, as without gates, or after another status.

    A change that only brings evidence repeats the status that the rule has.
    """
    before = ("", *(change.status for change in record.changes))
    return [
        change
        for was, change in zip(before, record.changes, strict=False)
        if change.status == "active" != was
    ]


def _is_of(rule: Rule, scope: str, family: str) -> bool:
    return rule.scope == scope and rule.kind in ("", family)
