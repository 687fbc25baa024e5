"""OpenAI Agents SDK: a model that lets a memory choose among an agent's tools, and hooks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jitrl.errors import ConfigError, MissingExtra
from jitrl.integrations import responses
from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.conversation import Turn
from jitrl.integrations.guide import Guide, GuidedEpisode
from jitrl.integrations.interface import summed
from jitrl.integrations.tools import Call, Tool

try:
    from agents import FunctionTool, Model, RunHooks
    from agents.items import ModelResponse
    from agents.models.multi_provider import MultiProvider
    from agents.usage import Usage
except ImportError as error:
    raise MissingExtra(
        "jitrl.integrations.openai_agents needs openai-agents: pip install 'jitrl[openai-agents]'"
    ) from error


class JitRLModel(Model, Guide):
    """A memory beside an agent: ``Agent(model=JitRLModel("gpt-5", memory))``.

    Within ``guide.episode(…)`` each answer is decided; outside, the model acts alone. A streamed
    answer begins when it is decided. A conversation that the server keeps (``conversation_id``)
    is left alone, as a second call would be written into it.

    Args:
        model: The model, or its name.
        memory, options: As for :class:`jitrl.integrations.guide.Guide`.
    """

    def __init__(self, model: Model | str, memory: Any, **options: Any) -> None:
        if not isinstance(model, Model | str):
            raise ConfigError(f"model is {model!r}; it must be a Model of the SDK, or a name")
        Guide.__init__(self, memory, **options)
        self.inner = MultiProvider().get_model(model) if isinstance(model, str) else model
        self.hooks = JitRLHooks(self)

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        tracing: Any,
        **more: Any,
    ) -> ModelResponse:
        """The decided answer."""
        around = output_schema, handoffs, tracing
        episode = self._guided(model_settings, more)
        if episode is not None:
            notes = episode.notes(lambda: _asked(input, tools, handoffs, model_settings))
            system_instructions = _told(system_instructions, notes)
        first = await self.inner.get_response(
            system_instructions, input, model_settings, tools, *around, **more
        )
        if episode is None:
            return first
        choice = episode.choose(lambda: _turn(input, tools, handoffs, model_settings, first.output))
        answer = first
        if choice.turned:
            with episode.extra_call(choice) as extra:
                forced = _forced(model_settings, choice)
                second = await self.inner.get_response(
                    system_instructions, input, forced, tools, *around, **more
                )
                if extra.answered(responses.calls_in(second.output)):
                    answer = _merged(first, second, extra)
        return answer

    async def stream_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        tracing: Any,
        **more: Any,
    ) -> AsyncIterator[Any]:
        """The decided answer as a stream."""

        notes = ""

        def asked(settings: Any) -> AsyncIterator[Any]:
            events: AsyncIterator[Any] = self.inner.stream_response(
                _told(system_instructions, notes),
                input,
                settings,
                tools,
                output_schema,
                handoffs,
                tracing,
                **more,
            )
            return events

        episode = self._guided(model_settings, more)
        if episode is None or not (tools or handoffs):
            async for event in asked(model_settings):
                yield event
            return
        notes = episode.notes(lambda: _asked(input, tools, handoffs, model_settings))
        events = [event async for event in asked(model_settings)]
        first = _completed(events)
        output = first.output if first else []
        choice = episode.choose(lambda: _turn(input, tools, handoffs, model_settings, output))
        if choice.turned:
            with episode.extra_call(choice) as extra:
                others = [event async for event in asked(_forced(model_settings, choice))]
                second = _completed(others)
                if extra.answered(responses.calls_in(second.output if second else [])):
                    events = list(_patched(others, first, extra))
        for event in events:
            yield event

    def get_retry_advice(self, request: Any) -> Any:
        """As the model inside says."""
        return self.inner.get_retry_advice(request)

    async def close(self) -> None:
        """Close the model inside."""
        await self.inner.close()

    def _guided(self, settings: Any, more: Mapping[str, Any]) -> GuidedEpisode | None:
        """The episode under way, if there is something to choose."""
        is_open = settings.tool_choice in (None, "auto", "required")
        return self.active if is_open and not more.get("conversation_id") else None


class JitRLHooks(RunHooks):
    """Hooks of a run, ``Runner.run(agent, …, hooks=guide.hooks)``: what the agent said in the end.

    The episode's ``answer`` is then there for the guide's check.
    """

    def __init__(self, guide: Guide) -> None:
        self._guide = guide

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        """The agent produced its output."""
        episode = self._guide.active
        if episode is not None:
            episode.said(output)


def _turn(
    input: Any, tools: Sequence[Any], handoffs: Sequence[Any], settings: Any, output: Sequence[Any]
) -> Turn | None:
    """The turn; ``None`` if there is nothing to choose, or something else was called."""
    asked = _asked(input, tools, handoffs, settings)
    if not output or asked is None or not responses.is_plain(output):
        return None
    return replace(asked, calls=responses.calls_in(output))


def _asked(input: Any, tools: Sequence[Any], handoffs: Sequence[Any], settings: Any) -> Turn | None:
    """The turn before it is answered; ``None`` if there is nothing to choose."""
    offered = [Tool(t.name, t.params_json_schema) for t in tools if isinstance(t, FunctionTool)]
    offered += [Tool(h.tool_name, h.input_json_schema) for h in handoffs]
    if not offered:
        return None
    messages = responses.messages({"input": input})
    return Turn(messages, offered, can_answer=settings.tool_choice != "required")


def _told(instructions: str | None, notes: str) -> str | None:
    """The instructions, and at their end the rules told at this step."""
    return "\n\n".join(filter(None, (instructions, notes))) or instructions


def _forced(settings: Any, choice: Choice) -> Any:
    name = "none" if choice.form is None else choice.form.tool
    parallel = None if choice.form is None else False
    return replace(settings, tool_choice=name, parallel_tool_calls=parallel)


def _completed(events: Sequence[Any]) -> Any:
    """The whole response that ends a stream, if it does."""
    ends = (event for event in events if event.type == "response.completed")
    return next((event.response for event in ends), None)


def _kept(output: Sequence[Any], extra: ExtraCall) -> list[Any]:
    """Items of the second answer, with one call of the chosen tool as it is to be used."""
    form, kept, is_there = extra.choice.form, list[Any](), False
    for item in output:
        if form is not None and responses.get(item, "type") == "function_call":
            if responses.get(item, "name") != form.tool or is_there:
                continue
            is_there = True
            item = _filled(item, extra)
        kept.append(item)
    return kept


def _filled(item: Any, extra: ExtraCall) -> Any:
    if Call.read(item.name, item.arguments).arguments == extra.arguments:
        return item
    return item.model_copy(update={"arguments": json.dumps(extra.arguments, ensure_ascii=False)})


def _patched(events: Sequence[Any], first: Any, extra: ExtraCall) -> Iterator[Any]:
    """The events of the second stream, with one call, of which each whole item is to be used.

    The usage at their end is that of both.
    """
    is_there = False
    for event in events:
        if event.type == "response.completed":
            whole = {"output": _kept(event.response.output, extra)}
            if first is not None and first.usage and event.response.usage:
                whole["usage"] = _summed(first.usage, event.response.usage)
            event = event.model_copy(update={"response": event.response.model_copy(update=whole)})
        elif event.type == "response.output_item.done" and event.item.type == "function_call":
            form = extra.choice.form
            if form is None or event.item.name != form.tool or is_there:
                continue  # the runner would show it as called
            is_there = True
            event = event.model_copy(update={"item": _filled(event.item, extra)})
        yield event


def _summed(first: Any, second: Any) -> Any:
    """The usage of both, as a response says it."""
    names = ("input_tokens", "output_tokens", "total_tokens")
    said = second.model_dump()
    made = type(second).construct(**{**said, **summed(first.model_dump(), said, names)})
    # What the SDK looks for where an adapter made one response of several.
    object.__setattr__(made, "_agents_sdk_request_usages", [first, second])
    return made


def _merged(first: ModelResponse, second: ModelResponse, extra: ExtraCall) -> ModelResponse:
    """The second answer; the usage is that of both."""
    usage = Usage()
    usage.add(first.usage)
    usage.add(second.usage)
    return replace(second, output=_kept(second.output, extra), usage=usage)
