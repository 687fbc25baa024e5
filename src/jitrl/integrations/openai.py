"""The OpenAI client, and those like it: a wrapper whose chat completions are decided."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from jitrl.errors import ConfigError, MissingExtra
from jitrl.integrations import chat
from jitrl.integrations.guide import Guide

try:
    from openai import AsyncOpenAI, NotGiven, Omit, OpenAI
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
except ImportError as error:
    raise MissingExtra(
        "jitrl.integrations.openai needs openai: pip install 'jitrl[openai]'"
    ) from error


class JitRLOpenAI(Guide):
    """A client with a memory: ``client = JitRLOpenAI(OpenAI(), memory)``.

    ``client.chat.completions.create`` is decided within ``client.episode(…)``, where tools are
    offered and one answer is asked for; everything else is the client's own. With ``stream=True``
    the stream begins when the answer is decided. An ``AsyncOpenAI`` is awaited as ever.

    Args:
        client: An ``OpenAI`` or ``AsyncOpenAI``, with any ``base_url``.
        memory, options: As for :class:`jitrl.integrations.guide.Guide`.
    """

    def __init__(self, client: OpenAI | AsyncOpenAI, memory: Any, **options: Any) -> None:
        if not isinstance(client, OpenAI | AsyncOpenAI):
            raise ConfigError(f"client is {client!r}; it must be an OpenAI or AsyncOpenAI")
        self._client = client
        super().__init__(memory, **options)
        self.chat = _Chat(client, self)

    def __getattr__(self, name: str) -> Any:
        if name == "_client":
            raise AttributeError(name)
        return getattr(self._client, name)


class _Chat:
    """``client.chat``."""

    def __init__(self, client: Any, guide: Guide) -> None:
        self._inner = client.chat
        is_async = isinstance(client, AsyncOpenAI)
        self.completions = (_AsyncCompletions if is_async else _Completions)(client, guide)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Forwarded:
    """``client.chat.completions``, but for what a subclass decides."""

    def __init__(self, client: Any, guide: Guide) -> None:
        self._inner, self._guide = client.chat.completions, guide

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Completions(_Forwarded):
    def create(self, **request: Any) -> Any:
        """A completion whose choice of a tool is decided."""
        episode, request = self._guide.active, _given(request)
        if episode is None or not chat.is_open(request):
            return self._inner.create(**request)
        first = self._inner.create(**chat.whole(request))
        choice = episode.choose(lambda: chat.turn(_plain(request), _json(first)))
        answer = first
        if choice.turned:
            with episode.extra_call(choice) as extra:
                second = self._inner.create(**chat.forced(request, choice))
                if extra.answered(chat.calls(_json(second))):
                    made = chat.merged(_json(first), _json(second), extra)
                    answer = ChatCompletion.construct(**made)
        return _Stream(answer, request) if request.get("stream") else answer


class _AsyncCompletions(_Forwarded):
    async def create(self, **request: Any) -> Any:
        """As that of the client that is not awaited."""
        episode, request = self._guide.active, _given(request)
        if episode is None or not chat.is_open(request):
            return await self._inner.create(**request)
        first = await self._inner.create(**chat.whole(request))
        choice = episode.choose(lambda: chat.turn(_plain(request), _json(first)))
        answer = first
        if choice.turned:
            with episode.extra_call(choice) as extra:
                second = await self._inner.create(**chat.forced(request, choice))
                if extra.answered(chat.calls(_json(second))):
                    made = chat.merged(_json(first), _json(second), extra)
                    answer = ChatCompletion.construct(**made)
        return _Stream(answer, request) if request.get("stream") else answer


class _Stream:
    """A decided answer as a stream, to be iterated either way, once."""

    def __init__(self, answer: ChatCompletion, request: Mapping[str, Any]) -> None:
        usage = bool((request.get("stream_options") or {}).get("include_usage"))
        made = chat.chunks(_json(answer), usage=usage)
        self._chunks = (ChatCompletionChunk.construct(**chunk) for chunk in made)

    def __iter__(self) -> Iterator[ChatCompletionChunk]:
        return self._chunks

    def __next__(self) -> ChatCompletionChunk:
        return next(self._chunks)

    async def __aiter__(self) -> AsyncIterator[ChatCompletionChunk]:
        for chunk in self._chunks:
            yield chunk

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
    """The request without what the client takes for not given."""
    return {k: v for k, v in request.items() if not isinstance(v, NotGiven | Omit)}


def _json(answer: ChatCompletion) -> dict[str, Any]:
    """An answer as it was sent."""
    found: dict[str, Any] = answer.model_dump(exclude_unset=True, mode="json")
    return found


def _plain(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request with messages as mappings, also those that an answer brought as objects."""
    messages = [
        said if isinstance(said, Mapping) else said.model_dump(exclude_none=True)
        for said in request.get("messages") or ()
    ]
    return {**request, "messages": messages}
