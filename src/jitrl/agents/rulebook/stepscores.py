"""Scores of single steps: those that the evaluator gave, or a model's that is asked."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from jitrl.agents.past import PastEpisode
from jitrl.agents.rulebook.asking import questions
from jitrl.agents.rulebook.contrasts import Compared
from jitrl.agents.words import steps, words
from jitrl.errors import UnreadableAnswer
from jitrl.language import counted
from jitrl.ports import Writer
from jitrl.types import Writing

_log = logging.getLogger(__name__)
SURE = 3
"""Largest score of a step that a model gives."""
_SHOWN = 6000  # characters of an attempt


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    scores: list[int]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of the steps of a contrast.

    Attributes:
        good: Of the best attempt, one a step.
        bad: Of bad attempts, by their number; those that could not be scored are not there.
    """

    good: Sequence[float]
    bad: Mapping[int, Sequence[float]]


@dataclass(frozen=True, slots=True)
class StepScores:
    """Where scores of steps come from.

    Attributes:
        writer: The model that gives them; ``None``: the rewards that the evaluator gave.
        budget: Attempts of one contrast that the model is shown at most.
    """

    writer: Writer | None
    budget: int

    def of(self, contrast: Compared, wanted: Sequence[int]) -> Scores | None:
        """The scores; ``None`` where there are none.

        Args:
            wanted: Bad attempts, by their number, the most telling first.

        Raises:
            BudgetExceeded, ModelError: If the model could not be asked.
        """
        good = contrast.good[0]
        if self.writer is None:
            attempts = [good, *(contrast.bad[n] for n in wanted)]
            if not any(row.reward for attempt in attempts for row in attempt.rows[:-1]):
                _log.warning(
                    "steps of task=%s have no scores beside the last: take an evaluator that "
                    'scores steps, such as judge, or author = "model", or credit = "contrast"',
                    good.task,
                )
                return None
            return Scores(_rewards(good), {n: _rewards(contrast.bad[n]) for n in wanted})
        best = self._asked(self.writer, contrast.goal, good) if self.budget > 1 else None
        if best is None:
            return None
        asked = {
            n: self._asked(self.writer, contrast.goal, contrast.bad[n])
            for n in wanted[: self.budget - 1]
        }
        found = {n: scores for n, scores in asked.items() if scores is not None}
        return Scores(best, found) if found else None

    def _asked(self, writer: Writer, goal: str, attempt: PastEpisode) -> list[float] | None:
        """What the model says of each step, from -1 to 1; ``None`` if it could not be read."""
        ask, n = questions(goal), len(attempt.rows)
        score = {"type": "integer", "minimum": -SURE, "maximum": SURE}
        schema = {
            "type": "object",
            "properties": {
                "scores": {"type": "array", "items": score, "minItems": n, "maxItems": n}
            },
            "required": ["scores"],
            "additionalProperties": False,
        }
        text = ask.score.format(goal=goal, score=attempt.score, steps=shown(attempt, goal), n=n)
        try:
            return writer.write(
                Writing(ask.coach, text, json.dumps(schema)), lambda answer: _read(answer, n)
            )
        except UnreadableAnswer as error:
            _log.warning("steps of %s were not scored by=%s: %s", attempt.key, writer.name, error)
            return None


def shown(attempt: PastEpisode, goal: str) -> str:
    """The steps of an attempt as a model is shown them, each cut to its share of the room."""
    return steps(attempt.rows, words(goal), max(20, _SHOWN // len(attempt.rows)))


def _rewards(attempt: PastEpisode) -> list[float]:
    return [row.reward for row in attempt.rows]


def _read(answer: str, n: int) -> list[float]:
    """The scores of an answer as shares of the largest.

    Raises:
        ValueError: If it has another form, not one score a step, or one beyond the scale.
    """
    scores = msgspec.json.decode(answer, type=_Answer).scores
    if len(scores) != n:
        raise ValueError(f"it has {counted(len(scores), 'score')} for {counted(n, 'step')}")
    if any(abs(score) > SURE for score in scores):
        raise ValueError(f"a score is beyond {SURE}")
    return [score / SURE for score in scores]
