"""Scorers that read log-probabilities: the full sequence of each action, or option letters.

A scorer turns a step into logits, in nats up to a constant. Its probe asks a small question before
the first episode and refuses a provider whose log-probabilities are missing or made up.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from jitrl.errors import InputError, LogprobsUnavailable
from jitrl.models.calls import Answer, Continue, Rate, Rejected, Request, Unusable, Write
from jitrl.models.channel import Channel
from jitrl.models.prompts import LETTERS, Style
from jitrl.types import Prompt

ScorerName = Literal["sequence", "letters", "verbalized", "sampling", "single"]
Length = Literal["sum", "mean"]

PROBE = Prompt(
    goal="Read the customer reviews.",
    observation="A menu with two links.",
    actions=("click(<link[Reviews]>)", "click(<link[Invoices]>)"),
)

_LOWEST = -9000.0  # some providers write -9999 for "unknown"
_ROUNDING = 1e-3  # a certain token may come out a little above 0
_TOP = 20  # as many alternatives as chat providers report


@dataclass(frozen=True, slots=True)
class Scores:
    """Logits of a step by action, and the calls they took (0 from a cache)."""

    logits: Mapping[str, float]
    calls: int


class Scorer(Protocol):
    """Makes z."""

    @property
    def name(self) -> str:
        """As it is recorded."""
        ...

    @property
    def reads_logprobs(self) -> bool:
        """Whether its logits can be calibrated by a content-free goal."""
        ...

    def score(self, channel: Channel, prompt: Prompt) -> Scores:
        """Logits for the actions of ``prompt``, or for actions that the model proposes.

        Raises:
            LogprobsUnavailable: If the scorer needs log-probabilities and there are none.
            InputError: If this scorer cannot score such a step.
            ModelError: If the provider failed.
        """
        ...

    def probe(self, channel: Channel) -> None:
        """Ask a small question.

        Raises:
            LogprobsUnavailable: If the provider gives no usable log-probabilities.
            Rejected: If the provider does not take this form of request.
            ModelError: If the provider failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class Sequence:
    """Log-probability of the whole text of each action as the next thing the model would say.

    Attributes:
        length: ``sum`` of the tokens' log-probabilities, or their ``mean``, which does not favor
            short actions.
    """

    style: Style
    length: Length = "sum"
    name: str = "sequence"
    reads_logprobs: bool = True

    def score(self, channel: Channel, prompt: Prompt) -> Scores:
        """As :meth:`Scorer.score`; one request for all actions."""
        actions = offered(prompt, self.name)
        request = Continue(
            self.style.messages(prompt),
            self.style.template(prompt).action_lead,
            tuple(f" {action}" for action in actions),
        )
        asked = channel.ask(request, lambda answer: _token_scores(answer, channel), self.name)
        reduce = np.mean if self.length == "mean" else np.sum
        logits = (float(reduce(tokens)) for tokens in asked.value)
        return Scores(dict(zip(actions, logits, strict=True)), asked.calls)

    def probe(self, channel: Channel) -> None:
        """As :meth:`Scorer.probe`; a server that ignores ``echo`` sends no scores."""
        _probe_logprobs(self, channel)


@dataclass(frozen=True, slots=True)
class Letters:
    """Probability of the letter of each action in a list, averaged over orders of the list.

    Orders are rotations, evenly spaced, so that each action stands in several places (in all, if
    ``permutations`` is at least their number), and the same step is always asked the same way.

    Attributes:
        permutations: How many orders are asked, one call each.
        exact: Whether the endpoint scores continuations; else the letters are looked up among the
            alternatives of the first token, and one that is missing there counts as the lowest.
    """

    style: Style
    permutations: int = 4
    exact: bool = False
    name: str = "letters"
    reads_logprobs: bool = True

    def score(self, channel: Channel, prompt: Prompt) -> Scores:
        """As :meth:`Scorer.score`."""
        actions = offered(prompt, self.name)
        most = len(LETTERS) if self.exact else _TOP
        if len(actions) > most:
            raise InputError(
                f"scorer 'letters' tells at most {most} actions apart, this step has "
                f"{len(actions)}; use sequence, verbalized or sampling"
            )
        count = len(actions)
        rounds = min(self.permutations, count)
        totals, calls = np.zeros(count), 0
        for turn in range(rounds):
            order = rotation(count, turn * count // rounds)
            asked = channel.ask(
                self._request(prompt, [actions[i] for i in order]),
                lambda answer: self._letters(answer, channel, count),
                self.name,
            )
            totals[order] += asked.value - _log_sum(asked.value)
            calls += asked.calls
        means = (float(total) / rounds for total in totals)
        return Scores(dict(zip(actions, means, strict=True)), calls)

    def probe(self, channel: Channel) -> None:
        """As :meth:`Scorer.probe`."""
        _probe_logprobs(self, channel)

    def _request(self, prompt: Prompt, listed: list[str]) -> Request:
        words = self.style.template(prompt)
        labels = LETTERS[: len(listed)]
        messages = self.style.messages(prompt, question=words.letter, options=listed, labels=labels)
        if self.exact:
            return Continue(messages, words.letter_lead, tuple(f" {label}" for label in labels))
        # temperature 1: some providers report probabilities after it was applied
        return Write(messages, max_tokens=1, temperature=1.0, top_logprobs=_TOP)

    def _letters(self, answer: Answer, channel: Channel, count: int) -> np.ndarray:
        if self.exact:
            return np.array([sum(tokens) for tokens in _token_scores(answer, channel)])
        if answer.alternatives is None:
            raise LogprobsUnavailable(f"{channel.model} sent no log-probabilities (null)")
        lowest = min(_known([value for _, value in answer.alternatives], channel))
        found: dict[str, list[float]] = {}
        for token, value in answer.alternatives:
            if value >= lowest:
                found.setdefault(token.strip().strip("().*"), []).append(value)
        labels = LETTERS[:count]
        if not any(label in found for label in labels):
            said = [token for token, _ in answer.alternatives[:5]]
            raise Unusable(f"none of {labels} is among the alternatives: {said}")
        return np.array([_log_sum(np.array(found.get(label, [lowest]))) for label in labels])


@dataclass(frozen=True, slots=True)
class Given:
    """Logits that a plain function gives: nothing is asked in words."""

    name: str
    reads_logprobs: bool = False

    def score(self, channel: Channel, prompt: Prompt) -> Scores:
        """As :meth:`Scorer.score`."""
        asked = channel.ask(Rate(prompt), lambda answer: answer.logits, self.name)
        return Scores(asked.value, asked.calls)

    def probe(self, channel: Channel) -> None:
        """A function is not asked before it is needed."""


def offered(prompt: Prompt, scorer: str) -> tuple[str, ...]:
    """The actions of a step that a scorer is to score.

    Raises:
        InputError: If there are none, or one is empty or there twice.
    """
    if not prompt.actions:
        raise InputError(
            f"scorer {scorer!r} scores given actions and the step has none; let the model propose "
            "with verbalized, sampling or single"
        )
    check_actions(prompt)
    return prompt.actions


def check_actions(prompt: Prompt) -> None:
    """Refuse a step with an action that is empty or there twice.

    Raises:
        InputError: Naming the action.
    """
    seen: set[str] = set()
    for action in prompt.actions:
        if not action.strip():
            raise InputError("an action is empty text; leave it out")
        if action in seen:
            raise InputError(f"action {action!r} is there twice; actions of a step are distinct")
        seen.add(action)


def rotation(count: int, first: int) -> list[int]:
    """0 … count - 1, beginning at ``first`` and wrapping around."""
    return [(first + i) % count for i in range(count)]


def _probe_logprobs(scorer: Scorer, channel: Channel) -> None:
    try:
        scorer.score(channel, PROBE)
    except Rejected as error:
        raise LogprobsUnavailable(
            f"{channel.model} does not take the request of scorer {scorer.name!r}: {error}"
        ) from error


def _token_scores(answer: Answer, channel: Channel) -> tuple[tuple[float, ...], ...]:
    if answer.scores is None:
        raise LogprobsUnavailable(
            f"{channel.model} does not score given text: it ignored `echo`, or sent no "
            "log-probabilities of the prompt"
        )
    values = [value for tokens in answer.scores for value in tokens]
    if len(_known(values, channel)) < len(values):
        raise LogprobsUnavailable(f"{channel.model} left out log-probabilities (-9999)")
    return answer.scores


def _known(values: Collection[float], channel: Channel) -> list[float]:
    """The log-probabilities that are not marked as unknown.

    Raises:
        LogprobsUnavailable: If there are none, or they tell nothing apart.
    """
    known = [value for value in values if value > _LOWEST]
    if any(not math.isfinite(value) or value > _ROUNDING for value in known):
        raise LogprobsUnavailable(f"{channel.model} sent impossible log-probabilities: {known}")
    if not known or (len(values) > 1 and len(set(known)) == 1):
        what = f"all {known[0]}" if known else "all -9999, or none"
        raise LogprobsUnavailable(
            f"{channel.model} sent log-probabilities that tell nothing apart: {what}"
        )
    return known


def _log_sum(values: np.ndarray) -> float:
    return float(np.logaddexp.reduce(values))
