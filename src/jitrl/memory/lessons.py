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
from collections.abc import Callable, Generator, Mapping, Sequence
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
_KEPT = 4  # fits that are remembered as due; a decision learns from one of them
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
        is_aside: Whether fits are made aside: until the newest is there, the one before is used.

    Attributes:
        observed: The neutral reward as the episodes show it: what a step of a loop brought, by the
            median over all loops, at the last look. A way back to the same state gains nothing.
    """

    def __init__(
        self,
        journal: Callable[[str], Outline],
        temperature: float,
        neutral: float = 0.0,
        *,
        is_aside: bool = False,
    ) -> None:
        self._journal, self._temperature, self._neutral = journal, temperature, neutral
        self._is_aside = is_aside
        self._loops, self._look_at, self.observed = array("d"), 1, 0.0
        self._best: dict[str, Path] = {}
        self._failures: dict[str, int] = {}
        self._idle: dict[str, dict[str, str]] = {}
        self._after: dict[tuple[str, str], tuple[str, int]] = {}
        self._offered: dict[str, dict[str, int]] = {}
        self._new = 0
        self._due: dict[int, tuple[_Best, ...]] = {}  # version → what its fit is to be made of
        self._is_old_gone = False
        self._made: dict[int, Fit | None] = {}  # those of ``_due`` that were made
        self._making: tuple[int, Generator[None, None, Fit | None]] | None = None
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
            made_of = (_Best(task, path, dict(idle.get(task, {}))) for task, path in best)
            self._fall_due(rows[-1].version, tuple(made_of))

    def failures(self, task: str) -> int:
        """Failed attempts at a task that was not solved yet."""
        return 0 if task in self._best else self._failures.get(task, 0)

    @property
    def is_due(self) -> bool:
        """Whether the next call of ``fit`` makes one, or what is left of it."""
        version = self._at(0)
        return version is not None and version not in self._made

    def fit(self, as_of: int = 0) -> Fit | None:
        """What was learned; ``None`` as long as too few tasks can teach.

        Args:
            as_of: Of the fits that were due up to this version of the memory, the last one. 0: of
                all, or the last one made where fits are made aside.
        """
        version = self._at(as_of)
        if version is None:
            return None
        while version not in self._made:
            self._go_on(version)
        return self._made[version]

    def fit_on(self) -> bool:
        """Do the next piece of a fit that is due, some milliseconds; whether there is more."""
        newest = next(reversed(self._due), None)
        if newest is None or newest in self._made:
            return False
        self._go_on(newest if self._making is None else self._making[0])
        return newest not in self._made

    def teach(
        self, here: Situation, declared: str, task: str, as_of: int = 0
    ) -> tuple[Lesson | None, dict[str, float]]:
        """How far to follow what was learned, and what it adds to each action, nats.

        Args:
            declared: The kind of features that the codec declares.
            task: Whose step it is; its own path is not what makes its goal look familiar.
            as_of: As for ``fit``.
        """
        version = self._at(as_of)
        fit = self.fit(as_of)
        if fit is None or version is None:
            return None, {}
        likeness, strength = fit.followed(here.goal, task)
        trust = transfer.trust(self.failures(task))
        of = 0 if version == next(reversed(self._due)) else version
        lesson = Lesson(strength, trust, likeness, len(fit.goals), of)
        if not strength:
            return lesson, {}
        found = fit.features(here, declared)
        return lesson, {
            action: strength * trust * fit.score(f)
            for action, f in zip(here.actions, found, strict=True)
        }

    def _fall_due(self, version: int, made_of: tuple[_Best, ...]) -> None:
        """A fit is to be made; those of long ago are forgotten."""
        self._due.pop(version, None)
        self._due[version] = made_of
        gone = [version, *list(self._due)[:-_KEPT]]
        for old in gone:
            self._made.pop(old, None)
            if self._making is not None and self._making[0] == old:
                self._making = None
        for old in gone[1:]:
            del self._due[old]
            self._is_old_gone = True

    def _at(self, as_of: int) -> int | None:
        """The version whose fit ``fit`` gives."""
        if as_of:
            known = [version for version in self._due if version <= as_of]
            oldest = next(iter(self._due), None) if self._is_old_gone else None
            return known[-1] if known else oldest
        if self._is_aside:
            for version in reversed(self._due):
                if self._made.get(version) is not None:
                    return version
        return next(reversed(self._due), None)

    def _go_on(self, version: int) -> None:
        """Do the next piece of a fit."""
        if self._making is None or self._making[0] != version:
            self._making = version, self._fitted(version, self._due[version])
        try:
            next(self._making[1])
        except StopIteration as end:
            self._made[version], self._making = end.value, None
        except BaseException:
            self._making = None  # it is still due
            raise

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

    def _fitted(self, version: int, best: Sequence[_Best]) -> Generator[None, None, Fit | None]:
        """Make a fit, in pieces."""
        before = self._outlines  # an episode that was committed stays as it is
        self._outlines = {
            key: before.get(key) or self._journal(key) for key in (b.path.episode for b in best)
        }
        known = [(b, self._outlines[b.path.episode]) for b in best]
        known = [(b, outline) for b, outline in known if _teaches(outline, b.path)]
        if len(known) < _FEWEST:
            return None
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
        [w] = yield from transfer.fitting(design, np.ones((1, len(design.task))))
        near, gains = yield from transfer.trials(design, transfer.likeness(goals, telling), w)
        weight = dict(zip(design.place, w.tolist(), strict=True))
        return replace(unfitted, weight=weight, near=near, gains=gains)


def _teaches(outline: Outline, path: Path) -> bool:
    """Whether any step of the path was chosen among candidates that are known."""
    steps = (outline.steps[i] for i in path.steps)
    return any(c.action == step.action for step in steps for c in step.candidates)
