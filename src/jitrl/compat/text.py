"""A whole decision on the text side (released code, not in the paper)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jitrl.compat.returns import Reward, released_return_text
from jitrl.compat.similarity import ngram_jaccard, similarity_threshold
from jitrl.compat.values import (
    Candidate,
    Neighbor,
    Values,
    Verbalized,
    Weighed,
    best,
    evaluate,
    favorite,
    mean,
    rank,
    returns_by_action,
)

ALWAYS_KEPT = 0.98
"""Rows more similar than this are kept whatever k is."""


@dataclass(frozen=True, slots=True)
class TextParams:
    """Numbers of the rule.

    Attributes:
        exploration_rate: Exponent of the confidence that lambda is made of.
        episode_number: Episodes finished in this process.
        beta: ``None`` means :func:`released_beta` of ``episode_number``.
    """

    gamma: float = 0.5
    k: int = 10
    base_threshold: float = 0.95
    exploration_rate: float = 0.65
    alpha: float = 1.0
    episode_number: int = 0
    beta: float | None = None


@dataclass(frozen=True, slots=True)
class TextRow:
    """One stored step; ``rewards`` runs from the row's own step to the end, shape [T - t]."""

    id: Any
    context: str
    env: str
    action: str
    own_reward: Reward
    rewards: tuple[Reward, ...]


@dataclass(frozen=True, slots=True)
class TextQuery:
    """Where the agent stands; ``best_action`` is the number of the model's favorite proposal."""

    context: str
    env: str
    step: int
    proposals: tuple[Verbalized, ...]
    best_action: int


@dataclass(frozen=True, slots=True)
class TextNeighbor:
    """A row that was kept, with its parts of similarity and its released return."""

    row: TextRow
    similarity: float
    context_similarity: float
    env_similarity: float
    ret: float


@dataclass(frozen=True, slots=True)
class TextDecision:
    """The choice and what led to it; ``exploration`` is lambda.

    ``exploration`` and ``values`` are ``None`` where nothing was retrieved.
    """

    threshold: float
    neighbors: tuple[TextNeighbor, ...]
    exploration: float | None
    values: Values | None
    candidates: tuple[Weighed, ...]
    chosen: str


def released_beta(episode_number: int) -> float:
    """beta = 1 after no episode, rising by .01 with each to at most 1.5."""
    return min(1 + episode_number / 50 * 0.5, 1.5)


def exploration_probability(
    returns: Mapping[str, Sequence[float]], exploration_rate: float
) -> float:
    """lambda from the returns of each retrieved action (released code, not in the paper).

    Of the actions with at least two rows, the most trusted counts:
    ``conf = (mean / (1 + sd / mean))^rate * max(n / 4, 1)`` with the population sd, 0 where the
    mean is not positive. ``lambda = 1 / (1 + conf)``, held in [.05, .8]; .8 where no action has
    two rows.
    """
    trust = [_confidence(group, exploration_rate) for group in returns.values() if len(group) > 1]
    return min(max(1 / (1 + max(trust)), 0.05), 0.8) if trust else 0.8


def _confidence(returns: Sequence[float], exploration_rate: float) -> float:
    center = mean(returns)
    if center <= 0:
        return 0.0
    deviation = math.sqrt(mean([(ret - center) ** 2 for ret in returns]))
    # Multiplied by the reciprocal, not divided: the last bit differs.
    steady = center * (1 / (1 + deviation / center))
    return float(steady**exploration_rate) * max(len(returns) / 4, 1)


def retrieve_text(
    visited: Sequence[TextRow], *, context: str, env: str, threshold: float, params: TextParams
) -> tuple[TextNeighbor, ...]:
    """Similar rows: all that are nearly equal, and the best others up to k in total.

    ``.3 * context (words) + .7 * env (word 4-grams)``, both multiset Jaccard; each part by
    similarity, then return, both falling, else as visited (released code, not in the paper).

    Args:
        visited: Rows in the order the recall visits them.
    """
    kept = []
    for row in visited:
        of_context = ngram_jaccard(context, row.context, 1)
        of_env = ngram_jaccard(env, row.env, 4)
        similarity = 0.3 * of_context + 0.7 * of_env
        if similarity >= threshold:
            ret = released_return_text(row.own_reward, row.rewards, params.gamma)
            kept.append(TextNeighbor(row, similarity, of_context, of_env, ret))
    kept.sort(key=lambda n: (n.similarity, n.ret), reverse=True)
    near = [neighbor for neighbor in kept if neighbor.similarity > ALWAYS_KEPT]
    others = kept[len(near) :]
    return (*near, *others[: max(params.k - len(near), 0)])


def decide_text(
    query: TextQuery, visited: Sequence[TextRow], params: TextParams, draws: Iterator[float]
) -> TextDecision:
    """The action the released code takes in a text game (released code, not in the paper).

    As on the web side, but actions go by their raw text, stripped on the memory's side only, and
    an action that only the memory knows joins if its mean return is positive.

    Args:
        visited: Rows in the order the recall visits them.
        draws: Uniform numbers, one for each untried action.

    Raises:
        InputError: If ``draws`` ends too early.
        TypeError: If a retrieved row lacks a score, as the released code does.
    """
    threshold = similarity_threshold(params.base_threshold, query.step)
    neighbors = retrieve_text(
        visited, context=query.context, env=query.env, threshold=threshold, params=params
    )
    if not neighbors:
        chosen = favorite(query.proposals, query.best_action).strip()
        return TextDecision(threshold, (), None, None, (), chosen)
    tried = [Neighbor(n.row.action.strip(), n.ret) for n in neighbors]
    returns = returns_by_action(tried)
    exploration = exploration_probability(returns, params.exploration_rate)
    candidates = [Candidate(p.action, p.action, p.confidence / 100) for p in query.proposals]
    proposed = [candidate.key for candidate in candidates]
    values = evaluate(tried, proposed, draws, exploration=exploration, alpha=params.alpha)
    for remembered in returns:
        if remembered not in proposed and values.q[remembered] > 0:
            candidates.append(Candidate(remembered, remembered, 0.0))
    beta = released_beta(params.episode_number) if params.beta is None else params.beta
    weighed = rank(candidates, values, beta)
    return TextDecision(threshold, neighbors, exploration, values, weighed, best(weighed).strip())
