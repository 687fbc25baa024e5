from dataclasses import replace

import msgspec
import numpy as np
import pytest
from made import COST, learned, result

from jitrl.analysis import bill
from jitrl.analysis.compare import compare
from jitrl.report import chart, grid, page, terms
from jitrl.report.data import data
from jitrl.report.markdown import markdown
from jitrl.report.words import CHINESE, ENGLISH
from jitrl.run.ledger import Spell, Total


def low(label="static", agent="static"):
    return result(label, learned(end=0.2), agent=agent)


def cells(comparison, label):
    shown = grid.scores(comparison, ENGLISH)
    for row in shown.rows:
        if row.cells[0].rstrip("†*") == label:
            return dict(zip(shown.keys, row.cells, strict=True))
    raise AssertionError(label)


def test_columns_that_say_nothing_are_left_out():
    alone = grid.scores(compare([result("a", learned(attempts=5))]), ENGLISH)
    assert alone.keys == ("agent", "avg", "first", "final", "best")
    assert len(alone.rows) == 1
    two = grid.scores(compare([low(), result("a", learned())]), ENGLISH)
    assert set(two.keys) - set(alone.keys) == {"last", "difference", "verdict"}
    three = grid.scores(compare([low(), result("a", learned()), low("b", "b")]), ENGLISH)
    assert three.keys[-1] == "rival"


def test_the_best_of_the_base_stands_below_all_runs():
    scores = np.zeros((8, 1, 2))
    scores[:3, 0, 0] = scores[2:4, 0, 1] = 1
    comparison = compare([result("static", scores, agent="static"), result("a", scores)])
    last = grid.scores(comparison, ENGLISH).rows[-1]
    assert last.cells[0] == "static, best of 2"
    assert last.cells[1].startswith("0.500 [")
    assert comparison.lines[1].beyond.mean == pytest.approx(2 / 8 - 4 / 8)


def test_the_best_other_is_never_oneself_and_never_was_given_the_solution():
    ones, halves = np.ones((8, 1, 2)), np.full((8, 1, 2), 0.5)
    runs = [
        low_of(halves * 0.5),
        result("good", ones),
        result("fair", halves),
        result("told", ones * 1.5, agent="oracle-hint"),
    ]
    rivals = {line.result.label: line.rival.label for line in compare(runs).lines}
    assert rivals == {"static": "good", "good": "fair", "fair": "good", "told": "good"}
    assert cells(compare(runs), "good")["rival"] == "+0.500 [–]"


def low_of(scores):
    return result("static", scores, agent="static")


def test_where_the_solution_in_the_prompt_does_not_show_prompt_agents_are_marked():
    runs = [low(), low("oracle-hint", "oracle-hint"), low("reflexion", "reflexion")]
    comparison = compare([*runs, result("jitrl", learned())])
    names = [row.cells[0] for row in grid.scores(comparison, ENGLISH).rows]
    assert names[:4] == ["static", "oracle-hint", "reflexion†", "jitrl"]
    for words in (ENGLISH, CHINESE):
        assert "oracle-hint" in terms.warning(comparison, words)
        assert terms.warning(comparison, words) in page.html(comparison, words)
        assert terms.warning(comparison, words) in markdown(comparison, words)
    assert data(comparison, "x")["cannot_test_prompts"] is True
    assert ENGLISH.oracle in terms.every(comparison.lines[1], ENGLISH)


def test_with_few_tasks_nobody_knows_whether_prompts_can_be_tested():
    few = [result(n, learned(3), agent=n) for n in ("static", "oracle-hint", "reflexion")]
    comparison = compare(few)
    assert "is not known with so few tasks" in terms.warning(comparison, ENGLISH)
    assert "任务太少，不知道" in terms.warning(comparison, CHINESE)
    assert "noise" not in terms.warning(comparison, ENGLISH)
    assert cells(comparison, "reflexion")["agent"] == "reflexion"
    assert data(comparison, "x")["cannot_test_prompts"] is False
    same = compare([result(n, np.ones((9, 1, 2)), agent=n) for n in ("static", "oracle-hint")])
    assert same.cannot_test_prompts


def test_one_attempt_has_neither_a_best_nor_a_last():
    one = [low_of(np.zeros((8, 1, 1))), result("a", np.ones((8, 1, 1)))]
    shown = grid.scores(compare(one), ENGLISH)
    assert shown.keys == ("agent", "avg", "difference", "verdict")
    assert [row.cells[0] for row in shown.rows] == ["static", "a"]
    for words in (ENGLISH, CHINESE):
        assert "pass@" not in page.html(compare(one), words)
    assert terms.note(compare([low_of(np.zeros((2, 1, 1)))]), ENGLISH) == ""
    assert "verdict" not in terms.note(compare([low_of(learned())]), ENGLISH)


def test_where_the_solution_in_the_prompt_helps_nothing_is_marked():
    told = result("oracle-hint", learned(start=0.9), agent="oracle-hint")
    comparison = compare([low(), told, low("reflexion", "reflexion")])
    assert not comparison.cannot_test_prompts
    assert terms.warning(comparison, ENGLISH) == ""
    assert cells(comparison, "reflexion")["agent"] == "reflexion"
    assert compare([low(), told]).hint.verdict == "better"
    assert compare([told, low("reflexion", "reflexion")]).hint is None


def test_a_row_whose_terms_differ_has_a_star():
    other = result("a", learned(), run__rewards="during")
    comparison = compare([low(), other], allow=["rewards"])
    assert cells(comparison, "a")["agent"] == "a*"


def priced(label, scores, agent, calls, dollars=0.0, cached=0, judged=0):
    cost = (
        Total("act", "m", calls, 0, cached, 10, 5, dollars),
        Total("judge", "m", judged, 0, 0, 1, 1, 0.0),
    )
    made = result(label, scores, agent=agent)
    spells = (Spell("act", 4, 6.0), Spell("learn", 4, 1.5))
    return replace(made, model="m", scorers=("s",), cost=cost, spells=spells)


def test_a_bill_holds_acting_and_learning_apart():
    took = bill.bill(priced("a", learned(), "jitrl", 100, 2.5, cached=20, judged=7))
    assert (took.acting, took.learning, took.calls, took.cached) == (120, 7, 107, 20)
    assert (took.tokens, took.dollars) == (17, 2.5)
    assert (took.acting_s, took.learning_s) == (6.0, 1.5)
    assert took.wall_s is None  # the session that made.result invents was not timed


def test_wall_time_is_the_sum_of_all_sessions_or_unknown():
    run = result("a", learned())
    session = run.record.sessions[0]
    timed = [msgspec.structs.replace(session, seconds=s) for s in (2.0, 3.5)]
    record = msgspec.structs.replace(run.record, sessions=timed)
    whole = type(run)("a", record, run.scores, "m", ("s",), (COST,), 0, 0)
    assert bill.bill(whole).wall_s == 5.5


def test_the_price_of_an_extra_success_is_the_extra_cost_over_the_extra_successes():
    zeros, ones = np.zeros((8, 1, 2)), np.ones((8, 1, 2))
    runs = [priced("static", zeros, "static", 160, 1.6), priced("a", ones, "jitrl", 320, 4.8)]
    comparison = compare(runs)
    extra = bill.extra(comparison, comparison.lines[1])
    assert (extra.gained, extra.calls) == (16, 10)
    assert extra.dollars == pytest.approx(0.2)
    assert bill.extra(comparison, comparison.lines[0]) is None


def test_answers_from_a_file_have_no_price_and_no_gain_has_none_either():
    zeros, ones = np.zeros((8, 1, 2)), np.ones((8, 1, 2))
    cached = priced("a", ones, "jitrl", 20, 0.3, cached=300)
    comparison = compare([priced("static", zeros, "static", 160, 1.6), cached])
    extra = bill.extra(comparison, comparison.lines[1])
    assert (extra.calls, extra.dollars) == (10, None)
    same = compare([priced("static", zeros, "static", 160), priced("a", zeros, "jitrl", 320)])
    assert bill.extra(same, same.lines[1]) is None


def test_durations_are_read_at_a_glance():
    shown = [grid.duration(s, ENGLISH) for s in (None, 0.04, 59.94, 187.2)]
    assert shown == ["–", "0.0 s", "59.9 s", "3 min 07 s"]


def test_ten_agents_have_ten_colors_and_bars_that_stand_side_by_side():
    runs = [low(), *(result(f"a{i}", learned(seed=i)) for i in range(9))]
    traces = chart.traces(compare(runs), ENGLISH)
    colors = [trace.color for trace in traces if not trace.dashed]
    assert len(set(colors)) == 10
    assert max(colors) < len(chart.PALETTE)
    assert len(set(chart.dodges(traces, 6))) == 11  # the dashed line stays in the middle
    svg = chart.svg(traces, ENGLISH)
    assert svg.count('class="bar ') == sum(low < high for t in traces for low, high in t.band) >= 58
    assert 'class="band' not in svg
    few = chart.svg(chart.traces(compare(runs[:3]), ENGLISH), ENGLISH)
    assert 'class="band' in few


def test_labels_stay_within_the_chart():
    placed = chart.spread([100.0] * 5, 17, 0, 100)
    assert sorted(placed) == pytest.approx([32, 49, 66, 83, 100])


def test_the_page_shows_differences_and_the_commands_that_made_it():
    run = result("a", learned())
    session = msgspec.structs.replace(run.record.sessions[0], command="jitrl run --agent 'a <b>'")
    record = msgspec.structs.replace(run.record, sessions=[session, session])
    made = type(run)("a", record, run.scores, run.model, run.scorers, (COST,), 0, 0)
    html = page.html(compare([low(), made]), ENGLISH, "jitrl report x --out y.html")
    assert html.count("<pre>jitrl run --agent &#x27;a &lt;b&gt;&#x27;</pre>") == 1
    assert "<pre>jitrl report x --out y.html</pre>" in html
    assert ENGLISH.forest.format(base="static") in html.replace("\u00a0", " ")
    assert html.count("<svg") == 4  # curve and differences, for wide and for narrow windows
    assert page.html(compare([made]), ENGLISH).count("<svg") == 2
