"""What was read, and what it asks to do with a thing."""

import pytest

from jitrl.core.features import SiteMap, Situation, features
from jitrl.core.readings import asked, fault, read_before, readings
from jitrl.types import State

NOWHERE = SiteMap({}, {})
RECIPE = "Ingredients:\n  red onion\n  salt\n\nDirections:\n  fry the red onion\n  prepare meal"


def seen(actions, read, kind="words"):
    step = Situation("Cook.", State("a room"), "", actions, (), read=read)
    return dict(zip(actions, features(kind, step, NOWHERE, lambda token: 0.0), strict=True))


def test_what_a_step_reads_is_known_from_the_next_step_on_and_once():
    readings = [[2, "first"], [4, "second"], [5, "first"]]
    assert [read_before(readings, step) for step in (2, 3, 4, 5, 6)] == [
        "",
        "first",
        "first",
        "first\nsecond",
        "first\nsecond",
    ]


@pytest.mark.parametrize(
    "found",
    [
        5,
        "abc",
        None,
        {"a": 1},
        [1],
        [[0]],
        [["x", "y"]],
        [[99, "y"]],
        [[-1, "y"]],
        [[0, None]],
        [[0, {"a": 1}]],
        [[True, "y"]],
        [[0.5, "y"]],
        [[[1], "y"]],
        [[0, "y", "z"]],
    ],
)
def test_what_is_no_reading_is_left_out_and_told_with_the_form_it_needs(found):
    said = fault({"readings": found}, 3)
    assert said.startswith("info.readings")
    assert said.endswith("; it must be [[step, text], …] with steps from 0 to 2")
    assert readings({"readings": found}, 3) == []
    if isinstance(found, list):
        both = {"readings": [[2, "kept"], *found]}
        assert fault(both, 3).startswith(f"info.readings[1] is {found[0]!r}")
        assert readings(both, 3) == [(2, "kept")]


def test_readings_and_no_readings_have_no_fault():
    assert fault({}, 0) == fault({"readings": []}, 0) == fault({"readings": [[2, "x"]]}, 3) == ""


def test_of_a_thing_is_asked_what_stands_before_its_name():
    assert asked(RECIPE, "red onion") == ("", "fry")
    assert asked(RECIPE, "Red Onion") == ("", "fry")
    assert asked(RECIPE, "meal") == ("prepare",)
    assert asked("take a salt shaker", "salt") == ("take",)


def test_parts_of_words_and_things_that_were_not_read_of_are_asked_nothing():
    assert asked(RECIPE, "oni") == asked(RECIPE, "pear") == asked(RECIPE, "") == ()
    assert asked("fry the\nred onion", "the red onion") == ()


def test_actions_on_what_was_read_of_are_told_from_those_on_other_things():
    found = seen(["take red onion", "take pear"], RECIPE)
    assert found["take red onion"]["read", "take"] == 1.0
    assert found["take pear"] == seen(["take red onion", "take pear"], "")["take pear"]


def test_what_was_read_of_one_thing_holds_of_another():
    onion = seen(["cook red onion in stove"], RECIPE)["cook red onion in stove"]
    pear = seen(["cook pear in stove"], "fry the pear")["cook pear in stove"]
    shared = ("asked", "fry", "cook stove")
    assert shared in onion
    assert shared in pear
    assert ("listed", "cook stove") in onion
    assert ("listed", "cook stove") not in pear


def test_only_an_action_in_the_words_that_were_read_is_as_read():
    found = seen(["dice leek", "chop leek"], "dice the leek")
    assert found["dice leek"]["as read",] > 0.0
    assert ("as read",) not in found["chop leek"]


def test_pages_are_read_of_as_well():
    [f] = seen(["click(<link[Reviews]>)"], "open Reviews", kind="page").values()
    assert f["asked", "open", "click"] == 1.0


def test_without_any_reading_the_features_are_those_of_a_game_without_books():
    kinds = {"read", "asked", "listed", "as read"}
    for f in seen(["take red onion", "read cookbook"], "").values():
        assert not kinds & {name[0] for name in f}
