"""Precedents: the steps of solved tasks as choices, read once and brought up to date for each fit.

What a fit looks at is a function of an episode that stays as it is, of how much the words of its
goal tell now, and of what is known now of the pages behind its actions. The last two are written
into what was read before; nothing is computed anew that did not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jitrl.core import transfer
from jitrl.core.features import (
    Kind,
    SiteMap,
    Situation,
    assembled,
    beyond,
    heard,
    parts,
)
from jitrl.core.readings import asked, collected, readings
from jitrl.core.transfer import Block, Choice
from jitrl.memory.paths import Path
from jitrl.ports import Asked, Outline

Known = tuple[tuple[tuple[float, float], ...], ...]
"""What lies one and two pages behind each action, of each step."""


class Step(NamedTuple):
    """A step of a precedent.

    Attributes:
        z: The frozen model's log-probabilities, shape [A].
        chosen: Place of what was done.
    """

    kind: Kind
    here: Situation
    z: np.ndarray
    chosen: int


class Precedent:
    """How one task was solved.

    Args:
        told: Actions of the task that change nothing, and what they told.
        temperature: What the frozen model's logits are divided by.
    """

    def __init__(
        self, outline: Outline, path: Path, told: Mapping[str, str], temperature: float
    ) -> None:
        self.outline, self.path, self.told = outline, path, told
        self.goal = goal_text(outline.info, outline.task)
        self.steps = _steps(outline, path, told, temperature)
        self._heard: tuple[tuple[str, float], ...] = ()
        self._beyond: Known = ()
        self._block: Block | None = None
        self._spoken = np.zeros(0, np.intp)
        self._token = np.zeros(0, np.intp)

    def choices(self, site: SiteMap, telling: Callable[[str], float]) -> list[Choice]:
        """Its steps as choices.

        Args:
            telling: How much a word of a goal tells, in [0, 1].
        """
        tokens = heard(self.goal, telling)
        return [
            self._choice(step, tokens, beyond(step.kind, step.here, site)) for step in self.steps
        ]

    def block(self, site: SiteMap, telling: Callable[[str], float]) -> Block:
        """The same as columns; what did not change since the last call is not made again."""
        tokens = tuple(heard(self.goal, telling))
        known = tuple(tuple(beyond(step.kind, step.here, site)) for step in self.steps)
        block = self._block
        if block is None or known != self._beyond or not _same_words(tokens, self._heard):
            made = [
                self._choice(step, tokens, of) for step, of in zip(self.steps, known, strict=True)
            ]
            block = Block(made)
            place = {token: i for i, (token, _) in enumerate(tokens)}
            token = [place[name[1]] if name[0] == "goal" else -1 for name in block.names]
            at = np.array(token, np.intp)[block.columns]
            self._spoken = np.flatnonzero(at >= 0)
            self._token = at[self._spoken]
        elif tokens != self._heard:
            weights = np.array([weight for _, weight in tokens])
            values = block.values.copy()
            values[self._spoken] = weights[self._token]
            block = block.valued(values)
        self._heard, self._beyond, self._block = tokens, known, block
        return block

    @staticmethod
    def _choice(
        step: Step, tokens: Sequence[tuple[str, float]], known: Sequence[tuple[float, float]]
    ) -> Choice:
        return Choice(step.z, step.chosen, assembled(step.kind, step.here, tokens, known))


def _same_words(one: Sequence[tuple[str, float]], other: Sequence[tuple[str, float]]) -> bool:
    return [token for token, _ in one] == [token for token, _ in other]


def goal_text(info: Mapping[str, object], task: str) -> str:
    """The goal of a journaled episode: what was noted of it, else its task."""
    return str(info.get("goal") or task)


def kind_of(declared: object, place: str) -> Kind:
    """The kind of features that a codec declared; without one, pages are what has a place."""
    if declared == "page" or declared == "words":
        return declared
    return "page" if place else "words"


def _steps(
    outline: Outline, path: Path, told: Mapping[str, str], temperature: float
) -> tuple[Step, ...]:
    """The choices of an episode on its path, as if it had taken no other steps.

    What was read of its task, and the path has a use for, is read where that is first offered.
    """
    found, taken, read = list[Step](), list[str](), list[str]()
    goal, declared = goal_text(outline.info, outline.task), outline.info.get("features")
    own = dict(readings(outline.info, len(outline.steps)))
    unread = _useful(told, [outline.steps[i] for i in path.steps])
    for i in path.steps:
        step = outline.steps[i]
        candidates = sorted(step.candidates, key=lambda c: c.source == "memory")
        actions = [c.action for c in candidates]
        z = np.array([c.logit for c in candidates]) / temperature
        for action in (*(a for a in unread if a in actions), step.action):
            if action in actions:
                here = Situation(
                    goal,
                    step.state,
                    taken[-1] if taken else "",
                    actions,
                    frozenset(taken),
                    sum(c.source == "memory" for c in candidates),
                    collected(read),
                )
                kind = kind_of(declared, step.state.place)
                found.append(Step(kind, here, transfer.log_softmax(z), actions.index(action)))
            text = unread.pop(action, None) or (own.get(i) if action == step.action else None)
            if text:
                read.append(text)
            taken.append(action)
    return tuple(found)


def _useful(told: Mapping[str, str], path: Sequence[Asked]) -> dict[str, str]:
    """The readings that tell an action of the path from others, but those that the path read."""
    did = {step.action for step in path}
    return {
        action: text
        for action, text in told.items()
        if action not in did and any(_tells_apart(text, step) for step in path)
    }


def _tells_apart(text: str, step: Asked) -> bool:
    """Whether a reading says of an action what it does not say of another of the same verb.

    The refusal "the door is closed" says the same of all doors.
    """
    chosen = parts(step.action)
    said = {
        asked(text, found.labels[0])
        for c in step.candidates
        if (found := parts(c.action)).labels and found.verb == chosen.verb
    }
    return len(said) > 1 and any(asked(text, label) for label in chosen.labels[:1])
