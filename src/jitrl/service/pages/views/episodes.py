"""Episodes: a list of them, and one with its steps, scores, returns and outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jitrl.core.returns import returns_to_go
from jitrl.evaluators.judge_record import goal_of, pages_of
from jitrl.service.pages.asking import Asked, Shown
from jitrl.service.pages.views.decisions import picture
from jitrl.stores.records import EpisodeRecord, decision_id
from jitrl.types import Row, Scored, Transition

PAGE = 50


def listing(asked: Asked) -> Shown:
    """Episodes, the newest first."""
    task, scope = asked.text("task"), asked.given.get("scope") or None
    with asked.place.reading(asked.seed) as opened:
        page = opened.paging.episodes(
            task=task, scope=scope, before=asked.whole("before"), limit=PAGE
        )
        values = {
            "items": page.items,
            "onward": page.onward,
            "task": task,
            "scope": scope or "",
            "scopes": opened.paging.values("scope"),
            "size": opened.paging.size(),
        }
    return Shown("episodes.html", values)


@dataclass(frozen=True, slots=True)
class Step:
    """A step with what became of it.

    Attributes:
        reward: As it was judged; ``None`` where the episode is unscored.
        tail: Discounted return of the next step, which its own is made with.
        ret: Return to go by the memory's discount; ``None`` where it is not known.
        row: The row that it is remembered by now.
    """

    number: int
    step: Transition
    page: str
    has_picture: bool
    decision: str
    reward: float | None
    tail: float | None
    ret: float | None
    row: Row | None


def one(asked: Asked) -> Shown:
    """An episode: what was done, how it was scored, and how its returns came about."""
    with asked.place.reading(asked.seed) as opened:
        record = opened.store.record(asked.text("key"))
        rows = opened.store.rows(record.episode.key)
        derived = opened.store.settings()
        rules = {use.rule: opened.store.rule(use.rule) for use in record.uses}
    gamma = derived.get("gamma")
    is_plain = derived.get("returns", "discounted") == "discounted"
    steps = _steps(asked, record, rows, gamma if is_plain else None)
    values: dict[str, Any] = {
        "record": record,
        "episode": record.episode,
        "judgment": record.judgment,
        "is_scored": isinstance(record.judgment, Scored),
        "info": _plain(record.judgment.info),
        "goal": goal_of(record.episode),
        "steps": steps,
        "gamma": gamma,
        "is_plain": is_plain,
        "retired": sum(row.status == "retired" for row in rows),
        "uses": [(use, rules[use.rule]) for use in record.uses],
        "live": [str(row.id) for row in rows if row.status != "retired"],
        "total": sum(record.judgment.rewards) if isinstance(record.judgment, Scored) else None,
    }
    return Shown("episode.html", values)


def _steps(
    asked: Asked, record: EpisodeRecord, rows: tuple[Row, ...], gamma: float | None
) -> list[Step]:
    episode, judgment = record.episode, record.judgment
    live = {row.step: row for row in rows if row.status != "retired"}
    rewards = judgment.rewards if isinstance(judgment, Scored) else None
    gains = (
        returns_to_go(np.asarray(rewards, float), gamma).tolist()
        if rewards is not None and gamma is not None
        else [None] * len(episode.steps)
    )
    tails = [*gains[1:], None if gains[:1] == [None] else 0.0]
    pages = pages_of(episode) if episode.steps else ()
    return [
        Step(
            number=t,
            step=step,
            page=pages[t],
            has_picture=picture(asked.place, episode, t) is not None,
            decision=decision_id(episode.key, t) if step.decision is not None else "",
            reward=None if rewards is None else rewards[t],
            tail=tails[t],
            ret=gains[t] if gains[t] is not None else (live[t].ret if t in live else None),
            row=live.get(t),
        )
        for t, step in enumerate(episode.steps)
    ]


def _plain(info: Any) -> list[tuple[str, str]]:
    """What a judge noted, each in one text."""
    return [(str(name), str(value)) for name, value in info.items()]
