"""Checks of what the memory does to success: over time, by kind of task, by changed choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from jitrl.analysis.doctor.case import Attempt, Case
from jitrl.analysis.doctor.finding import (
    Cells,
    Finding,
    Sides,
    beside,
    beyond,
    compared,
    found,
    growth,
    said,
    unknown,
    within,
)
from jitrl.analysis.doctor.scores import ENDS, TOP, UNTAUGHT
from jitrl.core.stats import FEWEST_CLUSTERS

MOST_ROWS = 5
"""Rows that are named; who takes those back learns soon whether there is more to it."""
FEWEST_EPISODES = 20
"""Before so many episodes nobody misses a comparison."""


def families(case: Case) -> Finding:
    """The effect in each kind of task, and the rows that had most to do with a harm.

    Against the static run where there is one, else the last attempts against the first. Kinds are
    families, else scopes.
    """
    if case.agent in UNTAUGHT:
        return unknown(0)
    groups: dict[str, list[Attempt]] = {}
    for attempt in case.attempts():
        groups.setdefault(attempt.family or attempt.scope, []).append(attempt)

    def effect(attempts: Collection[Attempt]) -> Cells:
        return beyond(attempts, case.base) if case.base else growth(attempts, ENDS)[0]

    effects = {name: compared(effect(attempts)) for name, attempts in groups.items()}
    known = {name: effect for name, effect in effects.items() if effect.is_known}
    if len(known) < 2:
        return unknown(len(known), groups=len(groups))
    worse = {name: said(e) for name, e in known.items() if e.difference.verdict == "worse"}
    involved = _involved(case, worse)
    return found(
        bool(worse),
        len(known),
        "rows" if involved["rows"] else "",
        groups=len(groups),
        against="static" if case.base else "first attempts",
        overall=said(compared(effect(list(case.attempts())))),
        worse=dict(sorted(worse.items(), key=lambda item: item[1]["mean"])),
        better=sum(e.difference.verdict == "better" for e in known.values()),
        **{**involved, **case.named(involved["file"])},
    )


def _involved(case: Case, worse: Collection[str]) -> dict[str, Any]:
    """The rows that changed most choices in these kinds, of the memory that has most."""
    most: dict[str, Any] = {"file": None, "rows": [], "episodes": []}
    top = 0
    for journal in case.journals:
        counts = Counter(
            row
            for attempt in journal.attempts
            if (attempt.family or attempt.scope) in worse
            for choice in attempt.choices
            for row in choice.rows
        )
        if counts.total() > top:
            top = counts.total()
            rows = [row for row, _ in counts.most_common(MOST_ROWS)]
            episodes = dict.fromkeys(journal.owners[r] for r in rows if r in journal.owners)
            most = {"file": str(journal.path), "rows": rows, "episodes": list(episodes)}
    return most


def flips(case: Case) -> Finding:
    """Choices that the memory changed, and how episodes with such choices ended.

    Compared within each task: an easy task may be one where the memory never differs. So there is
    no going by episodes where tasks are too few, as with episodes that were held out by chance.
    """
    acted = [a for a in case.attempts() if any(c.mode == "act" for c in a.choices)]
    choices = [c for a in acted for c in a.choices if c.mode == "act"]
    turned = Counter(c.turned for c in choices if c.turned)
    sides = _sides(acted, [any(c.turned for c in a.choices) for a in acted])
    paired = compared(within(sides))
    change = paired.difference
    numbers: dict[str, Any] = {
        "share": turned.total() / len(choices) if choices else 0.0,
        "turned": turned.total(),
        "decisions": len(choices),
        "why": dict(turned.most_common()),
    }
    if not paired.is_known:
        return unknown(change.clusters, **numbers)
    half = case.preset.rule.beta / 2.0
    return found(change.verdict == "worse", change.clusters, **numbers, **said(paired), half=half)


def effect(case: Case) -> Finding:
    """Whether the effect of the memory can be known at all, and whether it is a harm.

    An agent that learns in its prompt alone holds no episode out, so a static run is needed.
    """
    by_prompt = case.agent not in UNTAUGHT | {"", "jitrl"} and not case.corrects
    acted = [
        a
        for a in case.attempts()
        if by_prompt or a.is_held or any(c.mode == "act" for c in a.choices)
    ]
    held = [a.is_held for a in acted]
    if case.agent in UNTAUGHT or len(acted) < FEWEST_EPISODES:
        return unknown(len(acted))
    if not (any(held) or case.base):
        return found(True, len(acted), "no static" if by_prompt else "off", held=0)
    if case.base:
        change = compared(beyond(acted, case.base))
    else:
        change = beside(_sides(acted, [not one for one in held]))
    if not change.is_known:
        return unknown(change.difference.clusters)
    return found(
        change.difference.verdict == "worse",
        len(acted),
        "by prompt" if by_prompt else "",
        held_out=None if case.base else sum(held),
        against="static" if case.base else "holdout",
        few_tasks=FEWEST_CLUSTERS if change.by == "episode" else None,
        **said(change),
    )


def curve(case: Case) -> Finding:
    """Whether the last attempts at a task end better than the first.

    Of agents that learn nothing, and of a memory that nobody hears, the curve is level by design.
    One that is not shown to rise is no finding where the memory is shown to help: most may have
    been learned at other tasks, or within the first attempts.
    """
    cells, ends = growth(case.attempts(), ENDS)
    rise = compared(cells)
    change = rise.difference
    if case.agent in UNTAUGHT or _is_unheard(case) or not rise.is_known:
        return unknown(change.clusters)
    scores = [a.score for a in case.attempts() if a.score is not None]
    level = float(np.mean(scores))
    is_level = change.verdict not in ("better", "worse")
    is_well = is_level and (level >= TOP or effect(case).numbers.get("verdict") == "better")
    form, file = _way(case, is_falling=change.verdict == "worse")
    return found(
        change.verdict != "better" and not is_well,
        change.clusters,
        form,
        **said(rise),
        ends=ends,
        level=level,
        **case.named(file),
    )


def _way(case: Case, *, is_falling: bool) -> tuple[str, Path | None]:
    """By what an agent learns, and so where to look; and the file to look at."""
    if case.corrects:
        turned = [any(c.turned for a in j.attempts for c in a.choices) for j in case.journals]
        if is_falling:
            return "falls", None
        where = (journal.path for journal, one in zip(case.journals, turned, strict=True) if one)
        return ("", next(where)) if any(turned) else ("unturned", None)
    books = (j.path for j in case.journals if j.book.records or j.book.contrasts)
    if (file := next(books, None)) is not None:
        return "rules", file
    return ("other falls" if is_falling else "other"), None


def _is_unheard(case: Case) -> bool:
    """Whether a memory is kept that only looks on, as in shadow."""
    modes = {choice.mode for choice in case.choices()}
    return case.agent in ("", "jitrl") and bool(modes) and "act" not in modes


def _sides(attempts: Collection[Attempt], marked: Collection[bool]) -> Sides:
    """Scores of the marked attempts, and of the others, in each task."""
    sides: dict[tuple[str, int], tuple[list[float], list[float]]] = {}
    for attempt, is_marked in zip(attempts, marked, strict=True):
        if attempt.score is not None:
            place = (f"{attempt.scope}\x1f{attempt.task}", attempt.seed)
            sides.setdefault(place, ([], []))[not is_marked].append(attempt.score)
    return sides
