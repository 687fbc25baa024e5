"""Traces of agents, as a collector writes them into a file, become runs to learn from."""

import json
from typing import Any

import msgspec
import pytest

from jitrl.errors import RecordError
from jitrl.recorded import otlp
from jitrl.stores.lines import Skipped


def value(of: Any) -> dict[str, Any]:
    match of:
        case bool():
            return {"boolValue": of}
        case int():
            return {"intValue": str(of)}  # as JSON of protobuf writes it
        case float():
            return {"doubleValue": of}
        case str():
            return {"stringValue": of}
        case dict():
            return {"kvlistValue": {"values": attributes(of)}}
        case _:
            return {"arrayValue": {"values": [value(item) for item in of]}}


def attributes(of: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value(item)} for key, item in of.items()]


def span(
    id: str, operation: str, parent: str = "", at: int = 0, trace: str = "t1", **said: Any
) -> dict[str, Any]:
    named = {f"gen_ai.{key.replace('__', '.')}": item for key, item in said.items()}
    return {
        "traceId": trace,
        "spanId": id,
        "parentSpanId": parent,
        "name": f"{operation} x",
        "startTimeUnixNano": str(at * 10**9),
        "endTimeUnixNano": str((at + 1) * 10**9),
        "attributes": attributes({"gen_ai.operation.name": operation} | named),
    }


def score(number: float | None = None, label: str = "", name: str = "solved") -> dict[str, Any]:
    said: dict[str, Any] = {"gen_ai.evaluation.name": name}
    if number is not None:
        said["gen_ai.evaluation.score.value"] = number
    if label:
        said["gen_ai.evaluation.score.label"] = label
    return {"name": "gen_ai.evaluation.result", "attributes": attributes(said)}


def document(*spans: dict[str, Any]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()


def read(*lines: bytes, **options: Any) -> tuple[list[dict[str, Any]], list[Skipped]]:
    left_out: list[Skipped] = []
    found = [msgspec.json.decode(line) for line in otlp.runs(lines, left_out, **options)]
    return found, left_out


ASKED = json.dumps(
    [
        {"role": "system", "parts": [{"type": "text", "content": "You are a desk."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Refund order 7"}]},
    ]
)
AGENT = span("a", "invoke_agent", at=1, agent__name="desk", conversation__id="c9")
CHAT = span("b", "chat", "a", at=2, input__messages=ASKED)
LOOK = span(
    "c",
    "execute_tool",
    "b",
    at=3,
    tool__name="look_up",
    tool__call__arguments='{"order": 7}',
    tool__call__result="damaged",
)
REFUND = span(
    "d",
    "execute_tool",
    "a",
    at=5,
    tool__name="refund",
    tool__call__arguments={"order": 7, "why": "damaged"},
)


def test_an_agent_span_is_a_run_and_its_tool_calls_are_the_steps_in_order() -> None:
    # Spans are written when they end, so the outer one comes last; a batch may split a trace.
    ((run,), left_out) = read(document(REFUND, CHAT), document(LOOK, AGENT))
    assert left_out == []
    assert (run["key"], run["task"], run["scope"]) == ("otlp/t1/a", "Refund order 7", "desk")
    assert [step["action"] for step in run["steps"]] == [
        "look_up(order: number)",
        "refund(order: number, why: string)",
    ]
    first, second = (step["state"] for step in run["steps"])
    assert first == {"text": "", "context": "Refund order 7", "place": "stage: start"}
    assert second == {"text": "damaged", "context": "Refund order 7", "place": "stage: look_up"}
    assert (run["started"], run["finished"]) == (1.0, 2.0)
    assert "outcome" not in run
    assert run["info"] == {"otlp": {"conversation": "c9"}}


def test_turns_whose_messages_were_recorded_are_the_steps_answers_in_words_included() -> None:
    tools = [
        {
            "type": "function",
            "name": "settle",
            "parameters": {
                "properties": {"how": {"enum": ["refund", "resend"]}},
                "required": ["how"],
            },
        }
    ]
    call = {"type": "tool_call", "id": "1", "name": "settle", "arguments": {"how": "refund"}}
    shown = [
        {"role": "user", "parts": [{"type": "text", "content": "Refund order 7"}]},
        {"role": "assistant", "parts": [call]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "done"}]},
    ]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "It is refunded."}]}]
    first = span(
        "b",
        "chat",
        "a",
        at=2,
        input__messages=json.dumps(shown[:1]),
        output__messages=json.dumps([{"role": "assistant", "parts": [call]}]),
        tool__definitions=json.dumps(tools),
    )
    second = span(
        "e",
        "chat",
        "a",
        at=4,
        input__messages=shown,
        output__messages=said,
        tool__definitions=tools,
    )
    ((run,), _) = read(document(AGENT, first, LOOK, second))
    refund, answer = run["steps"]
    assert (refund["action"], answer["action"]) == ('settle(how="refund")', "answer")
    assert list(refund["candidates"]) == ['settle(how="refund")', 'settle(how="resend")', "answer"]
    assert answer["state"] == {
        "text": "done",
        "context": "Refund order 7",
        "place": "stage: settle",
    }
    assert run["scorer"] == "single"


@pytest.mark.parametrize(
    ("events", "wanted", "outcome", "evaluator"),
    [
        ([score(0.5)], "", 0.5, "solved"),
        ([score(1)], "", 1.0, "solved"),
        ([score(label="pass")], "", 1.0, "solved"),
        ([score(label="Fail")], "", 0.0, "solved"),
        ([score(label="odd"), score(0.25, name="tests")], "", 0.25, "tests"),
        ([score(0.5), score(0.25, name="tests")], "tests", 0.25, "tests"),
        ([score(0.5)], "tests", None, None),
    ],
)
def test_an_evaluation_is_the_outcome(
    events: list[dict[str, Any]], wanted: str, outcome: float | None, evaluator: str | None
) -> None:
    ((run,), _) = read(document(AGENT | {"events": events}, LOOK, CHAT), score=wanted)
    assert (run.get("outcome"), run.get("evaluator")) == (outcome, evaluator)


def test_an_evaluation_beside_the_only_agent_of_a_trace_is_its_outcome() -> None:
    beside = span("z", "evaluate", at=9) | {"events": [score(1.0)]}
    ((run,), _) = read(document(AGENT, CHAT, LOOK, beside))
    assert run["outcome"] == 1.0
    other = span("q", "invoke_agent", at=9)
    ((run,), left_out) = read(document(AGENT, CHAT, LOOK, other, beside))
    assert "outcome" not in run
    assert [skipped.reason for skipped in left_out] == ["trace t1: no tool was called"]


def test_an_agent_inside_another_belongs_to_the_outer_one() -> None:
    inner = span("i", "invoke_agent", "a", at=3)
    ((run,), _) = read(document(AGENT, CHAT, inner, LOOK | {"parentSpanId": "i"}))
    assert run["key"] == "otlp/t1/a"
    assert len(run["steps"]) == 1


def test_traces_are_kept_apart_and_one_without_an_agent_is_a_run_too() -> None:
    alone = span("c", "execute_tool", trace="t2", tool__name="look_up")
    runs, _ = read(document(alone, AGENT, LOOK, CHAT))
    assert [run["key"] for run in runs] == ["otlp/t2/c", "otlp/t1/a"]
    assert runs[0]["steps"] == [
        {"state": {"text": "", "place": "stage: start"}, "action": "look_up()"}
    ]


def test_a_failed_agent_is_an_aborted_run() -> None:
    for code in (2, "STATUS_CODE_ERROR"):
        ((run,), _) = read(document(AGENT | {"status": {"code": code}}, LOOK, CHAT))
        assert run["status"] == "aborted"


def test_parents_in_a_ring_do_not_hang_it() -> None:
    one = span("x", "execute_tool", "y", tool__name="a")
    two = span("y", "execute_tool", "x", at=1, tool__name="b")
    runs, _ = read(document(one, two))
    assert sum(len(run["steps"]) for run in runs) == 2


def test_one_document_may_be_written_over_many_lines() -> None:
    pretty = json.dumps(json.loads(document(AGENT, CHAT, LOOK)), indent=2).encode()
    ((run,), _) = read(*pretty.splitlines(keepends=True))
    assert run["key"] == "otlp/t1/a"


def test_a_line_that_is_no_trace_is_named() -> None:
    good = document(AGENT, CHAT, LOOK)
    for bad in (b"{}", b'{"resourceSpans": 3}', b"{nonsense"):
        with pytest.raises(RecordError, match=r"^traces:2: "):
            read(good, bad)
        runs, left_out = read(good, bad, skip_bad=True)
        assert len(runs) == len(left_out) == 1
        assert left_out[0].line == 2


def test_the_scope_may_be_given() -> None:
    ((run,), _) = read(document(AGENT, CHAT, LOOK), scope="support")
    assert run["scope"] == "support"
