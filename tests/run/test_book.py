"""A run that begins with an exported book: its rules are told, tested, and in quarantine if bad."""

import json
from dataclasses import replace

import pytest

from jitrl import config
from jitrl.analysis import results
from jitrl.analysis.compare import compare
from jitrl.core.sentences import rule_id
from jitrl.errors import ConfigError, RecordError
from jitrl.ports.rules import RuleStore
from jitrl.run import experiment, folder
from jitrl.run.books import book_of
from jitrl.run.compose import compose
from jitrl.stores import jsonl_rules
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Contrast, Rule, Task

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
    del before["settings"]["run"]["book"], before["book"]
    record.write_text(json.dumps(before), encoding="utf-8")
    assert played(tmp_path / "r", "", attempts=1).played == 0
    assert compare([results.read(tmp_path / "r", label) for label in "ab"])
    with pytest.raises(ConfigError, match=r"holds a run of other settings \(run\.book: "):
        played(tmp_path / "r", exported, attempts=1)


def other(path, *texts):
    """An export of rules at a path."""
    with SQLiteStore(":memory:") as store:
        store.add_rules([Rule(rule_id(text), text, "toy") for text in texts])
        path.write_bytes(b"".join(jsonl_rules.export(store)))
    return path


def test_what_a_book_says_is_part_of_what_a_run_is_and_where_it_lies_is_not(tmp_path, exported):
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(b"\n" + exported.read_bytes().replace(b"\n", b"\r\n"))
    played(tmp_path / "a", exported, attempts=1)
    played(tmp_path / "b", moved, attempts=1)
    played(tmp_path / "c", other(exported, PROVED), attempts=1)
    a, b, c = (results.read(tmp_path / label, label) for label in "abc")
    assert a.record.digest == b.record.digest != c.record.digest
    assert compare([a, b])
    with pytest.raises(ConfigError) as raised:
        compare([a, c])
    for run in (a, c):
        assert f"{run.record.book} in " in str(raised.value)
    _, line = compare([a, c], allow=["book"]).lines
    assert line.differs[0].startswith(f"book: {c.record.book} in ")


def test_a_run_goes_on_with_the_same_book_elsewhere_and_with_no_other_book(tmp_path, exported):
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(exported.read_bytes())
    played(tmp_path / "r", exported, attempts=1)
    assert played(tmp_path / "r", moved, attempts=1).played == 0
    other(moved, PROVED)
    with pytest.raises(ConfigError) as raised:
        played(tmp_path / "r", moved, attempts=1)
    book = folder.read(tmp_path / "r").book
    assert f"run.book: '{book} in {moved}' → '" in str(raised.value)


def test_a_run_with_another_book_at_the_same_path_has_a_folder_of_its_own(tmp_path, exported):
    given = settings(exported)
    first = folder.default(given, book=compose(given).book_digest)
    second = folder.default(given, book=compose(settings(other(exported, PROVED))).book_digest)
    assert first != second


class Ported:
    """A store that has what the ports ask for, and is none of the package's."""

    def __init__(self, inner, lacks=()):
        self._inner, self._lacks = inner, lacks

    def __getattr__(self, name):
        if name in self._lacks or name not in {*dir(RuleStore), "path"}:
            raise AttributeError(name)
        return getattr(self._inner, name)


def on_ported(where, book, lacks=()):
    given = settings(book, attempts=1, seeds=1)
    parts = replace(compose(given), store=lambda path: Ported(SQLiteStore(path), lacks))
    return experiment.run(given, where, parts)


def test_any_store_that_keeps_rules_book_digest_a_book_and_another_is_refused(tmp_path, exported):
    on_ported(tmp_path / "r", exported)
    with SQLiteStore(folder.store_path(tmp_path / "r", 0), readonly=True) as store:
        first = {r.id: [c.status for c in store.rule_history(r.id)] for r in store.rules()}
    assert first[rule_id(GOOD)][:2] == first[rule_id(PROVED)][:2] == ["quarantined", "candidate"]
    assert first[rule_id(OLD)] == ["quarantined"]
    with pytest.raises(ConfigError, match=r"run\.book is '.*', and store Ported keeps no rules"):
        on_ported(tmp_path / "no", exported, lacks={"add_rules"})
    with SQLiteStore(folder.store_path(tmp_path / "no", 0), readonly=True) as store:
        assert not list(store.episodes())


def test_what_a_book_says_of_its_rules_and_their_evidence_comes_with_them(tmp_path):
    with SQLiteStore(":memory:") as source:
        taught = Contrast("c", "toy", "t", good=("g",), bad=("b",), scores=(1.0, 0.0))
        first = Rule(rule_id(GOOD), GOOD, "toy", "k", ("stage0",), 0.75, "ann", evidence=("c",))
        last = Rule(rule_id(OLD), OLD, "toy", author="bob", parents=(first.id,))
        source.add_rules([last, first], [taught])
        source.set_rule_status("retired", [last.id], reason="does harm")
        path = tmp_path / "rules.jsonl"
        path.write_bytes(b"".join(jsonl_rules.export(source)))
        with SQLiteStore(":memory:") as store:
            book_of(str(path), "rulebook").begin(store)
            came, was = store.rules(), source.rules()
            assert [c.id for c in store.contrasts()] == ["c"]
    for name in ("id", "text", "scope", "kind", "entities", "entry", "author", "parents"):
        assert [getattr(r, name) for r in came] == [getattr(r, name) for r in was], name
    assert [r.evidence for r in came] == [(), ("c",)]
    assert came[0].reason == "imported; it was retired: does harm"
    assert {r.principal for r in came} == {"run.book"}


def test_a_rule_of_a_book_that_a_redaction_changes_is_told_too(tmp_path):
    secret = "When ann@example.com writes, take push1"
    path = other(tmp_path / "rules.jsonl", secret)
    given = config.load(
        {
            "environment": {"name": "toy", "options": {"size": 2}},
            "model": {"name": "scripted"},
            "memory": {"redact": ["mails"]},
            "run": {"agent": "rulebook", "attempts": 1, "book": str(path)},
        }
    )
    parts = compose(given)
    with parts.store(tmp_path / "m.db") as store:
        parts.book.begin(store)
        (rule,) = store.rules()
    assert "ann@example.com" not in rule.text
    assert rule.status == "candidate"


def test_a_run_with_a_book_of_before_digests_differs_from_one_without(tmp_path, exported):
    played(tmp_path / "with", exported, attempts=1)
    record = tmp_path / "with" / "run.json"
    before = json.loads(record.read_text(encoding="utf-8"))
    del before["book"]
    record.write_text(json.dumps(before), encoding="utf-8")
    played(tmp_path / "without", "", attempts=1)
    read = [results.read(tmp_path / name) for name in ("with", "without")]
    with pytest.raises(ConfigError, match="differ in book"):
        compare(read)
