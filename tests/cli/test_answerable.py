"""No change is without somebody who is answerable for it: who is named, else who is logged in."""

import pytest

import jitrl as package
from jitrl.stores.sqlite import SQLiteStore


@pytest.fixture
def file(jitrl, monkeypatch):
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "deputy")
    with package.open("m.db") as memory, memory.episode("t", key="k") as episode:
        episode.decide("page", {"a": 1.0})
        episode.finish(1.0, principal="ann")
    return "m.db"


def last(file="m.db"):
    with SQLiteStore(file, readonly=True) as store:
        return list(store.changes(0))[-1]


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("quarantine", ("--episode", "k", "--reason", "odd")),
        ("restore", ("--episode", "k")),
        ("purge", ("--subject", "episode=k")),
        ("rollback", ("1",)),
        ("undo", ("2",)),
    ],
)
def test_who_is_logged_in_answers_for_a_change_and_who_is_named_before(jitrl, file, command, more):
    done = jitrl("memory", "quarantine", file, "--episode", "k", "--reason", "odd")
    assert (done.code, last().principal) == (0, "deputy")
    if command == "quarantine":
        jitrl("memory", "restore", file, "--episode", "k")
    for named, said in (
        ((), "deputy"),
        (("--principal", "eve"), "eve"),
        (("--principal", " "), "deputy"),
    ):
        done = jitrl("memory", command, file, *more, *named)
        assert done.code == 0, done.err
        assert last().principal == said
        if command == "purge":
            break
        back = {"quarantine": "restore", "restore": "quarantine"}.get(command)
        if back is None:
            break
        jitrl("memory", back, file, "--episode", "k", "--reason", "again")


def test_a_snapshot_says_who_made_it(jitrl, file):
    assert jitrl("memory", "snapshot", file, "before").code == 0
    with SQLiteStore(file, readonly=True) as store:
        assert [one.principal for one in store.versions.snapshots()] == ["deputy"]


def test_what_comes_in_is_never_of_nobody(jitrl, file):
    assert jitrl("memory", "export", file, "out.jsonl").code == 0
    refused = jitrl("memory", "import", "new.db", "out.jsonl", "--principal", "")
    assert (refused.code, "--principal is ''" in refused.err) == (2, True)
    assert jitrl("memory", "import", "new.db", "out.jsonl").code == 0
    with SQLiteStore("new.db", readonly=True) as store:
        assert [(row.principal, row.source) for row in store.rows("k")] == [
            ("import", "principal:import")
        ]


@pytest.mark.parametrize("subject", ["principal=deputy", "text=deputy"])
def test_who_has_a_purge_done_is_not_whom_it_removes(jitrl, file, subject):
    refused = jitrl("memory", "purge", file, "--subject", subject)
    assert (refused.code, "name another" in refused.err) == (2, True)
    assert jitrl("memory", "purge", file, "--subject", subject, "--principal", "dpo").code == 0
