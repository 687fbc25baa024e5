"""`jitrl rules show`, `redistil`, `export`, `import`: a rule, the book made again, its lines."""

import contextlib
import getpass
import json
import sqlite3
import sys

import pytest

from jitrl.cli import main
from jitrl.cli.shared.output import people
from jitrl.core.credit import derive_rows
from jitrl.core.sentences import rule_id
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import derive, sample_episode, scored
from jitrl.types import Contrast, Episode, Rule, RuleUse, State, Transition

TEXT = "When the goal names an order, open the list of orders"
AGAINST = "When the goal names an order, do not open the list of orders"
ID, OTHER = rule_id(TEXT), rule_id(AGAINST)


@pytest.fixture
def jitrl(capfd, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "160")
    people.cache_clear()  # a console keeps the width that it was made with
    monkeypatch.chdir(tmp_path)

    def call(*args):
        with pytest.raises(SystemExit) as end:
            main(["rules", *map(str, args)])
        sys.stdout.flush()
        out, err = capfd.readouterr()
        return int(end.value.code or 0), out, err

    yield call
    people.cache_clear()


def lived(key, action, reward):
    """One step at an order."""
    step = Transition(State("the order", place="order"), action, None, reward, None)
    return Episode(key, "t", "shop", (step,), "terminated", info={"goal": "Cancel it"})


@pytest.fixture
def file(tmp_path):
    """Two rules that disagree, one of them with uses, and a contrast whose episodes are there."""
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        for episode in (lived("g", "click(Cancel)", 1.0), lived("b", "click(Back)", 0.0)):
            judgment = EnvironmentRewards().judge(episode)
            store.commit(episode, judgment, derive_rows(episode, judgment, gamma=0.5))
        contrast = Contrast("c", "shop", "t", "orders", 2, "Cancel it", ("g",), ("b",), (1.0, 0.0))
        store.add_rules([Rule(ID, TEXT, "shop", "orders", evidence=("c",))], [contrast], reason="r")
        store.add_rules([Rule(OTHER, AGAINST, "shop", author="human")])
        for key, told in (("one", True), ("two", False)):
            told_in = sample_episode(key)
            judgment, use = scored(told_in), RuleUse(ID, key, told, 0.5, 2, int(told))
            store.commit(told_in, judgment, derive(told_in, judgment), [use])
    return path


# --- show and ls ------------------------------------------------------------------------------


def test_a_rule_is_shown_with_what_it_did_told_beside_held_out(jitrl, file):
    code, out, err = jitrl("show", file, ID)
    said = out + err
    assert code == 0
    assert said.startswith(TEXT)
    assert "candidate since: r" in said
    rows = {line.split()[0]: line.split() for line in said.splitlines() if line.strip()}
    assert rows["told"][1:3] == ["1", "1"]
    assert rows["told"][-3:] == ["2", "1", "0"]
    assert rows["held"][2:4] == ["1", "1"]
    assert rows["held"][-3:] == ["2", "0", "0"]
    assert f"disagrees with {OTHER}" in said
    data = json.loads(jitrl("show", file, ID, "--json")[1])
    assert data["schema"] == "jitrl.rules.show/1"
    assert (data["wins"], data["held_wins"], data["obeyed"], data["held_obeyed"]) == (1, 1, 1, 0)
    assert (data["rule"]["id"], data["disagrees_with"]) == (ID, [OTHER])


def test_a_time_that_no_calendar_has_does_not_keep_a_rule_from_being_shown(jitrl, file):
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE change SET at = 1e300")
    assert "1e+300 s" in "".join(jitrl("show", file, ID)[1:])
    assert jitrl("ls", file)[0] == 0


def test_a_rule_that_was_never_told_says_so(jitrl, file):
    said = "".join(jitrl("show", file, OTHER)[1:])
    assert "effect not known" in said
    assert "never told" in said


def test_rules_that_disagree_name_each_other_until_one_is_retired(jitrl, file):
    listed = {row["rule"]["id"]: row for row in json.loads(jitrl("ls", file, "--json")[1])["rules"]}
    assert listed[ID]["disagrees_with"] == [OTHER]
    assert listed[OTHER]["disagrees_with"] == [ID]
    assert "cannot both be followed" in "".join(jitrl("ls", file)[1:])
    jitrl("retire", file, OTHER, "--reason", "wrong")
    data = json.loads(jitrl("ls", file, "--json")[1])
    assert [row["disagrees_with"] for row in data["rules"]] == [[], []]
    assert "cannot both be followed" not in "".join(jitrl("ls", file)[1:])


# --- redistil ---------------------------------------------------------------------------------


def test_rules_are_made_again_of_the_stored_attempts(jitrl, file):
    dry = json.loads(jitrl("redistil", file, "--dry-run", "--json")[1])
    assert (dry["written"], dry["contrasts"], dry["new"] > 0) == (False, 1, True)
    with SQLiteStore(file) as store:
        assert len(store.rules()) == 2
    code, out, err = jitrl("redistil", file)
    assert (code, "1 of 1 contrast distilled" in out + err) == (0, True)
    with SQLiteStore(file) as store:
        made = store.rules()[2:]
        assert len(made) == dry["new"]
        assert all("click(Cancel)" in rule.text and rule.evidence == ("c",) for rule in made)
    again = json.loads(jitrl("redistil", file, "--json")[1])
    assert (again["new"], {rule["fate"] for rule in again["rules"]}) == (0, {"known"})


def test_contrasts_are_chosen_by_scope_task_and_version(jitrl, file):
    with SQLiteStore(file, readonly=True) as store:
        (brought,) = (contrast.version for contrast in store.contrasts())
    for given, left in (
        (("--scope", "shop", "--task", "t", "--since", brought), 1),
        (("--since", brought + 1), 0),
    ):
        data = json.loads(jitrl("redistil", file, "--dry-run", "--json", *given)[1])
        assert data["contrasts"] == left, given


def test_what_is_left_out_is_said(jitrl, file):
    with SQLiteStore(file) as store:
        store.set_status("quarantined", episodes=["b"])
    said = "".join(jitrl("redistil", file)[1:])
    assert "round 2 of t is left out: in quarantine, or without a score: b" in said
    assert "0 of 1 contrast distilled" in said
    (left,) = json.loads(jitrl("redistil", file, "--json")[1])["left_out"]
    assert (left["contrast"], left["task"]) == ("c", "t")


PLUGIN = """
from jitrl.models.channel import Channel
from jitrl.models.scripted import ScriptedEndpoint
from jitrl.models.writer import ChannelWriter


class Scribe:
    def __init__(self, meter=None, says=""):
        self.channel = Channel(ScriptedEndpoint([says]), meter=meter)

    def writer(self):
        return ChannelWriter(self.channel)
"""


def test_a_model_distils_by_the_settings_of_the_writer_and_within_the_budget(
    jitrl, file, tmp_path, monkeypatch
):
    info = tmp_path / "installed" / "jitrl_scribe-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: jitrl-scribe\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[jitrl.models]\nscribe = scribe_plugin:Scribe\n")
    (info.parent / "scribe_plugin.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(info.parent)
    text = "When you see the order, click(Cancel)"
    options = json.dumps({"says": json.dumps({"rules": [text]})})
    given = ("--author", "model", "--set", "writer.name=scribe", "--json")
    given = (*given, "--set", f"writer.options={options}")
    assert jitrl("redistil", file, *given, "--max-calls", "0")[0] == 6
    code, out, err = jitrl("redistil", file, *given)
    assert code == 0, err
    assert [rule["text"] for rule in json.loads(out)["rules"]] == [text]
    with SQLiteStore(file, readonly=True) as store:
        assert store.rule(rule_id(text)).author == "scripted"


# --- export and import ------------------------------------------------------------------------


def test_a_book_goes_out_to_stdout_and_comes_into_a_new_file_in_quarantine(jitrl, file, tmp_path):
    code, out, err = jitrl("export", file)
    assert (code, "2 rules, 1 contrast written to stdout" in err) == (0, True)
    (tmp_path / "rules.jsonl").write_text(out)
    code, said, _ = jitrl("import", "new.db", "rules.jsonl", "--principal", "ann", "--json")
    assert (code, json.loads(said)["rules"]) == (0, 2)
    with SQLiteStore("new.db", readonly=True) as store:
        assert {(r.status, r.principal) for r in store.rules()} == {("quarantined", "ann")}
    assert jitrl("restore", "new.db", ID, "--reason", "read")[0] == 0
    with SQLiteStore("new.db", readonly=True) as store:
        assert store.rule(ID).status == "candidate"
    assert json.loads(jitrl("import", "new.db", "rules.jsonl", "--json")[1])["duplicates"] == 3
    assert jitrl("import", "own.db", "rules.jsonl")[0] == 0
    with SQLiteStore("own.db", readonly=True) as store:
        assert {r.principal for r in store.rules()} == {getpass.getuser()}


def test_a_bad_line_is_named_and_no_file_is_made(jitrl, file, tmp_path):
    lines = jitrl("export", file)[1].splitlines()
    bad = json.loads(lines[-1]) | {"text": "Be careful", "id": rule_id("Be careful")}
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:-1], json.dumps(bad)]))
    before = sorted(tmp_path.iterdir())
    code, _, err = jitrl("import", "new.db", "bad.jsonl")
    said = f"bad.jsonl:{len(lines)}: 'Be careful' is no rule: it asks for care or thought"
    assert (code, said in err) == (4, True)
    assert sorted(tmp_path.iterdir()) == before
    code, _, err = jitrl("import", "new.db", "bad.jsonl", "--skip-bad")
    assert (code, f"bad.jsonl:{len(lines)} left out" in err) == (0, True)


def test_what_cannot_be_is_refused(jitrl, file):
    assert jitrl("export", file, "--json")[0] == 2
    assert jitrl("export", file, file)[0] == 2
    assert jitrl("import", "new.db", "nothing.jsonl")[0] == 4
    assert jitrl("import", "new.db", "nothing.jsonl", "--principal", "")[0] == 2
    assert jitrl("redistil", "nothing.db")[0] == 4
    assert jitrl("show", file, "0123456789ab")[0] == 4


def test_the_folder_of_a_run_is_no_memory_but_names_its_own(jitrl, file, tmp_path):
    (tmp_path / "run").mkdir()
    file.rename(tmp_path / "run" / "seed-0.db")
    for command in (["ls"], ["show", ID], ["retire", ID, "--reason", "x"], ["export"]):
        code, _, err = jitrl(command[0], tmp_path / "run", *command[1:])
        assert (code, "seed-0.db" in err) == (2, True), command


def test_a_model_that_lacks_its_name_is_answered_with_where_to_give_it(jitrl, file):
    code, _, err = jitrl("redistil", file, "--author", "model", "--model", "openai")
    assert (code, "'openai' needs the option model" in err) == (3, True)
    assert "--set writer.options.model=…" in err


def test_an_import_says_how_its_rules_are_told(jitrl, file, tmp_path):
    assert jitrl("export", file, tmp_path / "rules.jsonl")[0] == 0
    new = tmp_path / "new.db"
    said = jitrl("import", new, tmp_path / "rules.jsonl")[2]
    assert f"jitrl rules restore {new} RULE… lets them be told" in " ".join(said.split())
    assert "restore" not in jitrl("import", new, tmp_path / "rules.jsonl")[2]


def test_a_rule_of_an_older_memory_with_what_is_not_seen_in_its_id_is_read_and_moves(
    jitrl, file, tmp_path
):
    text, was = "When A\u200e holds, do B", "393fc71118ac"  # as older versions stored it
    with SQLiteStore(file) as store:
        store.add_rules([Rule(rule_id(text), text, "shop")])
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE rule SET key = ?, text = ? WHERE key = ?", (was, text, rule_id(text)))
    assert jitrl("show", file, was)[0] == 0
    with SQLiteStore(file) as store:
        assert not store.check()
    assert jitrl("export", file, tmp_path / "rules.jsonl")[0] == 0
    again = json.loads(jitrl("import", file, tmp_path / "rules.jsonl", "--json")[1])
    assert (again["rules"], again["duplicates"]) == (0, 4)
    assert jitrl("import", tmp_path / "new.db", tmp_path / "rules.jsonl")[0] == 0
    with SQLiteStore(tmp_path / "new.db") as store:
        assert store.rule(rule_id(text)).text == "When A holds, do B"
        assert not store.check()
