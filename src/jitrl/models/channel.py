"""The one way to a model: stored answers, budget, retries and a second try for nonsense."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from jitrl.errors import ModelError
from jitrl.language import counted
from jitrl.models import calls
from jitrl.models.cache import AnswerFile

_log = logging.getLogger(__name__)
_SHOWN = 400  # characters of a question
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retry:
    """When to ask again after a failure that may pass.

    Waits double from ``first`` to ``longest`` and are drawn between half and all of that; a
    provider's own ``Retry-After`` is kept if the deadline allows it.

    Attributes:
        deadline: Seconds for one question, waits and all tries together.
        tries: Most times it is asked.
        first, longest: Seconds.
    """

    deadline: float = 120.0
    tries: int = 6
    first: float = 0.5
    longest: float = 20.0

    def wait(self, failures: int, draw: float) -> float:
        """Seconds to wait after so many failures; ``draw`` in [0, 1)."""
        return min(self.first * 2.0 ** (failures - 1), self.longest) * (0.5 + draw / 2)


class ReplayMiss(ModelError):
    """The recording has no answer to what was asked. ``request`` says what that was."""

    def __init__(self, model: str, request: calls.Request) -> None:
        asked = calls.question(request)
        if len(asked) > _SHOWN:
            asked = f"{asked[: _SHOWN // 2]} … {asked[-_SHOWN // 2 :]}"
        super().__init__(
            f"the recording has no answer of {model} to a {type(request).__name__!r} request "
            f"(draw {getattr(request, 'draw', 0)}, attempt {request.attempt}): {asked!r}; it was "
            "made with other settings, or stopped earlier: run again with cache in place of replay"
        )
        self.request = request


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What was read from an answer, and how many calls it took."""

    value: T
    calls: int


class Channel:
    """Asks an endpoint. Safe for threads if the endpoint is.

    Args:
        endpoint: The provider.
        cache: Where answers are kept and looked up.
        replay: Answer from ``cache`` alone; the endpoint is never asked.
        meter: Where calls are counted; its budget is asked before each one.
        retry: When to ask again.
    """

    def __init__(
        self,
        endpoint: calls.Endpoint,
        *,
        cache: AnswerFile | None = None,
        replay: bool = False,
        meter: calls.Meter | None = None,
        retry: Retry | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._cache, self._replay, self._meter = cache, replay, meter
        self._retry = retry or Retry()
        self._jitter = random.Random()  # spaces retries out; no result depends on it

    @property
    def model(self) -> str:
        """Name of the model, as it is recorded."""
        return self.endpoint.model

    def ask(
        self, request: calls.Request, read: Callable[[calls.Answer], T], scorer: str
    ) -> Asked[T]:
        """Ask, and read the answer with ``read``; ask once more if that raises ``Unusable``.

        Raises:
            Rejected: If the provider does not take this form of request.
            ModelError: If the provider failed, or both answers were unusable.
            BudgetExceeded: If a call would pass a limit.
            ReplayMiss: If the answer is not in the recording.
        """
        first = self._answer(request, read, scorer)
        if not isinstance(first.value, calls.Unusable):
            return Asked(first.value, first.calls)
        _log.info("unusable answer model=%s scorer=%s: %s", self.model, scorer, first.value)
        second = self._answer(replace(request, attempt=1), read, scorer)
        if not isinstance(second.value, calls.Unusable):
            return Asked(second.value, first.calls + second.calls)
        raise ModelError(
            f"{self.model} answered scorer {scorer!r} twice with something it cannot use: "
            f"{second.value}"
        ) from second.value

    def _answer(
        self, request: calls.Request, read: Callable[[calls.Answer], T], scorer: str
    ) -> Asked[T | calls.Unusable]:
        identity = self.endpoint.identity
        stored = self._cache.get(identity, request) if self._cache else None
        if stored and (stored.usable or self._replay):
            if self._meter:
                taken = stored.answer
                self._meter.cached(self.model, taken.tokens_in, taken.tokens_out)
            return Asked(_reading(stored.answer, read), 0)
        if self._replay:
            raise ReplayMiss(self.model, request)
        reply = self._call(request, scorer)
        usable = False
        try:
            value = _reading(reply.value, read)
            usable = not isinstance(value, calls.Unusable)
        finally:  # refusals are kept too, so that a replay takes the same turns
            if self._cache:
                self._cache.put(self.model, identity, request, reply.value, usable=usable)
        return Asked(value, reply.calls)

    def _call(self, request: calls.Request, scorer: str) -> Asked[calls.Answer]:
        """The endpoint's answer after as many tries as it takes within the deadline."""
        started, tries = time.monotonic(), 0
        while True:
            tries += 1
            left = self._retry.deadline - (time.monotonic() - started)
            try:
                return Asked(self._counted(request, scorer, left), tries)
            except calls.Rejected as refusal:
                return Asked(calls.whole(calls.Answer(rejected=str(refusal))), tries)
            except calls.Transient as failure:
                wait = failure.retry_after
                if wait is None:
                    wait = self._retry.wait(tries, self._jitter.random())
                passed = time.monotonic() - started
                if tries >= self._retry.tries or passed + wait >= self._retry.deadline:
                    raise ModelError(
                        f"{self.model} gave no answer in {counted(tries, 'try')} and "
                        f"{passed:.1f} s (limits: {counted(self._retry.tries, 'try')}, "
                        f"{self._retry.deadline:g} s); "
                        f"the last failure: {failure}"
                    ) from failure
                _log.info("retry model=%s wait=%.2f: %s", self.model, wait, failure)
                time.sleep(wait)

    def _counted(self, request: calls.Request, scorer: str, timeout: float) -> calls.Answer:
        if self._meter is None:
            return calls.whole(self.endpoint.answer(request, timeout))
        model, local = self.endpoint.model, self.endpoint.local
        call = calls.Call(model, scorer, local, *calls.estimate(request))
        ticket = self._meter.start(call)
        try:
            answer = calls.whole(self.endpoint.answer(request, timeout))
        except BaseException:
            self._meter.finish(ticket, replace(call, tokens_in=0, tokens_out=0), failed=True)
            raise
        taken = replace(call, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out)
        self._meter.finish(ticket, taken)
        return answer


def _reading(answer: calls.Answer, read: Callable[[calls.Answer], T]) -> T | calls.Unusable:
    if answer.rejected:
        raise calls.Rejected(answer.rejected)
    try:
        return read(answer)
    except calls.Unusable as error:
        return error
