"""What a model is asked and what it answers: the border between scorers and providers.

Every call of every provider is a :data:`Request` and an :class:`Answer`, both plain data, so that
one place can count, cache, record and replay them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, runtime_checkable

import msgspec

from jitrl.errors import ModelError
from jitrl.types import Prompt


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user"]
    text: str


@dataclass(frozen=True, slots=True)
class Write:
    """Write an answer.

    Attributes:
        temperature: Of the provider's sampling.
        top_logprobs: How many alternatives of the first token to report; 0 for none.
        schema: JSON schema of the answer as text; "" for free text.
        draw: Which of several samples of the same question this is.
        attempt: 1 when it is asked again because the first answer could not be used.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 256
    temperature: float = 0.0
    top_logprobs: int = 0
    schema: str = ""
    draw: int = 0
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Continue:
    """Give the log-probability of each token of each continuation.

    Attributes:
        lead: How the model's turn begins; the continuations follow it, each with its own space.
    """

    messages: tuple[Message, ...]
    lead: str
    continuations: tuple[str, ...]
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Rate:
    """Give logits for the prompt's actions: what a plain function is asked."""

    prompt: Prompt
    attempt: int = 0


Request = Write | Continue | Rate


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        text: Of a :class:`Write`.
        alternatives: First tokens and their log-probabilities, best first; ``None`` if the
            provider sent none.
        scores: Of a :class:`Continue`: one log-probability per token of each continuation;
            ``None`` if the provider sent none.
        logits: Of a :class:`Rate`.
        rejected: Why the provider does not take this form of request; "" if it does.
        tokens_in, tokens_out: Tokens read and written, for the ledger.
    """

    text: str = ""
    alternatives: tuple[tuple[str, float], ...] | None = None
    scores: tuple[tuple[float, ...], ...] | None = None
    logits: Mapping[str, float] = field(default_factory=dict)
    rejected: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Endpoint(Protocol):
    """A provider: answers one request, without retries.

    Attributes:
        model: Name and place of the model, as it is recorded: ``gpt-4o-mini@api.openai.com``.
        identity: All that decides what it answers; part of the key of a stored answer.
        local: Whether calls cost no money.
    """

    model: str
    identity: str
    local: bool

    def answer(self, request: Request, timeout: float) -> Answer:
        """Answer ``request`` within about ``timeout`` seconds.

        Raises:
            Transient: If asking again may help.
            Rejected: If the provider does not take this form of request.
            ModelError: If it failed for good.
        """
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """A call for the ledger. Token counts are estimates until it is finished."""

    model: str
    scorer: str
    local: bool
    tokens_in: int
    tokens_out: int


@runtime_checkable
class Meter(Protocol):
    """Counts calls; one phase of a run's ledger is one. Safe for threads."""

    def start(self, call: Call) -> int:
        """Write down that a call begins; returns its ticket.

        Raises:
            BudgetExceeded: If the call would pass a limit; it must not be made then.
        """
        ...

    def finish(self, ticket: int, call: Call, *, failed: bool = False) -> None:
        """Write down what the call took: the same call, with the tokens it really had."""
        ...

    def cached(self, model: str, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """Count an answer that cost nothing, and the tokens that it took when it was asked for."""
        ...


class Transient(ModelError):
    """A failure that may pass: the line, the provider's load, a rate limit.

    Attributes:
        retry_after: Seconds the provider asked to wait, if it did.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Rejected(ModelError):
    """The provider does not take this form of request (HTTP 400, 404, 422 …)."""


class Unusable(ModelError):
    """The provider answered, but not with what was asked; asking once more may help."""


def whole(answer: Answer) -> Answer:
    """``answer`` with ``?`` for halves of surrogate pairs, which cannot be written down."""
    listed = answer.alternatives
    return replace(
        answer,
        text=_whole(answer.text),
        alternatives=listed and tuple((_whole(token), value) for token, value in listed),
        rejected=_whole(answer.rejected),
    )


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def key(identity: str, request: Request) -> bytes:
    """Digest that an answer is stored under, 32 bytes."""
    kind = type(request).__name__
    return hashlib.sha256(msgspec.json.encode((identity, kind, request))).digest()


def question(request: Request) -> str:
    """The part of a request that a person reads: what was asked, without the system turn."""
    if isinstance(request, Rate):
        return f"{request.prompt.goal!r} in {request.prompt.observation!r}"
    return "\n".join(message.text for message in request.messages if message.role == "user")


def estimate(request: Request) -> tuple[int, int]:
    """Tokens that ``request`` may take, read and written, from its length; never 0 read."""
    if isinstance(request, Rate):
        return 1, 0
    read = sum(len(message.text.encode()) for message in request.messages) // 3 + 1
    if isinstance(request, Continue):
        return read + sum(len(text.encode()) for text in request.continuations) // 3, 0
    return read, request.max_tokens
