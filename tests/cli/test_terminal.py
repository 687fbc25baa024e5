"""Texts of pages, goals, labels and errors do nothing to the terminal they are shown in."""

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

import jitrl as package
from jitrl.cli.shared.output import folded, people, printable, table, tell

EVIL = "\x1b[2Jb\x07\x9b\u202e\r"


@pytest.fixture
def memory(jitrl):
    with (
        package.open("m.db") as agent,
        agent.episode(f"t{EVIL}", key=f"k{EVIL}") as episode,
    ):
        state = package.State(f"page{EVIL}", f"goal{EVIL}")
        episode.decide(state, {f"a{EVIL}": 0.0, "c": -9.0})
        episode.finish(outcome=1)
    return jitrl


def harmless(text):
    return not [c for c in text if c != "\n" and not (c.isprintable() or c == "\u3000")]


@pytest.mark.parametrize(
    "args",
    [
        ("explain", "m.db", f"k{EVIL}#0"),
        ("explain", "m.db", f"k{EVIL}#0", "--lang", "zh"),
        ("explain", "m.db", "--changed"),
        ("explain", "m.db", f"{EVIL}#0"),
        ("memory", "ls", "m.db"),
        ("memory", "show", "m.db", f"k{EVIL}"),
        ("memory", "show", "m.db", EVIL),
        ("memory", "stats", "m.db"),
        ("doctor", "m.db"),
        ("doctor", EVIL),
        ("memory", "export", "m.db", f"out{EVIL}"),
        ("report", f"label{EVIL}=m"),
        ("compare", f"label{EVIL}=m", "x=n"),
    ],
    ids=lambda args: " ".join(args[:2]).partition(EVIL)[0],
)
def test_no_command_lets_a_text_steer_the_terminal(memory, args):
    done = memory(*args)
    assert harmless(done.out + done.err), ascii(done.out + done.err)


def test_what_an_action_hides_is_shown_by_explain(memory):
    said = memory("explain", "m.db", f"k{EVIL}#0").err
    assert "a�[2Jb" in said
    assert "goal�[2Jb" in said


def test_labels_of_a_report_are_harmless_on_stdout(jitrl):
    run = ("run", "--env", "toy", "--model", "scripted", "--attempts", "2")
    assert jitrl(*run, "--out", "r").code == 0
    done = jitrl("report", f"label{EVIL}=r")
    assert done.code == 0
    assert "label�[2Jb" in done.out
    assert harmless(done.out + done.err)


@pytest.mark.parametrize(
    "made", [lambda t: t, Text, lambda t: Group(Text(t))], ids=["words", "text", "group"]
)
def test_whatever_is_printed_is_made_harmless(capsys, made):
    people().print(made(f"x{EVIL}y"), markup=False)
    said = capsys.readouterr().err
    assert harmless(said)
    assert said.startswith("x�[2Jb")


def test_a_column_has_room_for_what_is_shown_in_the_place_of_control_characters(capsys):
    table = Table(box=None, padding=0)
    table.add_column("h", no_wrap=True)
    table.add_row(Text("\x1b\x1b\x1b\x1bend"))
    people().print(table)
    assert "����end" in capsys.readouterr().err


def test_a_line_stays_one_line(capsys):
    tell("one\ntwo")
    assert capsys.readouterr().err == "one�two\n"


def test_letters_of_every_script_stay():
    text = "中文\u3000日本 a\u00a0b 👩\u200d🚀 می\u200cخواهم\nline"
    assert printable(text) == text


def test_a_report_is_not_written_over_the_record_of_its_run(jitrl, tmp_path):
    run = ("run", "--env", "toy", "--model", "scripted", "--attempts", "2")
    assert jitrl(*run, "--out", "r").code == 0
    shutil.copy("r/run.json", "before")
    (tmp_path / "here" / "link.json").symlink_to("r/run.json")
    for out in ("r/run.json", "link.json"):
        done = jitrl("report", "r", "--out", out)
        assert (done.code, "is the record of a run" in done.err) == (2, True)
    with open("r/run.json") as now, open("before") as before:
        assert now.read() == before.read()


@pytest.mark.parametrize("width", range(24, 81))
def test_lines_end_beside_chinese_letters_but_not_inside_intervals_or_before_units(width):
    said = (
        "jitrl 0.333，static 0.000：+0.333 [+0.083, +0.750]，证据不足。至少成功 10 次，区间：95 %，"
        "按任务重抽样的 BCa 自助法。Avg is 0.583 [0.250, 0.917] in 3 min 07 s (n = 12)."
    )
    lines = folded(Text(said, style="dim"), width).plain.splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == said.replace(" ", "")
    for whole in ("[+0.083, +0.750]，", "10 次，", "95 %，", "[0.250, 0.917]", "3 min", "07 s"):
        assert any(whole in line for line in lines), (whole, lines)


def test_what_is_printed_is_folded_and_what_is_one_line_is_not(capsys):
    width = people().width
    said = "字" * (width // 2 - 6) + "共得 [+0.083, +0.750]"
    people().print(Group(Text(said)))
    assert "[+0.083, +0.750]" in capsys.readouterr().err
    tell(said + said)
    assert capsys.readouterr().err == said + said + "\n"


@given(st.text("字a b，(1.\n[", max_size=60), st.integers(4, 30))
def test_folding_keeps_every_letter(said, width):
    shown = folded(Text(said), width).plain
    assert shown.replace(" ", "").replace("\n", "") == said.replace(" ", "").replace("\n", "")


def test_no_line_of_a_table_ends_with_blanks(capsys):
    made = table("agent", "note")
    made.add_row("a", "short")
    made.add_row("b", "a longer one")
    people().print(made)
    lines = capsys.readouterr().err.splitlines()
    assert [line.rstrip() for line in lines] == lines
    assert lines[1].split() == ["a", "short"]
    assert lines[1].index("short") == lines[2].index("a longer") == lines[0].index("note")
