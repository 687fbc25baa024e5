"""Inspect AI: a model for an agent of an evaluation whose tools a memory helps to choose.

A sample is an episode. It is learned from when it has been scored, so samples that begin later act
with what earlier ones taught; `max_samples=1` plays them one after another.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from contextvars import ContextVar
from functools import partial
from typing import Any
from weakref import WeakSet

from jitrl.api import JitRL
from jitrl.errors import MissingExtra
from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.conversation import with_notes
from jitrl.integrations.guide import Guide, GuidedEpisode
from jitrl.integrations.inspect_turns import (
    SUBMIT,
    basis_of,
    calls_of,
    key_of,
    outcome_of,
    task_of,
    turn_of,
)
from jitrl.types import Basis, EpisodeStatus

try:
    import anyio
    from inspect_ai.agent import Agent, AgentState, agent
    from inspect_ai.hooks import (
        Hooks,
        SampleAttemptEnd,
        SampleEnd,
        SampleStart,
        TaskStart,
        hooks,
    )
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageSystem,
        ContentText,
        Model,
        ModelOutput,
        get_model,
    )
    from inspect_ai.tool import Tool, ToolCall, ToolChoice, ToolDef, ToolFunction, ToolInfo
except ImportError as error:
    raise MissingExtra(
        "jitrl.integrations.inspect_ai needs inspect-ai: pip install 'jitrl[inspect]'"
    ) from error

_log = logging.getLogger(__name__)

_SAMPLE: ContextVar[SampleStart | None] = ContextVar("jitrl_inspect_sample", default=None)


class InspectGuide(Guide):
    """A memory beside the agents of evaluations; ``guided_model`` makes one.

    Args:
        score: Name of the scorer whose score is the outcome; "": the first that gives a number.
        basis: What that rests on; ``None``: ``llm_judge`` for Inspect's model-graded scorers, else
            ``test``.
        scope: Of all episodes; "": the name of the evaluation's task.
        unforced: Tools that the memory never changes a choice to; handing in the answer, if not
            given.
        options: As for :class:`jitrl.integrations.guide.Guide`.
    """

    def __init__(
        self,
        memory: JitRL | str | os.PathLike[str],
        *,
        score: str = "",
        basis: Basis | None = None,
        scope: str = "",
        unforced: Collection[str] = (SUBMIT,),
        **options: Any,
    ) -> None:
        basis_else = basis or "test"
        super().__init__(memory, scope=scope, basis=basis_else, unforced=unforced, **options)
        self._score, self._basis = score, basis
        self._running: dict[str, GuidedEpisode] = {}
        _GUIDES.add(self)

    async def answer(self, state: AgentState, tools: list[Tool], model: Model) -> ModelOutput:
        """The model's answer to the messages so far, as the memory has it."""
        episode = self._episode()
        if episode is None or not tools:
            return await model.generate(state.messages, tools)
        shown, infos = list(state.messages), [_info(tool) for tool in tools]
        asked = _told(shown, episode.notes(lambda: turn_of(shown, infos, None, "auto")))
        first = await model.generate(asked, tools)
        choice = episode.choose(lambda: turn_of(shown, infos, first, "auto"))
        if not choice.turned:
            return _noted(first, choice)
        forced: ToolChoice = "none" if choice.form is None else ToolFunction(choice.form.tool)
        answer = _noted(first, choice)
        with episode.extra_call(choice) as extra:
            second = await model.generate(asked, tools, tool_choice=forced)
            if extra.answered(() if second.empty else calls_of(second.message)):
                answer = _noted(_filled(second, extra), choice)
        return answer

    async def end(self, uuid: str, sample: Any) -> None:
        """The sample of an episode was scored: learn from it."""
        episode = self._running.pop(uuid, None)
        if episode is None:
            return
        found = outcome_of(sample.scores, self._score)
        status: EpisodeStatus = "terminated"
        if sample.error or sample.limit:
            status = "aborted" if sample.error else "truncated"
        scorer = found[0] if found else "outcome"
        finish = partial(
            episode.finish,
            found[1] if found else None,
            basis=self._basis or basis_of(scorer),
            evaluator=scorer,
            status=status,
        )
        await anyio.to_thread.run_sync(finish)

    def drop(self, uuid: str) -> None:
        """The sample will be tried again: what was done so far is no episode."""
        self._running.pop(uuid, None)

    def _episode(self) -> GuidedEpisode | None:
        """The episode of the sample that runs in this context."""
        sample = _SAMPLE.get()
        if sample is None:
            return None
        uuid = sample.sample_id
        if uuid not in self._running:
            task = _TASKS.get(sample.eval_id, "inspect")
            episode = self.begun(
                task=task_of(task, sample.summary.id),
                scope=self.options.scope or task,
                key=key_of(uuid),
            )
            if episode is None:
                return None
            self._running[uuid] = episode
        return self._running[uuid]


_GUIDES: WeakSet[InspectGuide] = WeakSet()
_TASKS: dict[str, str] = {}
"""Name of the task of each evaluation that runs."""


@agent
def guided_model(
    memory: JitRL | str | os.PathLike[str] | InspectGuide,
    model: str | Model | None = None,
    **options: Any,
) -> Agent:
    """A model for `react(model=…)`: it answers, and the memory may choose another of its tools.

    Args:
        memory: An open memory, the file of one, or a guide that several agents share.
        model: Who answers; ``None``: the model that is evaluated.
        options: As for ``InspectGuide``.
    """
    guide = memory if isinstance(memory, InspectGuide) else InspectGuide(memory, **options)

    async def execute(state: AgentState, tools: list[Tool]) -> AgentState:
        """Answer once.

        Args:
            state: The conversation so far.
            tools: What may be called.
        """
        state.output = await guide.answer(state, tools, get_model(model))
        state.messages.append(state.output.message)
        return state

    return execute


@hooks(name="jitrl", description="Lets a memory learn from samples that were scored.")
class _Scored(Hooks):
    async def on_task_start(self, data: TaskStart) -> None:
        _TASKS[data.eval_id] = data.spec.task

    async def on_sample_start(self, data: SampleStart) -> None:
        _SAMPLE.set(data)

    async def on_sample_attempt_end(self, data: SampleAttemptEnd) -> None:
        for guide in list(_GUIDES) if data.will_retry else ():
            guide.drop(data.sample_id)

    async def on_sample_end(self, data: SampleEnd) -> None:
        for guide in list(_GUIDES):
            await guide.end(data.sample_id, data.sample)


def _info(tool: Tool) -> ToolInfo:
    found = ToolDef(tool)
    return ToolInfo(name=found.name, description=found.description, parameters=found.parameters)


def _told(messages: list[ChatMessage], notes: str) -> list[ChatMessage]:
    """The messages with the rules told at this step at the end of the instructions."""
    if not notes:
        return messages
    if not messages or not isinstance(messages[0], ChatMessageSystem):
        return [ChatMessageSystem(content=notes), *messages]
    whole = with_notes(messages[0].content, notes, ContentText(text=notes))
    return [messages[0].model_copy(update={"content": whole}), *messages[1:]]


def _noted(output: ModelOutput, choice: Choice) -> ModelOutput:
    """The answer with the decision's id in its metadata."""
    if choice.decision and not output.empty:
        output.message.metadata = {**(output.message.metadata or {}), "jitrl": choice.note}
    return output


def _filled(output: ModelOutput, extra: ExtraCall) -> ModelOutput:
    """The answer with one call, of the tool that was chosen."""
    form = extra.choice.form
    if form is not None:
        (chosen, *_) = (c for c in output.message.tool_calls or () if c.function == form.tool)
        arguments = dict(extra.arguments or {})
        output.message.tool_calls = [ToolCall(chosen.id, chosen.function, arguments)]
    return output
