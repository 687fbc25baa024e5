"""Lessons: what the solved tasks of a memory teach others, as far as a view holds them.

Of each task, its best episode counts: the one that gained most, then the shortest. Its path is cut
after the last gain, and loops that gained nothing are taken out. The fit is made again when a tenth
of the paths is new, and is a function of the memory as it stood then: rows that are taken back take
their lessons with them.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jitrl.core import transfer
from jitrl.core.features import Feature, Kind, SiteMap, Situation, features, goal_of
from jitrl.core.similarity import words
from jitrl.core.transfer import Choice, Design
from jitrl.types import Episode, Lesson, Row, State

_NEW = 0.1  # share of the paths that may be new before the fit is made again
_FEWEST = 5  # solved tasks from which lessons are drawn
_MOST = 300  # tasks that a fit looks at, the newest
_TELLING = 2.0  # a word of so many nats, or more, tells all it can
_GROWTH = 1.25  # the neutral reward is looked at again when so many times as many loops are known
_EPS = 1e-9


class Path(NamedTuple):
    """The best episode of a task, and the steps of it that led to what it gained."""

    episode: str
    gain: float
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """What was learned from some paths.

    Attributes:
        w: Weight of each feature of ``design``.
        goals: Words of the goal of each task.
        near, gains: As ``core.transfer.trials`` gives them.
        paths: The paths, in the order of the tasks.
    """

    design: Design
    w: np.ndarray
    goals: Mapping[str, frozenset[str]]
    near: np.ndarray
    gains: np.ndarray
    site: SiteMap
    telling: Mapping[str, float]
    unheard: float
    paths: tuple[Path, ...]

    def tells(self, token: str) -> float:
        """How much a word of a goal tells, in [0, 1]."""
        return min(1.0, self.telling.get(token, self.unheard) / _TELLING)

    def score(self, found: Mapping[Feature, float]) -> float:
        """``w f`` of an action; features that no path had count nothing."""
        place, w = self.design.place, self.w
        return float(sum(w[place[name]] * value for name, value in found.items() if name in place))

    def alike(self, goal: str, task: str) -> float:
        """Likeness of a goal to the nearest of another task."""
        mine = goal_of(goal).tokens
        best = 0.0
        for other, tokens in self.goals.items():
            if other != task:
                union = sum(self.telling.get(t, self.unheard) for t in mine | tokens)
                common = sum(self.telling.get(t, self.unheard) for t in mine & tokens)
                best = max(best, common / union if union else 1.0)
        return best


class Lessons:
    """Paths of solved tasks, and the fit to them. A view tells it of episodes, and locks.

    Args:
        journal: Gives the episode of a key, with the candidates of its decisions.
        temperature: What the frozen model's logits are divided by.
        neutral: Reward of a step that gains nothing; gains count from it.

    Attributes:
        observed: The neutral reward as the episodes show it: what a step of a loop brought, by the
            median over all loops, at the last look. A way back to the same state gains nothing.
    """

    def __init__(
        self, journal: Callable[[str], Episode], temperature: float, neutral: float = 0.0
    ) -> None:
        self._journal, self._temperature, self._neutral = journal, temperature, neutral
        self._loops, self._look_at, self.observed = array("d"), 1, neutral
        self._best: dict[str, Path] = {}
        self._failures: dict[str, int] = {}
        self._after: dict[tuple[str, str], tuple[str, int]] = {}
        self._offered: dict[str, dict[str, int]] = {}
        self._goals: dict[str, str] = {}
        self._new = 0
        self._due: tuple[int, tuple[tuple[str, Path], ...]] | None = None
        self._fit: Fit | None = None

    def take_in(self, rows: Sequence[Row]) -> None:
        """The trusted rows of an episode, all of them."""
        for row in rows:
            self._see(row)
        self._loops.extend(_loops(rows))
        if len(self._loops) >= self._look_at:
            self._look_at = int(len(self._loops) * _GROWTH) + 1
            self.observed = float(np.quantile(self._loops, 0.5, method="lower"))
        task, path = rows[0].task, _path(rows, self._neutral)
        known = self._best.get(task)
        if path is None:
            if known is None:
                self._failures[task] = self._failures.get(task, 0) + 1
            return
        if known is not None and _rank(known) >= _rank(path):
            return
        self._best.pop(task, None)  # a better path makes its task the newest one
        self._best[task] = path
        self._new += 1
        if len(self._best) >= _FEWEST and self._new >= _NEW * len(self._best):
            self._new = 0
            self._due = rows[-1].version, tuple(self._best.items())[-_MOST:]

    def failures(self, task: str) -> int:
        """Failed attempts at a task that was not solved yet."""
        return 0 if task in self._best else self._failures.get(task, 0)

    def fit(self) -> Fit | None:
        """The last fit that was due; ``None`` before the first."""
        if self._due is not None:
            (version, paths), self._due = self._due, None
            self._fit = self._fitted(version, paths)
        return self._fit

    def teach(
        self, here: Situation, declared: str, task: str
    ) -> tuple[Lesson | None, dict[str, float]]:
        """How far to follow what was learned, and what it adds to each action, nats.

        Args:
            declared: The kind of features that the codec declares.
            task: Whose step it is; its own path is not what makes its goal look familiar.
        """
        fit = self.fit()
        if fit is None:
            return None, {}
        likeness = fit.alike(here.goal, task)
        strength = transfer.strength(fit.near, fit.gains, likeness)
        trust = transfer.trust(self.failures(task))
        lesson = Lesson(strength, trust, likeness, len(fit.goals))
        if not strength:
            return lesson, {}
        found = features(kind_of(declared, here.state.place), here, fit.site, fit.tells)
        return lesson, {
            action: strength * trust * fit.score(f)
            for action, f in zip(here.actions, found, strict=True)
        }

    def _see(self, row: Row) -> None:
        """Where an action led. The goal is not known here, so places stay as they are."""
        if row.state.place:
            self._offered.setdefault(row.state.place, {}).setdefault(row.action, row.version)
            if row.next_state is not None:
                key = row.state.place, row.action
                self._after.setdefault(key, (row.next_state.place, row.version))

    def _site(self, version: int, episodes: Sequence[Episode]) -> SiteMap:
        """The map as of a version, with all that the solved tasks' pages offered."""
        offered: dict[str, dict[str, None]] = {
            page: {a: None for a, seen in actions.items() if seen <= version}
            for page, actions in self._offered.items()
        }
        for episode in episodes:
            for step in episode.steps:
                if step.decision is not None and step.state.place:
                    here = offered.setdefault(step.state.place, {})
                    here.update((c.action, None) for c in step.decision.candidates)
        after = {key: page for key, (page, seen) in self._after.items() if seen <= version}
        return SiteMap(after, offered)

    def _fitted(self, version: int, paths: Sequence[tuple[str, Path]]) -> Fit:
        episodes = [self._journal(path.episode) for _, path in paths]
        goals = [goal_of(goal_text(episode)).tokens for episode in episodes]
        count: dict[str, int] = {}
        for goal in goals:
            for token in goal:
                count[token] = count.get(token, 0) + 1
        telling = {t: math.log((len(goals) + 2) / (n + 1)) + 0.1 for t, n in count.items()}
        unheard = math.log(len(goals) + 2) + 0.1
        site = self._site(version, episodes)

        def tells(token: str) -> float:
            return min(1.0, telling.get(token, unheard) / _TELLING)

        choices = [
            _choices(episode, path.steps, site, tells, self._temperature)
            for episode, (_, path) in zip(episodes, paths, strict=True)
        ]
        design = Design(choices)
        w = transfer.fitted(design, np.ones(len(design.task)))
        near, gains = transfer.trials(design, transfer.likeness(goals, telling), w)
        tasks = [task for task, _ in paths]
        return Fit(
            design,
            w,
            dict(zip(tasks, goals, strict=True)),
            near,
            gains,
            site,
            telling,
            unheard,
            tuple(path for _, path in paths),
        )


def _rank(path: Path) -> tuple[float, int]:
    return path.gain, -len(path.steps)


def _loops(rows: Sequence[Row]) -> Iterator[float]:
    """Mean reward of a step, for each way from a state back to it."""
    before: dict[State, tuple[int, float]] = {}
    so_far = 0.0
    for i, row in enumerate(rows):
        if row.state in before:
            first, then = before[row.state]
            yield (so_far - then) / (i - first)
        before[row.state] = i, so_far
        so_far += row.reward


def _path(rows: Sequence[Row], neutral: float) -> Path | None:
    """The steps that led to what an episode gained, ``None`` if it gained nothing.

    States are told apart by their words and by what was gained so far, so that only loops that
    gained nothing are taken out.
    """
    rewards = [row.reward - neutral for row in rows]
    gain = sum(rewards)
    if gain <= _EPS:
        return None
    last = max(i for i, reward in enumerate(rewards) if reward > _EPS)
    steps, places, so_far = list[int](), list[object](), 0.0
    for i, row in enumerate(rows[: last + 1]):
        state = row.state
        place = frozenset(words(state.text)), state.context, state.place, round(so_far, 6)
        if place in places:
            first = places.index(place)
            del steps[first:], places[first:]
        steps.append(i)
        places.append(place)
        so_far += rewards[i]
    return Path(rows[0].episode, round(gain, 9), tuple(steps))


def goal_text(episode: Episode) -> str:
    """The goal of a journaled episode: what was noted of it, else its task."""
    return str(episode.info.get("goal") or episode.task)


def kind_of(declared: object, place: str) -> Kind:
    """The kind of features that a codec declared; without one, pages are what has a place."""
    if declared == "page" or declared == "words":
        return declared
    return "page" if place else "words"


def _choices(
    episode: Episode,
    steps: Sequence[int],
    site: SiteMap,
    tells: Callable[[str], float],
    temperature: float,
) -> list[Choice]:
    """The choices of an episode at some of its steps, as if it had taken no others."""
    found, taken = [], list[str]()
    for i in steps:
        step = episode.steps[i]
        decision = step.decision
        if decision is not None:
            actions = [c.action for c in decision.candidates]
            last = taken[-1] if taken else ""
            here = Situation(goal_text(episode), step.state, last, actions, frozenset(taken))
            kind = kind_of(episode.info.get("features"), step.state.place)
            z = np.array([c.logit for c in decision.candidates]) / temperature
            found.append(
                Choice(
                    transfer.log_softmax(z),
                    actions.index(step.action),
                    features(kind, here, site, tells),
                )
            )
        taken.append(step.action)
    return found
