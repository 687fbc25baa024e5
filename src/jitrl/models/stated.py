"""Scorers that read what the model says: stated confidences, samples, or a single choice."""

from __future__ import annotations

import json
import logging
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jitrl.models.calls import Answer, Unusable, Write
from jitrl.models.channel import Channel
from jitrl.models.prompts import Style
from jitrl.models.scorers import PROBE, Scores, check_actions, rotation
from jitrl.types import Prompt

_log = logging.getLogger(__name__)
_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Verbalized:
    """Confidences from 0 to 100 that the model states: ``z = logit(clip(c / 100, .02, .98))``.

    The confidences need not sum to 100 (Li et al., arXiv:2601.18510, give no formula for z; this
    one is ours).

    Attributes:
        json_schema: Whether the provider is given a strict JSON schema.
        proposals: Most actions the model may propose where none are given.
    """

    style: Style
    json_schema: bool = True
    proposals: int = 5
    max_tokens: int = 1024
    name: str = "verbalized"
    reads_logprobs: bool = False

    def score(self, channel: Channel, prompt: Prompt) -> Scores:
        """As :meth:`~jitrl.models.scorers.Scorer.score`; one call."""
        check_actions(prompt)
        words = self.style.template(prompt)
        labels = _numbers(len(prompt.actions))
        if prompt.actions:
            question = words.confidences
            schema = _schema({label: {"type": "number"} for label in labels})
        else:
            question = words.any_actions.format(count=self.proposals)
            one = _schema({"action": {"type": "string"}, "confidence": {"type": "number"}})
            schema = _schema({"actions": {"type": "array", "items": one}})
        request = Write(
            self.style.messages(prompt, question=question, options=prompt.actions, labels=labels),
            max_tokens=self.max_tokens,
            schema=json.dumps(schema) if self.json_schema else "",
        )
        asked = channel.ask(request, lambda answer: self._read(answer, prompt.actions), self.name)
        logits = {action: logit_of(stated) for action, stated in asked.value.items()}
        return Scores(logits, asked.calls)

    def probe(self, channel: Channel) -> None:
        """As :meth:`~jitrl.models.scorers.Scorer.probe`."""
        self.score(channel, PROBE)

    def _read(self, answer: Answer, actions: tuple[str, ...]) -> dict[str, float]:
        found = _json(answer.text)
        if actions:
            labels = _numbers(len(actions))
            if set(found) != set(labels):
                raise Unusable(f"confidences for {sorted(found)}, wanted 1 to {len(actions)}")
            stated = [_confidence(found[label]) for label in labels]
            return dict(zip(actions, stated, strict=True))
        listed = found.get("actions")
        if not isinstance(listed, list) or not listed:
            raise Unusable(f"no list of actions in {answer.text[:_SHOWN]!r}")
        proposed: dict[str, float] = {}
        for item in listed[: self.proposals]:
            if not isinstance(item, Mapping) or not isinstance(item.get("action"), str):
                raise Unusable(f"not an action with its confidence: {item!r}")
            action = _line(item["action"])
            value = _confidence(item.get("confidence"))
            proposed[action] = max(value, proposed.get(action, 0.0))
        return proposed


@dataclass(frozen=True, slots=True)
class Sampling:
    """How often the model chooses each action in ``samples`` draws, with Dirichlet smoothing.

    ``z(a) = log((n(a) + smoothing) / (n + smoothing A))``. Given actions are listed in another
    rotation at each draw, so that a habit of naming the first one favors none of them.

    Attributes:
        smoothing: Concentration of the symmetric Dirichlet prior, in draws per action.
        temperature: Of the provider's sampling.
    """

    style: Style
    samples: int = 8
    temperature: float = 0.8
    smoothing: float = 0.5
    json_schema: bool = True
    max_tokens: int = 64
    name: str = "sampling"
    reads_logprobs: bool = False

    def score(self, channel: Channel, prompt: Prompt) -> Scores:
        """As :meth:`~jitrl.models.scorers.Scorer.score`; one call a sample."""
        drawn: Counter[str] = Counter()
        calls = 0
        for draw in range(self.samples):
            chosen = _choose(self, channel, prompt, draw)
            drawn[chosen.action] += 1
            calls += chosen.calls
        actions = prompt.actions or tuple(drawn)
        total = self.samples + self.smoothing * len(actions)
        return Scores({a: math.log((drawn[a] + self.smoothing) / total) for a in actions}, calls)

    def probe(self, channel: Channel) -> None:
        """As :meth:`~jitrl.models.scorers.Scorer.probe`."""
        if self.temperature == 0 and self.samples > 1:
            _log.warning(
                "scorer sampling: all samples will be identical at sample_temperature 0; "
                "set samples = 1 or a higher temperature"
            )
        _choose(self, channel, PROBE, 0)


@dataclass(frozen=True, slots=True)
class Single:
    """The model's own choice gets probability ``p0``, the other actions share the rest."""

    style: Style
    p0: float = 0.8
    json_schema: bool = True
    temperature: float = 0.0
    max_tokens: int = 64
    name: str = "single"
    reads_logprobs: bool = False

    def score(self, channel: Channel, prompt: Prompt) -> Scores:
        """As :meth:`~jitrl.models.scorers.Scorer.score`; one call."""
        chosen = _choose(self, channel, prompt, 0)
        actions = prompt.actions or (chosen.action,)
        rest = math.log((1 - self.p0) / max(len(actions) - 1, 1))
        logits = {a: math.log(self.p0) if a == chosen.action else rest for a in actions}
        return Scores(logits, chosen.calls)

    def probe(self, channel: Channel) -> None:
        """As :meth:`~jitrl.models.scorers.Scorer.probe`."""
        _choose(self, channel, PROBE, 0)


@dataclass(frozen=True, slots=True)
class _Chosen:
    action: str
    calls: int


def _choose(scorer: Sampling | Single, channel: Channel, prompt: Prompt, draw: int) -> _Chosen:
    """One choice of the model: a number in the list of actions, or an action of its own."""
    check_actions(prompt)
    count = len(prompt.actions)
    words = scorer.style.template(prompt)
    listed = [prompt.actions[i] for i in rotation(count, draw)] if count else []
    if count:
        schema = _schema({"number": {"type": "integer", "enum": [*range(1, count + 1)]}})
    else:
        schema = _schema({"action": {"type": "string"}})
    request = Write(
        scorer.style.messages(
            prompt,
            question=words.number if count else words.any_action,
            options=listed,
            labels=_numbers(count),
        ),
        max_tokens=scorer.max_tokens,
        temperature=scorer.temperature,
        schema=json.dumps(schema) if scorer.json_schema else "",
        draw=draw,
    )
    asked = channel.ask(request, lambda answer: _choice(answer.text, listed), scorer.name)
    return _Chosen(asked.value, asked.calls)


def _choice(text: str, listed: list[str]) -> str:
    found = _json(text)
    if not listed:
        if not isinstance(found.get("action"), str):
            raise Unusable(f"no action in {text[:_SHOWN]!r}")
        return _line(found["action"])
    number = found.get("number")
    if type(number) is not int or not 1 <= number <= len(listed):
        raise Unusable(f"no number from 1 to {len(listed)} in {text[:_SHOWN]!r}")
    return listed[number - 1]


def _line(text: str) -> str:
    line = text.strip()
    if not line or "\n" in line:
        raise Unusable(f"not an action on one line: {text[:_SHOWN]!r}")
    return line


def _json(text: str) -> dict[str, Any]:
    """The JSON object that an answer is: bare, fenced, or after a block of thinking."""
    said = _THINKING.sub("", text).strip()
    fenced = _FENCED.match(said)
    try:
        found = json.loads(fenced[1] if fenced else said)
    except (ValueError, RecursionError) as error:
        raise Unusable(f"not JSON: {text[:_SHOWN]!r}") from error
    if not isinstance(found, dict):
        raise Unusable(f"not a JSON object: {text[:_SHOWN]!r}")
    return found


def _confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise Unusable(f"a confidence is a number from 0 to 100, got {value!r}")
    return float(value)


def logit_of(confidence: float) -> float:
    p = min(max(confidence / 100, 0.02), 0.98)
    return math.log(p / (1 - p))


def _numbers(count: int) -> list[str]:
    return [str(i + 1) for i in range(count)]


def _schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
