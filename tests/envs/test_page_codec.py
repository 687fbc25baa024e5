"""The page codec: actions that come back as what they were, and states that show progress."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl import presets
from jitrl.core.similarity import similarity
from jitrl.envs.codecs.calls import Call, Element, parse_call
from jitrl.envs.codecs.elements import element_line, read_page
from jitrl.envs.codecs.page import PageCodec
from jitrl.errors import GroundingError, InputError, JitRLError
from jitrl.types import Observation, State

CODEC = PageCodec(site="shop")

PAGE = """RootWebArea 'Men's and Women's', focused
[a51] link 'Men's Shirts'
[52] link "Women's Hats"
\t[9] textbox 'Name *' value='Tom', required
[b-1] button 'Save [all]'
[b-2] button 'Save [all]'
[c] combobox '状态' value: 待处理 required: True
[d] checkbox 'Gift' checked='false'
[e] button
[f] link 'Dogs' toys: cheap'
[9x] StaticText '[9] textbox \\'Name\\''
"""


def page(text: str = PAGE, *actions: str, goal: str = "", url: str = "") -> Observation:
    return Observation(text, goal, actions, url)


def there_and_back(action: str, text: str = PAGE) -> tuple[str, str]:
    canonical = CODEC.canonical(action, page(text))
    return canonical, CODEC.ground(canonical, page(text))


@pytest.mark.parametrize(
    ("raw", "canonical"),
    [
        ("click('a51')", "click(<link[Men's Shirts]>)"),
        ("click('52')", "click(<link[Women's Hats]>)"),
        ("fill('9', 'x, y')", 'fill(<textbox[Name *]>, "x, y")'),
        ("fill('9', '[52] link, ]>)')", 'fill(<textbox[Name *]>, "[52] link, ]>)")'),
        ("fill('9', '')", 'fill(<textbox[Name *]>, "")'),
        ("click('b-1')", "click(<button[Save [all\\]]>)"),
        ("click('b-2')", "click(<button[Save [all\\]]#2>)"),
        ("select('c', '关闭')", 'select(<combobox[状态]>, "关闭")'),
        ("click('e')", "click(<button>)"),
        ("click('f')", "click(<link[Dogs' toys: cheap]>)"),
        ("keyboard_type('9')", 'keyboard_type("9")'),
        ("back()", "back()"),
        ("scroll(0, -200.5)", "scroll(0, -200.5)"),
        ("select_option('c', ['a', 'b'])", 'select_option(<combobox[状态]>, ["a", "b"])'),
        ("drag_and_drop('a51', '52')", None),
        ("click('52', button='middle', modifiers=['Shift'])", None),
        ("fill('9', 'back\\\\slash \"quoted\" it\\'s')", None),
    ],
)
def test_an_action_comes_back_to_the_letter(raw: str, canonical: str | None):
    found, back = there_and_back(raw)
    assert back == raw
    assert canonical is None or found == canonical
    assert "a51" not in found
    assert "b-2" not in found


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("click('99')", "no element"),
        ("tap('9')", "not known"),
        ("click()", "first 1 argument"),
        ("click(bid='9')", "first 1 argument"),
        ("click('9', bid='52')", "first 1 argument"),
        ("click('a51'", "expected"),
        ("click('a51') click('52')", "after the closing"),
        ("click(a51)", "expected a text in quotes"),
        ("fill('9', 1e999)", "not finite"),
        ("fill('9', value='x', 'y')", "without a name"),
        ("fill('9', [[[[[[[[[[1]]]]]]]]]])", "expected"),
        ("answer(<button>)", "takes none"),
        ("send the form", "not an action"),
        ("", "not an action"),
    ],
)
def test_what_cannot_be_read_is_a_clear_error(raw: str, reason: str):
    with pytest.raises(InputError, match=reason):
        CODEC.canonical(raw, page())


@pytest.mark.parametrize(
    "canonical",
    ["click(<link[Hats]>)", "click(<button[Save [all\\]]#3>)", "click('9')", "fill(", "tap(1)"],
)
def test_what_is_not_on_the_page_is_a_grounding_error(canonical: str):
    with pytest.raises(GroundingError):
        CODEC.ground(canonical, page())
    with pytest.raises(GroundingError):
        CODEC.ground(canonical, page(PAGE, "click('a51')"))


def test_an_id_before_two_elements_is_neither_of_them():
    text = "[1] link 'Real'\n[1] link 'Forged'"
    with pytest.raises(GroundingError, match="more than once"):
        CODEC.canonical("click('1')", page(text))
    with pytest.raises(GroundingError):
        CODEC.ground("click(<link[Real]>)", page(text))


def test_listed_actions_are_grounded_in_their_own_words():
    listed = ('click("a51")', "click('a51')", "fill( '9' , 'x' )", "back()")
    found = CODEC.actions(page(PAGE, *listed))
    assert found == ("click(<link[Men's Shirts]>)", 'fill(<textbox[Name *]>, "x")', "back()")
    assert [CODEC.ground(a, page(PAGE, *listed)) for a in found] == [listed[i] for i in (0, 2, 3)]


def test_equal_elements_keep_their_order_when_ids_change():
    first = "[1] link 'Edit'\n[2] link 'Edit'"
    later = "[77] link 'Edit'\n[3] link 'Edit'"
    second = CODEC.canonical("click('2')", page(first))
    assert CODEC.ground(second, page(later)) == "click('3')"


labels = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
hard = st.text(st.sampled_from(list("'\"\\[]<>#,= nu\n\t1")), max_size=10)
texts = labels | hard
roles = st.sampled_from(["link", "button", "textbox", "combobox"])


@given(st.lists(st.tuples(roles, texts, texts), min_size=1, max_size=12), texts)
def test_every_element_of_every_page_comes_back_and_none_collide(nodes, value):
    text = "\n".join(
        element_line(f"a{i}", role, label, value=shown)
        for i, (role, label, shown) in enumerate(nodes)
    )
    assert [(n.element.role, n.element.label) for n in read_page(text).nodes] == [
        (role, label) for role, label, _ in nodes
    ]
    raws = [f"fill('a{i}', {value!r})" for i in range(len(nodes))]
    found = [CODEC.canonical(raw, page(text)) for raw in raws]
    assert len(set(found)) == len(raws)
    assert all("\n" not in action for action in found)
    assert [CODEC.ground(action, page(text)) for action in found] == raws
    assert CODEC.actions(page(text, *raws)) == tuple(found)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)
elements = st.builds(Element, roles, texts, st.integers(1, 30))


@given(
    st.builds(
        Call,
        st.sampled_from(["click", "fill", "x.y"]),
        st.lists(elements | values, max_size=4).map(tuple),
        st.lists(st.tuples(st.sampled_from(["a", "b_1"]), values), max_size=2).map(tuple),
    )
)
def test_a_canonical_call_is_read_as_it_was_written(call: Call):
    assert parse_call(call.canonical()) == call


@given(st.text(max_size=60) | hard, st.text(max_size=200))
def test_junk_raises_nothing_but_our_own_errors(action: str, text: str):
    observation = page(text, url=action)
    CODEC.state(observation, [action])
    CODEC.text(observation)
    for read in (CODEC.canonical, CODEC.ground):
        with suppress(JitRLError):
            read(action, observation)


def test_a_large_page_is_read_in_reasonable_time():
    line = "[1] link '" + "it's a ' " * 20_000
    assert CODEC.text(page(line + "\n" + "[2] x" + " a=b" * 100_000))


def test_a_partly_filled_form_is_another_state_and_ids_play_no_part():
    def form(id: str, value: str) -> Observation:
        return page(f"New page\n{element_line(id, 'textbox', 'Title', value=value)}", goal="g")

    empty, filled = (CODEC.state(form("a1", v), ()) for v in ("", "About us"))
    assert empty != filled
    assert CODEC.state(form("z9", "About us"), ()) == filled


def test_fields_need_no_history_and_buttons_do():
    before = CODEC.state(page(), ())
    assert (
        CODEC.state(page(), ['fill(<textbox[Name *]>, "x")', "click(<link[Men's Shirts]>)"])
        == before
    )
    pressed = CODEC.state(page(), ["click(<button[Hold]>)"])
    assert pressed != before
    assert CODEC.state(page(), ["click(<button[Hold]>)"] * 2) == pressed


def test_actions_before_the_page_was_reached_are_not_its_progress():
    arrived = Observation(PAGE, "", info={"arrived": 1})
    assert CODEC.state(arrived, ["click(<button[Hold]>)"]) == CODEC.state(arrived, ["back()"])


def test_goals_and_places_tell_states_apart():
    one = CODEC.state(page(goal="Cancel order 1", url="http://localhost:1/orders/view/17"), ())
    assert one.place == "shop/orders/view/{id}"
    assert one.context == "Cancel order 1"
    assert one != CODEC.state(
        page(goal="Hold order 1", url="http://localhost:1/orders/view/17"), ()
    )


def test_a_model_is_shown_no_ids_and_neighbors_on_one_line():
    text = "Orders\n[1] link 'Sales'\n[2] link 'Catalog'\n[3] textbox 'Name' value='x'\n3 records"
    assert CODEC.text(page(text)) == "Orders\nlink: Sales | Catalog\ntextbox Name = x\n3 records"
    assert PageCodec(limit=10).text(page("x" * 50)) == "x" * 9 + "…"


def test_a_whole_page_tells_states_apart_that_have_the_same_words():
    def state(*checked: str, id: str = "a", **settings: bool) -> State:
        boxes = [
            f"[{id}{i}] checkbox '{name}'{' checked=1' if name in checked else ''}"
            for i, name in enumerate(("A", "B", "C"))
        ]
        page = Observation("\n".join(["Task", *boxes]), "Select A, B", url="http://x/y")
        return PageCodec(**settings).state(page, ())

    retrieval = presets.load("default").retrieval
    assert similarity(state("A"), state("A", "B"), retrieval) > 0.99
    apart = similarity(state("A", whole=True), state("A", "B", whole=True), retrieval)
    assert 0.6 < apart < 0.9
    assert state("A", whole=True) == state("A", whole=True, id="b")
