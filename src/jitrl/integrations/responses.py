"""The Responses API of OpenAI, and others like it: turns in requests, choices in answers.

Requests and answers are the mappings that JSON gives; client and proxy share this module. A request
that goes on from an answer which the provider keeps (``previous_response_id``) shows its newest
words alone; what came before is known where the episode has seen it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.conversation import Message, Role, Turn
from jitrl.integrations.interface import Answers, Json, summed
from jitrl.integrations.tools import Call, Tool

SAID = "input"
"""Where a request has its messages."""

_DECIDED = frozenset({"function_call", "message", "reasoning"})
_COUNTED = ("input_tokens", "output_tokens", "total_tokens")


def is_open(request: Json) -> bool:
    """Whether a request leaves something to choose, and may be made once more.

    What is written into a ``conversation`` of the provider's cannot be taken back, and an answer in
    the background is not there yet.
    """
    free = request.get("tool_choice") in (None, "auto", "required")
    once = request.get("conversation") or request.get("background")
    return free and bool(_tools(request)) and not once


def messages(request: Json) -> list[Message]:
    """What a request says, oldest first, without what it goes on from."""
    said = request.get("input")
    if isinstance(said, str):
        return [Message("user", said)]
    items = said if isinstance(said, list | tuple) else []
    return [message(item) for item in items]


def turn(request: Json, answer: Json, seen: Answers) -> Turn | None:
    """The turn that a request and its answer make.

    ``None`` if the answer is not whole, did something that is no call of a function, or goes on
    from one that is not known, without a word of the user.
    """
    output = answer.get("output")
    if answer.get("status") not in (None, "completed") or not output or not is_plain(output):
        return None
    open_turn = asked(request, seen)
    return None if open_turn is None else replace(open_turn, calls=calls_in(output))


def asked(request: Json, seen: Answers) -> Turn | None:
    """The turn that a request makes, as long as it is not answered; ``None`` as for ``turn``."""
    said = messages(request)
    before = request.get("previous_response_id")
    if before and before not in seen and all(m.role != "user" for m in said):
        return None
    return Turn(
        [*seen.get(before or "", ()), *said],
        [Tool(tool["name"], tool.get("parameters") or {}) for tool in _tools(request)],
        can_answer=request.get("tool_choice") != "required",
    )


def takes_notes(request: Json) -> bool:
    """Whether its instructions, if it has any, are a text."""
    return request.get("instructions") is None or isinstance(request["instructions"], str)


def told(request: Json, notes: str) -> dict[str, Any]:
    """The request with ``notes`` at the end of its instructions."""
    own = request.get("instructions")
    return {**request, "instructions": f"{own}\n\n{notes}" if own and own.strip() else notes}


def see(seen: Answers, request: Json, answer: Json) -> None:
    """Note what was said up to an answer, for a request that goes on from it."""
    if id := answer.get("id"):
        before = seen.get(request.get("previous_response_id") or "", ())
        said = Message("assistant", "", tuple(calls(answer)))
        seen[id] = (*before, *messages(request), said)


def whole(request: Json) -> dict[str, Any]:
    """The request for an answer that is not streamed, as it can be decided only whole."""
    return {k: v for k, v in request.items() if k not in ("stream", "stream_options")}


def forced(request: Json, choice: Choice) -> dict[str, Any]:
    """The request again, for the action that the memory chose."""
    changed = whole(request)
    if choice.form is None:
        changed.pop("parallel_tool_calls", None)
        return {**changed, "tool_choice": "none"}
    named = {"type": "function", "name": choice.form.tool}
    return {**changed, "tool_choice": named, "parallel_tool_calls": False}


def calls(answer: Json) -> list[Call]:
    """What an answer calls; nothing if it cannot be read."""
    output = answer.get("output") if isinstance(answer, Mapping) else None
    return calls_in(output) if isinstance(output, list) else []


def merged(first: Json, second: Json, extra: ExtraCall) -> dict[str, Any]:
    """The second answer with one call of the chosen tool; the usage is that of both."""
    made = {**second, "output": list(_kept(second["output"], extra))}
    if isinstance(first.get("usage"), Mapping) and isinstance(second.get("usage"), Mapping):
        both = summed(first["usage"], second["usage"], _COUNTED)
        made["usage"] = {**second["usage"], **both}
    return made


def streamed(answer: Json, request: Json) -> Iterator[dict[str, Any]]:
    """A whole answer as the events of a stream; each item in one piece."""
    for number, event in enumerate(_events(answer)):
        yield {**event, "sequence_number": number}


def written(answer: Json, request: Json) -> str:
    """The events as a server sends them."""
    lines = (
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
        for event in streamed(answer, request)
    )
    return "".join(lines)


# --- items, which may be mappings or objects of the client ---------------------------------------


def is_plain(output: Sequence[Any]) -> bool:
    """Whether an output has words and calls of functions alone."""
    return all(get(item, "type") in _DECIDED for item in output)


def message(item: Any) -> Message:
    """One item of an input."""
    kind = get(item, "type") or "message"
    if kind == "function_call":
        return Message("assistant", "", (Call.read(get(item, "name"), get(item, "arguments")),))
    if kind == "function_call_output":
        return Message("tool", _text(get(item, "output")))
    role = get(item, "role") if kind == "message" else "assistant"
    said: Role = "system" if role == "developer" else cast(Role, role)
    return Message(said, _text(get(item, "content")))


def calls_in(output: Iterable[Any]) -> list[Call]:
    """What the items of an output call."""
    made = [item for item in output if get(item, "type") == "function_call"]
    return [Call.read(get(call, "name"), get(call, "arguments")) for call in made]


def get(item: Any, name: str) -> Any:
    """A value of an item; ``None`` if it has none."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def _kept(output: Iterable[Json], extra: ExtraCall) -> Iterator[Json]:
    """The items, with one call of the chosen tool as it is to be used."""
    form, is_there = extra.choice.form, False
    for item in output:
        if form is not None and item.get("type") == "function_call":
            if item.get("name") != form.tool or is_there:
                continue
            is_there = True
            if Call.read(form.tool, item.get("arguments")).arguments != extra.arguments:
                item = {**item, "arguments": json.dumps(extra.arguments, ensure_ascii=False)}
        yield item


def _tools(request: Json) -> list[Json]:
    """Functions that may be forced; one whose loading is deferred may not."""
    tools = request.get("tools")
    offered = tools if isinstance(tools, Iterable) else ()
    found = (tool for tool in offered if isinstance(tool, Mapping))
    return [
        tool
        for tool in found
        if tool.get("type") == "function" and tool.get("name") and not tool.get("defer_loading")
    ]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else []
    return "\n".join(str(get(part, "text")) for part in parts if get(part, "text"))


def _events(answer: Json) -> Iterator[dict[str, Any]]:
    status = answer.get("status") or "completed"
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    for kind in ("created", "in_progress"):
        yield {"type": f"response.{kind}", "response": begun}
    for index, item in enumerate(answer.get("output") or ()):
        yield from _item_events(item, {"output_index": index})
    yield {"type": f"response.{status}", "response": answer}


def _item_events(item: Json, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    about = {**at, "item_id": item.get("id", "")}
    if item.get("type") == "function_call":
        begun = {**item, "arguments": "", "status": "in_progress"}
        yield {"type": "response.output_item.added", **at, "item": begun}
        kind, arguments = "response.function_call_arguments", item.get("arguments", "")
        yield {"type": f"{kind}.delta", **about, "delta": arguments}
        yield {"type": f"{kind}.done", **about, "name": item.get("name"), "arguments": arguments}
    elif item.get("type") == "message":
        begun = {**item, "content": [], "status": "in_progress"}
        yield {"type": "response.output_item.added", **at, "item": begun}
        for number, part in enumerate(item.get("content") or ()):
            yield from _part_events(part, {**about, "content_index": number})
    else:
        yield {"type": "response.output_item.added", **at, "item": item}
    yield {"type": "response.output_item.done", **at, "item": item}


def _part_events(part: Json, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    field, kind = ("text", "output_text") if "text" in part else ("refusal", "refusal")
    said = part.get(field, "")
    logs = {"logprobs": part.get("logprobs") or []} if field == "text" else {}
    yield {"type": "response.content_part.added", **at, "part": {**part, field: ""}}
    yield {"type": f"response.{kind}.delta", **at, "delta": said, **logs}
    yield {"type": f"response.{kind}.done", **at, field: said, **logs}
    yield {"type": "response.content_part.done", **at, "part": part}
