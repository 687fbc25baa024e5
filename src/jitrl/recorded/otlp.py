"""OTLP traces of agents, in the JSON form of files, as recorded runs.

Read are spans that follow the OpenTelemetry conventions for generative AI: `invoke_agent` (a run;
one inside another belongs to the outer one), `chat` (a turn, if it has the messages), else
`execute_tool` (a call), and the event `gen_ai.evaluation.result` (the outcome). A trace without
`invoke_agent` is one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from jitrl.errors import RecordError
from jitrl.integrations.conversation import Message, Role, Turn
from jitrl.integrations.tools import Call, Tool
from jitrl.recorded.turns import SCORER, step_of
from jitrl.stores.line_run import SCHEMA, RunLine, dump
from jitrl.stores.lines import Skipped
from jitrl.types import EpisodeStatus

_ROLES = ("system", "user", "assistant", "tool")
_FAILED = 2  # status code of a span
_OPERATIONS = ("invoke_agent", "execute_tool", "chat")
_PASSED = {"pass": 1.0, "passed": 1.0, "fail": 0.0, "failed": 0.0, "true": 1.0, "false": 0.0}
_KEPT = (
    "gen_ai.agent.name",
    "gen_ai.conversation.id",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.definitions",
    "gen_ai.tool.name",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "jitrl.reward",
)


class _Value(msgspec.Struct, frozen=True, rename="camel"):
    string_value: str | None = None
    int_value: str | int | None = None
    double_value: float | None = None
    bool_value: bool | None = None
    array_value: _Array | None = None
    kvlist_value: _Table | None = None

    def plain(self) -> Any:
        """The value as JSON would write it."""
        if self.array_value is not None:
            return [value.plain() for value in self.array_value.values]
        if self.kvlist_value is not None:
            return {a.key: a.value.plain() for a in self.kvlist_value.values}
        if self.int_value is not None:
            return int(self.int_value)
        for value in (self.string_value, self.double_value, self.bool_value):
            if value is not None:
                return value
        return None


class _Array(msgspec.Struct, frozen=True):
    values: tuple[_Value, ...] = ()


class _Attribute(msgspec.Struct, frozen=True):
    key: str
    value: _Value = _Value()


class _Table(msgspec.Struct, frozen=True):
    values: tuple[_Attribute, ...] = ()


class _Event(msgspec.Struct, frozen=True):
    name: str = ""
    attributes: tuple[_Attribute, ...] = ()


class _Status(msgspec.Struct, frozen=True):
    code: int | str = 0


class _Span(msgspec.Struct, frozen=True, rename="camel"):
    trace_id: str
    span_id: str
    parent_span_id: str = ""
    name: str = ""
    start_time_unix_nano: str | int = 0
    end_time_unix_nano: str | int = 0
    attributes: tuple[_Attribute, ...] = ()
    events: tuple[_Event, ...] = ()
    status: _Status = _Status()


class _Scope(msgspec.Struct, frozen=True):
    spans: tuple[_Span, ...] = ()


class _Resource(msgspec.Struct, frozen=True, rename="camel"):
    scope_spans: tuple[_Scope, ...] = ()


class _Document(msgspec.Struct, frozen=True, rename="camel"):
    resource_spans: tuple[_Resource, ...]


_decode = msgspec.json.Decoder(_Document).decode


@dataclass(slots=True)
class _Seen:
    """What is kept of a span until the file is read: spans come in the order in which they end."""

    id: str
    parent: str
    operation: str
    started: float
    finished: float
    has_failed: bool
    said: dict[str, Any]
    scores: list[tuple[str, float | None]]
    inside: list[_Seen] = field(default_factory=list)


def runs(
    lines: Iterable[bytes],
    left_out: list[Skipped],
    *,
    name: str = "traces",
    scope: str | None = None,
    score: str = "",
    skip_bad: bool = False,
) -> Iterator[bytes]:
    """The runs of a file of traces, as lines of recorded runs; one document a line, or one in all.

    Args:
        left_out: Takes traces without a tool call, and bad lines if they are to be skipped.
        name: Of the file, for messages.
        scope: Of all runs; ``None``: the name of the agent.
        score: Name of the evaluation that is the outcome; "": the first.
        skip_bad: Leave lines out that cannot be read.

    Raises:
        RecordError: With the number of the line, if it is no OTLP.
    """
    traces: dict[str, dict[str, _Seen]] = {}
    for span in _spans(lines, left_out, name, skip_bad):
        traces.setdefault(span.trace_id, {})[span.span_id] = _seen(span)
    for number, (trace, spans) in enumerate(traces.items(), 1):
        roots = _roots(spans)
        for root in roots:
            run = _run(f"otlp/{trace}/{root.id}", root, scope, score)
            if run is None:
                if root.operation == "invoke_agent":
                    left_out.append(Skipped(number, f"trace {trace}: no tool was called"))
            else:
                yield dump(run)


def _spans(
    lines: Iterable[bytes], left_out: list[Skipped], name: str, skip_bad: bool
) -> Iterator[_Span]:
    rest = iter(lines)
    for number, text in enumerate(rest, 1):
        if not text.strip():
            continue
        try:
            try:
                found = _decode(text)
            except msgspec.DecodeError as error:
                if number > 1 or isinstance(error, msgspec.ValidationError):
                    raise
                found = _decode(text + b"".join(rest))  # one document over many lines
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            if not skip_bad:
                raise RecordError(f"{name}:{number}: {error}") from error
            left_out.append(Skipped(number, str(error)))
            continue
        for resource in found.resource_spans:
            for part in resource.scope_spans:
                yield from part.spans


def _seen(span: _Span) -> _Seen:
    said = {a.key: a.value.plain() for a in span.attributes}
    operation = str(said.get("gen_ai.operation.name") or span.name.partition(" ")[0])
    scores = [
        _score({a.key: a.value.plain() for a in event.attributes})
        for event in span.events
        if event.name == "gen_ai.evaluation.result"
    ]
    return _Seen(
        span.span_id,
        span.parent_span_id,
        operation,
        int(span.start_time_unix_nano) / 1e9,
        int(span.end_time_unix_nano) / 1e9,
        span.status.code in (_FAILED, "STATUS_CODE_ERROR"),
        {key: said[key] for key in _KEPT if key in said} if operation in _OPERATIONS else {},
        scores,
    )


def _score(said: Mapping[str, Any]) -> tuple[str, float | None]:
    value = said.get("gen_ai.evaluation.score.value")
    label = str(said.get("gen_ai.evaluation.score.label", "")).lower()
    number = _PASSED.get(label) if value is None else float(value)
    return str(said.get("gen_ai.evaluation.name", "")), number


def _roots(spans: Mapping[str, _Seen]) -> list[_Seen]:
    """The runs of a trace, each with the spans inside it in the order in which they began."""
    roots: dict[str, _Seen] = {}
    for span in sorted(spans.values(), key=lambda s: s.started):
        top, agent, above = span, None, set[str]()
        while True:
            agent = top if top.operation == "invoke_agent" else agent
            above.add(top.id)
            if top.parent not in spans or top.parent in above:
                break
            top = spans[top.parent]
        root = agent or top
        roots.setdefault(root.id, root).inside.append(span)
    agents = [root for root in roots.values() if root.operation == "invoke_agent"]
    if len(agents) == 1:  # then an evaluation elsewhere in the trace is of this run
        inside = {span.id for span in agents[0].inside}
        agents[0].scores += [s for i, span in spans.items() if i not in inside for s in span.scores]
    return list(roots.values())


def _run(key: str, root: _Seen, scope: str | None, score: str) -> RunLine | None:
    turns = list(_chats(root)) or list(_executed(root))
    if not any(turn.calls for turn, _ in turns):
        return None
    asked = _asked(turns[0][0].messages)
    agent = str(root.said.get("gen_ai.agent.name", ""))
    given = [(n, v) for span in root.inside for n, v in span.scores if v is not None]
    named = [(n, v) for n, v in given if not score or n == score]
    status: EpisodeStatus = "aborted" if root.has_failed else "terminated"
    conversation = root.said.get("gen_ai.conversation.id")
    return RunLine(
        SCHEMA,
        key,
        (asked or agent or "traced run")[:1000],
        tuple(step_of(turn, reward) for turn, reward in turns),
        scope=agent if scope is None else scope,
        outcome=named[0][1] if named else None,
        evaluator=(named[0][0] if named else "") or "outcome",
        status=status,
        agent=agent or "traced",
        scorer=SCORER,
        started=root.started,
        finished=root.finished,
        info={"otlp": {"conversation": conversation}} if conversation else {},
    )


_Rewarded = tuple[Turn, float | None]


def _chats(root: _Seen) -> Iterator[_Rewarded]:
    """The turns of a run whose messages were recorded, answers in words included."""
    for span in root.inside:
        if span.operation == "chat" and "gen_ai.output.messages" in span.said:
            shown = _messages(span.said.get("gen_ai.input.messages"))
            answers = _messages(span.said["gen_ai.output.messages"])
            calls = [call for answer in answers for call in answer.calls]
            yield Turn(shown, _tools(span, root), calls), span.said.get("jitrl.reward")


def _executed(root: _Seen) -> Iterator[_Rewarded]:
    """A turn for each tool that was executed, with what is known of the conversation."""
    shown = [m for span in root.inside if (m := _messages(span.said.get("gen_ai.input.messages")))]
    asked = _asked(shown[0]) if shown else ""
    messages = [Message("user", asked)]
    for span in root.inside:
        if span.operation == "execute_tool":
            name = str(span.said.get("gen_ai.tool.name") or "tool")
            call = Call.read(name, span.said.get("gen_ai.tool.call.arguments"))
            turn = Turn(tuple(messages), _tools(span, root), [call])
            yield turn, span.said.get("jitrl.reward")
            messages.append(Message("assistant", calls=(call,)))
            messages.append(Message("tool", _text(span.said.get("gen_ai.tool.call.result"))))


def _tools(span: _Seen, root: _Seen) -> list[Tool]:
    said = "gen_ai.tool.definitions"
    found = _plain(span.said.get(said, root.said.get(said)))
    return [
        Tool(str(tool.get("name")), _plain(tool.get("parameters")) or {})
        for tool in (found if isinstance(found, list) else ())
        if isinstance(tool, Mapping)
    ]


def _asked(messages: Sequence[Message]) -> str:
    """The first thing that the user said."""
    return next((m.text for m in messages if m.role == "user" and m.text), "")


def _messages(value: Any) -> list[Message]:
    """Messages in the form of the conventions, or nearly so."""
    found = _plain(value)
    return [_message(m) for m in (found if isinstance(found, list) else ()) if isinstance(m, dict)]


def _message(said: Mapping[str, Any]) -> Message:
    given = said.get("parts") or said.get("content") or ()
    parts = [given] if isinstance(given, str) else list(given)
    calls = tuple(
        Call.read(str(part.get("name")), part.get("arguments"))
        for part in parts
        if isinstance(part, Mapping) and part.get("type") == "tool_call"
    )
    texts = [
        _text(part.get("response", part.get("result", part)) if isinstance(part, dict) else part)
        for part in parts
        if not (isinstance(part, dict) and part.get("type") == "tool_call")
    ]
    role = str(said.get("role"))
    known: Role = role if role in _ROLES else "user"  # type: ignore[assignment]
    return Message(known, "\n".join(text for text in texts if text), calls)


def _text(value: Any) -> str:
    """What an attribute or a part of a message says, as a text."""
    if isinstance(value, Mapping):
        value = value.get("content", value.get("text", value))
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()


def _plain(value: Any) -> Any:
    """An attribute that may be JSON in a text; ``None`` where it is none."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None
