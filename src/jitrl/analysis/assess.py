"""How far an evaluator can be trusted: against the truth, against people, against itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jitrl.analysis.labels import Labels
from jitrl.core.agreement import kappa, kappa_interval, pearson, spearman
from jitrl.core.stats import Interval, NoInterval
from jitrl.errors import InputError
from jitrl.evaluators.composite import Composite
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.evaluators.gold import gold
from jitrl.evaluators.injection import CANARIES, planted
from jitrl.evaluators.judge_record import pages_of
from jitrl.evaluators.outcome import TerminalOutcome
from jitrl.ports import Evaluator
from jitrl.types import Episode, Judgment, Scored, Unscored

Tell = Callable[[int, int], None]
"""Called with how many judgments of how many are made."""

FLAT = 0.1
"""An evaluator whose sums of rewards all lie within this does not discriminate."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Verdicts beside the truth.

    Attributes:
        confusion: Truth to verdict to episodes; ``not scored`` is a verdict.
        accuracy, kappa: Over the episodes that were scored.
        interval: Of kappa, tasks resampled.
        tasks: Tasks with a scored episode.
    """

    confusion: Mapping[str, Mapping[str, int]]
    accuracy: float | None
    kappa: float | None
    interval: Interval | NoInterval
    tasks: int


@dataclass(frozen=True, slots=True)
class Steps:
    """Scores of steps beside those of people; ``kappa`` is that of the signs.

    Attributes:
        steps: Compared; those that a person could not tell, or that were not scored, are left out.
    """

    steps: int
    unsure: int
    pearson: float | None
    spearman: float | None
    kappa: float | None
    interval: Interval | NoInterval


@dataclass(frozen=True, slots=True)
class Repeats:
    """The same episodes judged again with other draws.

    Attributes:
        variance: Of an episode's sum of rewards over the repeats, mean over the episodes.
        changed: Share of the episodes whose verdict is not always the same.
    """

    repeats: int
    episodes: int
    variance: float
    changed: float


@dataclass(frozen=True, slots=True)
class Spread:
    """How different the sums of rewards are.

    Attributes:
        equal: Chance that two different episodes get the same sum.
        discriminates: Whether they differ by ``FLAT`` at all; ``None`` for less than two.
        zeros: Share of the step scores that are 0.
    """

    low: float
    high: float
    sd: float
    equal: float
    zeros: float
    discriminates: bool | None


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What a planted text did: episodes judged with it, and whose sum of rewards rose."""

    canary: str
    episodes: int
    rose: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Assessment:
    """All that was found; ``None`` for what there was no material for.

    Attributes:
        is_source: Whether the outcomes are its own judgments, or those of a member of it, so that
            there is no ``gold`` for it.
        unscored: Reason to episodes.
    """

    evaluator: str
    told: bool
    is_source: bool
    episodes: int
    unscored: Mapping[str, int]
    gold: Agreement | None
    people: Steps | None
    repeats: Repeats | None
    spread: Spread | None
    canaries: tuple[Obeyed, ...]

    @property
    def obeyed(self) -> float | None:
        """Share of the planted texts that made a score rise."""
        tried = sum(one.episodes for one in self.canaries)
        return sum(one.rose for one in self.canaries) / tried if tried else None


def assess(
    evaluator: Callable[[int], Evaluator],
    episodes: Sequence[Episode],
    *,
    labels: Labels | None = None,
    repeats: int = 1,
    canaries: int = 0,
    success: float = 1.0,
    tell: Tell = lambda done, total: None,
) -> Assessment:
    """Judge ``episodes`` and compare.

    Args:
        evaluator: Makes it, with other draws for each number.
        labels: What people said of steps.
        repeats: How often each episode is judged.
        canaries: So many episodes are judged again with each planted text.
        success: Least sum of rewards that counts as a success, where there is no verdict.

    Raises:
        InputError: If there are canaries and the evaluator reads no pages.
    """
    judges = [evaluator(number) for number in range(repeats)]
    first = judges[0]
    if canaries and not getattr(first, "reads_pages", False):
        raise InputError(
            f"evaluator {first.name!r} reads no text of a page, so a planted one cannot sway it; "
            "leave the canaries out, or name an evaluator that reads, as judge"
        )
    targets = episodes[:canaries]
    is_source = _is_source(first)
    total = len(episodes) * repeats + len(targets) * len(CANARIES)
    done = 0

    def judged(judge: Evaluator, episode: Episode) -> Judgment:
        nonlocal done
        judgment = judge.judge(episode)
        done += 1
        tell(done, total)
        return judgment

    table = [[judged(judge, episode) for episode in episodes] for judge in judges]
    once = table[0]
    return Assessment(
        evaluator=first.name,
        told=first.told,
        is_source=is_source,
        episodes=len(episodes),
        unscored=Counter(j.reason for j in once if isinstance(j, Unscored)),
        gold=None if is_source else _with_truth(first, episodes, once, success),
        people=_with_people(episodes, once, labels) if labels else None,
        repeats=_with_itself(table, success) if repeats > 1 else None,
        spread=_spread(once),
        canaries=tuple(
            _planted(
                canary.name,
                [
                    (base, judged(first, planted(episode, pages_of(episode), canary)))
                    for episode, base in zip(targets, once, strict=False)
                ],
            )
            for canary in CANARIES
        )
        if targets
        else (),
    )


def _is_source(evaluator: Evaluator) -> bool:
    """Whether it hands on outcomes and rewards as they are, by itself or through a member."""
    if isinstance(evaluator, Composite):
        return any(map(_is_source, evaluator.members.values()))
    return getattr(evaluator, "is_source", False) or isinstance(
        evaluator, EnvironmentRewards | TerminalOutcome
    )


def verdict(judgment: Judgment, success: float) -> str:
    """What a judgment says of the end: its verdict, else whether its rewards reach a success."""
    if isinstance(judgment, Unscored):
        return "not scored"
    said = judgment.info.get("verdict")
    if isinstance(said, str):
        return said
    return "success" if sum(judgment.rewards) >= success else "failure"


def step_scores(judgment: Scored) -> list[float]:
    """What each step was given: a judge's scores, which hold no outcome, else the rewards."""
    samples = judgment.info.get("samples")
    if samples and len(samples[0]) == len(judgment.rewards):
        return [float(score) for score in np.mean(samples, axis=0)]
    return list(judgment.rewards)


def _with_truth(
    evaluator: Evaluator, episodes: Sequence[Episode], judged: Sequence[Judgment], success: float
) -> Agreement | None:
    confusion = {truth: Counter[str]() for truth in ("success", "failure")}
    clusters: dict[str, list[tuple[str, str]]] = {}
    for episode, judgment in zip(episodes, judged, strict=True):
        value = gold(episode)
        if value is None:
            continue
        if evaluator.told and isinstance(judgment, Scored) and "verdict" not in judgment.info:
            return None  # what it was told is no finding of its own
        truth, said = "success" if value >= success else "failure", verdict(judgment, success)
        confusion[truth][said] += 1
        if said in confusion:
            clusters.setdefault(episode.task, []).append((truth, said))
    if not any(confusion.values()):
        return None
    pairs = [pair for cluster in clusters.values() for pair in cluster]
    return Agreement(
        confusion={truth: dict(said) for truth, said in confusion.items()},
        accuracy=sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        kappa=kappa(pairs),
        interval=kappa_interval(clusters),
        tasks=len(clusters),
    )


def _with_people(
    episodes: Sequence[Episode], judged: Sequence[Judgment], labels: Labels
) -> Steps | None:
    theirs: list[float] = []
    ours: list[float] = []
    clusters: dict[str, list[tuple[int, int]]] = {}
    unsure = 0
    for episode, judgment in zip(episodes, judged, strict=True):
        for t in range(len(episode.steps)):
            if (episode.key, t) not in labels or isinstance(judgment, Unscored):
                continue
            label = labels[episode.key, t]
            if label is None:
                unsure += 1
                continue
            score = step_scores(judgment)[t]
            theirs.append(float(label))
            ours.append(score)
            signs = int(np.sign(label)), int(np.sign(score))
            clusters.setdefault(episode.task, []).append(signs)
    if not theirs and not unsure:
        return None
    pairs = [pair for cluster in clusters.values() for pair in cluster]
    return Steps(
        steps=len(theirs),
        unsure=unsure,
        pearson=pearson(ours, theirs),
        spearman=spearman(ours, theirs),
        kappa=kappa(pairs),
        interval=kappa_interval(clusters),
    )


def _with_itself(table: Sequence[Sequence[Judgment]], success: float) -> Repeats | None:
    """Episodes that could be scored each time count for the variance, all for the verdicts."""
    columns = list(zip(*table, strict=True))
    if not columns:
        return None
    sums = [
        [sum(j.rewards) for j in column if isinstance(j, Scored)]
        for column in columns
        if all(isinstance(j, Scored) for j in column)
    ]
    said = [{verdict(j, success) for j in column} for column in columns]
    return Repeats(
        repeats=len(table),
        episodes=len(columns),
        variance=float(np.mean([np.var(one) for one in sums])) if sums else 0.0,
        changed=sum(len(one) > 1 for one in said) / len(said),
    )


def _spread(judged: Sequence[Judgment]) -> Spread | None:
    scored = [j for j in judged if isinstance(j, Scored)]
    if not scored:
        return None
    sums = np.array([sum(j.rewards) for j in scored])
    times = np.array(list(Counter(np.round(sums, 9).tolist()).values()))
    n = len(sums)
    steps = np.concatenate([step_scores(j) for j in scored])
    low, high = float(sums.min()), float(sums.max())
    return Spread(
        low=low,
        high=high,
        sd=float(sums.std()),
        equal=float((times * (times - 1)).sum() / (n * (n - 1))) if n > 1 else 1.0,
        zeros=float((steps == 0.0).mean()),
        discriminates=high - low >= FLAT if n > 1 else None,
    )


def _planted(name: str, pairs: Sequence[tuple[Judgment, Judgment]]) -> Obeyed:
    """A score rises if its sum does, or if there was none and now there is one above 0."""

    def total(judgment: Judgment) -> float:
        return sum(judgment.rewards) if isinstance(judgment, Scored) else 0.0

    return Obeyed(
        canary=name,
        episodes=len(pairs),
        rose=sum(total(after) > total(base) + 1e-9 for base, after in pairs),
        unscored=sum(isinstance(after, Unscored) for _, after in pairs),
    )
