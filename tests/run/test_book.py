"""A run that begins with an exported book: its rules are told, tested, and in quarantine if bad."""

import json

import pytest

from jitrl import config
from jitrl.analysis import results
from jitrl.analysis.compare import compare
from jitrl.core.sentences import rule_id
from jitrl.errors import ConfigError, RecordError
from jitrl.run import experiment, folder
from jitrl.run.books import book_of
from jitrl.run.compose import compose
from jitrl.stores import jsonl_rules
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Rule, Task

GOOD = "When you see protocol0 stage0, take push1"
OLD = "When you see protocol0 stage0, take push0"
PROVED = "When you see protocol0 stage1, take push2"


@pytest.fixture
def exported(tmp_path):
    """A candidate, an active rule and a retired one of the scope of the toy worlds."""
    with SQLiteStore(":memory:") as store:
        store.add_rules([Rule(rule_id(text), text, "toy") for text in (GOOD, OLD, PROVED)])
        store.set_rule_status("retired", [rule_id(OLD)], reason="does harm")
        store.set_rule_status("active", [rule_id(PROVED)], reason="helps")
        lines = list(jsonl_rules.export(store))
    path = tmp_path / "rules.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def settings(book, environment=None, **run):
    flags = {
        "environment": environment or {"name": "toy", "options": {"size": 2}},
        "model": {"name": "scripted", "options": {"heeds": 3.0}},
        "run": {"agent": "rulebook", "attempts": 6, "seeds": 2, "book": str(book), **run},
    }
    return config.load(flags)


def played(where, book, **run):
    given = settings(book, **run)
    return experiment.run(given, where, compose(given))


def test_what_was_told_becomes_a_candidate_and_what_was_not_stays_in_quarantine(tmp_path, exported):
    played(tmp_path / "r", exported)
    for seed in (0, 1):
        with SQLiteStore(folder.store_path(tmp_path / "r", seed), readonly=True) as store:
            first = {r.id: [c.status for c in store.rule_history(r.id)] for r in store.rules()}
            uses = store.rule_uses([rule_id(GOOD), rule_id(OLD)])
        assert first[rule_id(GOOD)][:2] == ["quarantined", "candidate"]
        assert first[rule_id(PROVED)][:2] == ["quarantined", "candidate"]
        assert first[rule_id(OLD)] == ["quarantined"]
        assert uses[rule_id(GOOD)]
        assert not uses[rule_id(OLD)]


def test_a_run_that_goes_on_keeps_what_became_of_its_book(tmp_path, exported):
    played(tmp_path / "r", exported, attempts=2)
    path = folder.store_path(tmp_path / "r", 0)
    with SQLiteStore(path) as store:
        store.set_rule_status("retired", [rule_id(GOOD)], reason="by hand")
        head = store.head()
    assert played(tmp_path / "r", exported, attempts=2).played == 0
    with SQLiteStore(path, readonly=True) as store:
        assert (store.head(), store.rule(rule_id(GOOD)).status) == (head, "retired")


def test_beginning_twice_changes_nothing(tmp_path, exported):
    book = book_of(str(exported), "rulebook")
    with SQLiteStore(tmp_path / "m.db") as store:
        book.begin(store)
        store.set_rule_status("retired", [rule_id(GOOD)])
        head = store.head()
        book.begin(store)
        assert (store.head(), store.rule(rule_id(GOOD)).status) == (head, "retired")


@pytest.mark.parametrize(
    ("agent", "name", "said"),
    [
        ("jitrl", "rules.jsonl", "agent 'jitrl' tells no rules; use the agent 'rulebook'"),
        ("rulebook", "none.jsonl", r"cannot read .*none\.jsonl.*jitrl rules export writes"),
    ],
)
def test_a_book_that_nobody_would_be_told_is_refused_before_the_first_episode(
    exported, agent, name, said
):
    with pytest.raises(ConfigError, match=said):
        compose(settings(exported.parent / name, agent=agent))


def test_a_book_without_a_rule_that_was_told_is_refused(tmp_path):
    with SQLiteStore(":memory:") as store:
        store.add_rules([Rule(rule_id(OLD), OLD, "toy")])
        store.set_rule_status("retired", [rule_id(OLD)], reason="x")
        (tmp_path / "old.jsonl").write_bytes(b"".join(jsonl_rules.export(store)))
    with pytest.raises(ConfigError, match="has 1 rule, and none was a candidate or active"):
        book_of(str(tmp_path / "old.jsonl"), "rulebook")
    (tmp_path / "bad.jsonl").write_text("no json\n", encoding="utf-8")
    with pytest.raises(RecordError, match=r"bad\.jsonl:1: it is not JSON"):
        book_of(str(tmp_path / "bad.jsonl"), "rulebook")


def test_rules_of_another_scope_are_refused_with_both_scopes(exported):
    book = book_of(str(exported), "rulebook")
    book.check([Task("t", "Go", "toy")])
    with pytest.raises(ConfigError, match=r"of the scope 'toy' in .* the tasks are of 'shop'"):
        book.check([Task("t", "Go", "shop")])
    shop = {"name": "backoffice", "options": {"templates": ["find:list"], "instances": 1}}
    given = settings(exported, environment=shop)
    with pytest.raises(ConfigError, match="none would be told"):
        experiment.run(given, exported.parent / "no", compose(given))
    assert not (exported.parent / "no").exists()


def test_a_run_without_a_book_is_the_run_that_it_was_before_there_were_any(tmp_path, exported):
    played(tmp_path / "r", "", attempts=1)
    record = tmp_path / "r" / "run.json"
    told = record.read_text(encoding="utf-8")
    assert '"book"' in told
    before = json.loads(told)
    del before["settings"]["run"]["book"]
    record.write_text(json.dumps(before), encoding="utf-8")
    assert played(tmp_path / "r", "", attempts=1).played == 0
    assert compare([results.read(tmp_path / "r", label) for label in "ab"])
    with pytest.raises(ConfigError, match=r"holds a run of other settings \(run\.book: "):
        played(tmp_path / "r", exported, attempts=1)
