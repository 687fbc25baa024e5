"""Every entry of the version stream says who is answerable for it."""

import getpass
import json

import pytest

import jitrl
from jitrl.cli import main
from jitrl.stores.sqlite import SQLiteStore


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*args):
    with pytest.raises(SystemExit) as end:
        main(["memory", *map(str, args)])
    assert not end.value.code


def entries(file="m.db"):
    with SQLiteStore(file, readonly=True) as store:
        return [(entry.kind, entry.principal) for entry in store.changes(0)]


def rows(file="m.db"):
    """Who is answerable for the rows, which is who they count as."""
    with SQLiteStore(file, readonly=True) as store:
        return {row.principal for entry in store.changes(0) for row in entry.rows}


def recorded():
    step = {"state": "home", "action": "open"}
    run = {"schema": "jitrl.run", "key": "k", "task": "t", "steps": [step], "outcome": True}
    with open("runs.jsonl", "w") as out:
        out.write(json.dumps(run | {"principal": "crawler"}) + "\n")


def lived(memory, key="e"):
    with memory.episode("t", key=key) as episode:
        episode.decide("home", {"open": 0.0, "close": 0.0})
        episode.finish(1.0)


@pytest.mark.parametrize(
    ("options", "by", "answerable"),
    [
        ((), getpass.getuser(), "import"),
        (("--principal", "ann"), "ann", "ann"),
        (("--trust",), getpass.getuser(), "crawler"),
        (("--trust", "--principal", "ann"), "ann", "crawler"),
    ],
)
def test_an_import_says_who_imported_beside_who_its_rows_count_as(options, by, answerable):
    recorded()
    call("import", "m.db", "runs.jsonl", *options)
    assert entries() == [("append", by)]
    assert rows() == {answerable}


def test_a_purge_of_a_principal_finds_what_came_in_under_another_name():
    recorded()
    call("import", "m.db", "runs.jsonl", "--principal", "ann")
    call("purge", "m.db", "--subject", "principal=crawler", "--principal", "dpo")
    with SQLiteStore("m.db", readonly=True) as store:
        assert store.summaries() == []
    with open("m.db", "rb") as file:
        assert b"crawler" not in file.read()


def test_who_imported_is_purged_from_the_stream_and_the_episodes_stay():
    recorded()
    call("import", "m.db", "runs.jsonl", "--trust", "--principal", "ann")
    call("purge", "m.db", "--subject", "principal=ann", "--principal", "dpo")
    assert [who for _, who in entries()] == ["", "dpo"]
    assert rows() == {"crawler"}


def test_what_is_lived_through_and_corrected_says_who_told_it():
    with jitrl.open("m.db", principal="bob") as memory:
        lived(memory)
        memory.outcome("e", 0.5, principal="eve")
        memory.outcome("e", None, principal="ann")
    kinds = ["append", "retire", "append", "retire", "append"]
    told = ["bob", "eve", "eve", "ann", "ann"]
    assert entries() == list(zip(kinds, told, strict=True))


def test_the_principal_of_the_settings_is_answerable_where_nobody_is_named():
    with jitrl.open("m.db", principal="bob") as memory:
        lived(memory)
        made = memory.snapshot("early")
        memory.quarantine(episodes=["e"], reason="odd")
        memory.restore(episodes=["e"], principal="ann")
        memory.rollback("early")
        memory.quarantine(episodes=["e"])
        moved = memory.store.head()
        memory.undo(moved)
    assert made.principal == "bob"
    said = entries()
    assert len(said) == 5
    assert [who for _, who in said] == ["bob", "bob", "ann", "bob", "bob"]


def test_a_rebuild_says_who_had_it_done():
    with jitrl.open("m.db", gamma=0.5) as memory, memory.episode("t", key="e") as episode:
        for place in ("home", "list"):
            episode.decide(place, {"open": 0.0, "close": 0.0})
        episode.finish(1.0)
    call("rebuild", "m.db", "--gamma", "0.9", "--principal", "ann")
    assert entries()[1:] == [("retire", "ann"), ("append", "ann")]
    call("rebuild", "m.db", "--gamma", "0.5")
    assert entries()[3:] == [("retire", getpass.getuser()), ("append", getpass.getuser())]
