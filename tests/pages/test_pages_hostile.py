"""What others wrote is shown as it is: it runs nowhere, hides nothing, and no page fails on it."""

import html
import json
import os
import re
import sys
import time
from unicodedata import bidirectional, category
from urllib.parse import quote, urlencode

import pytest
from made_hostile import HEBREW, MARKUP, TEXTS, TURNED, addresses

import jitrl

pytestmark = pytest.mark.server

OURS = re.compile("\u2068([^\u2066-\u2069]*)\u2069")
"""What one of our sentences keeps apart."""


def shown(text):
    from jitrl.service.pages.foreign import shown

    return shown(text)


def values(page):
    """What the fields of a page's forms send back, which is no text of the page."""
    return re.findall(r'value="([^"]*)"', page)


def settled(client, address):
    """The body of a page, once what it looks for is found."""
    until = time.monotonic() + 60.0
    while 'role="status" hx-get' in (page := client.get(address).text).split("<body>")[1]:
        assert time.monotonic() < until, address
        time.sleep(0.1)
    return page.split("<body>")[1]


def test_no_page_fails_and_none_holds_what_is_not_seen(visit, hostile_memory):
    client = visit(hostile_memory)
    for address in addresses(hostile_memory):
        answer = client.get(address)
        assert answer.status_code == (404 if "key=no" in address else 200), address
        page = re.sub(r'value="[^"]*"', "", answer.text)
        unseen = {c for c in OURS.sub(r"\1", page) if category(c) in ("Cc", "Cf", "Zl", "Zp")}
        assert unseen <= {"\n", "\t", "\r", "\u200d"}, address
        assert "<script>window" not in page
        assert "<img src=x" not in page


def test_marks_of_direction_are_told_and_not_obeyed(visit, hostile_memory):
    page = visit(hostile_memory).get("/p/hostile.db/decision", params={"id": f"{TURNED}/1#0"}).text
    assert r"<code>pay(\u202egnihton\u202c)</code>" in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain (text), 1.5", "plain (text), 1.5"),
        ("lines\n\tand\r\nmore", "lines\n\tand\r\nmore"),
        ("a\x00b\x1b[2J", r"a\x00b\x1b[2J"),
        ("re\u200bfund\u00ad", r"re\u200bfund\xad"),
        ("re\u200dfund", r"re\u200dfund"),
        ("\u0646\u200c\u0647", "\u0646\u200c\u0647"),
        ("\U0001f469\u200d\U0001f467", "\U0001f469\u200d\U0001f467"),
        ("\u4f60\u3000\u597d", "\u4f60\u3000\u597d"),
        ("a\U000e0148\U000e0149b", r"a\U000e0148\U000e0149b"),
        ("pay\u3164\u115f\u034f\u2800", r"pay\u3164\u115f\u034f\u2800"),
        ("\u0646\u200c\u200d\u200c\u0647", "\u0646" r"\u200c\u200d\u200c" "\u0647"),
        ("\u4f60\u200b\u200d\u597d", "\u4f60" r"\u200b\u200d" "\u597d"),
        ("a\ufe0fb", r"a\ufe0fb"),
        ("\u2764\ufe0f 1\ufe0f\u20e3", "\u2764\ufe0f 1\ufe0f\u20e3"),
        ("file \udcff", r"file \udcff"),
    ],
)
def test_only_what_is_not_seen_is_told_by_its_code(text, said):
    assert shown(text) == said


def test_a_text_from_right_to_left_turns_no_sentence_of_ours(visit, hostile_memory):
    from jitrl.service.pages.words import Words

    said = Words("en")("curve.of", name=HEBREW, said="better: +0.500")
    assert f"\u2068{HEBREW}\u2069" in said
    assert "\u2068" not in Words("en")("curve.of", name="static", said="better")
    client = visit(hostile_memory)
    for address in (f"episode?{urlencode({'key': f'{HEBREW}/1'})}", "doctor"):
        page = settled(client, f"/p/hostile.db/{address}")
        lines = [line for line in re.split(r"<(?!/?bdi)[^>]*>", page) if HEBREW in line]
        assert lines, address
        for line in lines:  # alone in its element, or kept apart from what stands beside it
            rest = re.sub(r"<bdi>.*?</bdi>|\u2068.*?\u2069", "", line)
            beside = rest.replace(html.escape(HEBREW), "")
            assert HEBREW not in rest or not re.search(r"\w{3}", beside), line
    assert bidirectional(HEBREW[0]) == "R"


def test_a_name_from_right_to_left_is_kept_apart_but_for_the_commands_to_copy():
    from jitrl.report.ailments.words import filled
    from jitrl.service.pages.views.checkup import foreign

    of = {"n": 2, "k": {HEBREW: 3}, "some": [HEBREW, "b"], "name": HEBREW, "file": f"{HEBREW}.db"}
    template = "{k}; {some}; '{name}': jitrl rules ls {file:sh} {n}"
    own = f"\u2068{HEBREW}\u2069"
    command = f"jitrl rules ls '{HEBREW}.db' 2"
    assert filled(template, of, foreign) == f"{own} 3; {own}, b; '{own}': {command}"
    assert filled(template, of) == f"{HEBREW} 3; {HEBREW}, b; '{HEBREW}': {command}"
    assert filled("{file:sh}", {"file": TURNED}, foreign) == f"'{shown(TURNED)}'"


def test_what_other_tasks_taught_keeps_names_from_right_to_left_apart():
    from jitrl.report.taught import WORDS, said
    from jitrl.service.pages.foreign import apart

    feature = ("page", HEBREW, "click")
    assert said(feature, WORDS["en"], apart) == f"on \u2068{HEBREW}\u2069: click"
    assert said(feature, WORDS["en"]) == f"on {HEBREW}: click"


def test_counted_nouns_of_ours_leave_the_words_of_others_alone():
    from jitrl.report.ailments.words import filled
    from jitrl.service.pages.words import Words

    said = Words("en")("without.same", n=1, rows="7", taken="delete 1 items")
    assert said == "Without 1 row (7) the choice is the same: delete 1 items."
    assert filled("{n} rows of {file:sh}", {"n": 1, "file": "1 rows.db"}) == "1 row of '1 rows.db'"
    assert filled("{n} rows: {k}", {"n": 1, "k": {"1 rows": 2}}) == "1 row: 1 rows 2"


@pytest.mark.parametrize("name", ["markup", "turned", "controls", "spaced", "emoji", "address"])
def test_a_filter_is_sent_back_character_by_character(visit, hostile_memory, name):
    text = TEXTS[name]
    if name == "controls":
        text = text.replace("\x00", "").replace("\r", "")  # which no form of a browser can hold
    page = visit(hostile_memory).get("/p/hostile.db/memory", params={"task": text}).text
    assert text in map(html.unescape, values(page))
    if text == TEXTS[name]:
        page = visit(hostile_memory).get("/p/hostile.db/memory", params={"scope": text}).text
        chosen = re.findall(r'<option value="([^"]*)" selected', page)
        assert list(map(html.unescape, chosen)) == [text]
        assert "/row?id=" in page


@pytest.mark.parametrize(
    "given",
    [
        "memory?view=1&self=2",
        "episodes?view=1",
        "decisions?show=all&view=1",
        "rules?self=1",
        "curve?seed=%C2%B2",
        "curve?seed=-1",
        "doctor?seed=99999999999999999999",
        "without?id=x%230&rows=%C2%B2",
        "without?id=x%230&rows=" + "9" * 4000,
        "picture?key=ticket-0001&step=-1",
    ],
)
def test_no_parameter_makes_a_page_fail(visit, memory, given):
    answer = visit(memory).get(f"/p/support.db/{given}")
    assert answer.status_code in (200, 400, 404)


def test_a_key_as_long_as_keys_may_be_has_a_page(visit, tmp_path):
    key = "k" * 10_000
    with jitrl.open(tmp_path / "m.db") as memory, memory.episode("t", key=key) as episode:
        episode.decide("s", {"a": 0.0})
        episode.finish(True)
    client = visit(tmp_path / "m.db")
    assert client.get("/p/m.db/episode", params={"key": key}).status_code == 200
    assert client.get("/p/m.db/decision", params={"id": f"{key}#0"}).status_code == 200


ODD = "a#b?c%zz <b>\u202e\u00e9.db"


@pytest.mark.skipif(sys.platform == "win32", reason="such names are refused by Windows")
def test_a_file_of_any_name_keeps_its_address_when_the_language_is_changed(visit, tmp_path):
    with jitrl.open(tmp_path / ODD) as memory, memory.episode("t") as episode:
        episode.decide("s", {"a": 0.0})
        episode.finish(True)
    client = visit(tmp_path / ODD)
    page = client.get(f"/p/{quote(ODD, safe='')}/episodes").text
    (switch,) = re.findall(r'href="([^"]*lang=zh)"', page)
    answer = client.get(html.unescape(switch))
    assert answer.status_code == 200
    assert '<html lang="zh-CN"' in answer.text
    assert ">a#b?c%zz &lt;b&gt;\\u202e\u00e9.db</span>" in answer.text


@pytest.mark.skipif(sys.platform != "linux", reason="such names are refused elsewhere")
def test_a_file_whose_name_is_no_text_is_shown(visit, tmp_path):
    path = tmp_path / os.fsdecode(b"\xff.db")
    with jitrl.open(path) as memory, memory.episode("t") as episode:
        episode.decide("s", {"a": 0.0})
        episode.finish(True)
    client = visit(path)
    name = quote("\\udcff.db", safe="")
    for address in ("/", *(f"/p/{name}/{view}" for view in ("curve", "evaluator", "doctor"))):
        assert client.get(address).status_code == 200


def test_numbers_of_a_hundred_digits_are_told_with_an_exponent(visit, hostile_memory):
    client = visit(hostile_memory)
    for address in addresses(hostile_memory, "digits"):
        page = client.get(address).text.replace(TEXTS["digits"], "")
        assert not re.search(r"\d{30}\.\d", re.sub(r'(href|value|hx-get)="[^"]*"', "", page)), (
            address
        )
    page = client.get("/p/hostile.db/curve").text
    drawn = json.loads(html.unescape(re.search(r'data-chart="([^"]*)"', page)[1]))
    assert max(drawn["lines"][0]["mean"]) > 1e90
    assert "e+9" in page


def test_of_many_candidates_the_rest_is_folded(visit, hostile_memory):
    page = visit(hostile_memory).get("/p/hostile.db/decision", params={"id": f"{MARKUP}/0#0"}).text
    first, more = page.split('<details class="folded">')
    assert more.startswith("<summary>480 more candidates<")
    assert first.count("<code>") - first.count("<table") < 30
    assert more.count("</tr>") >= 480


def test_many_rows_can_be_left_out_at_once(visit, memory):
    given = {"id": "ticket-0060#0", "rows": ",".join(map(str, range(1, 5000)))}
    answer = visit(memory).get("/p/support.db/without", params=given)
    assert answer.status_code == 200
    assert "is too long" not in answer.text
