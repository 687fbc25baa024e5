"""The state of a turn is what is stable about it."""

import pytest

from jitrl.integrations.conversation import Message, masked, state_of
from jitrl.integrations.tools import Call
from jitrl.types import State


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Where is order 4711?", "Where is order 4712?"),
        ("A-1023 is late", "B-77 is late"),
        ("at 2026-12-01T10:00:00Z", "at 2026-11-30 09:59:12"),
        ("ann@example.org asks", "bob.b@mail.example.org asks"),
        (
            "trace 6f1c2f3e-0000-4000-8000-00000000000a",
            "trace 01234567-89ab-4cde-8f01-23456789abcd",
        ),
        ("commit 84e2c3f4a1", "commit 9ef00d4b77"),
        ("costs 129.90", "costs 1049.00"),
    ],
)
def test_what_changes_at_each_visit_is_masked(one, other):
    assert masked(one) == masked(other) != one


@pytest.mark.parametrize(
    "text", ["3 failed, 12 passed", "python3 -m pytest", "退款到银行卡", "utf8", "page 2 of 9", ""]
)
def test_what_says_something_stays(text):
    assert masked(text) == text


def test_a_turn_is_the_task_what_came_last_and_the_tools_used_so_far():
    messages = [
        Message("system", "You help."),
        Message("user", "Where is order 4711?"),
        Message("assistant", "", (Call("get_order"), Call("get_user"))),
        Message("tool", "lost"),
        Message("tool", "a customer for 3 years"),
    ]
    assert state_of(messages) == State(
        "lost\na customer for 3 years", "Where is order <id>?", "stage: get_order, get_user"
    )
    assert state_of(messages[:2]) == State("", "Where is order <id>?", "stage: start")


def test_the_stage_is_which_tools_were_used_in_whatever_order_and_however_often():
    asked, seen = Message("user", "Go"), Message("tool", "a room")
    orders = (("look", "go"), ("go", "look", "go"))
    one, other = (
        state_of([asked, *(Message("assistant", "", (Call(t),)) for t in tools), seen])
        for tools in orders
    )
    assert one == other


def test_what_the_model_said_between_two_results_does_not_matter():
    asked = Message("user", "Go")
    one = [asked, Message("assistant", "Let me see.", (Call("look"),)), Message("tool", "a room")]
    other = [asked, Message("assistant", "Hm!", (Call("look"),)), Message("tool", "a room")]
    assert state_of(one) == state_of(other)


def test_a_long_result_is_cut():
    messages = [Message("assistant", "", (Call("read"),)), Message("tool", "word " * 100_000)]
    assert len(state_of(messages).text) == 4000
