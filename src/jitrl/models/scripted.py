"""Model ``scripted``: a made-up prior and made-up answers, offline, the same every time."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from jitrl.errors import ConfigError
from jitrl.models.callable import FunctionEndpoint
from jitrl.models.calls import Answer, Meter, Rate, Request, estimate
from jitrl.models.proposer import ScoringProposer, require
from jitrl.models.scorers import Given
from jitrl.types import Prompt


class Scripted(ScoringProposer):
    """A proposer with logits from a table and, if wanted, fixed noise.

    Args:
        logits: Logit of each action; others get ``default``.
        default: Logit of an action that ``logits`` does not name.
        noise: Standard deviation, in nats, of a normal deviate that is added: always the same for
            the same action under the same observation and goal.
        heeds: Nats for an action that the notes of the prompt name.
        seed: Another seed, another draw of the noise.
        temperature: Prior temperature: z is divided by it.
        cache, replay: File of answers to use, or to answer from alone.
        meter: Counts calls and holds the budget.
    """

    def __init__(
        self,
        logits: Mapping[str, float] | None = None,
        *,
        default: float = 0.0,
        noise: float = 0.0,
        heeds: float = 0.0,
        seed: int = 0,
        temperature: float = 1.0,
        cache: Path | None = None,
        replay: Path | None = None,
        meter: Meter | None = None,
    ) -> None:
        require(noise >= 0, f"noise must be at least 0, got {noise}")
        self._logits, self._default = dict(logits or {}), default
        self._noise, self._heeds, self._seed = noise, heeds, seed
        self._counter = _Counter()
        settings = repr((sorted(self._logits.items()), default, noise, seed, heeds))
        endpoint = FunctionEndpoint("scripted", self._rate)
        endpoint.identity = f"scripted {settings}"
        super().__init__(
            "scripted",
            endpoint,
            [Given("scripted")],
            temperature=temperature,
            cache=cache,
            replay=replay,
            meter=meter,
        )

    @property
    def calls(self) -> int:
        """How often it was asked (answers from a file do not count)."""
        return self._counter.count

    def _rate(self, prompt: Prompt) -> dict[str, float]:
        self._counter.add()
        rated = {action: self._logits.get(action, self._default) for action in prompt.actions}
        if self._noise:
            for action in rated:
                rated[action] += self._noise * _deviate(self._seed, prompt, action)
        if self._heeds and prompt.notes:
            for action in rated:
                rated[action] += self._heeds * (action in prompt.notes)
        return rated


class ScriptedEndpoint:
    """A provider that answers from a script; a stub for whatever asks a model in words.

    Args:
        script: Texts or answers, given out in turn and from the beginning again, or a function of
            the request. An exception in the list is raised when its turn comes.
        model: Its name in records.
    """

    local = True

    def __init__(
        self,
        script: Sequence[str | Answer | BaseException] | Callable[[Request], str | Answer],
        model: str = "scripted",
    ) -> None:
        if not callable(script) and not script:
            raise ConfigError("the script has no answer")
        self.model = self.identity = model
        self._script = script
        self._counter = _Counter()

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return self._counter.count

    def answer(self, request: Request, timeout: float) -> Answer:
        """The script's next answer; token counts that it leaves out are estimated."""
        turn = self._counter.add()
        if callable(self._script):
            given: str | Answer | BaseException = self._script(request)
        else:
            given = self._script[turn % len(self._script)]
        if isinstance(given, BaseException):
            raise given
        answer = Answer(text=given) if isinstance(given, str) else given
        if answer.tokens_in or isinstance(request, Rate):
            return answer
        written = len(answer.text.encode("utf-8", "replace")) // 3 + 1
        return replace(answer, tokens_in=estimate(request)[0], tokens_out=written)


class _Counter:
    """Counts from 0, safe for threads."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def add(self) -> int:
        """Count one; returns how many there were before."""
        with self._lock:
            self.count += 1
            return self.count - 1


def _deviate(seed: int, prompt: Prompt, action: str) -> float:
    """A standard normal number that depends on seed, observation, goal and action alone."""
    text = "\x1f".join((str(seed), prompt.observation, prompt.goal, action))
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return float(np.random.default_rng(int.from_bytes(digest[:16])).standard_normal())
