"""The writer that models are made of: free text or JSON through the same channel as scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from jitrl.errors import ModelError, UnreadableAnswer
from jitrl.models.calls import Answer, Message, Unusable, Write
from jitrl.models.channel import Channel
from jitrl.types import Writing

T = TypeVar("T")


class ChannelWriter:
    """Writes through ``channel``, with its cache, budget and retries. Safe for threads."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.name = channel.model

    def write(self, writing: Writing, read: Callable[[str], T]) -> T:
        """The answer as ``read`` makes it out; asked once more if that fails.

        It fails with a ``ValueError``, or where the answer nests too deep or holds a number too
        large for whatever reads it.

        Raises:
            UnreadableAnswer: If the second answer could not be read either.
            ModelError: If the provider failed after all retries, or does not write.
            BudgetExceeded: If a call would pass a limit.
        """
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

        request = Write(
            (Message("system", writing.system), Message("user", writing.text)),
            max_tokens=writing.max_tokens,
            temperature=writing.temperature,
            schema=writing.schema,
            draw=writing.sample,
        )
        try:
            return self._channel.ask(request, heard, "write").value
        except ModelError as error:
            if len(answers) < 2:
                raise
            raise UnreadableAnswer(
                f"{self.name} wrote twice what cannot be read ({reason}): {answers[-1][:200]!r}",
                tuple(answers),
            ) from error
