"""Keys of pages and actions beyond the golden cases, and fuzz on both."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.compat.actions import ground, normalize
from jitrl.compat.urls import url_key

PORTS = [
    (8083, "shopping_admin"),
    (7770, "wikipedia"),
    (9999, "shopping"),
    (3000, "gitlab"),
    (8888, "reddit"),
    (8080, "map"),
]
PAGE = "\n".join(
    [
        "RootWebArea 'Shop', focused",
        "\t[1] heading 'Cart'",
        "\t[2] link 'Cart, 3 items'",
        "\t[3] link 'Cart'",
        "\t[4] textbox 'Search'",
        '\t[5] link "Men\'s"',
        "\t[6] button",
        "\t[7] combobox ''",
    ]
)


@pytest.mark.parametrize("url", [None, "", "N/A"])
def test_no_url_is_unknown(url: str | None) -> None:
    assert url_key(url) == "unknown"


@pytest.mark.parametrize(("port", "site"), PORTS)
def test_a_site_is_known_by_its_port_in_the_text_or_parsed(port: int, site: str) -> None:
    assert url_key(f"http://h:{port}/a") == f"{site}/a"
    assert url_key(f"http://h:{port}1234/a") == f"http://h:{port}1234/a"
    assert url_key(f"http://h/x?next=:{port}1") == f"{site}/x"
    # The parsed port alone: the text has ":0<port>", never ":<port>".
    assert url_key(f"http://h:0{port}/a") == f"{site}/a"


def test_of_two_ports_the_first_of_the_list_wins_not_the_first_of_the_text() -> None:
    for (early, name), (late, _) in pairwise(PORTS):
        assert url_key(f"http://h:{late}/a?back=:{early}") == f"{name}/a"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://h/a;x/b;y", "unknown_site/a;x/b"),
        ("http://h/a/b;y?q#f", "unknown_site/a/b"),
        ("zz://h/a;x/b;y", "unknown_site/a;x/b;y"),
        ("http://[::1]:3000/a/1", "gitlab/a/ID"),
        ("http://[2001:db8::8080]/a", "map/a"),
        ("http://[::1/a:9999", "http://[::1/a:9999"),
        ("http://h:65536/a", "http://h:65536/a"),
        ("http://h:7770x/a", "http://h:7770x/a"),
        ("http://h:80830/a", "http://h:80830/a"),
        ("http://h:-1/a", "http://h:-1/a"),
        ("/a/b/7", "unknown_site/a/b/ID"),
        ("http://h/²/٣/½", "unknown_site/ID/ID/½"),
        ("http://h/Filter/filters/filter/x", "unknown_site/Filter/filters"),
        ("http://h/form_key/form_key=1/-", "unknown_site/form_key/HASH/-"),
    ],
)
def test_a_url_is_reduced_to_site_and_segments(url: str, key: str) -> None:
    assert url_key(url) == key


@pytest.mark.parametrize(
    ("segment", "key"),
    [
        ("Abcdefghijkl", "Abcdefghijkl"),
        ("Abcdefghijklm", "HASH"),
        ("Abcdefghijkl-", "Abcdefghijkl-"),
        ("Abcdefghijklé", "Abcdefghijklé"),
        ("Abcdefghijklm-n", "Abcdefghijklm-n"),
        ("Abcdefghijklm-no", "HASH"),
        ("Abcdefghijklm_nopq", "Abcdefghijklm_nopq"),
        ("abcdefghijklm-nopq", "abcdefghijklm-nopq"),
        ("ABCDEFGHIJKLM-NOPQ", "ABCDEFGHIJKLM-NOPQ"),
        ("a+", "HASH"),
        ("=", "HASH"),
        ("a_=", "HASH"),
        # No letter, so neither all lower nor all upper.
        ("2022-01-01--2022-02", "HASH"),
    ],
)
def test_hashes_are_told_by_case_length_and_signs(segment: str, key: str) -> None:
    assert url_key(f"http://h/a/{segment}/b") == f"unknown_site/a/{key}/b"


@given(st.text())
def test_any_text_has_a_page_key(text: str) -> None:
    key = url_key(text)
    assert key
    assert key == text or key.split("/")[0] in {"unknown", "unknown_site", *dict(PORTS).values()}


@given(st.lists(st.text("abcXY019-_.+=%", max_size=18)), st.sampled_from(PORTS))
def test_query_and_fragment_do_not_count(segments: list[str], site: tuple[int, str]) -> None:
    url = f"http://h:{site[0]}/{'/'.join(segments)}"
    assert url_key(f"{url}?a=1&b#c/d") == url_key(url)
    assert "filter" not in url_key(f"{url}/filter/{'/'.join(segments)}").split("/")


@pytest.mark.parametrize(
    ("action", "key"),
    [
        ("click('3')", "click(<link[Cart]>)"),
        ("\n click('3')\t", "click(<link[Cart]>)"),
        ("click('6', 'a')", 'click(<button>, "a")'),
        ("click('7')", "click(<combobox>)"),
        ("click(3)", "click(3)"),
        ('click("3", 3, null, {"a": [1]})', 'click(<link[Cart]>, 3, null, {"a": [1]})'),
        # Not JSON: every part is text, and a leading number is an id that may not exist.
        ("scroll(0, 'x')", 'scroll("x")'),
        ("scroll(3, 'x')", 'scroll(<link[Cart]>, "x")'),
        ("fill('4', 'a,b', '')", 'fill(<textbox[Search]>, "a", "b", "")'),
        ("fill('4', \"'a' \")", 'fill(<textbox[Search]>, "a\' ")'),
        ("fill('4', '\"a\"')", 'fill(<textbox[Search]>, "a")'),
        ("fill('٤', 'a')", 'fill("a")'),
        ("press_2('4')", "press_2(<textbox[Search]>)"),
        ("click ('3')", "click ('3')"),
        ("click('3') ;", "click('3') ;"),
        (" look ", " look "),
        ("()", "()"),
    ],
)
def test_an_action_is_filed_under_verb_role_label_and_parameters(action: str, key: str) -> None:
    assert normalize(action, PAGE).text == key


@pytest.mark.parametrize("verb", ["send_msg_to_user", "send_message_to_user"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'7'", ""),
        ("''", ""),
        ("", ""),
        ("'7 items, or 8'", "7 items"),
        ("'7, or 8'", "or 8"),
        ('"7 items, or 8"', "7 items, or 8"),
        ("'é'", "é"),
    ],
)
def test_a_message_is_hidden_or_cut_at_its_first_argument(
    verb: str, arguments: str, message: str
) -> None:
    action = f"{verb}({arguments})"
    hidden = normalize(action, PAGE)
    assert (hidden.text, hidden.params) == (f"{verb}('xxx')", ("xxx",))
    shown = normalize(action, PAGE, normalize_send_msg=False)
    assert shown.text == f'{verb}("{message}")'
    assert shown.semantic == f"{verb} with message: {message}"


def test_the_first_quoted_line_wins_over_an_earlier_bare_one() -> None:
    page = "[3] row\n[9] StaticText 'see [3] cell 'x'\n[3] link 'Cart'"
    assert normalize("click('3')", page).text == "click(<cell[x]>)"
    assert normalize("click('3')", "[3] row\n[33] link 'Cart'").text == "click(<row>)"


def test_a_label_ends_at_the_next_single_quote() -> None:
    assert normalize("click('3')", "[3] link 'Men's'").text == "click(<link[Men]>)"


@pytest.mark.parametrize(
    ("key", "action"),
    [
        ("click(<link[Cart]>)", "click('3')"),
        ("click(<link[3 items]>)", "click('2')"),
        ("click(<heading[Car]>)", "click('1')"),
        ("click(<link>)", "click('2')"),
        ("click(<link[Men]>)", None),
        ("click(<link[cart]>)", None),
        ("click(<head>)", "click('1')"),
        ("click(<head[Cart]>)", None),
        ("click(<but>)", "click('6')"),
        ("click(<button[x]>)", None),
        ("click(<>)", None),
        ("click(<link[]>)", None),
        ("click(<li[nk]>)", None),
        ("click(<link[a]b]>)", None),
        ("click(<link>) ", None),
        ("click(3)", None),
        ("click()", None),
        ("fill(<textbox[Search]>, \"a, b\",  'x' )", "fill('4', \"a, b\",  'x' )"),
        ("fill(<textbox[Search]>, )", "fill('4',  )"),
        ("fill(<textbox[Search]>,1)", "fill('4', 1)"),
    ],
)
def test_a_key_is_grounded_on_the_first_element_that_fits(key: str, action: str | None) -> None:
    assert ground(key, PAGE) == action


def test_a_role_may_hold_anything_but_brackets() -> None:
    assert ground("click(<doc-note 2>)", "[1] doc\n[2] doc-note 2 'x'") == "click('2')"


def test_signs_of_regular_expressions_are_plain_text() -> None:
    page = "[1] link 'aab'\n[2] link 'a.*(b'\n[3] link '[x'"
    assert ground("click(<link[a.*(b]>)", page) == "click('2')"
    assert ground("click(<.*>)", page) is None


CALLS = st.builds(
    "{}({})".format,
    st.sampled_from(["click", "fill", "send_msg_to_user", "été_2"]),
    st.text("0123٣²'\"[]{},:\\ ab\n") | st.text(),
)
PAGES = st.lists(
    st.builds(
        "[{}] {} '{}'".format,
        st.integers(0, 30),
        st.sampled_from(["link", "textbox"]),
        st.text("ab [],.'\"("),
    )
).map("\n".join)


@given(CALLS | st.text() | st.none() | st.integers(), PAGES | st.text(), st.booleans())
def test_any_action_has_a_key_and_any_key_is_grounded_or_not(
    action: str | int | None, page: str, hidden: bool
) -> None:
    key = normalize(action, page, normalize_send_msg=hidden)
    if key.verb is None:
        assert key.text is action
    back = ground(key.text, page)
    assert back is None or back.startswith(f"{key.verb}('")
    ground(action, page)


def test_arguments_nested_beyond_reason_are_split_at_commas() -> None:
    deep = "[" * 100_000
    assert normalize(f"click({deep})", "").params == (deep,)


@given(
    st.lists(st.text("ab ,.()<>", min_size=1), min_size=1, unique=True),
    st.lists(st.none() | st.integers() | st.text(), max_size=3),
    st.data(),
)
def test_an_element_with_a_plain_label_comes_back_on_another_page(
    labels: list[str], params: list[object], data: st.DataObject
) -> None:
    chosen = data.draw(st.integers(0, len(labels) - 1))
    page = "\n".join(f"[{i}] link '{label}'" for i, label in enumerate(labels))
    other = "\n".join(f"[{i + 900}] link '{label}'" for i, label in enumerate(labels))
    arguments = ", ".join(json.dumps(param) for param in params)
    comma = ", " if params else ""
    key = normalize(f'click("{chosen}"{comma}{arguments})', page).text
    assert ground(key, other) == f"click('{chosen + 900}'{comma}{arguments})"
