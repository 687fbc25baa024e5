"""A whole decision on the web side (released code, not in the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jitrl.compat.actions import ground, normalize
from jitrl.compat.returns import Reward, released_return_web
from jitrl.compat.similarity import set_jaccard, similarity_threshold, words
from jitrl.compat.urls import url_key
from jitrl.compat.values import (
    Candidate,
    Neighbor,
    Values,
    Verbalized,
    Weighed,
    best,
    evaluate,
    favorite,
    rank,
)

NO_ACTION = "No action"
"""Context of a step before which nothing was done on its page."""


@dataclass(frozen=True, slots=True)
class WebParams:
    """Numbers of the rule; ``exploration`` is lambda."""

    gamma: float = 0.1
    exploration: float = 0.05
    alpha: float = 1.0
    beta: float = 1.0
    base_threshold: float = 0.8
    task_threshold: float = 0.27


@dataclass(frozen=True, slots=True)
class WebRow:
    """One stored step; ``rewards`` runs from the row's own step to the end, shape [T - t]."""

    id: Any
    url_key: str
    goal: str
    context: str
    action_key: str
    own_reward: Reward
    rewards: tuple[Reward, ...]


@dataclass(frozen=True, slots=True)
class WebStep:
    """An earlier action of the episode, with the page it was taken on."""

    action: Any
    page: str
    url: str | None


@dataclass(frozen=True, slots=True)
class WebQuery:
    """Where the agent stands; ``best_action`` is the number of the model's favorite proposal."""

    history: tuple[WebStep, ...]
    page: str
    url: str | None
    goal: str
    proposals: tuple[Verbalized, ...]
    best_action: int


@dataclass(frozen=True, slots=True)
class WebNeighbor:
    """A row that was kept, with its parts of similarity and its released return."""

    row: WebRow
    similarity: float
    task_similarity: float
    history_similarity: float
    ret: float


@dataclass(frozen=True, slots=True)
class WebDecision:
    """The choice and what led to it; ``values`` is ``None`` where nothing was retrieved."""

    url_key: str
    context: str
    threshold: float
    neighbors: tuple[WebNeighbor, ...]
    values: Values | None
    candidates: tuple[Weighed, ...]
    chosen: str


def web_context(history: Sequence[WebStep], url: str | None) -> str:
    """Keys of the earlier actions on this page, oldest first (released code, not in the paper).

    An action counts if it was taken on a page with the same URL key. ``No action`` on the first
    step, without a URL, and where no action counts.
    """
    if not url:
        return NO_ACTION
    here = url_key(url)
    keys = [normalize(s.action, s.page).text for s in history if url_key(s.url) == here]
    return " -> ".join(keys) if keys else NO_ACTION


def retrieve_web(
    memory: Sequence[WebRow],
    *,
    key: str,
    goal: str,
    context: str,
    threshold: float,
    params: WebParams,
) -> tuple[WebNeighbor, ...]:
    """All rows of the same page and a related task that are similar enough.

    ``.7 * context + .3 * task``, both set Jaccard; by similarity, then return, both falling,
    else as stored. No k, where the paper has one (released code, not in the paper).
    """
    kept = []
    for row in memory:
        if row.url_key != key:
            continue
        task = set_jaccard(words(goal), words(row.goal))
        if task <= params.task_threshold:
            continue
        history = set_jaccard(context.split(), row.context.split())
        similarity = 0.7 * history + 0.3 * task
        if similarity >= threshold:
            ret = released_return_web(row.own_reward, row.rewards, params.gamma)
            kept.append(WebNeighbor(row, similarity, task, history, ret))
    return tuple(sorted(kept, key=lambda n: (n.similarity, n.ret), reverse=True))


def decide_web(
    query: WebQuery, memory: Sequence[WebRow], params: WebParams, draws: Iterator[float]
) -> WebDecision:
    """The action the released code takes on a page (released code, not in the paper).

    z is confidence / 100, not a logit; the largest ``p + beta * A~`` is taken, not sampled.
    Actions that only the memory knows join with p = 0 if they can be grounded on the page; those
    that cannot still count in Q, V and the scale.

    Args:
        memory: Rows in the order they were stored.
        draws: Uniform numbers, one for each untried action.

    Raises:
        InputError: If ``draws`` ends too early.
    """
    key = url_key(query.url)
    context = web_context(query.history, query.url)
    threshold = similarity_threshold(params.base_threshold, len(query.history))
    neighbors = retrieve_web(
        memory, key=key, goal=query.goal, context=context, threshold=threshold, params=params
    )
    if not neighbors:
        chosen = favorite(query.proposals, query.best_action)
        return WebDecision(key, context, threshold, (), None, (), chosen)
    candidates = [
        Candidate(p.action, normalize(p.action, query.page).text, p.confidence / 100)
        for p in query.proposals
    ]
    proposed = [candidate.key for candidate in candidates]
    values = evaluate(
        [Neighbor(n.row.action_key, n.ret) for n in neighbors],
        proposed,
        draws,
        exploration=params.exploration,
        alpha=params.alpha,
    )
    for remembered in dict.fromkeys(n.row.action_key for n in neighbors):
        if remembered not in proposed:
            action = ground(remembered, query.page)
            if action is not None:
                candidates.append(Candidate(action, remembered, 0.0))
    weighed = rank(candidates, values, params.beta)
    return WebDecision(key, context, threshold, neighbors, values, weighed, best(weighed))
