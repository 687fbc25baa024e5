"""The update: neighbors of the present state correct the frozen model's logits.

Reading order: ``decide`` is the whole of it; each step is a function of its own above it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from jitrl.core import admission as limits
from jitrl.core.admission import AS_PUBLISHED, Admission
from jitrl.core.evidence import Evidence, nearness, returns_by_action
from jitrl.core.joining import NO_CONFIDENCE, candidates_with_memory, keeps_out, kept_out
from jitrl.core.rule import UpdateRule
from jitrl.types import (
    LARGEST,
    Candidate,
    Decision,
    Neighbor,
    Neighborhood,
    Neighbors,
    Weighed,
)

_TIE = 1e-9


def softmax(z: np.ndarray) -> np.ndarray:
    """Probabilities ``exp(z) / sum exp(z)``, shape [A]."""
    e = np.exp(z - z.max())
    return np.asarray(e / e.sum())


def kl_divergence(p: np.ndarray, q: np.ndarray) -> float:
    """``KL(p || q)`` in nats; ``q`` must be positive where ``p`` is."""
    some = p > 0
    return float(max(0.0, (p[some] * np.log(p[some] / q[some])).sum()))


def normalized(advantage: np.ndarray, rule: UpdateRule, reach: float) -> tuple[np.ndarray, float]:
    """Advantages over their scale, and that scale.

    ``A / (max|A| + eps)`` (eq. 25), where the divisor is at least ``floor * reach``, so that a
    tiny difference stays a tiny one. The released code divides by the largest positive advantage
    instead, or by ``|min A|`` if there is none (not in the paper).

    Args:
        advantage: Shape [K'], one for each action of the neighborhood or candidate.
        reach: Range of rewards in the memory, reward units.
    """
    if rule.normalize == "none" or not len(advantage):
        return advantage, 1.0
    if rule.normalize == "max_positive":
        top = float(advantage.max())
        scale = top if top > 0 else abs(float(advantage.min()))
    else:
        scale = float(np.abs(advantage).max())
    scale = max(scale, rule.floor * reach)
    if scale <= 0.0:
        return np.zeros_like(advantage), 0.0
    return advantage / (scale + rule.eps), scale + rule.eps


def explore_probability(returns: Mapping[str, list[float]], rule: UpdateRule) -> float:
    """lambda of eq. 6, or what the memory's certainty makes of it.

    ``1 / (1 + max conf)`` in [.05, .8] with ``conf = (mean / (1 + sd / mean))^rate *
    max(n / 4, 1)`` over actions of at least two rows, .8 without any (released code, not in the
    paper).
    """
    if rule.explore != "memory":
        return float(rule.explore)
    best = None
    for gains in returns.values():
        n = len(gains)
        if n < 2:
            continue
        mean, sd = float(np.mean(gains)), float(np.std(gains))
        conf = (mean / (1 + sd / mean)) ** rule.explore_rate * max(n / 4, 1) if mean > 0 else 0.0
        best = conf if best is None else max(best, conf)
    return 0.8 if best is None else min(max(1 / (1 + best), 0.05), 0.8)


def capped(
    base: np.ndarray, correction: np.ndarray, rule: UpdateRule
) -> tuple[np.ndarray, np.ndarray, float]:
    """Corrections scaled down to ``rule.kl_cap``, the policy they give, and its KL to the prior.

    The prior is the policy without corrections; where the rule samples, both are taken at its
    temperature. The KL grows with the scale, so bisection finds the largest admissible one.

    Args:
        base: What corrections are added to, shape [A].
    """
    width = _width(rule)
    prior = np.maximum(softmax(base / width), 1e-300)

    def scaled(by: float) -> tuple[np.ndarray, np.ndarray, float]:
        policy = softmax((base + by * correction) / width)
        return by * correction, policy, kl_divergence(policy, prior)

    whole = scaled(1.0)
    if rule.kl_cap is None or whole[2] <= rule.kl_cap:
        return whole
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if scaled(middle)[2] <= rule.kl_cap:
            low = middle
        else:
            high = middle
    return scaled(low)


def _width(rule: UpdateRule) -> float:
    """What logits are divided by where a policy is made of them."""
    return rule.temperature if rule.choose == "sample" else 1.0


def propensities(corrected: np.ndarray, rule: UpdateRule) -> np.ndarray:
    """Chance of each candidate to be chosen, shape [A]; equals share an argmax evenly."""
    if rule.choose == "sample":
        return softmax(corrected / rule.temperature)
    best = corrected >= corrected.max() - _TIE
    return np.asarray(best / best.sum())


def drawn(chances: np.ndarray, draw: float) -> int:
    """The place that a uniform number in [0, 1) picks.

    Args:
        chances: Sum to 1, shape [A]; what has no chance is not picked.
    """
    chosen = min(int(np.searchsorted(np.cumsum(chances), draw, "right")), len(chances) - 1)
    while chances[chosen] == 0.0:  # rounding at the very end of the sum
        chosen -= 1
    return chosen


def decide(
    proposed: Sequence[Candidate],
    neighbors: Neighborhood | Sequence[Neighbor],
    rule: UpdateRule,
    rng: np.random.Generator,
    *,
    allowed: Collection[str] | None = None,
    admission: Admission = AS_PUBLISHED,
) -> Decision:
    """Choose among the candidates of a step: ``z' = z + beta * A + bonus`` (eqs. 4-10).

    1. V is the weighted mean of Q over the neighbors; Q(a) that over the neighbors which took a
       (eqs. 4 and 5), pulled towards V by ``shrink`` pseudo-visits.
    2. The less an action was tried, the more it is what ``untried`` says (eq. 6); A = Q - V
       (eq. 7), normalized (eq. 25).
    3. Novelty is added, and repeats are taken off; of these and of ``beta * A``, the less counts
       the less was seen here (``warmup``). Untrusted rows may nudge, and what other tasks'
       solutions teach is added (not in the paper). Of actions that are marked as more than
       reading, ``admission`` bounds what is added (not in the paper).
    4. The best is taken or one is sampled (eq. 10).

    Pure: the same arguments and the same state of ``rng`` give the same decision. It draws one
    number for the choice, then one for each untried candidate where the rule draws for those.

    Args:
        proposed: The model's candidates, shape [A], with distinct actions and finite logits.
        neighbors: What the memory holds of similar states; empty leaves the prior as it is.
        allowed: Which actions of the memory may join the model's; ``None`` leaves it to the rule. A
            mapping of actions to risks marks them, too.
        admission: Limits for actions that are marked.

    Raises:
        ValueError: If there are no candidates, one is empty or occurs twice, or a logit is not
            finite.
    """
    _check(proposed)
    near = neighbors if isinstance(neighbors, Neighborhood) else Neighborhood(neighbors)
    known = Neighbors.of(near.neighbors)
    heard = known
    if rule.untrusted is not None and not known.trusted.all():
        heard = known.only(np.flatnonzero(known.trusted))
    tried = {} if keeps_out(rule, allowed) else returns_by_action(known)
    out = kept_out(proposed, tried, near, allowed, admission)
    everyone = candidates_with_memory(proposed, tried, rule, allowed, [c.action for c in out])
    seen = Evidence(heard, [c.action for c in everyone])
    size, draw = len(everyone), float(rng.random())

    z = np.array([c.logit for c in everyone], float) / rule.temperature_prior
    base = z if rule.prior == "logit" else 1.0 / (1.0 + np.exp(-np.maximum(z, NO_CONFIDENCE)))
    q, value, more = _estimates(seen, rule, rng)
    advantage = q - value
    whole = len(q) if rule.normalize == "max_positive" else size
    scaled, scale = np.zeros(size), 0.0
    if len(heard):
        scaled, scale = normalized(advantage[:whole], rule, near.reach)
    share = min(1.0, (1.0 + float(seen.near(rule.kernel).sum())) / rule.warmup)
    new, bonus = _exploration(everyone, near, known, seen, rule)
    bonus = share * bonus
    if heard is not known:
        bonus = bonus + _nudge(size, near, known, seen, rule)
    taught = rule.transfer * np.array([near.transfer.get(c.action, 0.0) for c in everyone])
    followed = base if rule.choose == "sample" else z
    moved = share * rule.beta * scaled[:size] + bonus + taught
    correction, policy, kl = capped(followed, moved, rule)
    if any(c.risk != "read" for c in everyone):
        risks, width = [c.risk for c in everyone], _width(rule)
        correction, lost = limits.held_back(followed, correction, risks, width, admission)
        policy = softmax((followed + correction) / width)
        kl = kl_divergence(policy, np.maximum(softmax(followed / width), 1e-300))
        out += limits.capped([c.action for c in everyone], risks, lost)
    corrected = base + correction
    chance_of = propensities(corrected, rule)
    chosen = drawn(chance_of, draw)
    visits = seen.total(heard.visits)
    columns = (softmax(z), visits, q, advantage, scaled, bonus, correction, corrected, policy)
    numbers = zip(*(c[:size].tolist() for c in (*columns, chance_of, new, taught)), strict=True)
    return Decision(
        action=everyone[chosen].action,
        candidates=tuple(
            Weighed(c.action, c.logit, c.source, *row, risk=c.risk)  # type: ignore[misc]
            for c, row in zip(everyone, numbers, strict=True)
        ),
        neighbors=known,
        value=value,
        scale=scale,
        kl=kl,
        draws=(draw, *more),
        rule=rule.digest,
        version=near.version,
        excluded=near.excluded,
        reason="" if len(known) or near.transfer else "empty",
        lesson=near.lesson,
        share=share,
        capped=out,
        silenced=near.silenced,
    )


def _estimates(
    seen: Evidence, rule: UpdateRule, rng: np.random.Generator
) -> tuple[np.ndarray, float, list[float]]:
    """Q of each action, [A'], V, and what was drawn; all 0 where no neighbor weighs anything."""
    weight = seen.near(rule.kernel)
    mass = float(weight.sum())
    if mass <= 0.0:
        return np.zeros(len(seen.place)), 0.0, []
    mixed = (1.0 - rule.backup) * seen.neighbors.ret + rule.backup * seen.value
    tries = seen.total(weight)
    q = seen.total(weight * mixed) / np.where(tries > 0, tries, 1.0)
    value = float(tries @ q / mass)
    off = _backoff(seen, rule)
    if rule.untried == "draw":
        return _drawn_estimates(seen, rule, rng, tries, q, value, off)
    credit = rule.optimism + (1.0 - rule.optimism) * np.minimum(tries, 1.0)
    pull = credit * value + off
    if rule.shrink == 0.0:
        return np.where(tries > 0, q, pull), value, []
    return (tries * q + rule.shrink * pull) / (tries + rule.shrink), value, []


def _drawn_estimates(
    seen: Evidence,
    rule: UpdateRule,
    rng: np.random.Generator,
    tries: np.ndarray,
    q: np.ndarray,
    value: float,
    off: np.ndarray,
) -> tuple[np.ndarray, float, list[float]]:
    """Estimates where an untried action is worth ``V + bonus / n`` by chance, else 0 (eq. 6)."""
    tried = tries > 0
    pulled = (tries * q + rule.shrink * (value + off)) / (tries + rule.shrink + ~tried)
    chance = explore_probability(returns_by_action(seen.neighbors), rule)
    q = np.where(tried, pulled, 0.0)
    draws = []
    for i in np.flatnonzero(~tried):
        draws.append(float(rng.random()))
        if draws[-1] < chance:
            q[i] = value + rule.bonus / len(seen.neighbors)
    if rule.baseline == "actions" and not tried.all():
        value = float(q.sum() / len(q))
    return q, value, draws


def _backoff(seen: Evidence, rule: UpdateRule) -> np.ndarray:
    """Mean immediate reward of equal actions in a wider circle, one pseudo-visit of 0, [A']."""
    if rule.backoff is None:
        return np.zeros(len(seen.place))
    wide = seen.near(rule.backoff)
    return np.asarray(seen.total(wide * seen.neighbors.reward) / (seen.total(wide) + 1.0))


def _exploration(
    candidates: Sequence[Candidate],
    near: Neighborhood,
    known: Neighbors,
    seen: Evidence,
    rule: UpdateRule,
) -> tuple[np.ndarray, np.ndarray]:
    """How new each candidate is, [A], and the nats that novelty and repeats add to it, [A].

    Novelty falls with the number of tries in similar states, and with the share of them that
    ended the task. What lies behind an action counts, discounted by ``onward``.
    """
    size = len(candidates)
    if not len(known) or rule.novelty == rule.repeat == rule.repeat_action == 0.0:
        return np.ones(size), np.zeros(size)
    wide = seen.near(rule.novelty_kernel)
    tries = seen.total(wide)[:size]
    ended = seen.total(wide * seen.neighbors.terminal)[:size]
    new = (1.0 - ended / (tries + 1.0)) / (1.0 + tries)
    ahead, taken = np.zeros(size), np.zeros(size)
    for k in (known.similarity == 1.0).nonzero()[0].tolist():
        i = seen.place.get(known.action[k], size)
        if i < size:
            ahead[i] = max(ahead[i], known.onward[k])
            taken[i] = max(taken[i], known.taken[k])
    again = np.array([near.repeats.get(c.action, 0) > 0 for c in candidates], float)
    reachable = np.maximum(new, rule.onward * ahead)
    if near.reach == 0.0 and reachable.max() > 0:  # nothing known has paid: look on, evenly
        reachable = reachable / reachable.max()
    return new, rule.novelty * reachable - rule.repeat * taken - rule.repeat_action * again


def _nudge(
    size: int, near: Neighborhood, known: Neighbors, seen: Evidence, rule: UpdateRule
) -> np.ndarray:
    """What untrusted rows may add, [A]: at most ``untrusted`` nats for each of their principals."""
    nudge = np.zeros(size)
    for n in known.only(np.flatnonzero(~known.trusted)):
        i = seen.place.get(n.action, size)
        if rule.untrusted is not None and i < size and n.ret != 0.0:
            near_by = nearness(n.similarity, rule.kernel)
            size_of = min(1.0, abs(n.ret) / near.reach) if near.reach > 0 else 1.0
            nudge[i] += np.sign(n.ret) * size_of * rule.untrusted * near_by * n.sources
    return nudge


def _check(proposed: Sequence[Candidate]) -> None:
    if not proposed:
        raise ValueError("no candidates; a decision needs at least one")
    seen = set[str]()
    for c in proposed:
        if not c.action:
            raise ValueError("a candidate has no action; give its canonical text")
        if not abs(c.logit) <= LARGEST:
            raise ValueError(
                f"logit of {c.action!r} is {c.logit}; it must be a finite number, at most "
                f"{LARGEST:g}"
            )
        if c.action in seen:
            raise ValueError(f"candidate {c.action!r} occurs twice; each action once")
        seen.add(c.action)
