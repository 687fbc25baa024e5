"""Tables at the width of a terminal: what one must read or copy is never cut."""

import io

import pytest
from rich.console import Console

import jitrl as package
from jitrl.cli.demo.command import OWN_AGENT
from jitrl.cli.shared.listing import Listing, figures
from jitrl.cli.shared.output import people

ACTION = "click(<link[Configuration of all the products of the catalog]>)"


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    people.cache_clear()
    yield
    people.cache_clear()


def rendered(listing, width):
    console = Console(width=width, markup=False)
    with console.capture() as said:
        console.print(listing)
    return said.get().splitlines()


def listing():
    made = Listing(("candidate", "p", "z", "why"), texts=frozenset({0, 3}))
    made.add(ACTION, "30.7%", "+1.0", "returns")
    return made


def test_a_text_goes_on_in_lines_that_end_without_a_blank_and_before_no_closing_mark():
    made = Listing(("rule", "n"), texts=frozenset({0}))
    made.add("When the page lists orders, open the first", "1")
    made.add("当页面列出许多订单时，点开第一个，", "2")
    lines = rendered(made, 20)
    assert "When the page lists" in lines
    assert not [line for line in lines if line != line.rstrip() or line[:1] in "，。"]


def test_a_row_that_fits_is_one_line_of_a_table():
    assert len(rendered(listing(), 120)) == 2


def test_a_row_that_does_not_fit_gives_each_text_a_line_of_its_own():
    assert rendered(listing(), 70) == [
        "candidate",
        "      p     z",
        ACTION,
        "  30.7%  +1.0",
        "  why: returns",
    ]


def test_where_rows_are_numbered_numbers_stay_in_lines_and_texts_stand_below():
    made = Listing(("candidate", "p", "z", "why"), texts=frozenset({0, 3}), is_numbered=True)
    made.add(ACTION, "30.7%", "+1.0", "returns")
    made.add("b", "9.1%", "-10.0")
    assert [line.rstrip() for line in rendered(made, 70)] == [
        "#      p      z",
        "1  30.7%   +1.0",
        "2   9.1%  -10.0",
        "#  candidate",
        f"1  {ACTION}",
        "   why: returns",
        "2  b",
    ]
    assert len(rendered(made, 120)) == 3
    assert rendered(made, 12)[0] == "candidate"


def test_candidates_of_a_decision_keep_their_numbers_in_one_line_at_80_columns(jitrl, narrow):
    with package.open("m.db") as memory, memory.episode("a task", key="k") as episode:
        episode.decide("a page", {ACTION: 0.5, "b": 0.0})
        episode.finish(outcome=1)
    lines = jitrl("explain", "m.db", "k#0").err.splitlines()
    head = next(i for i, line in enumerate(lines) if "p before" in line)
    assert lines[head].split()[:3] == ["#", "p", "before"]
    assert [line.split()[0] for line in lines[head + 1 : head + 3]] == ["1", "2"]
    assert f"1  {ACTION}" in lines


def test_actions_and_keys_are_whole_at_80_columns(jitrl, narrow):
    key = "find:list:3/attempt-004/a-rather-long-key/seed-0"
    with package.open("m.db") as memory, memory.episode("a task", key=key) as episode:
        episode.decide("a page", {ACTION: 0.5, "b": 0.0})
        episode.finish(outcome=1)
    assert ACTION in jitrl("explain", "m.db", f"{key}#0").err
    assert key in jitrl("memory", "ls", "m.db").err.splitlines()


def test_a_comparison_keeps_agent_numbers_and_verdict_at_80_columns(jitrl, narrow):
    play = ("--env", "toy", "--env-options", "tasks=4", "--model", "scripted", "--attempts", "2")
    said = jitrl("compare", *play, "--out", "c").err
    row = next(line for line in said.splitlines() if line.startswith("jitrl  "))
    assert "…" not in row
    assert row.split()[0] == "jitrl"
    assert row.rstrip().endswith("[n < 6]  no evidence")
    assert "n < 6: no interval" in said
    assert "1 seed " in said


def test_the_last_attempt_is_kept_longest_and_what_is_left_out_is_listed_as_in_the_table(
    jitrl, monkeypatch
):
    play = ("--env", "toy", "--env-options", "tasks=6", "--model", "scripted", "--attempts", "6")
    assert jitrl("compare", *play, "--out", "c").code == 0
    arms = "c/static", "again=c/static", "c/jitrl"

    def said(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        people.cache_clear()
        return jitrl("compare", *arms).err

    try:
        at_80, at_60 = said(80), said(60)
    finally:
        people.cache_clear()
    assert "Final" in at_80.splitlines()[0].split()
    lost = "interval of Avg, first, last five, best of 6, Avg − best other [95 %]"
    assert f"no room for: {lost} (" in " ".join(at_80.split())
    row = next(line for line in at_80.splitlines() if line.startswith("jitrl  "))
    assert row.split()[1].replace(".", "").isdigit()
    assert not row.split()[2].startswith("[")
    assert "interval of Avg, first, Final, last five" in " ".join(at_60.split())


def test_brackets_of_a_text_are_not_taken_for_markup(capsys):
    people().print("pip install 'jitrl[openai]'")
    assert "jitrl[openai]" in capsys.readouterr().err


def test_a_run_folder_is_answered_with_its_own_memories(jitrl):
    play = ("--env", "toy", "--model", "scripted", "--attempts", "1", "--seeds", "0,1")
    assert jitrl("run", *play, "--agent", "static", "--out", "r").code == 0
    done = jitrl("memory", "ls", "r")
    assert done.code == 2
    assert "r/seed-0.db … seed-1.db (2 seeds)" in done.err


def test_another_rule_is_answered_with_the_flag_to_give(jitrl):
    with package.open("m.db", rule={"beta": 1.0}) as memory, memory.episode("t", key="k") as one:
        one.decide("a page", {"a": 0.5, "b": 0.0})
        one.finish(outcome=1)
    done = jitrl("explain", "m.db", "k#0", "--set", "memory.rule=beta=3")
    assert (done.code, "--set memory.rule=" in done.err) == (3, True)


def test_the_ten_lines_fit_into_80_columns():
    assert max(map(len, OWN_AGENT.splitlines())) <= 80


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (40, ["arm              score", "default, oracle  +.125 [n < 6]"]),
        (26, ["arm      score", "default, +.125 [n < 6]", "oracle"]),
        (20, ["arm", "           score", "default, oracle", "  +.125 [n < 6]"]),
    ],
)
def test_a_name_goes_on_below_and_no_number_is_cut(width, lines):
    made = figures("arm", "score")
    made.add("default, oracle", "+.125 [n < 6]")
    squeezed = [" ".join(line.split()) for line in rendered(made, width)]
    assert squeezed == [" ".join(line.split()) for line in lines]


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_table_of_numbers_breaks_its_long_headings_before_it_is_parted(is_whole):
    heads = ("candidate", "p before", "q", "by exploration", "z → z'")
    listing = Listing(heads, is_numbered=True)
    listing.add("take lamp", "50.0%", "0.500", "+1.2", "+0.0 → +1.5")
    whole = "candidate  p before      q  by exploration       z → z'"
    console = Console(width=80 if is_whole else 50, file=io.StringIO())
    console.print(listing)
    *said, row = [line.split() for line in console.file.getvalue().splitlines()]
    assert row == ["take", "lamp", "50.0%", "0.500", "+1.2", "+0.0", "→", "+1.5"]
    broken = [["p", "by"], ["candidate", "before", "q", "exploration", "z", "→", "z'"]]
    assert said == ([whole.split()] if is_whole else broken)


def test_numbers_whose_headings_are_too_wide_stay_in_lines_below_broken_headings():
    made = Listing(("candidate", "by exploration", "z → z'"), is_numbered=True)
    made.add(ACTION, "+24.0", "-3.0 → +51.5")
    assert [line.rstrip() for line in rendered(made, 29)[:3]] == [
        "            by",
        "#  exploration        z → z'",
        "1        +24.0  -3.0 → +51.5",
    ]
