"""The OpenAI client, and those like it: a wrapper whose answers are decided."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, get_args

from jitrl.errors import ConfigError, MissingExtra
from jitrl.integrations import chat, responses
from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.guide import Guide, GuidedEpisode
from jitrl.integrations.interface import Interface

try:
    from openai import AsyncOpenAI, NotGiven, Omit, OpenAI
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.responses import Response, ResponseStreamEvent
except ImportError as error:
    raise MissingExtra(
        "jitrl.integrations.openai needs openai: pip install 'jitrl[openai]'"
    ) from error

_EVENTS: dict[str, Any] = {
    get_args(event.model_fields["type"].annotation)[0]: event
    for event in get_args(get_args(ResponseStreamEvent)[0])
} | {"": ChatCompletionChunk}
"""What a stream is made of, by its type."""


class JitRLOpenAI(Guide):
    """A client with a memory: ``client = JitRLOpenAI(OpenAI(), memory)``.

    ``client.chat.completions.create`` and ``client.responses.create`` are decided within
    ``client.episode(…)``, where tools are offered and one answer is asked for; everything else is
    the client's own. With ``stream=True`` the stream begins when the answer is decided. An
    ``AsyncOpenAI`` is awaited as ever.

    Args:
        client: An ``OpenAI`` or ``AsyncOpenAI``, with any ``base_url``.
        memory, options: As for :class:`jitrl.integrations.guide.Guide`.
    """

    def __init__(self, client: OpenAI | AsyncOpenAI, memory: Any, **options: Any) -> None:
        if not isinstance(client, OpenAI | AsyncOpenAI):
            raise ConfigError(f"client is {client!r}; it must be an OpenAI or AsyncOpenAI")
        self._client = client
        super().__init__(memory, **options)
        kind = _AsyncDecided if isinstance(client, AsyncOpenAI) else _Decided
        self.chat = _Chat(client, kind(client.chat.completions, self, chat, ChatCompletion))
        self.responses = kind(client.responses, self, responses, Response)

    def __getattr__(self, name: str) -> Any:
        if name == "_client":
            raise AttributeError(name)
        return getattr(self._client, name)


class _Chat:
    """``client.chat``."""

    def __init__(self, client: Any, completions: _Forwarded) -> None:
        self._inner, self.completions = client.chat, completions

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":
            raise AttributeError(name)
        return getattr(self._inner, name)


class _Forwarded:
    """``client.chat.completions`` or ``client.responses``, but for what a subclass decides.

    Args:
        answer: What ``create`` gives.
    """

    def __init__(self, inner: Any, guide: Guide, interface: Interface, answer: type[Any]) -> None:
        self._inner, self._guide, self._interface, self._answer = inner, guide, interface, answer

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._inner, name)

    def _told(self, episode: GuidedEpisode, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request with the rules told at this step."""
        of = self._interface
        notes = episode.notes(lambda: of.asked(_plain(request, of.SAID), episode.seen))
        return of.told(_plain(request, of.SAID), notes) if notes else request

    def _choice(self, episode: GuidedEpisode, request: Mapping[str, Any], first: Any) -> Choice:
        """What is to be done about the first answer."""
        turn = self._interface.turn
        return episode.choose(
            lambda: turn(_plain(request, self._interface.SAID), _json(first), episode.seen)
        )

    def _filled(self, extra: ExtraCall, first: Any, second: Any) -> Any:
        """The answer that the extra call brought, if it did as it was told; else the first."""
        if not extra.answered(self._interface.calls(_json(second))):
            return first
        return self._answer.construct(**self._interface.merged(_json(first), _json(second), extra))

    def _given(self, episode: GuidedEpisode, request: Mapping[str, Any], answer: Any) -> Any:
        """The answer, or its stream."""
        see, said = self._interface.see, self._interface.SAID
        episode.note(lambda seen: see(seen, _plain(request, said), _json(answer)))
        if not request.get("stream"):
            return answer
        is_read = hasattr(answer, "to_dict")  # a page of a gateway comes as a text
        return _Stream(self._interface.streamed(_json(answer), request) if is_read else iter(()))


class _Decided(_Forwarded):
    def create(self, **request: Any) -> Any:
        """An answer whose choice of a tool is decided."""
        episode, request = self._guide.active, _given(request)
        is_open = self._interface.is_open(request)
        if episode is None or (request.get("stream") and not is_open):
            return self._inner.create(**request)
        sent = self._told(episode, request) if is_open else request
        answer = first = self._inner.create(**self._interface.whole(sent))
        choice = self._choice(episode, request, first) if is_open else None
        if choice is not None and choice.turned:
            with episode.extra_call(choice) as extra:
                second = self._inner.create(**self._interface.forced(sent, choice))
                answer = self._filled(extra, first, second)
        return self._given(episode, request, answer)


class _AsyncDecided(_Forwarded):
    async def create(self, **request: Any) -> Any:
        """As that of the client that is not awaited."""
        episode, request = self._guide.active, _given(request)
        is_open = self._interface.is_open(request)
        if episode is None or (request.get("stream") and not is_open):
            return await self._inner.create(**request)
        sent = self._told(episode, request) if is_open else request
        answer = first = await self._inner.create(**self._interface.whole(sent))
        choice = self._choice(episode, request, first) if is_open else None
        if choice is not None and choice.turned:
            with episode.extra_call(choice) as extra:
                second = await self._inner.create(**self._interface.forced(sent, choice))
                answer = self._filled(extra, first, second)
        return self._given(episode, request, answer)


class _Stream:
    """A decided answer as a stream, to be iterated either way, once."""

    def __init__(self, made: Iterator[dict[str, Any]]) -> None:
        self._made = (_EVENTS[event.get("type", "")].construct(**event) for event in made)

    def __iter__(self) -> Iterator[Any]:
        return self._made

    def __next__(self) -> Any:
        return next(self._made)

    async def __aiter__(self) -> AsyncIterator[Any]:
        for event in self._made:
            yield event

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> _Stream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def _given(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request without what the client takes for not given.

    What can be gone through once alone is read into a list, as it is looked at and sent again.
    """
    given = {k: v for k, v in request.items() if not isinstance(v, NotGiven | Omit)}
    return {k: list(v) if isinstance(v, Iterator) else v for k, v in given.items()}


def _json(answer: Any) -> dict[str, Any]:
    """An answer as it was sent."""
    found: dict[str, Any] = answer.to_dict(mode="json", warnings=False)
    return found


def _plain(request: Mapping[str, Any], said: str) -> dict[str, Any]:
    """The request with messages as mappings, also those that an answer brought as objects."""
    given = request.get(said)
    if not isinstance(given, str):
        given = [m if isinstance(m, Mapping) else _json(m) for m in given or ()]
    return {**request, said: given}
