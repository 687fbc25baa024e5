"""What goals have in common: the pattern of two, and what fits it."""

import time

import pytest

from jitrl.core.patterns import common, filled, fits, values


@pytest.mark.parametrize(
    ("first", "second", "pattern"),
    [
        ("Put order 6395 on hold.", "Put order 7 on hold.", "Put order ... on hold."),
        ("Cancel order 9166.", "Put order 6395 on hold.", "... order ..."),
        ("取消订单 91。", "把订单 7 设为暂停。", "... 订单 ..."),
        (
            'Show "{value 1}", only Tops.',
            'Show "{value 1}", only Hats.',
            'Show "{value 1}", only ...',
        ),
        (
            "Put ... order ... on hold",
            "Put order 8 on hold, please",
            "Put ... order ... on hold ...",
        ),
        ("the same", "the same", "the same"),
    ],
)
def test_the_pattern_of_two_goals_keeps_what_both_say(first, second, pattern):
    assert common(first, second) == pattern
    for goal in (first, second):
        assert "..." in goal or fits(pattern, goal)


@pytest.mark.parametrize(
    ("first", "second"), [("Show me the list", "Cancel it at the end"), ("查看的单", "删除的货")]
)
def test_words_that_say_little_make_no_pattern(first, second):
    assert common(first, second) == ""


def test_parts_of_a_pattern_are_whole_words():
    assert fits("... order ...", "Cancel ORDER 7")
    assert not fits("... order ...", "Show what to reorder")
    assert not fits("... order ...", "List borders of orders")
    assert fits("... 订单 ...", "取消订单7")


def test_a_placeholder_stands_for_one_value_throughout():
    assert values("Move {value 1} to {value 2}", "Move A to B") == {
        "{value 1}": "A",
        "{value 2}": "B",
    }
    assert values("{value 1} and {value 1}", "A and A") == {"{value 1}": "A"}
    assert values("{value 1} and {value 1}", "A and B") is None
    assert filled("{value 1}, {value 2}", {"{value 1}": "A"}) == "A, {value 2}"


def test_characters_of_regular_expressions_stand_for_themselves():
    assert values("What (exactly) costs {value 1}?", "What (exactly) costs A+?") == {
        "{value 1}": "A+"
    }
    assert not fits("a.c", "abc")


def test_what_stands_in_braces_is_no_placeholder_unless_it_is_called_one():
    assert values('call({"id": 1})', 'call({"id": 2})') is None
    assert fits("Set {a1}", "Set {a1}")
    assert not fits("Set {a1}", "Set b")


def test_a_long_goal_takes_no_longer_than_its_length():
    began = time.process_time()
    assert not fits("the ... the ... the ... the zz", "the cat " * 5000)
    assert not fits("a ... a ... a ... a zz", "a " * 5000)
    assert fits("the ... the ... the ... the zz", "the cat " * 5000 + "the zz")
    long = common("Do it. " + "the cat " * 5000, "Do it. " + "the dog " * 5000)
    assert fits(long, "Do it. " + "the cat " * 5000)
    assert time.process_time() - began < 10.0


@pytest.mark.parametrize("between", [" ", ", "])
def test_many_placeholders_take_no_longer_than_few(between):
    """Each on a goal that it does not fit."""
    began = time.process_time()
    for count in (3, 7, 12):
        names = between.join(f"{{value {n}}}" for n in range(1, count + 1))
        goal = between.join(str(n) for n in range(201, 201 + count))
        assert fits(f"Book rooms {names} for tonight", f"Book rooms {goal} for tonight")
        assert not fits(f"Book rooms {names} for tonight", f"Book rooms {goal} for tomorrow")
        assert not fits(f"{names} end", "Put all of these things into the room, one by one")
    assert not fits("{value 1} and {value 2} or {value 1} and {value 2}!", "a and b or " * 40)
    assert time.process_time() - began < 10.0


def test_values_are_parted_where_the_pattern_has_a_blank():
    assert values("Book {value 1} {value 2}", "Book room 7") == {
        "{value 1}": "room",
        "{value 2}": "7",
    }
    assert values("Book {value 1} {value 2}", "Book room") is None


def test_a_later_place_of_a_part_is_found_where_the_first_does_not_do():
    assert fits("... order ... hold", "Put order 7 of order 8 on hold or hold")
    assert values("... {value 1} on hold", "Put 7 off, not on hold, 8 on hold") is not None
