"""After a purge nothing of the subject is in any byte of any file, and all else is as it was."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import jitrl
from jitrl.cli import main
from jitrl.core.sentences import rule_id
from jitrl.errors import InputError
from jitrl.purging import purged
from jitrl.stores.purge_find import subject
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import sample_contrast
from jitrl.testing.store_samples import put, sample_episode
from jitrl.types import Contrast, Rule, RuleUse, Unscored

MARK = "zhangsan@example.com"
OWN = "only-here-4711"
"""What the purged episodes alone say, without the name."""


def play(memory, key, task="shared", *, action="go(on)", text="start page", principal="ann"):
    with memory.episode(task, key=key) as episode:
        episode.decide(text, {action: 9.0, "wait()": 0.0})
        episode.decide(f"{text} two", {action: 0.0, "wait()": 0.0})
        episode.finish(1.0, principal=principal)


@pytest.fixture
def file(tmp_path):
    """Six episodes, two of them of the subject; later ones decided with what these had taught."""
    path = tmp_path / "m.db"
    with jitrl.open(path, redact=[], rule={"memory_only": "zero"}, holdout=0.0) as memory:
        play(memory, "a1")
        play(memory, "v1", action=f"write({OWN})", principal=MARK)
        play(memory, "v2", text=f"start page of {MARK}", action=f"write({OWN})")
        memory.outcome("v2", 0.5, principal=MARK, evaluator=f"desk of {MARK}")
        memory.quarantine(episodes=["v2", "a1"], reason=f"asked by {MARK}")
        memory.restore(episodes=["v2", "a1"])
        for n in range(3):
            play(memory, f"b{n}", principal="bob")
        good = Contrast("c1", "", "shared", good=("v1",), bad=("a1",), scores=(1.0, 0.0))
        other = Contrast("c2", "", "shared", good=("b0",), bad=("a1",), scores=(1.0, 0.0))
        texts = {n: f"When the page is {n}, write {OWN if n < 3 else 'on'} first" for n in range(5)}
        rules = [Rule(rule_id(texts[n]), texts[n], author="rules") for n in texts]
        kept = ("c2",)
        memory.store.add_rules(
            [
                Rule(rules[0].id, texts[0], author="rules", evidence=("c1",)),
                Rule(rules[1].id, texts[1], author="rules", parents=(rules[0].id,)),
                Rule(rules[3].id, texts[3], author="rules", evidence=kept),
            ],
            [good, other],
        )
        memory.store.add_rules([Rule(rules[2].id, texts[2])], principal=MARK)
        memory.store.add_rules([Rule(rules[3].id, texts[3], evidence=("c1",))])
        uses = [RuleUse(r.id, "u1", told=True, chance=0.5) for r in (rules[0], rules[3])]
        memory.store.commit(sample_episode("u1"), Unscored("none"), (), uses)
    return path


def everything(folder):
    """All bytes of all files, and what is packed in them."""
    raw = b""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            raw += path.read_bytes()
            if raw[-1:] and path.read_bytes()[:6] == b"SQLite" and "vectors" not in path.name:
                with SQLiteStore(path, readonly=True) as store:
                    raw += repr([list(store.records()), list(store.changes(0))]).encode()
    return raw


def test_a_purge_is_had_done_by_the_principal_of_the_settings_unless_another_is_named(file):
    with jitrl.open(file, redact=[], principal="dpo") as memory:
        assert memory.purge("episode=a1").principal == "dpo"
        assert list(memory.store.changes(0))[-1].principal == "dpo"
        with pytest.raises(InputError, match="name another who has it done"):
            memory.purge("principal=dpo")
        assert memory.purge("principal=dpo", principal="ann").principal == "ann"


def test_nothing_of_a_principal_is_left_in_any_byte(file, tmp_path):
    assert MARK.encode() in everything(tmp_path)
    assert OWN.encode() in everything(tmp_path)
    with jitrl.open(file, redact=[]) as memory:
        receipt = memory.purge(f"principal={MARK}", principal="dpo")
    assert receipt.is_complete
    (removed,) = receipt.files[0].memories
    assert (removed.episodes, removed.steps, removed.judgments) == (2, 4, 3)
    assert (removed.rules, removed.contrasts, removed.uses) == (3, 1, 1)
    assert removed.rewritten > 0
    raw = everything(tmp_path)
    assert MARK.encode() not in raw
    assert OWN.encode() not in raw
    with SQLiteStore(file, readonly=True) as store:
        assert store.check() == []
        assert [e.key for e in store.episodes()] == ["a1", "b0", "b1", "b2", "u1"]
        assert [r.evidence for r in store.rules()] == [("c2",)]
        assert list(store.changes(0))[-1].principal == "dpo"


def test_nothing_of_a_text_is_left_and_it_is_found_in_any_writing(file, tmp_path):
    with SQLiteStore(file) as store:
        planned = purged(store, [f"text={MARK.upper()}"], dry_run=True)
        assert planned.files[0].memories[0].keys == ("v1", "v2")
        receipt = purged(store, [f"text={MARK.upper()}"])
        assert receipt.is_complete
        assert receipt.files[0].memories[0].episodes == 2
        again = purged(store, [f"text={MARK}"])
        assert again.is_complete
        assert again.files[0].memories[0].version == 0
    assert MARK.encode() not in everything(tmp_path)
    assert MARK not in json.dumps(repr(receipt))


def test_a_receipt_does_not_name_the_episodes_that_went(tmp_path, capsys):
    """Their keys may hold what was to be forgotten."""
    file = tmp_path / "m.db"
    with jitrl.open(file) as memory:
        play(memory, "refund of Zora Quill")
        play(memory, "other")
    named = ("purge", file, "--subject", "episode=refund of Zora Quill", "--json")
    assert command(*named, "--dry-run") == 0
    (planned,) = json.loads(capsys.readouterr().out)["files"][0]["memories"]
    assert planned["keys"] == ["refund of Zora Quill"]
    assert command(*named) == 0
    said = capsys.readouterr()
    assert "Zora" not in said.out + said.err
    (removed,) = json.loads(said.out)["files"][0]["memories"]
    assert (removed["episodes"], removed["keys"]) == (1, [])


@pytest.mark.parametrize(
    ("named", "left"),
    [("episode=v1", ["a1", "v2", "b0", "b1", "b2", "u1"]), ("task=shared", ["u1"])],
)
def test_episodes_and_tasks_go_with_their_states_rules_and_rows(file, named, left):
    with SQLiteStore(file) as store:
        before = store.head()
        assert purged(store, [named]).is_complete
        assert store.check() == []
        assert [e.key for e in store.episodes()] == left
        assert store.head() == before + 1
        assert [c.version for c in store.changes(before)] == [before + 1]


def test_a_purge_takes_the_place_of_never_having_lived_it(file, tmp_path):
    def chances(path):
        with jitrl.open(path, redact=[], seed=5) as memory, memory.episode("shared") as episode:
            made = episode.decide("start page", {"go(on)": 0.0, "wait()": 0.0})
            episode.finish(0.0)
            return [(c.action, c.visits, c.q, c.probability) for c in made.candidates]

    with SQLiteStore(file) as store, SQLiteStore(tmp_path / "never.db") as never:
        for record in store.records():
            if not record.uses and record.episode.key not in ("v1", "v2"):
                rows = [row for row in store.rows(record.episode.key) if row.status == "active"]
                never.commit_record(record, rows)
        purged(store, [f"principal={MARK}"])
    assert chances(file) == chances(tmp_path / "never.db")


def test_a_process_that_has_the_memory_open_drops_the_rows_at_its_next_decision(file):
    program = (
        "import sys, jitrl\n"
        "memory = jitrl.open(sys.argv[1], redact=[])\n"
        "def told():\n"
        "    with memory.episode('shared') as e:\n"
        "        made = e.decide('start page', {'write(only-here-4711)': 0.0, 'go(on)': 0.0})\n"
        "        print(made.candidates[0].visits, made.candidates[1].visits, flush=True)\n"
        "        e.finish(None, status='aborted')\n"
        "told(); sys.stdin.readline(); told()\n"
    )
    command = [sys.executable, "-c", program, str(file)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline().split()[0] != "0.0"
        with SQLiteStore(file) as store:
            assert purged(store, [f"principal={MARK}"]).is_complete
        out, _ = other.communicate("go\n", timeout=120)
    visits = out.split()
    assert float(visits[0]) == 0.0
    assert float(visits[1]) > 0.0


def test_a_reader_of_an_older_view_is_told_of_and_the_next_purge_ends_it(file):
    import sqlite3

    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM episode").fetchone()
    with SQLiteStore(file, timeout=1.0) as store:
        receipt = purged(store, [f"principal={MARK}"])
        assert not receipt.is_complete
        assert "another process reads an older view" in receipt.files[0].why
        reader.close()
        assert purged(store, [f"principal={MARK}"]).is_complete
    assert MARK.encode() not in everything(Path(file).parent)


def command(*args):
    with pytest.raises(SystemExit) as end:
        main(["memory", *map(str, args)])
    return end.value.code or 0


def test_backups_and_exports_that_were_made_are_reached(file, tmp_path, capsys):
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "copy.db"
    assert command("backup", file, target) == 0
    assert command("backup", file) == 0
    assert command("export", file, tmp_path / "out.jsonl") == 0
    assert command("backup", file, tmp_path / "deleted.db") == 0
    (tmp_path / "deleted.db").unlink()
    capsys.readouterr()
    named = ("purge", file, "--subject", f"principal={MARK}", "--json")
    assert command(*named, "--dry-run") == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["files"][0]["memories"][0]["episodes"] == 2
    assert MARK.encode() in everything(tmp_path)
    assert command(*named) == 1
    states = [(f["kind"], f["state"]) for f in json.loads(capsys.readouterr().out)["files"]]
    assert states == [
        ("memory", "clean"),
        ("backup", "clean"),
        ("backup", "clean"),
        ("backup", "missing"),
        ("export", "left"),
    ]
    assert command(*named, "--delete-exports") == 0
    out = capsys.readouterr()
    assert json.loads(out.out)["is_complete"]
    assert MARK not in out.out + out.err
    raw = everything(tmp_path)
    assert MARK.encode() not in raw
    assert OWN.encode() not in raw
    with SQLiteStore(target, readonly=True) as store:
        assert store.check() == []


def test_a_copy_made_by_other_means_can_be_named(file, tmp_path):
    copied = tmp_path / "cp.db"
    copied.write_bytes(file.read_bytes())
    with SQLiteStore(file) as store:
        receipt = purged(store, [f"text={MARK}"], also=[copied])
    assert [f.path for f in receipt.files] == [str(file), str(copied)]
    assert MARK.encode() not in everything(tmp_path)


def test_a_text_that_was_hidden_is_purged_by_its_placeholder(tmp_path):
    file = tmp_path / "m.db"
    with jitrl.open(file, redact=["mails"]) as memory:
        play(memory, "a1")
        play(memory, "v1", text=f"page of {MARK}")
        receipt = memory.purge(f"text={MARK}")
        assert receipt.files[0].memories[0].episodes == 1
    assert b"{mail:" not in everything(tmp_path)


def test_vectors_of_texts_go_too(tmp_path, monkeypatch):
    (tmp_path / "vectors_made.py").write_text(
        "import numpy as np\n\n\ndef embed(texts):\n"
        "    made = np.ones((len(texts), 4), np.float32)\n"
        "    made[:, 0] += [len(text) for text in texts]\n"
        "    return made / np.linalg.norm(made, axis=1, keepdims=True)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "m.db"
    retrieval = {"kind": "embedding", "embedder": "vectors_made:embed"}
    with jitrl.open(file, retrieval=retrieval) as memory:
        play(memory, "v1")
        play(memory, "a1", text="something else")
        assert (tmp_path / "jitrl-vectors.db").stat().st_size > 0
        receipt = memory.purge("episode=v1")
        assert [(f.kind, f.state) for f in receipt.files] == [
            ("memory", "clean"),
            ("vectors", "clean"),
        ]
        play(memory, "a2", text="something else")


def test_other_memories_of_the_file_are_purged_too(tmp_path):
    file = tmp_path / "m.db"
    for name in ("one", "two"):
        with SQLiteStore(file, memory=name) as store:
            put(store, sample_episode("e1"))
            put(store, sample_episode("e2"))
    with SQLiteStore(file, memory="one") as store:
        receipt = purged(store, ["episode=e1"])
        assert [(m.memory, m.episodes) for m in receipt.files[0].memories] == [
            ("one", 1),
            ("two", 1),
        ]
        assert store.check() == []


def test_a_version_that_was_named_after_the_subject_keeps_its_place_under_another_name(file):
    with SQLiteStore(file) as store:
        with store._db.writing() as db:
            db.execute(
                """CREATE TABLE IF NOT EXISTS snapshot(memory_id INTEGER NOT NULL, name TEXT
                NOT NULL, version INTEGER NOT NULL, at REAL NOT NULL, reason TEXT NOT NULL,
                principal TEXT NOT NULL, PRIMARY KEY(memory_id, name)) WITHOUT ROWID"""
            )
            db.execute("INSERT INTO snapshot VALUES (1, ?, 3, 0.0, 'r', 'p')", (f"of {MARK}",))
            db.execute("INSERT INTO snapshot VALUES (1, 'good', 4, 0.0, 'r', 'p')")
        assert purged(store, [f"text={MARK}"]).is_complete
        with store._db.reading() as db:
            left = db.execute("SELECT version, reason FROM snapshot ORDER BY 1").fetchall()
    assert left == [(3, ""), (4, "r")]
    assert MARK.encode() not in everything(file.parent)


def test_evidence_alone_goes_with_what_rests_on_it(tmp_path):
    with SQLiteStore(tmp_path / "m.db") as store:
        text = "When a page is new, read it first"
        contrast = sample_contrast("c")
        store.add_rules(
            [Rule(rule_id(text), text, author="m", evidence=(contrast.id,))], [contrast]
        )
        assert purged(store, [f"task={contrast.task}"]).is_complete
        assert store.rules() == store.contrasts() == ()
        assert store.check() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ann", "is not of the form KIND=VALUE; kinds are principal, episode, task, text"),
        ("person=ann", "is not of the form"),
        ("text=a", "has 1 characters"),
        ("task=", "is not of the form"),
    ],
)
def test_a_subject_that_says_nothing_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        subject(text)


def test_a_decision_names_no_rule_that_is_gone(tmp_path):
    texts = [f"When the page is shown, write {word}" for word in ("on", OWN)]
    with jitrl.open(tmp_path / "m.db", redact=[], rules={"holdout": 0.01}) as memory:
        for number, text in enumerate(texts):
            rule = Rule(rule_id(text), text, author="ann", status="active")
            memory.store.add_rules([rule], principal=MARK if number else "")
        with memory.episode("write", key="e") as episode:
            episode.notes("The page is shown.")
            episode.decide("The page is shown.", {"write": 0.0})
            episode.finish(True)
        spoke = {one.rule for one in memory.store.decision("e#0").decision.notes}
        assert spoke == {rule_id(text) for text in texts}
        assert OWN in repr(memory.store.episode("e").info)
        memory.purge(f"principal={MARK}")
        left = {one.rule for one in memory.store.decision("e#0").decision.notes}
        assert left == {rule_id(texts[0])}
        assert memory.store.check() == []
    assert OWN.encode() not in everything(tmp_path)


def test_a_run_that_goes_on_during_a_purge_names_nothing_that_went(tmp_path):
    text = f"When the page is shown, write {OWN}"
    settings = {"redact": [], "holdout": 0.0, "rules": {"holdout": 0.01}}
    with jitrl.open(tmp_path / "m.db", rule={"memory_only": "zero"}, **settings) as memory:
        play(memory, "stays", text="page")
        play(memory, "goes", text="page", action=f"write({OWN})")
        rule = Rule(rule_id(text), text, author="ann", status="active")
        memory.store.add_rules([rule], principal=MARK)
        with memory.episode("shared", key="runs") as running:
            running.notes("page is shown", ["wait()"])
            made = running.decide("page", {"wait()": 9.0})
            assert OWN in repr(made.candidates)
            assert {3, 4} & {row for near in made.neighbors for row in near.rows}
            assert made.notes
            purged(memory.store, ["episode=goes", f"principal={MARK}"])
            play(memory, "later", text="page")  # its rows have the ids of those that went
            running.finish(1.0)
        kept = memory.store.decision("runs#0").decision
        rows = {row for near in kept.neighbors for row in near.rows}
        assert rows
        assert rows <= {row.id for row in memory.store.rows("stays")}
        assert not kept.notes
        assert kept.action == "wait()"
        assert memory.explain("runs#0").decision == kept
    assert OWN.encode() not in everything(tmp_path)
