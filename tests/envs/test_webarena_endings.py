"""How an agent's last action becomes an answer; no site and no package is needed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.envs.codecs.calls import Call, parse_call
from jitrl.envs.codecs.elements import element_line
from jitrl.envs.codecs.open_page import OpenPageCodec
from jitrl.envs.codecs.page import PageCodec
from jitrl.envs.webarena.endings import HOW, LISTED, page_values, response
from jitrl.envs.webarena.form import fault
from jitrl.errors import InputError
from jitrl.types import Observation


def ended(action):
    return response(parse_call(action))


@pytest.mark.parametrize(
    ("action", "kind", "status", "data"),
    [
        ('answer("65")', "RETRIEVE", "SUCCESS", ["65"]),
        ('answer("a, b")', "RETRIEVE", "SUCCESS", ["a, b"]),
        ('answer(\'["a", "b"]\')', "RETRIEVE", "SUCCESS", ["a", "b"]),
        ("answer('{\"n\": 0}')", "RETRIEVE", "SUCCESS", [{"n": 0}]),
        ('answer("[a]")', "RETRIEVE", "SUCCESS", ["[a]"]),
        ('finish("navigate")', "NAVIGATE", "SUCCESS", None),
        ('finish("mutate")', "MUTATE", "SUCCESS", None),
        ('finish("retrieve", "NOT_FOUND_ERROR")', "RETRIEVE", "NOT_FOUND_ERROR", None),
    ],
)
def test_an_ending_becomes_an_answer(action, kind, status, data):
    assert ended(action) == {
        "task_type": kind,
        "status": status,
        "retrieved_data": data,
        "error_details": None,
    }


@pytest.mark.parametrize(
    "action",
    [
        "answer()",
        "answer(65)",
        'answer("a", "b")',
        'finish("retrieve")',
        'finish("walk")',
        'finish("mutate", "SUCCESS")',
        'finish("mutate", status="NOT_FOUND_ERROR")',
    ],
)
def test_what_ends_nothing_says_how_it_is_written(action):
    with pytest.raises(InputError, match=r"ends no task; write answer\(text\), finish"):
        ended(action)


@given(st.text(st.characters(exclude_characters="[]{}", exclude_categories=["Cs"]), max_size=30))
def test_any_text_is_one_answer_of_the_published_form(text):
    said = response(Call("answer", (text,)))
    assert said["retrieved_data"] == [text]
    assert fault(said, lambda _: False) == ""


def test_the_endings_that_are_offered_are_endings():
    assert [response(call)["status"] for call in LISTED].count("SUCCESS") == 2


PAGE = "\n".join(
    [
        "Cable",
        "Rating:",
        element_line("a1", "link", "Reviews"),
        "65",
        "Rating:",
        "x" * 61,
        element_line("a2", "textbox", "Name", value="Tom"),
        element_line("a3", "link", "Reviews"),
    ]
)
SHOWN = Observation(PAGE, "What is the rating?", url="http://a/cable.html")


def test_answers_are_short_texts_of_the_page_its_lines_first_without_repeats():
    assert page_values(PAGE, 9) == ("Rating:", "65", "Reviews", "Name")
    assert page_values(PAGE, 2) == ("Rating:", "65")


@pytest.fixture
def codec():
    return OpenPageCodec(PageCodec(verbs={"finish": 0}), lambda goal: HOW)


def test_a_model_sees_elements_as_it_is_to_write_them(codec):
    text = codec.text(SHOWN)
    assert text.startswith("Cable\nRating:\n<link[Reviews]>\n65\n")
    assert "<textbox[Name]> value='Tom'\n<link[Reviews]#2>\n" in text
    assert text.endswith(HOW)
    assert codec.actions(SHOWN) == ()


def test_a_long_page_is_cut_but_not_what_follows_it():
    codec = OpenPageCodec(PageCodec(), lambda goal: "How.", limit=20)
    assert codec.text(SHOWN) == "Cable\nRating:\n<link…\nHow."


def test_what_a_model_wrote_is_grounded_or_left_as_it_is(codec):
    assert codec.ground("click(<link[Reviews]#2>)", SHOWN) == "click('a3')"
    assert codec.ground('finish("mutate")', SHOWN) == "finish('mutate')"
    assert codec.ground("click(<link[Nowhere]>)", SHOWN) == "click(<link[Nowhere]>)"
    assert codec.ground("I would click on it", SHOWN) == "I would click on it"
