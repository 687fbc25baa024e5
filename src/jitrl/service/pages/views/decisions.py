"""Decisions: a list of them, and one with every number that made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jitrl.analysis import explain as views
from jitrl.analysis.notes import heard
from jitrl.analysis.rulebook import GATES
from jitrl.core.rule import UpdateRule
from jitrl.errors import ConfigError, InputError
from jitrl.evaluators.judge_record import goal_of, pages_of
from jitrl.memory.explain import Explanation, explain, without_rows
from jitrl.ports import DecisionRecord
from jitrl.report.taught import WORDS as TAUGHT
from jitrl.report.taught import said as named
from jitrl.service.pages.asking import Asked, Shown, row_ids
from jitrl.service.pages.foreign import apart
from jitrl.service.pages.places import Opened, Place
from jitrl.service.pages.words import Sentence
from jitrl.stores.paging import Wanted
from jitrl.stores.records import decision_id
from jitrl.types import Decision, Episode, Row, Scored, Weighed

PAGE = 50
MOST = 20
"""Neighbors and candidates that are shown unfolded, at most."""

SHOWN = ("turned", "told", "all")
"""What the list may be asked for."""

_SCAN = 100  # episodes that are looked through at a time
_SCANS = 5
_PICTURES = (".png", ".jpg", ".jpeg", ".webp")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the list."""

    record: DecisionRecord
    is_turned: bool
    why: str
    own: Weighed
    mine: Weighed
    told: int


def listing(asked: Asked) -> Shown:
    """Decisions, the newest first: those that the memory changed, or where a rule was told."""
    show, task = asked.text("show") or "turned", asked.text("task")
    if show not in SHOWN:
        raise InputError(f"show is {show!r}; it must be one of {', '.join(SHOWN)}")
    with asked.place.reading(asked.seed) as opened:
        rule = opened.agent().preset.rule
        items, onward = _page(opened, rule, asked.whole("before"), show, task)
        size, has_rules = opened.paging.size(), bool(opened.store.rules())
    values = {"items": items, "onward": onward, "show": show, "task": task, "size": size}
    values["has_rules"] = has_rules
    return Shown("decisions.html", values)


def _page(
    opened: Opened, rule: UpdateRule, before: int, show: str, task: str
) -> tuple[list[Item], int]:
    """Items of the next episodes, and where to go on; it looks through so many and no more."""
    found: list[Item] = []
    for _ in range(_SCANS):
        page = opened.paging.decisions(before=before, episodes=10 if show == "all" else _SCAN)
        for record in page.items:
            item = _item(record, rule)
            is_asked = {"all": True, "turned": item.is_turned, "told": item.told > 0}[show]
            if is_asked and record.task.startswith(task):
                found.append(item)
        before = page.onward
        if not before or len(found) >= PAGE:
            break
    return found, before


def _item(record: DecisionRecord, rule: UpdateRule) -> Item:
    decision = record.decision
    mine, own = views.memorys(decision, rule), views.unaided(decision)
    is_turned = mine.action != own.action and not (decision.reason or decision.mode == "off")
    why = views.why(decision, rule, mine) if is_turned else decision.reason
    return Item(record, is_turned, why, own, mine, views.told(decision))


@dataclass(frozen=True, slots=True)
class Near:
    """A neighbor, with the rows that it stands for as they are now."""

    cause: views.Cause
    rows: tuple[Row, ...]

    @property
    def ids(self) -> str:
        """Of all its rows, as an address holds them."""
        return ",".join(str(row) for row in self.cause.rows)


@dataclass(frozen=True, slots=True)
class Spoke:
    """What the memory held of an action in states like the one of a decision.

    Attributes:
        visits: Remembered steps that took it.
        of: Episodes that the newest of those are of, as far as they are scored.
        won: Those of them whose rewards add up to more than 0.
    """

    action: str
    visits: int
    of: int
    won: int


def _spoke(action: str, causes: Sequence[views.Cause], opened: Opened) -> Spoke:
    own = [cause for cause in causes if cause.action == action and cause.rows]
    judged = [
        opened.store.record(key).judgment
        for key in dict.fromkeys(key for cause in own for key in cause.episodes)
    ]
    scores = [sum(one.rewards) for one in judged if isinstance(one, Scored)]
    visits = round(sum(cause.visits for cause in own))
    return Spoke(action, visits, len(scores), sum(score > 0 for score in scores))


def one(asked: Asked) -> Shown:
    """A decision: before, advantage, after, and whose experience it rests on."""
    with asked.place.reading(asked.seed) as opened:
        record = opened.store.decision(asked.text("id"))
        episode = opened.store.episode(record.episode)
        rule, decision, state = opened.agent().preset.rule, record.decision, record.state
        rules = heard(opened.store, record)
        ids = tuple({row for n in decision.neighbors for row in n.rows})
        rows = {
            row.id: row
            for row in (opened.paging.rows(Wanted(ids=ids), limit=len(ids)).items if ids else ())
        }
        owners = {id: row.episode for id, row in rows.items()}
        at = (record.id, record.episode, record.step, record.state)
        causes = views.causes(Explanation(*at, decision, decision, True, (), 0, owners), rule)
        carrying, item = views.carrying(causes), _item(record, rule)
        named = dict.fromkeys((item.mine.action, item.own.action)) if causes else ()
        spoke = [_spoke(action, causes[:carrying], opened) for action in named]
    first, more = _cut(_ranked(decision, rule), (item.mine.action, item.own.action))
    near = [Near(cause, tuple(rows[id] for id in cause.rows if id in rows)) for cause in causes]
    values = {
        "record": record,
        "decision": decision,
        "candidates": first,
        "more": more,
        "item": item,
        "spoke": spoke,
        "is_shadow": views.is_shadow(decision),
        "is_same_rule": decision.rule == rule.digest,
        "is_corrected": not decision.holdout and views.has_scores(decision),
        "is_off": decision.reason == "off",
        "is_unlooked": decision.holdout or decision.mode == "off" or not views.has_scores(decision),
        "rule": rule,
        "near": near[: min(carrying, MOST)],
        "folded": near[min(carrying, MOST) :],
        "rules": rules,
        "level": 1.0 - GATES.alpha,
        "goal": goal_of(episode),
        "steps": len(episode.steps),
        "page": pages_of(episode)[record.step],
        "compared": "\n".join(filter(None, (state.place, state.text, state.context))),
        "picture": picture(asked.place, episode, record.step) is not None,
        "ids": (_neighboring(episode, record.step, -1), _neighboring(episode, record.step, 1)),
    }
    return Shown("decision.html", values)


def _neighboring(episode: Episode, step: int, by: int) -> str:
    """Id of the next decision of the episode in one direction; "" if there is none."""
    at = step + by
    while 0 <= at < len(episode.steps):
        if episode.steps[at].decision is not None:
            return decision_id(episode.key, at)
        at += by
    return ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, and what returns add to it."""

    weighed: Weighed
    paid: float


def _ranked(decision: Decision, rule: UpdateRule) -> list[Ranked]:
    ranked = sorted(decision.candidates, key=lambda c: -c.corrected)
    return [Ranked(c, views.by_returns(c, decision, rule)) for c in ranked]


def _cut(ranked: list[Ranked], named: tuple[str, ...]) -> tuple[list[Ranked], list[Ranked]]:
    """The first of them with those whose action is named, and the rest."""
    first = [one for k, one in enumerate(ranked) if k < MOST or one.weighed.action in named]
    return first, [one for one in ranked[MOST:] if one.weighed.action not in named]


def without(asked: Asked) -> Shown:
    """The decision as it is without some rows: each candidate's probability, and the choice."""
    rows = row_ids(asked.text("rows"))
    if not rows:
        raise InputError("name the rows to leave out, as rows=1,2")
    with asked.place.reading(asked.seed) as opened:
        agent = opened.agent()
        record = opened.store.decision(asked.text("id"))
        try:
            made = without_rows(agent, opened.store, record.id, rows)
        except ConfigError as error:
            return Shown("problem_part.html", {"said": str(error)}, is_part=True)
        mine = views.memorys(record.decision, agent.preset.rule)
    after = {c.action: c for c in made.candidates}
    ranked = sorted(record.decision.candidates, key=lambda c: -c.prior)
    named = (mine.action, made.action)
    pairs = [
        (c, after.get(c.action)) for k, c in enumerate(ranked) if k < MOST or c.action in named
    ]
    values = {
        "rows": rows,
        "pairs": pairs,
        "more": len(ranked) - len(pairs),
        "taken": mine.action,
        "instead": made.action,
        "is_turned": made.action != mine.action,
    }
    return Shown("without_part.html", values, is_part=True)


def others(asked: Asked) -> Shown:
    """The decision without each of the episodes that weigh most, and what other tasks taught."""
    most = min(asked.whole("most", 3), 50)
    id, rule = asked.text("id"), None
    with asked.place.reading(asked.seed) as opened:
        rule = opened.agent().preset.rule

    def work(tell: Any) -> Explanation:
        with asked.place.reading(asked.seed) as opened:
            return explain(opened.agent(), opened.store, id, most=most, progress=tell)

    job = asked.later(f"explain {id} {most}", work)
    values: dict[str, Any] = {"job": job, "most": most, "id": id}
    if job.is_over and not job.error:
        found: Explanation = job.result
        mine = views.memorys(found.decision, rule)
        taught = TAUGHT[asked.lang]
        values |= {
            "found": found,
            "mine": mine,
            "taught": [
                (
                    Sentence(named(m.feature, taught, apart)),
                    m.nats,
                    len(m.took),
                    len(m.took) + len(m.left),
                )
                for m in (found.taught.moved[:8] if found.taught else ())
            ],
        }
    return Shown("others_part.html", values, is_part=True)


def picture(place: Place, episode: Episode, step: int) -> Path | None:
    """The screenshot of the page before a step, if the run kept one and it is still there.

    A memory file may have come from anywhere, so only pictures are given out, and only those that
    lie where the run or the memory lies, or below the present folder.
    """
    kept: Sequence[Any] = episode.info.get("screenshots", ())
    if not 0 <= step < len(kept) or not isinstance(kept[step], str):
        return None
    path = Path(kept[step])
    home = place.path if place.kind == "run" else place.path.parent
    for top in (Path.cwd(), home, home.parent):
        real = (top / path).resolve()
        is_inside = any(real.is_relative_to(t.resolve()) for t in (Path.cwd(), home, home.parent))
        if is_inside and real.suffix.lower() in _PICTURES and real.is_file():
            return real
    return None
