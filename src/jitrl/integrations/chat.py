"""Chat completions, as OpenAI and many others speak them: turns in requests, choices in answers.

Requests and answers are the mappings that JSON gives; client and proxy share this module.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from jitrl.integrations.choice import Choice, ExtraCall
from jitrl.integrations.conversation import Message, Role, Turn, with_notes
from jitrl.integrations.interface import Answers, Json, summed
from jitrl.integrations.tools import Call, Tool

SAID = "messages"
"""Where a request has its messages."""

_ROLES = {"developer": "system", "function": "tool"}
_COUNTED = ("prompt_tokens", "completion_tokens", "total_tokens")


def is_open(request: Json) -> bool:
    """Whether a request leaves something to choose: tools, and one answer."""
    free = request.get("tool_choice") in (None, "auto", "required")
    return free and bool(_tools(request)) and request.get("n") in (None, 1)


def messages(request: Json) -> list[Message]:
    """What a request says, oldest first."""
    return [_message(message) for message in request.get("messages") or ()]


def turn(request: Json, answer: Json, seen: Answers) -> Turn | None:
    """The turn that a request and its answer make; ``None`` if the answer cannot be read."""
    said = message_of(answer)
    return None if said is None else replace(asked(request, seen), calls=_calls(said))


def asked(request: Json, seen: Answers) -> Turn:
    """The turn that a request makes, as long as it is not answered."""
    return Turn(
        messages(request),
        [Tool(tool["name"], tool.get("parameters") or {}) for tool in _tools(request)],
        can_answer=request.get("tool_choice") != "required",
    )


def takes_notes(request: Json) -> bool:
    """Whether it has messages, and the first, if it instructs, is a text or parts of one."""
    said = request.get("messages")
    if not (isinstance(said, list | tuple) and said):
        return False
    if not all(isinstance(one, Mapping) and isinstance(one.get("role"), str) for one in said):
        return False
    instructs = said[0]["role"] in ("system", "developer")
    own = said[0].get("content") if instructs else None
    return own is None or isinstance(own, str | list | tuple)


def told(request: Json, notes: str) -> dict[str, Any]:
    """The request with ``notes`` at the end of its instructions."""
    said = list(request.get("messages") or ())
    if not said or said[0]["role"] not in ("system", "developer"):
        return {**request, "messages": [{"role": "system", "content": notes}, *said]}
    whole = with_notes(said[0].get("content") or "", notes, {"type": "text", "text": notes})
    return {**request, "messages": [{**said[0], "content": whole}, *said[1:]]}


def see(seen: Answers, request: Json, answer: Json) -> None:
    """Nothing is to be noted: each request says all that came before."""


def whole(request: Json) -> dict[str, Any]:
    """The request for an answer that is not streamed, as it can be decided only whole."""
    return {k: v for k, v in request.items() if k not in ("stream", "stream_options")}


def forced(request: Json, choice: Choice) -> dict[str, Any]:
    """The request again, for the action that the memory chose."""
    changed = whole(request)
    if choice.form is None:
        changed.pop("parallel_tool_calls", None)
        return {**changed, "tool_choice": "none"}
    named = {"type": "function", "function": {"name": choice.form.tool}}
    return {**changed, "tool_choice": named, "parallel_tool_calls": False}


def calls(answer: Json) -> list[Call]:
    """What an answer calls; nothing if it cannot be read."""
    said = message_of(answer)
    return _calls(said) if said is not None else []


def merged(first: Json, second: Json, extra: ExtraCall) -> dict[str, Any]:
    """The second answer with one call of the chosen tool; the usage is that of both."""
    form, said = extra.choice.form, dict(message_of(second) or {})
    choice = dict(second["choices"][0])
    if form is not None:
        whole = next(
            call for call in said["tool_calls"] if call.get("function", {}).get("name") == form.tool
        )
        function = whole["function"]
        if Call.read(form.tool, function.get("arguments")).arguments != extra.arguments:
            written = json.dumps(extra.arguments, ensure_ascii=False)
            function = {**function, "arguments": written}
        said["tool_calls"] = [{**whole, "function": function}]
        choice["finish_reason"] = "tool_calls"  # providers say "stop" of a forced call
    made = {**second, "choices": [{**choice, "message": said}]}
    if isinstance(first.get("usage"), Mapping) and isinstance(second.get("usage"), Mapping):
        both = summed(first["usage"], second["usage"], _COUNTED)
        made["usage"] = {**second["usage"], **both}
    return made


def message_of(answer: Json) -> Json | None:
    """The message of an answer."""
    choices = answer.get("choices") if isinstance(answer, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    said = first.get("message") if isinstance(first, Mapping) else None
    return said if isinstance(said, Mapping) else None


def streamed(answer: Json, request: Json) -> Iterator[dict[str, Any]]:
    """A whole answer as the chunks of a stream: one for the message, one for its end.

    A last one says the usage, if the request asks for it.
    """
    head = {k: answer[k] for k in ("id", "created", "model", "system_fingerprint") if k in answer}
    head["object"] = "chat.completion.chunk"
    said = dict(message_of(answer) or {})
    if said.get("tool_calls"):
        said["tool_calls"] = [{"index": i, **call} for i, call in enumerate(said["tool_calls"])]
    choice = next(iter(answer.get("choices") or ()), None)
    if not isinstance(choice, Mapping):  # no answer to be read; the client gets what there is
        yield {**answer, **head, "choices": []}
        return
    reason = choice.get("finish_reason")
    more = {k: v for k, v in choice.items() if k not in ("message", "finish_reason") and v}
    delta = {k: v for k, v in said.items() if v is not None}
    yield {**head, "choices": [{**more, "index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage = (request.get("stream_options") or {}).get("include_usage")
    if usage and answer.get("usage"):
        yield {**head, "choices": [], "usage": answer["usage"]}


def written(answer: Json, request: Json) -> str:
    """The chunks as a server sends them."""
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in streamed(answer, request)]
    return "".join([*lines, "data: [DONE]\n\n"])


def _tools(request: Json) -> list[Json]:
    tools = request.get("tools")
    offered = tools if isinstance(tools, Iterable) else ()
    found = (tool.get("function") for tool in offered if isinstance(tool, Mapping))
    return [tool for tool in found if isinstance(tool, Mapping) and tool.get("name")]


def _calls(said: Json) -> list[Call]:
    made = said.get("tool_calls") or ()
    functions = [call.get("function") or call.get("custom") or {} for call in made]
    return [Call.read(f.get("name") or "", f.get("arguments", f.get("input"))) for f in functions]


def _message(said: Json) -> Message:
    role = cast(Role, _ROLES.get(said["role"], said["role"]))
    return Message(role, _text(said.get("content")), tuple(_calls(said)))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else []
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
