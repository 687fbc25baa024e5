"""A rulebook alone goes out as lines and comes in elsewhere, where nobody is told it yet."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from jitrl.core.sentences import rule_id
from jitrl.errors import RecordError
from jitrl.stores import jsonl, jsonl_rules, line_rules
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import TEXTS, played, sample_contrast, sample_rule

CHILD = sample_rule("当列表为空时，先刷新页面", parents=(rule_id(TEXTS[0]),), scope="other")


@pytest.fixture
def store():
    """Rules of two scopes with a history; a contrast that gave none; an episode that used one."""
    with SQLiteStore(":memory:") as opened:
        rules = [sample_rule(text, evidence=("c1",), kind="form") for text in TEXTS]
        opened.add_rules([*rules, CHILD], [sample_contrast()], reason="round 1", principal="ann")
        opened.set_rule_status("active", [rules[0].id], reason="helps", principal="bob")
        opened.set_rule_status("retired", [rules[1].id], reason="no effect")
        opened.add_rules([replace(rules[0], evidence=("c2",))], [sample_contrast("c2", task="t2")])
        opened.add_rules([], [sample_contrast("c3", task="t3")], reason="no rule was found")
        played(opened, "e1", [(rules[0].id, True)])
        yield opened


def content(lines):
    """What lines say, but for who brought it in, when and why."""
    said = []
    for text in lines:
        found = json.loads(text)
        changes = found.pop("changes", [])
        found.pop("principal", None)
        evidence = [e for change in changes for e in change.get("evidence", ())]
        said.append((found, evidence))
    return said


def test_out_in_and_out_again_says_the_same(store):
    first = list(jsonl_rules.export(store))
    assert [line_rules.schema_of(text) for text in first].count("jitrl.rule") == 5
    with SQLiteStore(":memory:") as copy:
        done = jsonl_rules.read(copy, first)
        assert (done.rules, done.contrasts, done.duplicates) == (5, 2, 0)
        second = list(jsonl_rules.export(copy))
        assert content(second) == content(first)
        with SQLiteStore(":memory:") as third:
            jsonl_rules.read(third, second)
            assert content(jsonl_rules.export(third)) == content(first)
        assert copy.check() == []


def test_whatever_it_was_a_rule_comes_in_quarantined_under_the_importers_name(store):
    with SQLiteStore(":memory:") as copy:
        jsonl_rules.read(copy, jsonl_rules.export(store), principal="carl")
        rules = copy.rules()
        assert {(rule.status, rule.principal) for rule in rules} == {("quarantined", "carl")}
        assert rules[0].reason == "imported; it was active: helps"
        assert {contrast.principal for contrast in copy.contrasts()} == {"carl"}


def test_a_scope_or_a_status_alone_goes_out_with_what_it_rests_on(store):
    active = [json.loads(text) for text in jsonl_rules.export(store, status="active")]
    assert [one["id"] for one in active] == ["c1", "c2", rule_id(TEXTS[0])]
    (other,) = (json.loads(text) for text in jsonl_rules.export(store, scope="other"))
    assert other["id"] == CHILD.id


def test_reading_twice_changes_nothing_and_leaves_a_status_alone(store):
    lines = list(jsonl_rules.export(store))
    with SQLiteStore(":memory:") as copy:
        jsonl_rules.read(copy, lines)
        copy.set_rule_status("candidate", [CHILD.id], reason="looked at")
        head = copy.head()
        again = jsonl_rules.read(copy, lines)
        assert (again.rules, again.contrasts, again.duplicates) == (0, 0, len(lines))
        assert (copy.head(), copy.rule(CHILD.id).status) == (head, "candidate")


def test_a_file_that_is_no_utf_8_is_refused_and_says_how_it_must_be(store):
    lines = list(jsonl_rules.export(store))
    latin = lines[0].replace(b'"scope":"', b'"scope":"caf\xe9')
    wide = lines[0].decode().encode("utf-16")
    for spoiled, said in ((latin, "0xe9"), (wide, "byte 0 is 0xff")):
        with (
            SQLiteStore(":memory:") as copy,
            pytest.raises(RecordError, match=rf"^book:2: .*{said}, which is no UTF-8; save the"),
        ):
            jsonl_rules.read(copy, [lines[0], spoiled], name="book")


def spoiled(store, **change):
    """Its lines, with keys of the last one replaced."""
    *lines, last = jsonl_rules.export(store)
    return [*lines, json.dumps(json.loads(last) | change).encode()]


PLATITUDE = "Think more"
HAD = {"status": "active", "reason": "", "principal": "", "at": 0.0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"text": PLATITUDE, "id": rule_id(PLATITUDE)},
            "'Think more' is no rule: it asks for care",
        ),
        ({"text": "仔细思考", "id": rule_id("仔细思考")}, "is no rule: it asks for care"),
        ({"id": "0" * 12}, f"the id of .* is '{CHILD.id}'"),
        ({"extra": 1}, "unknown field `extra`"),
        ({"schema": "jitrl.episode"}, "`jitrl memory import` reads those"),
        ({"schema": "other"}, "schema is 'other'"),
        ({"changes": []}, "has no changes"),
        ({"changes": [HAD | {"status": "loved"}]}, "is 'loved'; it must be one of candidate, act"),
        ({"text": "时" * 1_000_000}, "text has 1000000 characters; that of a rule at most 10000"),
        ({"id": "x" * 1_000_000}, "x…: its id has 1000000 characters; at most 100$"),
        ({"kind": "x" * 1_000_000}, "its kind has 1000000 characters; at most 10000"),
        ({"changes": [HAD | {"reason": "x" * 10_001}]}, "reason has 10001 characters; at most 100"),
        ({"changes": [HAD | {"evidence": ["x" * 1_000_000]}]}, "x… as evidence, which this mem"),
        ({"evidence": ["c1"]}, "unknown field"),
    ],
)
def test_a_bad_line_keeps_all_out_and_is_named(store, change, said):
    lines = spoiled(store, **change)
    with SQLiteStore(":memory:") as copy:
        with pytest.raises(RecordError, match=rf"^book:{len(lines)}: (.|\n)*{said}"):
            jsonl_rules.read(copy, lines, name="book")
        assert (copy.head(), copy.rules(), copy.contrasts()) == (0, (), ())
        done = jsonl_rules.read(copy, lines, skip_bad=True)
        assert [one.line for one in done.skipped] == [len(lines)]
        assert done.rules == 4


def test_the_lines_are_those_of_a_whole_export(store):
    whole = set(jsonl.export(store))
    assert set(jsonl_rules.export(store)) < whole


@pytest.mark.parametrize("page", ["docs/rules.md", "docs/zh/rules.md"])
def test_the_lines_that_a_page_shows_are_a_whole_rulebook(page):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    (lines,) = re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    with SQLiteStore(":memory:") as copy:
        done = jsonl_rules.read(copy, lines.encode().splitlines())
        assert (done.rules, done.contrasts) == (1, 1)
