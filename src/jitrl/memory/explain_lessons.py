"""What other tasks taught a decision: which features told its choice apart, and whose paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jitrl.core.features import Feature, Situation
from jitrl.memory.lessons import Fit
from jitrl.ports import Outline
from jitrl.types import Decision, Weighed


@dataclass(frozen=True, slots=True)
class Moved:
    """A feature by which what was learned tells two actions apart.

    Attributes:
        feature: Its name in parts, as ``core.features`` gives them.
        weight: w, nats for a value of 1, before strength and trust.
        value, other: Its values, of the choice and of the action it is compared with.
        nats: What it adds to the choice and not to the other one.
        took: Episodes whose path took an action with it.
        left: Episodes whose path came by an action with it, and took others.
    """

    feature: Feature
    weight: float
    value: float
    other: float
    nats: float
    took: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taught:
    """What other tasks taught about a choice.

    Attributes:
        action: What the memory chose.
        against: The frozen model's own choice; the next best action where these are the same.
        nats: What was added to the one and not to the other.
        moved: What that is the sum of, the largest first.
    """

    action: str
    against: str
    nats: float
    moved: tuple[Moved, ...]

    def shares(self) -> dict[str, float]:
        """Episode → its share in what moved the choice, up to 1; of a feature all count alike."""
        whole = sum(abs(m.nats) for m in self.moved)
        found: dict[str, float] = {}
        for m in self.moved:
            teachers = (*m.took, *m.left)
            for key in teachers:
                found[key] = found.get(key, 0.0) + abs(m.nats) / whole / len(teachers)
        return found


def taught(
    decision: Decision,
    fit: Fit,
    here: Situation,
    declared: object,
    share: float,
    journal: Callable[[str], Outline],
) -> Taught | None:
    """What the lesson of a decision consists of; ``None`` where nothing was followed.

    Args:
        here: The step, with all candidates.
        declared: The kind of features that the codec declares.
        share: Of what was learned that the rule follows.
        journal: Gives the outline of the episode of a key.
    """
    lesson = decision.lesson
    if lesson is None or not lesson.strength or len(decision.candidates) < 2:
        return None
    mine, other = decision.chosen, _rival(decision)
    found = dict(zip(here.actions, fit.features(here, declared), strict=True))
    one, two = found[mine.action], found[other.action]
    followed = share * lesson.strength * lesson.trust
    differing = [
        (name, weight)
        for name in dict.fromkeys((*one, *two))
        if one.get(name, 0.0) != two.get(name, 0.0) and (weight := fit.weight.get(name, 0.0))
    ]
    took, left = _teachers(fit, [name for name, _ in differing], journal)
    moved = [
        Moved(
            name,
            weight,
            one.get(name, 0.0),
            two.get(name, 0.0),
            followed * weight * (one.get(name, 0.0) - two.get(name, 0.0)),
            tuple(took[name]),
            tuple(key for key in left[name] if key not in took[name]),
        )
        for name, weight in differing
    ]
    moved.sort(key=lambda m: -abs(m.nats))
    return Taught(mine.action, other.action, mine.transfer - other.transfer, tuple(moved))


def _rival(decision: Decision) -> Weighed:
    """The model's own choice, or the best action but the chosen one where that is the same."""
    own = decision.unaided
    if own == decision.action:
        others = [c for c in decision.candidates if c.action != own]
        return max(others, key=lambda c: c.corrected)
    return next(c for c in decision.candidates if c.action == own)


def _teachers(
    fit: Fit, names: Sequence[Feature], journal: Callable[[str], Outline]
) -> tuple[dict[Feature, dict[str, None]], dict[Feature, dict[str, None]]]:
    """Feature → episodes that took an action with it, and those that came by one."""
    took: dict[Feature, dict[str, None]] = {name: {} for name in names}
    left: dict[Feature, dict[str, None]] = {name: {} for name in names}
    for path in fit.paths:
        for choice in fit.choices(journal(path.episode), path):
            for place, found in enumerate(choice.features):
                for name in took.keys() & found.keys():
                    (took if place == choice.chosen else left)[name][path.episode] = None
    return took, left
