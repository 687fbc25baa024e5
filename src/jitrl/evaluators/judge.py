"""A language model as the judge: a score for every step of an episode, in one call."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from jitrl.errors import ConfigError, UnreadableAnswer
from jitrl.evaluators.gold import gold
from jitrl.evaluators.injection import speaks_to_the_judge
from jitrl.evaluators.judge_record import goal_of, pages_of, record
from jitrl.evaluators.judge_words import Words, words_for
from jitrl.ports import Writer
from jitrl.types import Episode, Judgment, Scored, Unscored, Writing

Mode = Literal["told", "blind"]
Grade = Literal["steps", "whole"]
Verdict = Literal["success", "failure", "cannot tell"]

CERTAIN = 3
"""Largest score of a step."""
WHOLE = 10
"""Largest score of a whole episode."""


@dataclass(frozen=True, slots=True)
class _Said:
    """One answer: scores of the steps, or of the whole, and the verdict if one was asked for."""

    scores: tuple[int, ...]
    verdict: Verdict | None = None


class Judge:
    """Has a model score every step of an episode: -3 to 3, where the size is its certainty.

    The model sees the goal, the page before each action and the one after the last. ``told`` shows
    it how the episode ended and adds that outcome to the last step; the judgment then rests on
    what the outcome rests on. ``blind`` does not, and asks for a verdict, which then is the
    outcome, with the basis ``llm_judge``; an episode whose verdict is "cannot tell" is not scored.

    ``r[t] = weight * score[t] / 3``; the last step's gets ``outcome`` times the outcome besides (1
    for success and 0 for failure when blind, the known number when told).

    An answer that cannot be read is asked for once more, then the episode is not scored, and the
    answers are in the journal. Texts on pages that speak to the judge are left out and named in the
    journal; steps beside them earn nothing above 0, and a success that such a last page shows is
    not believed.

    Args:
        mode: ``told`` the outcome, or ``blind``.
        grade: Score ``steps``, or the ``whole`` episode from 0 to 10 with one number, whose tenth
            is the last step's reward (blind only).
        weight: Reward of a step of score 3.
        outcome: Reward of a success at the last step; 0 leaves verdicts out.
        success: Least sum of rewards that is called a success when told.
        samples: Answers whose mean counts, and whose majority is the verdict.
        first: Number of the first sample; another one is another draw, in a file of answers, too.
        temperature: Of the answers; more than one sample needs one above 0.
        max_tokens: Most tokens of an answer.
        max_chars: Characters of all pages together; long episodes are cut in the middle.
        guard: Whether to look for texts that speak to the judge.
        seed: Goes into the number that marks the record.
        writer: Makes the model.

    Raises:
        ConfigError: If an option is impossible.
    """

    reads_pages = True
    asks_model = True

    def __init__(
        self,
        *,
        writer: Callable[[], Writer],
        mode: Mode = "blind",
        grade: Grade = "steps",
        weight: float = 0.1,
        outcome: float = 1.0,
        success: float = 1.0,
        samples: int = 1,
        first: int = 0,
        temperature: float = 0.0,
        max_tokens: int = 2048,
        max_chars: int = 60_000,
        guard: bool = True,
        seed: int = 0,
    ) -> None:
        if mode not in ("told", "blind") or grade not in ("steps", "whole"):
            raise ConfigError(
                f"mode is told or blind and grade steps or whole: {mode!r}, {grade!r}"
            )
        if mode == "told" and grade == "whole":
            raise ConfigError("a judge that is told the outcome has steps left to grade, no whole")
        if samples < 1 or max_tokens < 1 or max_chars < 1 or temperature < 0:
            raise ConfigError(
                "samples, max_tokens and max_chars must be at least 1 and temperature at least 0, "
                f"got {samples}, {max_tokens}, {max_chars} and {temperature}"
            )
        if samples > 1 and not temperature:
            warnings.warn(
                f"{samples} samples at temperature 0 will be identical; set temperature, or take 1",
                stacklevel=2,
            )
        self._writer = writer()
        self._grade, self._weight, self._outcome = grade, weight, outcome
        self._success, self._samples, self._temperature = success, samples, temperature
        self._max_tokens, self._max_chars = max_tokens, max_chars
        self._guard, self._seed, self._first = guard, seed, first
        self.told = mode == "told"
        kind = mode if grade == "steps" else "whole"
        self.name = f"judge-{kind}/{self._writer.name}"

    def judge(self, episode: Episode) -> Judgment:
        """Rewards per step; ``Unscored`` if the model's answers cannot be read or it cannot tell.

        Raises:
            ModelError: If the provider failed after all retries.
            BudgetExceeded: If a call would pass a limit.
        """
        if not episode.steps:
            return Unscored("the episode has no steps", self.name)
        if episode.status == "aborted":
            return Unscored("the episode was aborted", self.name)
        known = gold(episode) if self.told else None
        if self.told and known is None:
            return Unscored("no outcome yet", self.name)
        said: list[_Said] = []
        for sample in range(self._first, self._first + self._samples):
            try:
                said.append(self._ask(episode, known, sample))
            except UnreadableAnswer as error:
                info = {"answers": list(error.answers), "sample": sample}
                return Unscored("the judge's answer could not be read", self.name, info)
        return self._judged(episode, known, said)

    def _ask(self, episode: Episode, known: float | None, sample: int) -> _Said:
        words, n = words_for(goal_of(episode)), len(episode.steps)
        system, ask = self._instructions(words, n, known)
        shown = record(episode, words, seed=self._seed, budget=self._max_chars, guard=self._guard)
        writing = Writing(
            system,
            f"{shown}\n\n{ask}",
            schema(self._grade, n, verdict=not self.told),
            self._temperature,
            sample,
            self._max_tokens,
        )
        return self._writer.write(
            writing, lambda text: read(text, self._grade, n, verdict=not self.told)
        )

    def _instructions(self, words: Words, n: int, known: float | None) -> tuple[str, str]:
        """Who the judge is, and what is asked of it below the record."""
        if self._grade == "whole":
            return "\n\n".join((words.role, words.data, words.whole)), words.ask_whole.format()
        end = words.blind if known is None else words.told
        system = "\n\n".join((words.role, words.data, words.steps, end))
        if known is None:
            return system, words.ask_steps.format(n=n)
        outcome = words.success if known >= self._success else words.failure
        return system, words.ask_told.format(outcome=outcome, score=known, n=n)

    def _judged(self, episode: Episode, known: float | None, said: Sequence[_Said]) -> Judgment:
        suspect = _suspect(episode) if self._guard else ()
        info: dict[str, Any] = {"samples": [list(one.scores) for one in said]}
        if suspect:
            info["suspect"] = list(suspect)
        rewards = np.zeros(len(episode.steps))
        if self._grade == "whole":
            if suspect:
                return Unscored("a page speaks to the judge", self.name, info)
            rewards[-1] = float(np.mean([one.scores for one in said])) / WHOLE
            return Scored(tuple(rewards.tolist()), self.name, "llm_judge", False, info)
        scores = np.mean([one.scores for one in said], axis=0)
        touched = [t for t in range(len(rewards)) if t in suspect or t + 1 in suspect]
        scores[touched] = np.minimum(scores[touched], 0.0)
        rewards += self._weight * scores / CERTAIN
        if self.told:
            rewards[-1] += self._outcome * (known or 0.0)
            basis = episode.outcome.basis if episode.outcome else "state_check"
            return Scored(tuple(rewards.tolist()), self.name, basis, True, info)
        verdict = _majority([one.verdict for one in said])
        info["verdict"] = verdict
        if verdict == "success" and len(rewards) in suspect:
            return Unscored("the last page speaks to the judge", self.name, info)
        if self._outcome and verdict == "cannot tell":
            return Unscored("the judge cannot tell how it ended", self.name, info)
        rewards[-1] += self._outcome * (verdict == "success")
        return Scored(tuple(rewards.tolist()), self.name, "llm_judge", False, info)


def schema(grade: Grade, n: int, *, verdict: bool) -> str:
    """JSON schema of an answer on ``n`` steps."""
    properties: dict[str, Any]
    if grade == "whole":
        properties = {"score": {"type": "integer", "minimum": 0, "maximum": WHOLE}}
    else:
        score = {"type": "integer", "minimum": -CERTAIN, "maximum": CERTAIN}
        properties = {"scores": {"type": "array", "items": score, "minItems": n, "maxItems": n}}
        if verdict:
            properties["verdict"] = {
                "type": "string",
                "enum": ["success", "failure", "cannot tell"],
            }
    return json.dumps(
        {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    )


def read(text: str, grade: Grade, n: int, *, verdict: bool) -> _Said:
    """What an answer says. Thinking aloud may come before the JSON, nothing may come after it.

    Raises:
        ValueError: If it is not one JSON object with just the fields that were asked for, a score
            is no whole number of the scale, or there is not one a step.
    """
    found = json.loads(_answer(text), object_pairs_hook=_once)
    wanted = {"score"} if grade == "whole" else {"scores"} | ({"verdict"} if verdict else set())
    if not isinstance(found, dict) or found.keys() != wanted:
        raise ValueError(f"it is no JSON object with just {' and '.join(sorted(wanted))}")
    low, high = (0, WHOLE) if grade == "whole" else (-CERTAIN, CERTAIN)
    scores = [found["score"]] if grade == "whole" else found["scores"]
    if not isinstance(scores, list) or len(scores) != (1 if grade == "whole" else n):
        raise ValueError(f"it has not one score for each of {n} steps")
    for score in scores:
        if type(score) is not int or not low <= score <= high:  # True is an int, too
            raise ValueError(f"score {score!r} is no whole number from {low} to {high}")
    said = found.get("verdict")
    if "verdict" in wanted and said not in ("success", "failure", "cannot tell"):
        raise ValueError(f"verdict is {said!r}, not success, failure or cannot tell")
    return _Said(tuple(scores), said)


def _answer(text: str) -> str:
    """The part after any thinking, without the fence of a code block."""
    answer = text.rpartition("</think>")[2].strip()  # some servers swallow the opening tag
    if answer.startswith("```") and answer.endswith("```") and "\n" in answer:
        answer = answer.partition("\n")[2][:-3]
    return answer


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field occurs twice")
    return found


def _suspect(episode: Episode) -> tuple[int, ...]:
    """Places of the pages, shape [T + 1], that speak to the judge, or whose action does."""
    actions = [*(step.action for step in episode.steps), ""]
    return tuple(
        t
        for t, (page, action) in enumerate(zip(pages_of(episode), actions, strict=True))
        if speaks_to_the_judge(page) or speaks_to_the_judge(action)
    )


def _majority(verdicts: Sequence[Verdict | None]) -> Verdict:
    """What more than half say."""
    ((verdict, times),) = Counter(verdicts).most_common(1)
    return verdict if verdict is not None and 2 * times > len(verdicts) else "cannot tell"
