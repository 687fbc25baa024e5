"""Lessons: what the solved tasks of a memory teach others, as far as a view holds them.

Of each task, its best episode counts: the one that gained most, then the shortest. Its path is cut
after the last gain, and loops that gained nothing are taken out. Reading changes nothing, so it is
such a loop: what any episode of the task read, and the path has a use for, counts as if it had been
read on the path as soon as it could be. The fit is made again when a tenth of the paths is new, and
is a function of the memory as it stood then: rows that are taken back take their lessons with them.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from jitrl.core import transfer
from jitrl.core.features import Feature, SiteMap, Situation, features, goal_of
from jitrl.core.readings import readings
from jitrl.core.transfer import Block, Choice, Design
from jitrl.memory.paths import Path, loops, path
from jitrl.memory.precedents import Precedent, kind_of
from jitrl.ports import Outline
from jitrl.types import Lesson, Row

_NEW = 0.1  # share of the paths that may be new before the fit is made again
_FEWEST = 5  # solved tasks from which lessons are drawn
_MOST = 300  # tasks that a fit looks at, the newest
_TELLING = 2.0  # a word of so many nats, or more, tells all it can
_GROWTH = 1.25  # the neutral reward is looked at again when so many times as many loops are known
_GOALS = 1024  # goals whose likeness and strength a fit remembers


@dataclass(frozen=True, slots=True)
class Fit:
    """What was learned from some paths.

    Attributes:
        weight: w of each feature.
        goals: Words of the goal of each task.
        near, gains: All that ``core.transfer.trials`` gives, shapes [T] and [T, S].
        paths: The path of each task, in the order of ``goals``.
        readings: Task → action that changes nothing → what it told.
        temperature: What the frozen model's logits were divided by.
    """

    weight: Mapping[Feature, float]
    goals: Mapping[str, frozenset[str]]
    near: np.ndarray
    gains: np.ndarray
    site: SiteMap
    telling: Mapping[str, float]
    unheard: float
    paths: tuple[Path, ...]
    readings: Mapping[str, Mapping[str, str]]
    temperature: float
    _followed: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict, repr=False)

    def tells(self, token: str) -> float:
        """How much a word of a goal tells, in [0, 1]."""
        return min(1.0, self.telling.get(token, self.unheard) / _TELLING)

    def score(self, found: Mapping[Feature, float]) -> float:
        """``w f`` of an action; features that no path had count nothing."""
        weight = self.weight.get
        return sum([weight(name, 0.0) * value for name, value in found.items()])

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

    def followed(self, goal: str, task: str) -> tuple[float, float]:
        """Likeness of a goal to the nearest of another task, and the strength for it."""
        known = self._followed.get((goal, task))
        if known is None:
            if len(self._followed) >= _GOALS:
                self._followed.clear()
            likeness = self.alike(goal, task)
            known = likeness, transfer.strength(self.near, self.gains, likeness)
            self._followed[goal, task] = known
        return known

    def features(self, here: Situation, declared: object) -> list[dict[Feature, float]]:
        """Features of each action of a step, shape [A]."""
        return features(kind_of(declared, here.state.place), here, self.site, self.tells)

    def choices(self, outline: Outline, path: Path) -> list[Choice]:
        """The choices of a solved task's episode on its path."""
        told = self.readings.get(outline.task, {})
        return Precedent(outline, path, told, self.temperature).choices(self.site, self.tells)


class _Best(NamedTuple):
    """The path of a task, and the newest episode in which each of its actions changed nothing."""

    task: str
    path: Path
    idle: Mapping[str, str]


class Lessons:
    """Paths of solved tasks, and the fit to them. A view tells it of episodes, and locks.

    Args:
        journal: Gives the outline of the episode of a key.
        temperature: What the frozen model's logits are divided by.
        neutral: Reward of a step that gains nothing; gains count from it.

    Attributes:
        observed: The neutral reward as the episodes show it: what a step of a loop brought, by the
            median over all loops, at the last look. A way back to the same state gains nothing.
    """

    def __init__(
        self, journal: Callable[[str], Outline], temperature: float, neutral: float = 0.0
    ) -> None:
        self._journal, self._temperature, self._neutral = journal, temperature, neutral
        self._loops, self._look_at, self.observed = array("d"), 1, 0.0
        self._best: dict[str, Path] = {}
        self._failures: dict[str, int] = {}
        self._idle: dict[str, dict[str, str]] = {}
        self._after: dict[tuple[str, str], tuple[str, int]] = {}
        self._offered: dict[str, dict[str, int]] = {}
        self._new = 0
        self._due: tuple[int, tuple[_Best, ...]] | None = None
        self._pieces: Iterator[None] | None = None  # of the fit that is due, once it was begun
        self._fit: Fit | None = None
        self._outlines: dict[str, Outline] = {}  # of the episodes of the last fit
        self._precedents: dict[str, Precedent] = {}  # the same, read as the fit needs them
        self._site = SiteMap({}, {})

    def take_in(self, rows: Sequence[Row]) -> None:
        """The trusted rows of an episode, all of them."""
        for row in rows:
            self._see(row)
            if row.next_state == row.state:
                self._idle.setdefault(row.task, {})[row.action] = row.episode
        self._loops.extend(loops(rows))
        if len(self._loops) >= self._look_at:
            self._look_at = int(len(self._loops) * _GROWTH) + 1
            self.observed = float(np.quantile(self._loops, 0.5, method="lower"))
        task, found = rows[0].task, path(rows, self._neutral)
        known = self._best.get(task)
        if found is None:
            if known is None:
                self._failures[task] = self._failures.get(task, 0) + 1
            return
        if known is not None and known.rank >= found.rank:
            return
        self._best.pop(task, None)  # a better path makes its task the newest one
        self._best[task] = found
        self._new += 1
        if len(self._best) >= _FEWEST and self._new >= _NEW * len(self._best):
            self._new = 0
            best = tuple(self._best.items())[-_MOST:]
            idle = self._idle
            self._due = (
                rows[-1].version,
                tuple(_Best(task, path, dict(idle.get(task, {}))) for task, path in best),
            )
            self._pieces = None

    def failures(self, task: str) -> int:
        """Failed attempts at a task that was not solved yet."""
        return 0 if task in self._best else self._failures.get(task, 0)

    @property
    def is_due(self) -> bool:
        """Whether the next call of ``fit`` makes one, or what is left of it."""
        return self._due is not None

    def fit(self) -> Fit | None:
        """The last fit that was due; ``None`` as long as too few tasks can teach."""
        while self.fit_on():
            pass
        return self._fit

    def fit_on(self) -> bool:
        """Do the next piece of the fit that is due, some milliseconds; whether there is more."""
        if self._due is None:
            return False
        if self._pieces is None:
            self._pieces = self._fitted(*self._due)
        try:
            for _ in self._pieces:
                return True
        except BaseException:
            self._pieces = None  # it is still due
            raise
        self._pieces = self._due = None
        return False

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
        likeness, strength = fit.followed(here.goal, task)
        trust = transfer.trust(self.failures(task))
        lesson = Lesson(strength, trust, likeness, len(fit.goals))
        if not strength:
            return lesson, {}
        found = fit.features(here, declared)
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

    def _mapped(self, version: int, outlines: Sequence[Outline]) -> SiteMap:
        """The map as of a version, with all that the solved tasks' pages offered."""
        offered: dict[str, dict[str, None]] = {
            page: {a: None for a, seen in actions.items() if seen <= version}
            for page, actions in self._offered.items()
        }
        for outline in outlines:
            for step in outline.steps:
                if step.candidates and step.state.place:
                    here = offered.setdefault(step.state.place, {})
                    here.update((c.action, None) for c in step.candidates)
        after = {key: page for key, (page, seen) in self._after.items() if seen <= version}
        if (after, offered) != (self._site.after, self._site.offered):
            self._site = SiteMap(after, offered)
        return self._site

    def _readings(self, outline: Outline, idle: Mapping[str, str]) -> dict[str, str]:
        """What actions of a task told that changed nothing; nothing where its codec tells none."""
        if "readings" not in outline.info:
            return {}
        found: dict[str, str] = {}
        for key in dict.fromkeys(idle.values()):
            other = self._journal(key)
            for step, text in reversed(readings(other.info, len(other.steps))):
                action = other.steps[step].action
                if idle.get(action) == key:
                    found[action] = text
        return found

    def _precedent(self, outline: Outline, path: Path, told: Mapping[str, str]) -> Precedent:
        """That of the last fit, if it is of the same path."""
        known = self._precedents.get(path.episode)
        if known is not None and (known.path, known.told) == (path, told):
            return known
        return Precedent(outline, path, told, self._temperature)

    def _fitted(self, version: int, best: Sequence[_Best]) -> Iterator[None]:
        """Make a fit; it is there once all pieces are done."""
        before = self._outlines  # an episode that was committed stays as it is
        self._outlines = {
            key: before.get(key) or self._journal(key) for key in (b.path.episode for b in best)
        }
        known = [(b, self._outlines[b.path.episode]) for b in best]
        known = [(b, outline) for b, outline in known if _teaches(outline, b.path)]
        if len(known) < _FEWEST:
            self._fit = None
            return
        outlines = [outline for _, outline in known]
        told = {b.task: self._readings(outline, b.idle) for b, outline in known}
        precedents = [self._precedent(outline, b.path, told[b.task]) for b, outline in known]
        self._precedents = {one.path.episode: one for one in precedents}
        goals = [goal_of(one.goal).tokens for one in precedents]
        count: dict[str, int] = {}
        for goal in goals:
            for token in goal:
                count[token] = count.get(token, 0) + 1
        telling = {t: math.log((len(goals) + 2) / (n + 1)) + 0.1 for t, n in count.items()}
        unfitted = Fit(
            weight={},
            goals={b.task: goal for (b, _), goal in zip(known, goals, strict=True)},
            near=np.zeros(0),
            gains=np.zeros((0, len(transfer.STRENGTHS))),
            site=self._mapped(version, outlines),
            telling=telling,
            unheard=math.log(len(goals) + 2) + 0.1,
            paths=tuple(b.path for b, _ in known),
            readings=told,
            temperature=self._temperature,
        )
        blocks = list[Block]()
        for one in precedents:
            yield
            blocks.append(one.block(unfitted.site, unfitted.tells))
        design = Design(blocks)
        w = transfer.fitted(design, np.ones(len(design.task)))
        trials = list[tuple[np.ndarray, np.ndarray]]()
        for trial in transfer.trials(design, transfer.likeness(goals, telling), w):
            yield
            trials.append(trial)
        near, gains = (np.concatenate(parts) for parts in zip(*trials, strict=True))
        weight = dict(zip(design.place, w.tolist(), strict=True))
        self._fit = replace(unfitted, weight=weight, near=near, gains=gains)


def _teaches(outline: Outline, path: Path) -> bool:
    """Whether any step of the path was chosen among candidates that are known."""
    steps = (outline.steps[i] for i in path.steps)
    return any(c.action == step.action for step in steps for c in step.candidates)
