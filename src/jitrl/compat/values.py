"""V, Q, A and the choice as both sides of the released code compute them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitrl.errors import InputError


@dataclass(frozen=True, slots=True)
class Neighbor:
    """Action and return of one retrieved row."""

    action: str
    ret: float


@dataclass(frozen=True, slots=True)
class Values:
    """What the rule makes of the neighbors; mappings go by action.

    Attributes:
        v: V of the state.
        q: Q, neighbors' actions in order of appearance, then untried candidates.
        a: ``q - v``.
        scaled: ``a`` divided by its scale.
        draws: Uniform numbers consumed, in order.
    """

    v: float
    q: Mapping[str, float]
    a: Mapping[str, float]
    scaled: Mapping[str, float]
    draws: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Verbalized:
    """What the model proposes, with its stated confidence, 0 to 100."""

    action: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """An action to choose from: its text, the key that Q goes by, and p."""

    action: str
    key: str
    prior: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate with its number, counted from 1, its scaled A and its score."""

    n: int
    action: str
    key: str
    prior: float
    scaled: float
    score: float


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean, summed left to right."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def returns_by_action(neighbors: Sequence[Neighbor]) -> dict[str, list[float]]:
    """Returns of each action, in order of appearance."""
    groups: dict[str, list[float]] = {}
    for neighbor in neighbors:
        groups.setdefault(neighbor.action, []).append(neighbor.ret)
    return groups


def evaluate(
    neighbors: Sequence[Neighbor],
    candidates: Sequence[str],
    draws: Iterator[float],
    *,
    exploration: float,
    alpha: float,
) -> Values:
    """V, Q, A and scaled A (released code, not in the paper).

    Q of a tried action is its mean return, V the mean over all neighbors. An untried candidate
    draws ``u`` and gets ``V + alpha / n`` if ``u < exploration``, else 0; one that shares its key
    with an earlier one draws nothing. If anything was untried, V becomes the unweighted mean of
    all Q. The paper keeps V (eq. 4).

    Args:
        neighbors: Shape [K], at least one.
        candidates: Keys of the model's candidates, shape [A].
        draws: Uniform numbers in [0, 1).
        exploration: lambda, the chance of the bonus.

    Raises:
        InputError: If ``draws`` ends too early.
    """
    groups = returns_by_action(neighbors)
    q = {action: mean(returns) for action, returns in groups.items()}
    # Summed action by action: in another order the last bit differs.
    v = mean([ret for returns in groups.values() for ret in returns])
    bonus = v + alpha / len(neighbors)
    used: list[float] = []
    for action in candidates:
        if action in q:
            continue
        u = next(draws, None)
        if u is None:
            raise InputError(f"{action!r} is untried and needs draw {len(used) + 1}; there is none")
        used.append(u)
        q[action] = bonus if u < exploration else 0.0
    if used:
        v = mean(list(q.values()))
    a = {action: value - v for action, value in q.items()}
    return Values(v, q, a, _scaled(a), tuple(used))


def _scaled(a: Mapping[str, float]) -> dict[str, float]:
    """Divide by the largest A if that is positive, else by the size of the smallest."""
    scale = max(a.values())
    if scale <= 0:
        scale = abs(min(a.values()))
    return {action: value / scale if scale else 0.0 for action, value in a.items()}


def favorite(proposals: Sequence[Verbalized], number: int) -> str:
    """Action of the proposal with this number, counted from 1.

    Raises:
        InputError: If there is no such proposal.
    """
    if not 1 <= number <= len(proposals):
        raise InputError(f"best_action is {number}; it must be 1 to {len(proposals)}")
    return proposals[number - 1].action


def rank(candidates: Sequence[Candidate], values: Values, beta: float) -> tuple[Weighed, ...]:
    """Score ``p + beta * A~`` of each candidate, numbered in order."""
    weighed = []
    for n, each in enumerate(candidates, start=1):
        scaled = values.scaled[each.key]
        score = each.prior + beta * scaled
        weighed.append(Weighed(n, each.action, each.key, each.prior, scaled, score))
    return tuple(weighed)


def best(candidates: Sequence[Weighed]) -> str:
    """Action of the largest score; of equal ones the first.

    Raises:
        InputError: If there are no candidates.
    """
    if not candidates:
        raise InputError("there is nothing to choose from: no proposal, and no action from memory")
    return max(candidates, key=lambda candidate: candidate.score).action


def choose(priors: Mapping[str, float], values: Values) -> str:
    """Action with the largest ``p + A~``; of equal ones the first."""
    return max(priors, key=lambda action: priors[action] + values.scaled[action])


def choose_without_noise(priors: Mapping[str, float], values: Values) -> str:
    """As :func:`choose`, but equal mean returns leave the choice to the prior.

    The released scale has no floor: a difference of one rounding error becomes a full step.
    """
    if all(math.isclose(q, values.v, rel_tol=1e-9, abs_tol=1e-12) for q in values.q.values()):
        return max(priors, key=lambda action: priors[action])
    return choose(priors, values)
