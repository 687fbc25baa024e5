"""Previews: journaled decisions made again under other settings or on another memory.

Two questions can be asked of a journal:

    a setting   each decision sees the memory as it saw it then, through the other rule
    a memory    each decision sees one fixed memory: another file, or this one as of a version, and
                then only episodes count that came later, or a memory would judge itself
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from jitrl.core.offpolicy import Weighted
from jitrl.memory.rerun import Past, Rerun, Sight, again
from jitrl.memory.view import View
from jitrl.ports import DecisionRecord, Store
from jitrl.types import Decision, Episode, Judgment, Neighborhood, Scored


class Lived(Protocol):
    """An episode with what became of it; a store's record is one."""

    @property
    def episode(self) -> Episode: ...

    @property
    def judgment(self) -> Judgment: ...


@dataclass(frozen=True, slots=True)
class Logged:
    """What a journal says about a target policy.

    Attributes:
        episodes: Those that count.
        left_out: Why others do not → how many.
        decisions: Decisions made again.
        turned: Those of them whose most probable action became another one.
    """

    episodes: tuple[Weighted, ...]
    left_out: Mapping[str, int]
    decisions: int
    turned: int


def logged(
    lived: Iterable[Lived],
    store: Store,
    sight: Sight,
    *,
    at: int | None = None,
    other: Store | None = None,
    is_off: bool = False,
    watch: Callable[[int], None] = lambda done: None,
) -> Logged:
    """Every scored episode of ``store``, weighed for the policy that ``sight`` gives.

    Args:
        lived: The episodes, in the order they were committed.
        at: The memory as of this version, for all of them; ``None``: as each decision saw it.
        other: A memory to look at in the place of the store's own; ``at`` is a version of it.
        is_off: The target is the frozen model alone.
        watch: Told how many episodes are done.
    """
    looked_at = store if other is None else other
    until = looked_at.head() if other is not None and at is None else at
    pasts: dict[str, Past] = {}
    views: dict[tuple[str, frozenset[str]], View] = {}
    kept: list[_Steps] = []
    left_out, decisions, turned = Counter[str](), 0, 0
    for done, record in enumerate(lived):
        watch(done)
        episode, judgment = record.episode, record.judgment
        reason = _unfit(episode, judgment, at if other is None else None)
        if reason:
            left_out[reason] += 1
            continue
        assert isinstance(judgment, Scored)
        exclude = frozenset(episode.info.get("exclude", ()))
        key = episode.scope, exclude
        if key not in views:
            if episode.scope not in pasts:
                head = looked_at.head() if until is None else until
                pasts[episode.scope] = Past(looked_at, episode.scope, head)
            views[key] = pasts[episode.scope].view(sight.lens(exclude))
        rerun = Rerun(views[key], episode, sight, until)
        made = [
            again(decision, Neighborhood(), sight) if is_off else rerun.made(record)
            for record, decision in _decided(episode)
        ]
        if not rerun.is_sure:
            left_out["journaled by an older version, without all it takes"] += 1
            continue
        kept.append(_Steps(episode, judgment, made))
        decisions += len(made)
        turned += sum(
            _likeliest(new) != _likeliest(old)
            for new, (_, old) in zip(made, _decided(episode), strict=True)
        )
    return Logged(_weighed(kept), left_out, decisions, turned)


@dataclass(frozen=True, slots=True)
class _Steps:
    episode: Episode
    judgment: Scored
    made: list[Decision]


def _unfit(episode: Episode, judgment: Judgment, at: int | None) -> str:
    """Why an episode says nothing about a target; "" if it does."""
    if not isinstance(judgment, Scored):
        return f"not scored: {judgment.reason}"
    if episode.status == "aborted":
        return "aborted"
    if not episode.steps:
        return "no steps"
    for step in episode.steps:
        decision = step.decision
        if decision is None or decision.reason in ("weights", "static"):
            return "decided elsewhere"
        if not _chance(decision, step.action) > 0.0:  # nan where it was recorded elsewhere
            return "taken without a propensity"
        if at is not None and decision.version < at:
            return "part of that memory"
    return ""


def _decided(episode: Episode) -> list[tuple[DecisionRecord, Decision]]:
    """Each step's decision, as a store gives it, and itself."""
    e = episode
    return [
        (
            DecisionRecord(
                f"{e.key}#{t}", e.key, t, e.task, e.scope, s.state, s.action, s.decision
            ),
            s.decision,
        )
        for t, s in enumerate(e.steps)
        if s.decision is not None
    ]


def _chance(decision: Decision, action: str) -> float:
    return sum(c.propensity for c in decision.candidates if c.action == action)


def _likeliest(decision: Decision) -> str:
    return max(decision.candidates, key=lambda c: c.propensity).action


def _weighed(kept: list[_Steps]) -> tuple[Weighted, ...]:
    """With a model of what is to come: the mean of the task's other episodes, less what came
    already, and the memory's advantages on top.
    """
    totals: dict[str, list[float]] = {}
    for one in kept:
        totals.setdefault(one.episode.task, []).append(sum(one.judgment.rewards))
    everything = [total for some in totals.values() for total in some]
    overall, number = sum(everything), len(everything)
    out = []
    for one in kept:
        own, mine = sum(one.judgment.rewards), totals[one.episode.task]
        if len(mine) > 1:
            expected = (sum(mine) - own) / (len(mine) - 1)
        else:
            expected = (overall - own) / (number - 1) if number > 1 else 0.0
        out.append(_one(one, expected))
    return tuple(out)


def _one(one: _Steps, expected: float) -> Weighted:
    steps = one.episode.steps
    reward = np.array(one.judgment.rewards, float)
    left = expected - np.concatenate(([0.0], np.cumsum(reward)[:-1]))
    ratio, outside, q, v = (np.zeros(len(steps)) for _ in range(4))
    for t, (step, made) in enumerate(zip(steps, one.made, strict=True)):
        old = step.decision
        assert old is not None
        was = {c.action: c.propensity for c in old.candidates}
        mean = sum(c.propensity * c.advantage for c in made.candidates)
        taken = sum(c.advantage for c in made.candidates if c.action == step.action)
        ratio[t] = _chance(made, step.action) / _chance(old, step.action)
        outside[t] = sum(c.propensity for c in made.candidates if not was.get(c.action))
        q[t], v[t] = left[t] + taken - mean, left[t]
    return Weighted(ratio, reward, outside, q, v, one.episode.task)
