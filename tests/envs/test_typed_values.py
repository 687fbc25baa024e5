"""What may be typed: values from goals, and how fields want them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jitrl.envs.browser.fields import fitting, quoted_values
from jitrl.envs.browser.verbs import VERBS, checked
from jitrl.errors import InputError


@pytest.mark.parametrize(
    ("goal", "values"),
    [
        ('Enter "Tom" and "a, b".', ("Tom", "a, b")),
        ("Enter 'Tom's hat' in the customer's form", ("Tom's hat",)),
        ("the buyers' list and the sellers' list", ()),
        ("把名称改为“茶 杯”，备注写「急」", ("茶 杯", "急")),
        ("«un» „zwei“ ‘three’", ("un", "zwei", "three")),
        ('"x" again "x", and ""', ("x",)),
        ("nothing", ()),
    ],
)
def test_values_are_what_stands_in_quotation_marks(goal: str, values: tuple[str, ...]):
    assert quoted_values(goal) == values


@given(st.text("ab '\"“”„«»「」『』‘’\n", max_size=40))
@example("'a b'")
def test_any_goal_gives_values_that_stand_in_it(goal: str):
    assert all(value and value in goal for value in quoted_values(goal))


@pytest.mark.parametrize(
    ("kind", "values", "fit"),
    [
        ("date", ["9/5/2015", "2020年12月31日", "2020-02-30", "Tom"], ("2015-09-05", "2020-12-31")),
        ("time", ["3:45 PM", "12:05 am", "23:59", "25:00"], ("15:45", "00:05", "23:59")),
        ("number", ["12", "-1.5", "12 eggs"], ("12", "-1.5")),
        ("color", ["#00ff00", "green"], ("#00ff00",)),
        ("text", ["12", "", "Tom", "Tom"], ("12", "Tom")),
    ],
)
def test_a_field_is_offered_only_what_it_takes(kind: str, values: list[str], fit: tuple[str, ...]):
    assert fitting(kind, values) == fit


WRITTEN = st.builds(
    "{}({})".format,
    st.sampled_from((*VERBS, "eval", "open", "__import__")),
    st.sampled_from(("", "'a1'", "'a1', 'x'", "0, 300")),
)


@given(st.text(max_size=40) | WRITTEN)
@example("back()")
def test_only_listed_verbs_pass(text: str):
    try:
        call = checked(text)
    except InputError:
        return
    assert call.verb in VERBS


@pytest.mark.parametrize("text", ["fill('a1', 'it\\'s')", "scroll(0, -300)", "back()", "noop()"])
def test_calls_that_fit_pass_as_they_are(text: str):
    assert checked(text).verb == text.partition("(")[0]
