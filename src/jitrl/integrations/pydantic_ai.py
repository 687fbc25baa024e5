"""Pydantic AI: a capability that lets a memory choose among an agent's tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from jitrl.errors import MissingExtra
from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.conversation import Message, Turn
from jitrl.integrations.guide import Guide, GuidedEpisode
from jitrl.integrations.tools import Call, Tool

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        InstructionPart,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        RetryPromptPart,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models import CompletedStreamedResponse, Model, ModelRequestParameters
    from pydantic_ai.models.wrapper import WrapperModel
    from pydantic_ai.settings import ModelSettings
except ImportError as error:
    raise MissingExtra(
        "jitrl.integrations.pydantic_ai needs pydantic-ai: pip install 'jitrl[pydantic-ai]'"
    ) from error

Ask = Callable[
    [list[ModelMessage], ModelSettings | None, ModelRequestParameters], Awaitable[ModelResponse]
]


class JitRLCapability(AbstractCapability[Any], Guide):
    """A memory beside an agent: ``Agent(model, capabilities=[guide])``.

    A run within ``guide.episode(…)`` belongs to that episode. Any other run is an episode of its
    own, whose key is the run's id (``result.run_id``): the guide's check says how it ended, or
    ``JitRL.outcome`` does later.

    Args: As for :class:`jitrl.integrations.guide.Guide`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        Guide.__init__(self, *args, **options)

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        """Give a run that belongs to no episode one of its own."""
        if self.active is not None:
            return await handler()
        episode = self.begun(_text(ctx.prompt or "").strip() or "run", key=ctx.run_id)
        if episode is None:
            return await handler()
        with episode:
            result = await handler()
            episode.said(result.output)
            episode.over()
        return result

    def get_wrapper_model(self, model: Model) -> Model | None:
        """The model whose answers are decided."""
        return _Guided(model, self)


class _Guided(WrapperModel):
    """A model each of whose answers is decided, and made once more if the memory changes it."""

    def __init__(self, wrapped: Model, guide: Guide) -> None:
        super().__init__(wrapped)
        self._guide = guide

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The decided answer."""
        parameters = model_request_parameters
        episode = self._guided(model_settings, parameters)
        if episode is None:
            return await self.wrapped.request(messages, model_settings, parameters)
        return await self._decided(
            episode, self.wrapped.request, messages, model_settings, parameters
        )

    def _guided(
        self, settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> GuidedEpisode | None:
        """The episode under way, if there is something to choose."""
        is_open = (settings or {}).get("tool_choice") in (None, "auto", "required")
        return self._guide.active if is_open and parameters.function_tools else None

    async def _decided(
        self,
        episode: GuidedEpisode,
        ask: Ask,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> ModelResponse:
        notes = episode.notes(lambda: _turn(messages, parameters, None, model_settings))
        parameters = _told(messages, parameters, notes)
        first = await ask(messages, model_settings, parameters)
        choice = episode.choose(lambda: _turn(messages, parameters, first, model_settings))
        answer = _noted(first, choice)
        if choice.turned:
            forced: Any = "none" if choice.form is None else [choice.form.tool]
            settings: Any = {**(model_settings or {}), "tool_choice": forced}
            with episode.extra_call(choice) as extra:
                second = await ask(messages, settings, parameters)
                if extra.answered(_calls(second, parameters)):
                    answer = _merged(first, second, extra)
        return answer

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncGenerator[Any]:
        """The decided answer as a stream: it begins when the answer is whole."""
        parameters = model_request_parameters
        episode = self._guided(model_settings, parameters)
        if episode is None:
            alone = self.wrapped.request_stream(messages, model_settings, parameters, run_context)
            async with alone as stream:
                yield stream
            return

        async def streamed(messages: Any, settings: Any, parameters: Any) -> ModelResponse:
            """The answer that a stream brings; not every model has one that is no stream."""
            asked = self.wrapped.request_stream(messages, settings, parameters, run_context)
            async with asked as stream:
                async for _ in stream:
                    pass
                return stream.get()

        response = await self._decided(episode, streamed, messages, model_settings, parameters)
        yield CompletedStreamedResponse(
            response, model_request_parameters=parameters, replay_events=True
        )


def _told(
    messages: list[ModelMessage], parameters: ModelRequestParameters, notes: str
) -> ModelRequestParameters:
    """The parameters with the rules told at this step at the end of the instructions."""
    if not notes:
        return parameters
    own = parameters.instruction_parts
    if own is None:  # as where no agent asks
        asked = [m.instructions for m in messages if isinstance(m, ModelRequest)]
        own = [InstructionPart(content=text) for text in asked[-1:] if text]
    told = InstructionPart(content=notes, dynamic=True)
    return replace(parameters, instruction_parts=[*own, told])


def _turn(
    messages: list[ModelMessage],
    parameters: ModelRequestParameters,
    response: ModelResponse | None,
    settings: ModelSettings | None,
) -> Turn:
    return Turn(
        [said for message in messages for said in _messages(message)],
        [Tool(tool.name, tool.parameters_json_schema) for tool in parameters.function_tools],
        [] if response is None else _calls(response, parameters),
        can_answer=(settings or {}).get("tool_choice") != "required",
    )


def _calls(response: ModelResponse, parameters: ModelRequestParameters) -> list[Call]:
    """What an answer calls; a tool that carries the run's output is an answer."""
    outputs = {tool.name for tool in parameters.output_tools}
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    return [Call.read(c.tool_name, c.args) for c in calls if c.tool_name not in outputs]


def _messages(message: ModelMessage) -> list[Message]:
    if not isinstance(message, ModelRequest):
        parts = message.parts
        text = "\n".join(part.content for part in parts if isinstance(part, TextPart))
        called = [p for p in parts if isinstance(p, ToolCallPart)]
        return [Message("assistant", text, tuple(Call.read(c.tool_name, c.args) for c in called))]
    said = []
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            said.append(Message("user", _text(part.content)))
        elif isinstance(part, ToolReturnPart):
            said.append(Message("tool", part.model_response_str()))
        elif isinstance(part, RetryPromptPart):
            said.append(Message("tool" if part.tool_name else "user", part.model_response()))
        elif isinstance(part, SystemPromptPart):
            said.append(Message("system", str(part.content)))
    return said


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = [getattr(part, "content", part) for part in content]
    return "\n".join(text for text in texts if isinstance(text, str))


def _noted(response: ModelResponse, choice: Choice) -> ModelResponse:
    """The response with the decision's id in its metadata."""
    if not choice.decision:
        return response
    return replace(response, metadata={**(response.metadata or {}), "jitrl": choice.note})


def _merged(first: ModelResponse, second: ModelResponse, extra: ExtraCall) -> ModelResponse:
    """The second answer with one call of the chosen tool; the usage is that of both."""
    form, parts = extra.choice.form, list(second.parts)
    if form is not None:
        chosen = next(p for p in parts if isinstance(p, ToolCallPart) and p.tool_name == form.tool)
        parts = [p for p in parts if not isinstance(p, ToolCallPart)]
        if Call.read(form.tool, chosen.args).arguments != extra.arguments:
            chosen = replace(chosen, args=dict(extra.arguments or {}), id=None)
        parts.append(chosen)
    usage = first.usage + second.usage
    return _noted(replace(second, parts=parts, usage=usage), extra.choice)
