"""What the interfaces of a provider have in common: requests with tools, answers with calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Protocol

from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.conversation import Message, Turn
from jitrl.integrations.tools import Call

Json = Mapping[str, Any]
Answers = MutableMapping[str, Sequence[Message]]
"""What was said up to answers that a provider keeps, by their ids."""


def summed(first: Json, second: Json, names: Sequence[str]) -> dict[str, float]:
    """Counts of two calls; one that is no number counts as none."""
    found = [[usage.get(name) for usage in (first, second)] for name in names]
    sums = [sum(n for n in both if isinstance(n, int | float)) for both in found]
    return dict(zip(names, sums, strict=True))


class Interface(Protocol):
    """Reads and writes the mappings that JSON gives; the modules ``chat`` and ``responses``."""

    @property
    def SAID(self) -> str:
        """Where a request has its messages."""

    def is_open(self, request: Json) -> bool:
        """Whether a request leaves something to choose, and may be made once more."""

    def messages(self, request: Json) -> list[Message]:
        """What a request says, oldest first."""

    def turn(self, request: Json, answer: Json, seen: Answers) -> Turn | None:
        """The turn that a request and its answer make; ``None`` if there is none to decide."""

    def asked(self, request: Json, seen: Answers) -> Turn | None:
        """The turn that a request makes, as long as it is not answered."""

    def takes_notes(self, request: Json) -> bool:
        """Whether its instructions are such that notes can stand at their end."""

    def told(self, request: Json, notes: str) -> dict[str, Any]:
        """The request with notes at the end of its instructions."""

    def see(self, seen: Answers, request: Json, answer: Json) -> None:
        """Note what was said up to an answer, for a request that goes on from it."""

    def whole(self, request: Json) -> dict[str, Any]:
        """The request for an answer that is not streamed."""

    def forced(self, request: Json, choice: Choice) -> dict[str, Any]:
        """The request again, for the action that the memory chose."""

    def calls(self, answer: Json) -> list[Call]:
        """What an answer calls."""

    def merged(self, first: Json, second: Json, extra: ExtraCall) -> dict[str, Any]:
        """The second answer with one call of the chosen tool; the usage is that of both."""

    def streamed(self, answer: Json, request: Json) -> Iterator[dict[str, Any]]:
        """A whole answer as what a stream brings."""

    def written(self, answer: Json, request: Json) -> str:
        """The same as a server sends it."""
