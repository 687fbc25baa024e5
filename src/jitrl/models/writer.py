"""The writer that models are made of: free text or JSON through the same channel as scores."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from jitrl.errors import ModelError, UnreadableAnswer
from jitrl.models.calls import Answer, Message, Unusable, Write
from jitrl.models.channel import Channel
from jitrl.types import Writing

T = TypeVar("T")
_KEPT = 10_000  # answers, the latest ones


class ChannelWriter:
    """Writes through ``channel``, with its cache, budget and retries. Safe for threads.

    What is asked at temperature 0 is asked once: the answer that could be read is kept while this
    writer lives, and neither paid nor counted again. A judge sees one last page many times.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = channel.model
        self._kept: dict[Write, str] = {}
        self._lock = threading.Lock()

    def write(self, writing: Writing, read: Callable[[str], T]) -> T:
        """The answer as ``read`` makes it out; asked once more if that fails.

        It fails with a ``ValueError``, or where the answer nests too deep or holds a number too
        large for whatever reads it.

        Raises:
            UnreadableAnswer: If the second answer could not be read either.
            ModelError: If the provider failed after all retries, or does not write.
            BudgetExceeded: If a call would pass a limit.
        """
        request = Write(
            (Message("system", writing.system), Message("user", writing.text)),
            max_tokens=writing.max_tokens,
            temperature=writing.temperature,
            schema=writing.schema,
            draw=writing.sample,
        )
        kept = self._kept.get(request)
        if kept is not None:
            return read(kept)
        answers: list[str] = []
        reason = ""

        def heard(answer: Answer) -> T:
            nonlocal reason
            answers.append(answer.text)
            try:
                return read(answer.text)
            except (ValueError, OverflowError, RecursionError) as error:
                reason = str(error)
                raise Unusable(reason) from error

        try:
            found = self._channel.ask(request, heard, "write").value
        except ModelError as error:
            if len(answers) < 2:
                raise
            raise UnreadableAnswer(
                f"{self.name} wrote twice what cannot be read ({reason}): {answers[-1][:200]!r}",
                tuple(answers),
            ) from error
        if not writing.temperature:
            self._keep(request, answers[-1])
        return found

    def _keep(self, request: Write, answer: str) -> None:
        with self._lock:
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[request] = answer
