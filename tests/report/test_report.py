import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest
from made import learned, result

from jitrl.analysis.compare import compare
from jitrl.report import chart, forest, grid, page, terms
from jitrl.report.data import data
from jitrl.report.markdown import markdown
from jitrl.report.unbroken import NO_BREAK, unbroken
from jitrl.report.words import CHINESE, ENGLISH, LANGUAGES


@pytest.fixture
def comparison():
    static = result("static", learned(end=0.2, attempts=8), agent="static")
    return compare([static, result("jitrl <a&b>", learned(attempts=8))])


def test_every_row_says_how_it_came_about(comparison):
    table = markdown(comparison, ENGLISH).partition("## ")[0]
    for row in table.splitlines():
        if row.startswith("| static |") or row.startswith("| jitrl"):
            for fact in (
                "commit abc1234",
                "config digest-",
                "tiny-1 (sequence)",
                "8 tasks × 8 attempts × 2 seeds",
                "evaluator environment, blind",
                "rewards after the episode",
                "sequential, by attempt",
                "repeat",
                "120 model calls (30 more from a cache), 4,000 tokens, $0.25",
            ):
                assert fact in row
            if row.startswith("| jitrl"):
                assert re.search(r"\+0\.\d{3} \[\+0\.\d{3}, \+0\.\d{3}\] \| better", row)


def test_told_transfer_failures_and_differences_are_said(comparison):
    told = result("t", learned(), told=True, run__protocol="transfer", run__schedule="rounds")
    line = compare([result("s", learned()), told], allow=["evaluator", "protocol", "schedule"])
    text = terms.every(line.lines[1], ENGLISH)
    assert "told the gold outcome" in text
    assert "transfer, own task left out" in text
    assert "· rounds ·" in text
    assert "differs in evaluator: ('environment', 'told'); " in text


def test_lessons_that_could_not_be_written_are_said():
    owing = replace(result("t", learned()), unwritten=3)
    line = compare([result("s", learned()), owing]).lines[1]
    assert "· 3 lessons could not be written" in terms.every(line, ENGLISH)
    assert "3 条总结未能写出" in terms.every(line, CHINESE)
    assert "lessons" not in terms.every(compare([owing, result("s", learned())]).lines[1], ENGLISH)


def test_the_numbers_of_the_table_are_those_of_the_comparison(comparison):
    line, shown = comparison.lines[1], grid.scores(comparison, ENGLISH)
    cells = dict(zip(shown.keys, shown.rows[1].cells, strict=True))
    assert cells["avg"].startswith(f"{line.summary.avg:.3f} [")
    assert cells["first"] == f"{line.curve.mean[0]:.3f}"
    assert cells["final"] == f"{line.summary.final:.3f}"
    assert cells["last"] == f"{line.summary.last:.3f}"
    assert cells["best"] == f"{line.summary.best:.3f}"


def test_episodes_that_could_not_be_judged_are_counted():
    made = replace(result("s", learned()), unscored={"no outcome yet": 2, "the judge cannot": 1})
    (line,) = compare([made]).lines
    for words, said in ((ENGLISH, "3 not scored"), (CHINESE, "3 个回合未能评分")):
        assert said in terms.every(line, words)
        assert "2 × no outcome yet; 1 × the judge cannot" in terms.every(line, words)
        assert "JitRL.outcome" in terms.every(line, words)
        assert "JitRL.outcome" in markdown(compare([made]), words)
    row = data(compare([made]), "x")["rows"][0]
    assert row["unscored"] == 3
    assert row["why_unscored"] == {"no outcome yet": 2, "the judge cannot": 1}


@pytest.mark.parametrize(
    ("reason", "todo"),
    [
        ("no outcome yet", "JitRL.outcome"),
        ("checks: neither rewards nor an outcome were given", "JitRL.outcome"),
        ("the judge's answer could not be read", "[writer]"),
        ("the last page speaks to the judge", "--canaries"),
        ("the episode was aborted", "jitrl memory ls seed-0.db"),
        ("this environment gives no checks; --set memory.x=y", "x=y; 1 × rare)"),
        ("check 'a' was not made", "jitrl memory ls seed-0.db"),
    ],
)
@pytest.mark.parametrize("words", LANGUAGES.values(), ids=LANGUAGES)
def test_what_to_do_is_said_with_the_most_frequent_reason(words, reason, todo):
    made = replace(result("s", learned()), unscored={reason: 9, "rare": 1})
    assert todo in terms.unscored(made, words).replace("）", ")")


def test_of_many_reasons_the_first_three_are_told():
    many = {f"reason {n}": 9 - n for n in range(5)}
    said = terms.unscored(replace(result("s", learned()), unscored=many), ENGLISH)
    assert "9 × reason 0; 8 × reason 1; 7 × reason 2; 11 × another reason)" in said


def test_a_pipe_in_a_label_does_not_break_the_table():
    text = markdown(compare([result("a|b", learned())]), ENGLISH)
    assert "| a\\|b |" in text


def test_the_data_hold_schema_terms_curve_and_raw_scores(comparison):
    values = json.loads(msgspec.json.encode(data(comparison, "jitrl.report/1")))
    assert values["schema"] == "jitrl.report/1"
    row = values["rows"][1]
    assert np.array(row["scores"]).shape == (8, 2, 8)
    assert row["avg"] == pytest.approx(np.mean(row["scores"]))
    assert row["difference"]["low"] > 0
    assert row["verdict"] == "better"
    assert len(row["curve"]) == 8
    assert values["rows"][0]["difference"] is None


def test_without_an_interval_the_reason_takes_its_place():
    few = compare([result("s", np.zeros((2, 1, 3))), result("m", np.ones((2, 1, 3)))])
    assert "+1.000 [n < 6]" in markdown(few, ENGLISH)
    assert "n < 6: no interval, as it needs 6 tasks or more; here n = 2." in terms.note(
        few, ENGLISH
    )
    found = data(few, "x")["rows"][1]["difference"]
    assert (found["low"], found["reason"]) == (None, "2 clusters; 6 are needed")


def never(label, **changed):
    return result(label, np.zeros((12, 1, 3)), **changed)


@pytest.mark.parametrize("words", LANGUAGES.values(), ids=LANGUAGES)
def test_scores_that_are_all_alike_have_a_dash_for_their_interval(words):
    runs = [never("static", agent="static"), result("a", np.ones((12, 1, 3))), never("b")]
    same = compare(runs)
    clusters = "tasks" if words is ENGLISH else "任务"
    for text in (markdown(same, words), "".join(Page(page.html(same, words)).text)):
        for shown in ("0.000 [–]", "1.000 [–]", "+1.000 [–]", "+0.000 [–]"):
            assert shown in text
        assert words.alike.format(clusters=clusters) in text
        assert not {"0.000 [0", "1.000 [1"} & set(re.findall(r"[01]\.000 \[[01]", text))
    rows = json.loads(msgspec.json.encode(data(same, "x")))["rows"]
    for found in (rows[0]["avg_interval"], *rows[0]["curve"], rows[1]["difference"]):
        assert (found["low"], found["high"]) == (None, None)
        assert "alike" in found["reason"]
    assert [row["verdict"] for row in rows] == [None, "better", "no evidence"]
    assert words.alike_verdict.format(clusters=clusters) in terms.note(same, words)
    some = compare([result("s", learned())])
    assert words.alike.format(clusters=clusters) not in terms.note(some, words)
    assert words.alike_verdict.format(clusters=clusters) not in terms.note(
        compare(runs[::2]), words
    )


@pytest.mark.parametrize("words", LANGUAGES.values(), ids=LANGUAGES)
def test_a_band_goes_on_as_a_point_with_an_open_mark_where_all_score_alike(words):
    scores = learned(seeds=1)
    scores[:, :, 0] = scores[:, :, 3] = 0
    some = compare([result("a", scores)])
    (trace,) = chart.traces(some, ENGLISH)
    assert trace.alike == {0, 3}
    assert (trace.band[0], trace.band[3]) == ((0.0, 0.0), (0.0, 0.0))
    assert [[k for k, *_ in run] for run in chart.stretches(trace)] == [[0, 1, 2, 3, 4, 5]]
    root, _ = drawing(some)
    kinds = [e.get("class", "").split() for e in root.iter()]
    assert [len(e.get("points").split()) for e in root.iter() if "band" in e.get("class", "")] == [
        12
    ]
    assert ["open" in kind for kind in kinds if "dot" in kind] == [k in (0, 3) for k in range(6)]
    said = words.open_marks.format(clusters="tasks" if words is ENGLISH else "任务")
    assert said in "".join(Page(page.html(some, words)).text)
    all_differ = compare([result("a", learned())])
    assert said not in "".join(Page(page.html(all_differ, words)).text)


def test_a_line_without_any_interval_has_no_band():
    flat = compare([never("b")])
    (trace,) = chart.traces(flat, ENGLISH)
    assert trace.alike == {0, 1, 2}
    assert (chart.stretches(trace), trace.is_banded) == ([], False)
    assert 'class="band' not in drawing(flat)[1]
    few = compare([result("b", np.zeros((2, 1, 3)))])
    assert chart.traces(few, ENGLISH)[0].band == ()


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href")]

    def handle_data(self, data):
        self.text.append(data.replace(NO_BREAK, " "))


@pytest.mark.parametrize("words", LANGUAGES.values(), ids=LANGUAGES)
def test_the_page_needs_nothing_from_outside_and_escapes_labels(comparison, words):
    html = page.html(comparison, words)
    seen = Page(html)
    assert seen.links == []
    assert not {"script", "link", "img", "iframe"} & set(seen.tags)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "jitrl <a&b>" in "".join(seen.text)
    assert "<a&b>" not in html
    assert "prefers-color-scheme: dark" in html
    assert f'<html lang="{words.code}">' in html


def test_the_chinese_page_is_chinese(comparison):
    html = page.html(comparison, CHINESE)
    for word in ("学习曲线", "平均", "更好", "第几次尝试"):
        assert word in html
    assert "verdict" not in "".join(Page(html).text)


def test_the_curve_of_jitrl_has_one_color_whatever_runs_beside_it():
    base = result("static", learned(), agent="static")
    ours, other = result("x", learned(), agent="jitrl"), result("y", learned(), agent="tabular")
    for runs in ([base, ours], [base, ours, other], [base, other, ours]):
        colors = {t.label: t.color for t in chart.traces(compare(runs), ENGLISH)}
        assert colors["x"] == 0
        assert colors.get("y", 1) == 1


def test_the_page_says_what_was_played_and_what_the_band_is(comparison):
    text = "".join(Page(page.html(comparison, ENGLISH)).text)
    assert terms.played(comparison, ENGLISH) in text
    assert ENGLISH.legend in text


def drawing(comparison):
    svg = chart.svg(chart.traces(comparison, ENGLISH), ENGLISH)
    return ElementTree.fromstring(svg), svg


def test_the_curve_is_well_formed_and_drawn_where_the_scores_are(comparison):
    root, _ = drawing(comparison)
    lines = [e for e in root.iter() if e.tag.endswith("polyline")]
    assert len(lines) == 3  # chances of the base, the base, and the other run
    points = [tuple(map(float, p.split(","))) for p in lines[-1].get("points").split()]
    xs = [x for x, _ in points]
    assert xs == sorted(xs)
    assert len(points) == 8
    low, high = chart.HEIGHT - chart.BOTTOM, chart.TOP
    heights = [low - mean * (low - high) for mean in comparison.lines[1].curve.mean]
    assert [y for _, y in points] == pytest.approx(heights, abs=0.06)
    bands = [e for e in root.iter() if e.get("class", "").startswith("band")]
    assert len(bands) == 2


def test_labels_at_the_end_of_lines_do_not_overlap():
    runs = [result(name, np.full((6, 1, 3), 0.5)) for name in ("a", "b", "c", "d")]
    root, _ = drawing(compare(runs))
    labels = [e for e in root.iter() if e.get("class", "").startswith("label")]
    heights = sorted(float(e.get("y")) for e in labels)
    assert min(np.diff(heights)) >= 16.9


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-7.0, 3.0, [-8, -6, -4, -2, 0, 2, 4]),
        (0.0, 300.0, [0, 100, 200, 300]),
        (0.42, 0.43, [0.42, 0.422, 0.424, 0.426, 0.428, 0.43]),
    ],
)
def test_ticks_are_round_and_cover_the_scores(low, high, ticks):
    assert chart.nice_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("attempts", "ticks"),
    [
        (1, [1]),
        (5, [1, 2, 3, 4, 5]),
        (25, [1, 5, 10, 15, 20, 25]),
        (50, [1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]),
        (97, [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 97]),
    ],
)
def test_marked_attempts_are_few_and_end_with_the_last(attempts, ticks):
    assert chart.attempt_ticks(attempts) == ticks


def test_one_attempt_and_equal_scores_can_be_drawn():
    root, svg = drawing(compare([result("a", np.full((6, 1, 1), 7.0))]))
    assert "nan" not in svg
    assert [e for e in root.iter() if e.tag.endswith("circle")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_picture_is_written_when_matplotlib_and_a_font_are_there(comparison, language, tmp_path):
    pytest.importorskip("matplotlib")
    from jitrl.errors import ConfigError
    from jitrl.report import png

    words, path = LANGUAGES[language], tmp_path / "curve.png"
    try:
        png.write(path, chart.traces(comparison, words), words)
    except ConfigError as error:
        pytest.skip(str(error))
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 10_000


@pytest.mark.parametrize("drawn", [chart, forest], ids=["curve", "differences"])
@pytest.mark.parametrize("width", [chart.WIDTH, chart.NARROW])
def test_no_word_of_a_drawing_leaves_it(drawn, width):
    runs = [
        result("static", learned(end=0.2), agent="static"),
        result("prompt-update", learned(), agent="prompt-update"),
        result("oracle-hint", learned(end=0.2), agent="oracle-hint"),
    ]
    comparison = compare(runs)
    shown = (chart.traces if drawn is chart else forest.twigs)(comparison, ENGLISH)
    root = ElementTree.fromstring(drawn.svg(shown, ENGLISH, width=width))
    assert root.get("viewBox").split()[2] == str(width)
    for e in root.iter():
        if e.get("class", "").startswith("label"):
            x, long = float(e.get("x")), 8.0 * len(e.text)  # bold, 13 px, a wide font
            end = e.get("text-anchor") == "end"
            assert 0 <= (x - long if end else x) < (x if end else x + long) <= width


def test_a_page_shows_one_of_two_drawings_and_stacks_a_table_before_it_is_cut(comparison):
    html = page.html(comparison, ENGLISH)
    assert html.count('class="chart wide"') == html.count('class="chart narrow"') == 2
    assert ".narrow{display:none}" in html
    stacked = int(re.search(r"max-width:(\d+)px\)\{thead\{display:none", html)[1])
    assert stacked >= 900


def test_intervals_and_numbers_with_units_stay_on_one_line():
    said = "记 10 次，95 % [+0.083, +0.750] [n < 6] 3 min 07 s, 12 tasks [a b, c]"
    assert unbroken(said).replace(NO_BREAK, "~") == (
        "记 10~次，95~% [+0.083,~+0.750] [n~<~6] 3~min 07~s, 12 tasks [a b, c]"
    )
