"""LangChain and LangGraph: a middleware that lets a memory choose among an agent's tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from jitrl.errors import MissingExtra
from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.conversation import Message, Turn, with_notes
from jitrl.integrations.guide import Guide, GuidedEpisode
from jitrl.integrations.tools import Call, Tool

try:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ImportError as error:
    raise MissingExtra(
        "jitrl.integrations.langchain needs langchain: pip install 'jitrl[langchain]'"
    ) from error

_ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
_UNSEEN = "nostream"  # LangGraph's tag: tokens of such a call are not streamed


class JitRLMiddleware(AgentMiddleware, Guide):
    """A memory beside an agent of ``langchain.agents.create_agent``, within ``guide.episode(…)``.

    Outside of an episode the agent acts as it does without this middleware. Within one, tokens are
    not streamed while a choice is open: the message is, once it is decided.

    Args: As for :class:`jitrl.integrations.guide.Guide`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        AgentMiddleware.__init__(self)
        Guide.__init__(self, *args, **options)

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Ask the model, decide, and ask once more where the memory changes the choice."""
        episode = self._guided(request)
        if episode is None:
            return handler(request)
        asked = _told(request, episode)
        with _unseen():
            response = handler(asked)
        choice = episode.choose(lambda: _turn(request, response))
        response = _noted(response, choice)
        if choice.turned:
            with episode.extra_call(choice) as extra:
                with _unseen():  # the message is streamed when it is whole
                    second = handler(_forced(asked, choice))
                if extra.answered(_calls(second, request)):
                    response = _merged(response, second, extra)
        return response

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """As :meth:`wrap_model_call`."""
        episode = self._guided(request)
        if episode is None:
            return await handler(request)
        asked = _told(request, episode)
        with _unseen():
            response = await handler(asked)
        choice = episode.choose(lambda: _turn(request, response))
        response = _noted(response, choice)
        if choice.turned:
            with episode.extra_call(choice) as extra:
                with _unseen():
                    second = await handler(_forced(asked, choice))
                if extra.answered(_calls(second, request)):
                    response = _merged(response, second, extra)
        return response

    def _guided(self, request: ModelRequest) -> GuidedEpisode | None:
        """The episode under way, if there is something to choose."""
        is_open = request.tool_choice in (None, "auto", "any", "required")
        return self.active if is_open and request.tools else None


def _tools(request: ModelRequest) -> dict[str, Any]:
    """Tools that the agent runs itself, by name; those of the provider are none of them."""
    found = {}
    for tool in request.tools:
        if not isinstance(tool, Mapping) or "function" in tool or "input_schema" in tool:
            found[convert_to_openai_tool(tool)["function"]["name"]] = tool
    return found


def _told(request: ModelRequest, episode: GuidedEpisode) -> ModelRequest:
    """The request with the rules told at this step at the end of its instructions."""
    notes = episode.notes(lambda: _turn(request))
    if not notes:
        return request
    own = request.system_message
    if own is None:
        return request.override(system_message=SystemMessage(notes))
    whole = with_notes(own.content, notes, {"type": "text", "text": notes})
    return request.override(system_message=own.model_copy(update={"content": whole}))


def _turn(request: ModelRequest, response: ModelResponse | None = None) -> Turn:
    written = [convert_to_openai_tool(tool)["function"] for tool in _tools(request).values()]
    return Turn(
        [_message(message) for message in request.messages],
        [Tool(one["name"], one.get("parameters") or {}) for one in written],
        [] if response is None else _calls(response, request),
        can_answer=request.tool_choice in (None, "auto"),
    )


def _calls(response: ModelResponse, request: ModelRequest) -> list[Call]:
    """What an answer calls; a structured answer is an answer."""
    calls = _written(_answer(response))
    if request.response_format is None:
        return calls
    tools = _tools(request)
    return [call for call in calls if call.tool in tools]


def _answer(response: ModelResponse) -> AIMessage:
    return next(m for m in response.result if isinstance(m, AIMessage))


def _written(message: AIMessage) -> list[Call]:
    read = [Call(call["name"], call["args"]) for call in message.tool_calls]
    broken = [Call(c["name"] or "", c["args"] or "") for c in message.invalid_tool_calls]
    return [*read, *broken]


def _message(message: BaseMessage) -> Message:
    calls = _written(message) if isinstance(message, AIMessage) else []
    return Message(_ROLES.get(message.type, "user"), str(message.text), tuple(calls))  # type: ignore[arg-type]


@contextmanager
def _unseen() -> Iterator[None]:
    """Stream no tokens of a call, as its answer may not stand.

    The tag is in the context: a copy of the model with the tag would not keep what the model
    notes of its calls.
    """
    config = var_child_runnable_config.get() or {}
    tags = [*(config.get("tags") or ()), _UNSEEN]
    token = var_child_runnable_config.set({**config, "tags": tags})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _forced(request: ModelRequest, choice: Choice) -> ModelRequest:
    if choice.form is not None:
        only = [_tools(request)[choice.form.tool]]
        return request.override(tools=only, tool_choice=choice.form.tool, response_format=None)
    if request.response_format is not None:
        return request.override(tools=[])
    return request.override(tool_choice="none")


def _cut(said: AIMessage, id: str | None) -> Any:
    """The content of a message without calls but that of an id.

    Some providers have calls in it, too, and refuse one that no result follows.
    """
    if isinstance(said.content, str):
        return said.content
    called = {c["id"] for c in (*said.tool_calls, *said.invalid_tool_calls)} - {id, None}
    return [
        part
        for part in said.content
        if not (isinstance(part, dict) and {part.get("id"), part.get("call_id")} & called)
    ]


def _noted(response: ModelResponse, choice: Choice, **more: Any) -> ModelResponse:
    """The response with the decision's id in the metadata of its message."""
    if not choice.decision:
        return response  # nothing was decided
    said = _answer(response)
    metadata = {**said.response_metadata, "jitrl": {**choice.note, **more}}
    changed = said.model_copy(update={"response_metadata": metadata})
    return replace(response, result=[changed if m is said else m for m in response.result])


def _merged(first: ModelResponse, second: ModelResponse, extra: ExtraCall) -> ModelResponse:
    """The second answer with one call of the chosen tool, and what the first one cost."""
    said, form = _answer(second), extra.choice.form
    if form is not None:
        call = next(c for c in said.tool_calls if c["name"] == form.tool)
        only = [{**call, "args": dict(extra.arguments or {})}]
        kept = {"tool_calls": only, "invalid_tool_calls": [], "content": _cut(said, call["id"])}
        changed = said.model_copy(update=kept)
        second = replace(second, result=[changed])
    return _noted(second, extra.choice, first_usage=_answer(first).usage_metadata)
