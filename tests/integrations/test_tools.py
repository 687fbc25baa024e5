"""The action of a tool call is what it does, not what it happens to say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.errors import ConfigError
from jitrl.integrations.tools import ANSWER, Call, Shape, Tool, listed, together

ORDER = {"type": "string", "description": "number of the order"}
HOW = {"type": "string", "enum": ["refund", "resend"]}
SETTLE = Tool(
    "settle",
    {
        "type": "object",
        "properties": {"order_id": ORDER, "how": HOW},
        "required": ["order_id", "how"],
    },
)


def tool(required=(), **properties):
    return Tool("do", {"properties": properties, "required": list(required)})


def actions(of, values=None):
    return list(Shape(of, values).forms())


def test_listed_values_tell_actions_apart_and_everything_else_is_a_type():
    shape = Shape(SETTLE)
    assert list(shape.forms()) == [
        'settle(how="refund", order_id: string)',
        'settle(how="resend", order_id: string)',
    ]
    first, second = ({"how": "refund", "order_id": number} for number in ("A-17", "B-18"))
    assert shape.action(first) == shape.action(second) == next(iter(shape.forms()))
    assert shape.action({**first, "how": "resend"}) != shape.action(first)


def test_the_order_of_arguments_and_those_that_may_be_left_out_do_not_matter():
    note = tool(["a"], a={"type": "string"}, note={"type": "string"})
    shape = Shape(note)
    assert shape.action({"note": "x", "a": "y"}) == shape.action({"a": "z"}) == "do(a: string)"


def test_what_is_left_out_is_its_default_or_an_action_of_its_own():
    assert actions(tool(fast={"type": "boolean", "default": False})) == [
        "do(fast=true)",
        "do(fast=false)",
    ]
    assert Shape(tool(fast={"type": "boolean", "default": False})).action({}) == "do(fast=false)"
    assert actions(tool(fast={"type": "boolean"})) == ["do(fast=true)", "do(fast=false)", "do()"]


def test_a_form_fixes_its_values_and_leaves_the_rest_to_the_model():
    form = Shape(SETTLE).forms()['settle(how="resend", order_id: string)']
    assert form.filled({"order_id": "A-17", "how": "refund"}) == {
        "order_id": "A-17",
        "how": "resend",
    }
    without = Shape(tool(unit={"enum": ["c", "f"]}, place={"type": "string"})).forms()["do()"]
    assert without.filled({"unit": "c", "place": "Rome"}) == {"place": "Rome"}


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "integer"}, "do(x: integer)"),
        ({"type": ["string", "null"]}, "do(x: string)"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "do(x: number)"),
        ({"type": "array", "items": {"type": "string"}}, "do(x: array)"),
        ({"enum": [["a"], ["b"]]}, "do(x: any)"),
        ({"$ref": "#/nowhere"}, "do(x: any)"),
        ({}, "do(x: any)"),
        (True, "do(x: any)"),
    ],
)
def test_an_argument_without_listed_values_is_its_type(schema, shown):
    assert actions(tool(["x"], x=schema)) == [shown]


def test_values_behind_a_reference_or_an_alternative_are_found():
    schema = {
        "properties": {
            "how": {"anyOf": [{"$ref": "#/$defs/How"}, {"type": "null"}], "default": None}
        },
        "$defs": {"How": HOW},
    }
    assert actions(Tool("do", schema)) == ['do(how="refund")', 'do(how="resend")', "do(how=null)"]


def test_a_schema_that_refers_to_itself_ends():
    loop = {"properties": {"x": {"$ref": "#/$defs/A"}}, "required": ["x"]}
    loop["$defs"] = {
        "A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
        "B": {"$ref": "#/$defs/B"},
    }
    assert len(actions(Tool("do", loop))) == 1


def test_a_tool_with_very_many_values_keeps_the_types_of_its_widest_argument():
    wide = {"type": "string", "enum": [f"v{n}" for n in range(40)]}
    assert actions(tool(["a", "b"], a=wide, b={"type": "boolean"})) == [
        "do(a: string, b=true)",
        "do(a: string, b=false)",
    ]


def test_values_of_the_users_own_make_an_open_argument_part_of_the_action():
    page = tool(["name"], name={"type": "string"})
    assert actions(page, {"name": ["refunds", "tracking"]}) == [
        'do(name="refunds")',
        'do(name="tracking")',
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [("Men's Shirts", "Women's Hats"), ("x, y", "x"), ('a"', "a"), ("[b]", "b"), ("\\", "\\\\")],
)
def test_quotation_marks_commas_and_brackets_stay_in_their_value(one, other):
    link = tool(["label"], label={"type": "string", "enum": [one, other]})
    assert len(actions(link)) == 2
    form = Shape(link).forms()[Shape(link).action({"label": one})]
    assert form.filled({}) == {"label": one}


@given(st.lists(st.text(max_size=9), min_size=2, max_size=9, unique=True))
def test_different_values_are_different_actions_and_lead_back_to_themselves(values):
    shape = Shape(tool(["x"], x={"enum": values}))
    assert [form.filled({}) for form in shape.forms().values()] == [{"x": v} for v in values]


def test_other_scripts_are_written_as_they_are():
    assert actions(tool(["x"], x={"const": "退款"})) == ['do(x="退款")']


def test_a_value_that_is_not_listed_is_an_action_of_its_own():
    assert Shape(SETTLE).action({"how": "gift"}) == 'settle(how="gift", order_id: string)'


def test_a_tool_without_a_schema_is_shaped_by_what_it_is_given():
    given = {"n": 1, "s": "x", "b": True, "l": [1], "o": {}, "z": None}
    assert Shape(Tool("do")).action(given) == (
        "do(b: boolean, l: array, n: number, o: object, s: string, z: null)"
    )


def test_arguments_come_as_text_and_need_not_be_json():
    assert Call.read("do", '{"a": 1}') == Call("do", {"a": 1})
    assert Call.read("do", "") == Call("do", {})
    assert Call.read("do", "{oops") == Call("do", "{oops")
    assert Call.read("do", "[1]") == Call("do", "[1]")
    assert Shape(SETTLE).action("{oops") == "settle(unreadable)"


def test_several_calls_are_one_action_in_any_order():
    assert together(["b()", "a()"]) == together(["a()", "b()"]) == "a() + b()"
    assert together([]) == ANSWER


@pytest.mark.parametrize(
    "values", [[], {"do": 1}, {"do": {"x": "ab"}}, {"do": {"x": []}}, {"do": {"x": [{}]}}]
)
def test_values_of_another_form_are_refused(values):
    with pytest.raises(ConfigError, match="values"):
        listed(values)
