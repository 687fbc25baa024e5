"""What a gradient agent trains on after an episode: examples, advantages and replay, in numpy.

Three ways, from supervised to off-policy. Each gives the batches of one update, one gradient step
each; which steps are drawn depends on nothing but the episodes so far and ``rng``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from jitrl.training import Example

Method = Literal["sft", "grpo", "webrl"]
Batches = list[list[Example]]
LogPolicy = Callable[[Example], float]
"""Log-probability of an example's action under the present weights."""

_RECENT = 3  # attempts that say how often a task fails now
_EPS = 1e-6


@dataclass(frozen=True, slots=True)
class Lived:
    """An episode as training sees it.

    Attributes:
        examples: Its steps, with the log-probability of each action when it was taken.
        score: Sum of its rewards, in the evaluator's units.
    """

    task: str
    examples: tuple[Example, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is trained after an episode.

    Attributes:
        epochs: Gradient steps.
        batch: Steps of episodes in each of them.
        success: Score from which an episode counts as successful.
        group: Of ``grpo``: the latest attempts at a task that are compared.
        hardest, easiest: Of ``webrl``: replayed actions have a perplexity between these.
    """

    epochs: int = 2
    batch: int = 12
    success: float = 0.5
    group: int = 8
    easiest: float = 1.0 / 0.95
    hardest: float = 50.0


def supervised(lived: Sequence[Lived], plan: Plan, rng: np.random.Generator) -> Batches:
    """``sft``: imitate successful episodes, the newest whole, older ones by chance.

    Nothing is trained after an episode that failed.
    """
    newest = lived[-1]
    if newest.score < plan.success or not newest.examples:
        return []
    older = [e for past in lived[:-1] if past.score >= plan.success for e in past.examples]
    fresh = len(newest.examples)
    return [
        [*newest.examples, *_drawn(older, max(plan.batch - fresh, fresh), None, rng)]
        for _ in range(plan.epochs)
    ]


def group_advantages(scores: np.ndarray) -> np.ndarray:
    """``(R - mean) / sd`` over a group, shape [G]; zeros where all are equal."""
    spread = float(scores.std())
    return (scores - scores.mean()) / (spread + _EPS) if spread > _EPS else np.zeros(len(scores))


def grouped(lived: Sequence[Lived], plan: Plan, rng: np.random.Generator) -> Batches:
    """``grpo``: the latest attempts at the newest episode's task, each against their mean.

    An episode's advantage is that of all its steps; each episode weighs the same, however long.
    """
    group = [past for past in lived if past.task == lived[-1].task][-plan.group :]
    advantages = group_advantages(np.array([past.score for past in group]))
    if not advantages.any():
        return []
    steps = [
        (replace(example, advantage=float(advantage)), 1.0 / len(past.examples))
        for past, advantage in zip(group, advantages, strict=True)
        for example in past.examples
    ]
    examples, shares = [e for e, _ in steps], np.array([share for _, share in steps])
    return [_drawn(examples, plan.batch, shares, rng) for _ in range(plan.epochs)]


def failure_weights(lived: Sequence[Lived], success: float) -> dict[str, float]:
    """For each task the share of its latest three attempts that failed, and .1 more."""
    scores: dict[str, list[float]] = {}
    for past in lived:
        scores.setdefault(past.task, []).append(past.score)
    return {
        task: 0.1 + float(np.mean([score < success for score in all_of_it[-_RECENT:]]))
        for task, all_of_it in scores.items()
    }


def expected_scores(lived: Sequence[Lived]) -> dict[str, float]:
    """Mean score of each task's attempts, with one more that scored the mean of all episodes.

    So the first success at a task is better than expected, as it would not be against itself.
    """
    scores: dict[str, list[float]] = {}
    for past in lived:
        scores.setdefault(past.task, []).append(past.score)
    usual = float(np.mean([past.score for past in lived]))
    return {task: (sum(own) + usual) / (len(own) + 1.0) for task, own in scores.items()}


def replayed(
    lived: Sequence[Lived], plan: Plan, rng: np.random.Generator, policy: LogPolicy
) -> Batches:
    """``webrl``: the newest episode and successful ones from the buffer, against what is expected.

    Half of the steps are drawn from the newest episode, half from successes of the buffer, more
    often from tasks that have failed of late, and only where the present policy finds the action
    neither too easy nor too hard. All are held near the policy that the update began with.
    """
    if not any(past.score >= plan.success for past in lived):
        return []
    values = expected_scores(lived)
    hard = failure_weights(lived, plan.success)
    newest = lived[-1]
    fresh = _drawn(newest.examples, plan.batch // 2, None, rng)
    old = [(e, past) for past in lived if past.score >= plan.success for e in past.examples]
    shares = np.array([hard[past.task] / len(past.examples) for _, past in old])
    order = rng.choice(len(old), min(plan.batch, len(old)), replace=False, p=shares / shares.sum())
    kept = [
        replace(e, reference=policy(e), advantage=newest.score - values[newest.task]) for e in fresh
    ]
    for i in order.tolist():
        example, past = old[i]
        log_chance = policy(example)
        if -np.log(plan.hardest) <= log_chance <= -np.log(plan.easiest):
            gain = past.score - values[past.task]
            kept.append(replace(example, reference=log_chance, advantage=gain))
        if len(kept) >= plan.batch:
            break
    return [kept] * plan.epochs


def _drawn(
    examples: Sequence[Example], most: int, shares: np.ndarray | None, rng: np.random.Generator
) -> list[Example]:
    """So many of ``examples``: each at most once, or by their ``shares``, with repeats."""
    if shares is None:
        if len(examples) <= most:
            return list(examples)
        return [examples[i] for i in rng.choice(len(examples), most, replace=False)]
    return [examples[i] for i in rng.choice(len(examples), most, p=shares / shares.sum())]
