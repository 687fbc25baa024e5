"""`jitrl memory` on real files: data on stdout, words on stderr, errors by exit code."""

import contextlib
import dataclasses
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import jitrl as jitrl_package
from jitrl.cli import main
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import played, sample_contrast, sample_rule
from jitrl.testing.store_samples import put, sample_episode
from jitrl.types import Outcome, Unscored


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Jitrl = Callable[..., Done]


@pytest.fixture
def jitrl(capfdbinary: pytest.CaptureFixture[bytes]) -> Jitrl:
    def call(*args: object) -> Done:
        with pytest.raises(SystemExit) as end:
            main(["memory", *map(str, args)])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Done(int(end.value.code or 0), out.decode(), err.decode())

    return call


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A memory with a good episode, one told by a desk, and one without outcome."""
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        put(store, sample_episode("订单-1"))
        told = Outcome(1.0, "human", "desk", told=True)
        put(store, dataclasses.replace(sample_episode("told"), outcome=told))
        store.commit(
            dataclasses.replace(sample_episode("open"), outcome=None), Unscored("no outcome"), ()
        )
    return path


def status_of(file: Path, key: str) -> list[str]:
    with SQLiteStore(file, readonly=True) as store:
        return [row.status for row in store.rows(key)]


def test_ls_lists_episodes_newest_first(jitrl: Jitrl, file: Path) -> None:
    done = jitrl("ls", file, "--json")
    assert done.code == 0
    assert done.err == ""
    assert done.data["schema"] == "jitrl.memory.ls/1"
    assert [e["key"] for e in done.data["episodes"]] == ["open", "told", "订单-1"]
    assert "订单-1" in done.out
    assert [e["key"] for e in jitrl("ls", file, "--json", "--limit", 1).data["episodes"]] == [
        "open"
    ]
    words = jitrl("ls", file, "--scope", "shop", "--task", "t1")
    assert words.out == ""
    assert "no outcome" in words.err
    assert "订单-1" in words.err


def test_show_tells_all_about_an_episode(jitrl: Jitrl, file: Path) -> None:
    data = jitrl("show", file, "订单-1", "--json").data
    assert data["schema"] == "jitrl.memory.show/1"
    assert data["episode"]["schema"] == "jitrl.episode"
    decision = data["episode"]["steps"][0]["decision"]
    assert decision["scorer"] == "letters"
    assert decision["neighbors"][0]["similarity"] == 0.9
    assert [row["ret"] for row in data["rows"]] == [0.25, 0.5, 1.0]
    words = jitrl("show", file, "订单-1").err
    assert "scored by outcome (test, blind)" in words
    assert "click(2)" in words
    assert "nothing is learned: no outcome" in jitrl("show", file, "open").err


def test_stats_counts_and_warns_of_what_is_mixed(jitrl: Jitrl, file: Path) -> None:
    data = jitrl("stats", file, "--json").data
    assert data["schema"] == "jitrl.memory.stats/1"
    assert data["rows"] == {"active": 6, "quarantined": 0, "retired": 0}
    assert data["unscored"] == {"no outcome": 1}
    assert [m["what"] for m in data["mixed"]] == ["told", "evaluator"]
    assert "warning: scope shop mixes told" in jitrl("stats", file).err


def test_stats_counts_nothing_as_0(jitrl: Jitrl, tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "empty.db"):
        pass
    said = jitrl("stats", tmp_path / "empty.db").err
    assert re.search(r"^unscored +0$", said, re.MULTILINE)
    assert all(re.search(r"\S {2,}\S", line) for line in said.splitlines())


def test_quarantine_and_restore_change_rows_and_episodes(jitrl: Jitrl, file: Path) -> None:
    done = jitrl(
        "quarantine", file, "--episode", "订单-1", "--reason", "odd", "--principal", "ann", "--json"
    )
    assert done.data == {
        "schema": "jitrl.memory.status/1",
        "status": "quarantined",
        "changed": 3,
        "version": 4,
        "tainted": {},
    }
    assert status_of(file, "订单-1") == ["quarantined"] * 3
    with SQLiteStore(file) as store:
        (change,) = store.changes(3)
        assert (change.reason, change.principal) == ("odd", "ann")
    assert "2 rows are active now" in jitrl("restore", file, "--row", 1, "--row", 3).err
    assert status_of(file, "订单-1") == ["active", "quarantined", "active"]


def test_rules_are_shown_counted_exported_and_imported(
    jitrl: Jitrl, file: Path, tmp_path: Path
) -> None:
    lines, other = tmp_path / "out.jsonl", tmp_path / "other.db"
    rule = sample_rule(evidence=("c1",))
    with SQLiteStore(file) as store:
        store.add_rules([rule], [sample_contrast()])
        played(store, "e1", [(rule.id, False)])
    assert (
        f"rule {rule.id} held out (chance 0.5), obeyed 2 of 2 times, 1 unknown"
        in jitrl("show", file, "e1").err
    )
    assert jitrl("stats", file, "--json").data["rules"]["candidate"] == 1
    assert "4 episodes, 1 rule, 1 contrast written" in jitrl("export", file, lines).err
    done = jitrl("import", other, lines, "--gamma", 0.5)
    assert "4 episodes added with 9 rows" in done.err
    assert "1 rule and 1 contrast added" in done.err
    with SQLiteStore(other) as store:
        assert store.rule(rule.id).status == "quarantined"
    assert jitrl("check", other).code == 0


def test_an_import_of_rules_alone_makes_the_file(jitrl: Jitrl, file: Path, tmp_path: Path) -> None:
    lines, other = tmp_path / "out.jsonl", tmp_path / "other.db"
    with SQLiteStore(file, memory="book") as store:
        store.add_rules([sample_rule()], principal="ann")
    jitrl("export", file, lines, "--memory", "book")
    done = jitrl("import", other, lines, "--trust", "--gamma", 0.5)
    assert "1 rule and 0 contrasts added" in done.err
    with SQLiteStore(other) as store:
        assert (store.rules()[0].status, store.rules()[0].principal) == ("candidate", "ann")


def test_episodes_are_imported_beside_rules_that_were_there_first(
    jitrl: Jitrl, file: Path, tmp_path: Path
) -> None:
    lines, other = tmp_path / "out.jsonl", tmp_path / "other.db"
    with SQLiteStore(other) as store:
        store.add_rules([sample_rule()])
    jitrl("export", file, lines)
    assert "3 episodes added with 6 rows" in jitrl("import", other, lines).err


def test_an_export_is_imported_into_quarantine(jitrl: Jitrl, file: Path, tmp_path: Path) -> None:
    lines, other = tmp_path / "out.jsonl", tmp_path / "other.db"
    done = jitrl("export", file, lines, "--json")
    assert done.data == {
        "schema": "jitrl.memory.export/1",
        "episodes": 3,
        "rules": 0,
        "contrasts": 0,
        "target": str(lines),
    }
    assert len(lines.read_bytes().splitlines()) == 3
    done = jitrl("import", other, lines, "--gamma", 0.5, "--json")
    assert done.data == {
        "schema": "jitrl.memory.import/1",
        "episodes": 3,
        "duplicates": 0,
        "rows": 6,
        "quarantined": 6,
        "skipped": [],
        "rules": 0,
        "contrasts": 0,
        "unscored": 0,
    }
    assert status_of(other, "订单-1") == ["quarantined"] * 3
    again = jitrl("import", other, lines, "--gamma", 0.5)
    assert "0 episodes added" in again.err
    assert "3 there already" in again.err


def test_an_import_can_be_trusted_and_can_leave_bad_lines_out(
    jitrl: Jitrl, file: Path, tmp_path: Path
) -> None:
    lines, other = tmp_path / "out.jsonl", tmp_path / "other.db"
    jitrl("export", file, lines)
    with lines.open("ab") as out:
        out.write(b'{"schema": "nonsense"}\n')
    before = sorted(tmp_path.iterdir())
    done = jitrl("import", other, lines, "--gamma", 0.5)
    assert (done.code, done.out) == (4, "")
    assert f"{lines}:4: " in done.err
    assert sorted(tmp_path.iterdir()) == before
    done = jitrl("import", other, lines, "--gamma", 0.5, "--trust", "--skip-bad", "--json")
    assert done.data["episodes"] == 3
    assert [s["line"] for s in done.data["skipped"]] == [4]
    assert f"{lines}:4 left out" in done.err
    assert status_of(other, "订单-1") == ["active"] * 3


def test_a_new_memory_takes_the_settings_in_force_and_remembers_them(
    jitrl: Jitrl, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jitrl("export", file, "out.jsonl")
    for name, settings, gamma, returns in (
        ("plain.db", {}, 0.6, "discounted"),
        ("set.db", {"JITRL_MEMORY_GAMMA": "0.25"}, 0.25, "discounted"),
        ("preset.db", {"JITRL_MEMORY_PRESET": "released-web"}, 0.1, "substituted"),
    ):
        with monkeypatch.context() as now:
            for variable, value in settings.items():
                now.setenv(variable, value)
            done = jitrl("import", name, "out.jsonl", "--trust", "--json")
        assert (done.code, done.data["episodes"]) == (0, 3)
        with SQLiteStore(name, readonly=True) as store:
            known = store.settings()
        assert (known["gamma"], known["returns"]) == (gamma, returns)
        assert jitrl("rebuild", name, "--dry-run").code == 0
        assert jitrl("check", name).code == 0
    with jitrl_package.open("plain.db") as memory:
        assert memory.agent.derivation == memory.store.settings()
    assert not [name for name in os.listdir() if name.startswith(".")]


@pytest.mark.parametrize("text", ["", "\n\n", '{"schema": "nonsense"}\n'])
def test_an_import_of_nothing_makes_no_file(jitrl: Jitrl, tmp_path: Path, text: str) -> None:
    (tmp_path / "in.jsonl").write_text(text)
    done = jitrl("import", tmp_path / "new.db", tmp_path / "in.jsonl", "--skip-bad")
    assert (done.code, "0 episodes added" in done.err) == (0, True)
    assert os.listdir(tmp_path) == ["in.jsonl"]


def test_an_export_to_stdout_is_read_from_stdin(
    jitrl: Jitrl, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = jitrl("export", file, "-").out
    assert len(exported.splitlines()) == 3
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(exported.encode())))
    done = jitrl("import", tmp_path / "other.db", "-", "--gamma", 0.5)
    assert "3 episodes added" in done.err


def test_a_failed_export_leaves_no_half_file(jitrl: Jitrl, file: Path, tmp_path: Path) -> None:
    done = jitrl("export", file, tmp_path / "nowhere" / "out.jsonl")
    assert done.code == 4
    assert "cannot write" in done.err
    (tmp_path / "out.jsonl").write_text("precious")
    assert jitrl("export", tmp_path / "no.db", tmp_path / "out.jsonl").code == 4
    assert (tmp_path / "out.jsonl").read_text() == "precious"
    assert not list(tmp_path.glob("*.part"))


def test_a_rebuild_replaces_rows_that_the_journal_does_not_give(jitrl: Jitrl, file: Path) -> None:
    done = jitrl("rebuild", file, "--gamma", 0.9, "--dry-run", "--json")
    assert done.code == 1
    assert not done.data["is_applied"]
    assert [d["episode"] for d in done.data["differences"]] == ["订单-1", "told"]
    assert status_of(file, "told") == ["active"] * 3
    assert jitrl("rebuild", file, "--gamma", 0.9).code == 0
    assert status_of(file, "told") == ["retired"] * 3 + ["active"] * 3
    with SQLiteStore(file) as store:
        assert [r.ret for r in store.rows("told")[3:]] == pytest.approx([0.81, 0.9, 1.0])
        store.configure({"gamma": 0.9, "trusted": ["test", "human"]})
    done = jitrl("rebuild", file, "--dry-run", "--json")
    assert (done.code, done.data["differences"]) == (0, [])


@pytest.mark.skipif(
    not hasattr(os, "setresuid"), reason="folders are made read-only in another way"
)
def test_a_rebuild_that_only_says_what_differs_needs_no_right_to_write(
    jitrl: Jitrl, file: Path
) -> None:
    asked = ("rebuild", "memory.db", "--gamma", 0.9, "--dry-run", "--json")
    # Not in pytest's own folder: it shuts other users out.
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder, memory = Path(name), Path(name, "memory.db")
        shutil.copy(file, memory)
        first = jitrl(*asked)
        assert first.code == 1, first.err
        differences = first.data["differences"]
        memory.chmod(0o444)
        folder.chmod(0o555)
        is_root = os.geteuid() == 0
        try:
            if is_root:  # who may write everywhere
                os.setresuid(65534, 65534, 0)
            done = jitrl(*asked)
        finally:
            if is_root:
                os.setresuid(0, 0, 0)
            folder.chmod(0o777)
        assert (done.code, done.data["differences"]) == (1, differences), done.err


def test_check_exits_with_1_if_anything_is_wrong(jitrl: Jitrl, file: Path) -> None:
    done = jitrl("check", file, "--json")
    assert (done.code, done.data) == (
        0,
        {"schema": "jitrl.memory.check/1", "is_whole": True, "problems": []},
    )
    text = file.read_bytes()
    file.write_bytes(text.replace(b"page 1", b"page 8"))
    done = jitrl("check", file)
    assert done.code == 1
    assert "the digest of a state fits its text" in done.err


def test_check_names_readings_that_an_older_version_let_in(jitrl: Jitrl, file: Path) -> None:
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("""UPDATE episode SET info = '{"readings": [[99, "y"]]}' WHERE key = 'told'""")
    done = jitrl("check", file)
    assert done.code == 1
    assert "episode told: info.readings[0] is [99, 'y']; it must be [[step, text], …]" in done.err


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("ls", "nowhere.db"), 4, "there is no memory file nowhere.db"),
        (("ls", "FILE", "--memory", "x"), 4, "has no memory 'x'; it has ['default']"),
        (("ls", "memroy.db"), 4, "did you mean memory.db?"),
        (("ls", "FILE", "--scope", "nope"), 2, "nothing in the memory is of it; there are 'shop'"),
        (("ls", "FILE", "--task", "nope"), 2, "no episode is of it; there are 't1'"),
        (("export", "FILE", "out.jsonl", "--scope", "nope"), 2, "there are 'shop'"),
        (("show", "FILE", "nobody"), 4, "has no episode 'nobody'"),
        (("quarantine", "nowhere.db", "--row", 1, "--reason", "x"), 4, "there is no memory file"),
        (("quarantine", "FILE", "--reason", "x"), 2, "give --episode KEY, --row ID"),
        (("restore", "FILE", "--row", 999), 4, "no row 999"),
        (
            ("restore", "FILE", "--row", 999, "--row", 1, "--row", 888),
            4,
            "has no row 888, nor 1 more of 3 named",
        ),
        (("export", "FILE", "-", "--json"), 2, "share stdout"),
        (("import", "FILE", "nowhere.jsonl"), 4, "cannot read nowhere.jsonl"),
        (("rebuild", "FILE"), 3, "give --gamma"),
        (("rebuild", "FILE", "--gamma", 0.5, "--trusted", "rumour"), 2, "'rumour' is no basis"),
        (("rebuild", "FILE", "--gamma", 2), 2, "gamma"),
        (("rebuild", "FILE", "--gamma", "nan"), 2, "gamma"),
        (("import", "FILE", "lines.jsonl"), 3, "give --gamma"),
        (("import", "new.db", "nowhere.jsonl"), 4, "cannot read nowhere.jsonl"),
        (("import", "new.db", "lines.jsonl"), 4, "lines.jsonl:1: Expected `object`, got `array`"),
        (("import", "new.db", "lines.jsonl", "--gamma", "nan"), 2, "gamma"),
        (("import", "nowhere/new.db", "lines.jsonl"), 4, "the folder nowhere does not exist"),
        (("import", "x" * 300, "lines.jsonl"), 4, "cannot be used"),
    ],
)
def test_a_mistake_is_named_and_has_its_exit_code(
    jitrl: Jitrl,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[object, ...],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(file.parent)
    Path("lines.jsonl").write_text("[]\n")
    before = sorted(file.parent.iterdir())
    done = jitrl(*(file if arg == "FILE" else arg for arg in args))
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert sorted(file.parent.iterdir()) == before


def test_control_characters_and_markup_of_a_page_do_not_reach_the_terminal(
    jitrl: Jitrl, tmp_path: Path
) -> None:
    with SQLiteStore(tmp_path / "memory.db") as store:
        put(store, sample_episode("evil \x1b[31m [red]x[/red]"))
    words = jitrl("ls", tmp_path / "memory.db").err
    assert "\x1b" not in words
    assert "[red]x[/red]" in words
