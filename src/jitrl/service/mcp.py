"""An MCP server: an agent's own model asks the memory, by tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeAlias, TypeVar

from jitrl.errors import JitRLError, MissingExtra
from jitrl.service.adviser import (
    Advice,
    Adviser,
    Recalled,
    Recorded,
    Reported,
    Started,
)
from jitrl.service.judging import Judging

try:
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.types import ToolAnnotations
    from pydantic import Field
except ImportError as error:
    raise MissingExtra("jitrl mcp needs the package mcp: pip install 'jitrl[mcp]'") from error

INSTRUCTIONS = """\
A memory of what worked. For each task: call start once. Before each step that could go several \
ways call advise with what you see and all actions you consider, and do what it says unless you \
know better; follow its notes where their condition holds. If you did something else, call record. \
When the task is over, call report, truthfully. Write equal states and equal actions in equal \
words, without names, dates and numbers that change."""

P = ParamSpec("P")
T = TypeVar("T")
Asked: TypeAlias = Context[Any, Any]
"""What a tool is told of the request that called it; no part of what the agent sees."""
Text = Annotated[str, Field(max_length=100_000)]
Key = Annotated[str, Field(description="What start gave back.")]
Seen = Annotated[Text, Field(description="What you see now: the page, the result, the error.")]


_WRITES = ToolAnnotations(destructive_hint=False, open_world_hint=False)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def server(
    adviser: Adviser | Callable[[Asked], Adviser],
    judged: Callable[[Asked, Callable[[], Reported]], Awaitable[Reported]] | None = None,
) -> MCPServer:
    """A server with the five tools; ``run()`` serves them on stdin and stdout.

    Args:
        adviser: Of all who ask, or finds that of a request.
        judged: Runs what may judge an episode, and so take long; ``Judging`` if ``None``.
    """
    judging = Judging()

    def of(asked: Asked) -> Adviser:
        return adviser if isinstance(adviser, Adviser) else adviser(asked)

    made = MCPServer("jitrl", title="JitRL memory", instructions=INSTRUCTIONS, log_level="WARNING")

    def offer(hints: ToolAnnotations) -> Callable[[Callable[P, T]], Callable[P, T]]:
        """Offer a tool; what a caller got wrong is told to it."""

        def offered(tool: Callable[P, T]) -> Callable[P, T]:
            @wraps(tool)
            def told(*args: P.args, **kwargs: P.kwargs) -> T:
                try:
                    return tool(*args, **kwargs)
                except JitRLError as error:
                    raise ToolError(str(error)) from error

            made.add_tool(told, annotations=hints, structured_output=True)
            return told

        return offered

    @offer(_WRITES)
    def start(
        asked: Asked,
        task: Annotated[Text, Field(description="What is to be done, in words.")],
        scope: Annotated[
            Text | None, Field(description="Kind of work; runs learn from others of their scope.")
        ] = None,
        key: Annotated[
            Text | None, Field(description="Name of this very run, never used before.")
        ] = None,
    ) -> Started:
        """Begin a run at a task. Do this once, before its first step."""
        return of(asked).start(task, scope, key)

    @offer(_WRITES)
    def advise(
        asked: Asked,
        episode: Key,
        state: Seen,
        candidates: Annotated[
            dict[str, float] | list[str],
            Field(
                description="All actions you consider: {action: how sure you are, 0 to 100}, or a "
                "list. Short, and in the same words each time.",
                min_length=1,
                max_length=100,
            ),
        ],
        seen: Annotated[
            Text, Field(description="More of what you see, as it is; only people read it.")
        ] = "",
    ) -> Advice:
        """What to do now, given how such steps went before. Counts as a step of the run."""
        return of(asked).advise(episode, state, candidates, seen)

    @offer(_READS)
    def recall(asked: Asked, episode: Key, state: Seen) -> Recalled:
        """What is known of a state, without deciding: actions, how they went, and rules."""
        return of(asked).recall(episode, state)

    @offer(_WRITES)
    def record(
        asked: Asked,
        episode: Key,
        action: Annotated[
            Text | None, Field(description="What you did, if it is not what was advised.")
        ] = None,
        reward: Annotated[
            float | None, Field(description="What this step brought, if that can be said.")
        ] = None,
        state: Annotated[
            Text | None, Field(description="Only for a step that you took without advice.")
        ] = None,
    ) -> Recorded:
        """Write down what you did at the last step, and what it brought."""
        return of(asked).record(episode, action, reward, state)

    async def report(
        asked: Asked,
        episode: Key,
        outcome: Annotated[
            bool | float | None,
            Field(description="true: done, false: not, or a share; null: nobody knows."),
        ] = None,
        status: Annotated[
            Literal["terminated", "truncated"], Field(description="truncated: it was cut off.")
        ] = "terminated",
    ) -> Reported:
        """End a run and say how it ended. Again for a run that is over: correct what you said."""
        try:
            call = partial(of(asked).report, episode, outcome, status)
            return await (judging(call) if judged is None else judged(asked, call))
        except JitRLError as error:
            raise ToolError(str(error)) from error

    made.add_tool(report, annotations=_WRITES, structured_output=True)
    return made
