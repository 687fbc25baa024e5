"""A rulebook goes out as JSON lines and comes back: whole if trusted, else in quarantine."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.core.sentences import cleaned, rule_id, scoped_id
from jitrl.errors import RecordError
from jitrl.stores import jsonl, line_rules
from jitrl.stores.records import RuleRecord
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.rule_samples import TEXTS, played, sample_contrast, sample_rule
from jitrl.testing.store_samples import derive
from jitrl.types import RULE_STATUSES, Contrast, Rule, RuleChange

RULES = [sample_rule(text, evidence=("c1",)) for text in TEXTS]


def filled() -> SQLiteStore:
    """Four rules with a history, two contrasts, and three episodes that used two of them."""
    store = SQLiteStore(":memory:")
    played(store, "good")
    store.add_rules(RULES[:3], [sample_contrast()], reason="round 1", principal="ann")
    store.set_rule_status("active", [RULES[0].id, RULES[1].id], reason="helps", principal="bob")
    played(store, "e1", [(RULES[0].id, True), (RULES[1].id, False)])
    again = replace(RULES[0], evidence=("c2",))
    store.add_rules([again, RULES[3]], [sample_contrast("c2", task="t2")], reason="round 2")
    store.set_rule_status("retired", [RULES[1].id], reason="no effect")
    played(store, "e2", [(RULES[0].id, False)], score=None)
    return store


def copied(lines: Iterator[bytes] | list[bytes], **options: Any) -> tuple[SQLiteStore, Any]:
    store = SQLiteStore(":memory:")
    try:
        return store, jsonl.read(store, lines, derive, **options)
    except RecordError:
        store.close()
        raise


def bare(rules: tuple[Rule, ...]) -> list[Rule]:
    return [replace(rule, version=0) for rule in rules]


def test_a_trusted_import_gives_the_same_rulebook() -> None:
    with filled() as source:
        exported = list(jsonl.export(source))
        copy, done = copied(exported, trust=True)
        with copy:
            assert (done.episodes, done.rules, done.contrasts, done.duplicates) == (3, 4, 2, 0)
            assert bare(copy.rules()) == bare(source.rules())
            for rule in RULES:
                ours, theirs = copy.rule_history(rule.id), source.rule_history(rule.id)
                assert [replace(c, version=0) for c in ours] == [
                    replace(c, version=0) for c in theirs
                ]
            assert [replace(c, version=0) for c in copy.contrasts()] == [
                replace(c, version=0) for c in source.contrasts()
            ]
            assert copy.rule_uses().keys() == source.rule_uses().keys()
            for key, uses in source.rule_uses().items():
                assert [replace(u, version=0) for u in copy.rule_uses()[key]] == [
                    replace(u, version=0) for u in uses
                ]
            assert list(jsonl.export(copy)) == exported
            assert copy.check() == []


def test_imported_rules_land_in_quarantine_under_the_importers_name() -> None:
    with filled() as source:
        copy, done = copied(jsonl.export(source), principal="carl")
        with copy:
            assert done.rules == 4
            rules = copy.rules()
            assert {(r.status, r.principal) for r in rules} == {("quarantined", "carl")}
            assert [r.reason for r in rules] == [
                "imported; it was active: helps",
                "imported; it was retired: no effect",
                "imported; it was candidate: round 1",
                "imported; it was candidate: round 2",
            ]
            assert [r.evidence for r in rules] == [r.evidence for r in source.rules()]
            assert all(len(copy.rule_history(r.id)) == 1 for r in rules)
            assert {c.principal for c in copy.contrasts()} == {"carl"}
            assert copy.rule_uses() == {}  # their episodes are in quarantine
            assert set(copy.tainted()) == {r.id for r in RULES}
            copy.set_status("active", episodes=["good", "e1"])
            assert copy.rule_counts(1.0)[RULES[0].id].wins == 1
            assert copy.check() == []


@pytest.mark.parametrize("trust", [True, False])
def test_importing_twice_changes_nothing_and_leaves_what_is_there_alone(trust: bool) -> None:
    with filled() as source:
        exported = list(jsonl.export(source))
        copy, _ = copied(exported, trust=trust)
        with copy:
            copy.set_rule_status("active", [RULES[2].id], reason="mine")
            head = copy.head()
            again = jsonl.read(copy, exported, derive, trust=trust)
            assert (again.duplicates, again.rules, again.contrasts, again.episodes) == (9, 0, 0, 0)
            assert copy.head() == head
            assert copy.rule(RULES[2].id).status == "active"


def test_an_export_of_a_scope_holds_all_that_its_episodes_and_rules_rest_on() -> None:
    with SQLiteStore(":memory:") as store:
        mine = sample_rule(TEXTS[0], scope="x", evidence=("c1",))
        used = sample_rule(TEXTS[1], scope="y", evidence=("c2",))
        store.add_rules(
            [mine, used, sample_rule(TEXTS[2], scope="y")],
            [sample_contrast(f"c{i}", scope=scope) for i, scope in enumerate("xyyy")],
        )
        played(store, "e1", [(used.id, True)])
        lines = list(jsonl.export(store, scope="shop"))
        assert [line_rules.schema_of(text) for text in lines] == [
            "jitrl.contrast",
            "jitrl.rule",
            "jitrl.episode",
        ]
        copied(lines)[0].close()
        of_x = list(jsonl.export(store, scope="x"))
        assert [json.loads(text)["id"] for text in of_x] == ["c0", "c1", mine.id]
        copied(of_x)[0].close()


def test_rules_that_are_added_during_an_export_come_before_their_episodes(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "memory.db") as store:
        played(store, "e1")
        store.add_rules(RULES[:1], [sample_contrast()])
        lines = jsonl.export(store)
        first = [next(lines), next(lines)]
        store.add_rules([replace(RULES[1], evidence=("c2",))], [sample_contrast("c2")])
        played(store, "e2", [(RULES[1].id, True)])
        copy, done = copied(first + list(lines))
        with copy:
            assert (done.episodes, done.rules, done.contrasts) == (2, 2, 2)


def test_text_of_rules_is_written_as_it_is_read_by_people() -> None:
    with filled() as store:
        text = b"".join(jsonl.export(store)).decode()
    for part in ("先统一成 YYYY-MM-DD 再处理", *TEXTS[1:], "登记订单"):
        assert part in text
    assert "\\u" not in text
    assert text.count("\n") == 9


def test_an_episode_without_rules_is_written_as_before_there_were_any() -> None:
    with filled() as store:
        by_key = {json.loads(t).get("key"): json.loads(t) for t in jsonl.export(store)}
    assert "uses" not in by_key["good"]
    told = {
        "rule": RULES[0].id,
        "told": False,
        "chance": 0.5,
        "occasions": 3,
        "obeyed": 2,
        "unknown": 1,
    }
    assert by_key["e2"]["uses"] == [told]


def lines_of(change: dict[str, Any], kind: str) -> list[bytes]:
    """Lines of a contrast, its rule and an episode that used it, with keys of one replaced."""
    with SQLiteStore(":memory:") as store:
        store.add_rules(RULES[:1], [sample_contrast()])
        played(store, "e", [(RULES[0].id, True)])
        lines = [json.loads(text) for text in jsonl.export(store)]
    return [
        json.dumps(one | change if one["schema"].endswith(kind) else one).encode() for one in lines
    ]


CHANGE = {"status": "active", "reason": "", "principal": "", "at": 0}


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("rule", {"version": 2}, "version is 2, this jitrl reads version 1"),
        ("rule", {"extra": 1}, "unknown field `extra`"),
        ("rule", {"id": "0" * 12}, f"the id of .* is '{RULES[0].id}'"),
        ("rule", {"text": "另一句"}, f"rule '{RULES[0].id}': the id of '另一句' is"),
        ("rule", {"entry": 2}, "entry is 2.0"),
        ("rule", {"author": ""}, "has no author"),
        ("rule", {"changes": []}, "has no changes"),
        ("rule", {"changes": [{"status": "lost", "reason": "", "principal": "", "at": 0}]}, "lost"),
        ("rule", {"changes": [CHANGE | {"at": 1e300}]}, r"changes\[0\].at is 1e.300; it must"),
        ("rule", {"changes": [CHANGE | {"at": -1.0}]}, r"changes\[0\].at is -1.0; it must be sec"),
        ("contrast", {"created": 1e300}, "created is 1e.300; it must be seconds since 1970, up to"),
        ("contrast", {"round": 2**63}, r"<= 9223372036854775807 - at `\$\.round`"),
        ("contrast", {"round": 10**30}, r"at `\$\.round`"),
        ("contrast", {"id": "other"}, "names contrast c1 as evidence"),
        ("contrast", {"scores": [1]}, "for 2 episodes"),
        ("contrast", {"good": "good"}, r"Expected `array`, got `str` - at `\$\.good`"),
        ("contrast", {"version": 0}, "version is 0"),
        ("episode", {"uses": [{"rule": "nobody", "told": True, "chance": 1}]}, "rule nobody"),
        ("episode", {"uses": [{"rule": RULES[0].id, "told": True}]}, "missing required field"),
        ("episode", {"uses": [{"rule": RULES[0].id, "told": True, "chance": 2}]}, "chance 2.0"),
    ],
)
@pytest.mark.parametrize("trust", [True, False])
def test_a_line_that_does_not_fit_keeps_everything_out_and_says_where(
    kind: str, change: dict[str, Any], message: str, trust: bool
) -> None:
    with SQLiteStore(":memory:") as store:
        with pytest.raises(RecordError, match=rf"^line:[123]: (.|\n)*{message}"):
            jsonl.read(store, lines_of(change, kind), derive, trust=trust)
        assert (store.head(), store.rules(), store.contrasts()) == (0, (), ())


@pytest.mark.parametrize("number", [2**63, 2**64, 10**30])
def test_a_round_that_the_file_cannot_hold_is_left_out_on_request(number: int) -> None:
    copy, done = copied(lines_of({"round": number}, "contrast"), skip_bad=True)
    with copy:
        assert [s.line for s in done.skipped] == [1, 2, 3]  # the rule rests on it
        assert copy.contrasts() == ()


def test_bad_rules_are_skipped_and_counted_on_request() -> None:
    copy, done = copied(lines_of({"entry": 2}, "rule"), skip_bad=True)
    with copy:
        assert [s.line for s in done.skipped] == [2, 3]  # the episode used it
        assert (done.rules, done.contrasts, done.episodes) == (0, 1, 0)


# --- any input --------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = texts.filter(bool)
numbers = st.floats(-1e100, 1e100)
times = st.floats(0, 4e9)
some_texts = st.lists(texts, max_size=3).map(tuple)


@st.composite
def records(draw: st.DrawFn) -> RuleRecord:
    text = cleaned(draw(texts.filter(cleaned)))
    id, status = rule_id(text), st.sampled_from(RULE_STATUSES)
    change = st.builds(RuleChange, st.just(id), st.just(0), status, texts, texts, times)
    changes = tuple(draw(st.lists(change, min_size=1, max_size=3)))
    entities = tuple(sorted(set(draw(some_texts))))
    entry = draw(st.floats(0, 1))
    scope, kind, author, parents = draw(texts), draw(texts), draw(names), draw(some_texts)
    last = changes[-1].status
    return RuleRecord(
        Rule(id, text, scope, kind, entities, entry, author, parents, status=last), changes
    )


@st.composite
def contrasts(draw: st.DrawFn) -> Contrast:
    keys = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    cut = draw(st.integers(0, len(keys)))
    return Contrast(
        draw(names),
        draw(texts),
        draw(names),
        draw(texts),
        draw(st.integers(0, 1000)),
        draw(texts),
        tuple(keys[:cut]),
        tuple(keys[cut:]),
        tuple(draw(st.lists(numbers, min_size=len(keys), max_size=len(keys)))),
        draw(times.filter(bool)),
    )


@settings(max_examples=40)
@given(st.lists(records(), max_size=3, unique_by=lambda r: r.rule.id), contrasts())
def test_any_rules_come_back_from_their_lines_and_the_store(
    found: list[RuleRecord], contrast: Contrast
) -> None:
    for record in found:
        assert line_rules.parse_rule(line_rules.dump_rule(record)) == record
    assert line_rules.parse_contrast(line_rules.dump_contrast(contrast)) == contrast
    lines = [line_rules.dump_contrast(contrast), *map(line_rules.dump_rule, found)]
    copy, done = copied(lines, trust=True)
    with copy:
        assert (done.rules, done.contrasts) == (len(found), 1)
        assert [json.loads(text) for text in jsonl.export(copy)] == list(map(json.loads, lines))
        assert copy.check() == []


@settings(max_examples=40)
@given(records(), st.data())
def test_a_rule_line_that_was_changed_anywhere_is_a_rule_or_a_record_error(
    record: RuleRecord, data: st.DataObject
) -> None:
    text = bytearray(line_rules.dump_rule(record))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with SQLiteStore(":memory:") as store:
        done = jsonl.read(store, [bytes(text)], derive, skip_bad=True)
        assert done.rules + len(done.skipped) <= 1
        assert store.check() == []


def line(rule: Rule) -> bytes:
    return line_rules.dump_rule(RuleRecord(rule, (RuleChange(rule.id, 0, "candidate"),)))


def test_an_imported_text_that_another_scope_has_comes_in_for_its_own() -> None:
    ours, theirs = sample_rule(), sample_rule(scope="other")
    store, done = copied([line(ours), line(theirs), line(theirs)])
    with store:
        assert (done.rules, done.duplicates) == (2, 1)
        assert [(r.text, r.scope) for r in store.rules()] == [
            (ours.text, "shop"),
            (ours.text, "other"),
        ]
        assert store.check() == []


@pytest.mark.parametrize("trust", [True, False])
def test_episodes_of_a_file_keep_the_rules_of_their_own_scope(trust: bool) -> None:
    rule, wide = sample_rule(TEXTS[0]), sample_rule(TEXTS[1], parents=(sample_rule().id,))
    with SQLiteStore(":memory:") as source:
        source.add_rules([rule, wide])
        played(source, "e1", [(rule.id, True), (wide.id, False)])
        exported = list(jsonl.export(source))
    with SQLiteStore(":memory:") as store:
        store.add_rules([replace(rule, scope="other"), sample_rule(TEXTS[1], scope="other")])
        for _ in range(2):  # the second time all is there already
            jsonl.read(store, exported, derive, trust=trust)
        ours = {r.text: r for r in store.rules(scope="shop")}
        assert len(ours) == 2
        assert ours[wide.text].parents == (ours[rule.text].id,)
        used = {use.rule: use.told for use in store.record("e1").uses}
        assert used == {ours[rule.text].id: True, ours[wide.text].id: False}
        assert store.check() == []


def test_a_parent_whose_line_comes_later_is_of_the_same_scope() -> None:
    rule, wide = sample_rule(TEXTS[0]), sample_rule(TEXTS[1], parents=(sample_rule().id,))
    with SQLiteStore(":memory:") as store:
        store.add_rules([replace(rule, scope="other")])
        jsonl.read(store, [line(wide), line(rule)], derive)
        ours = {r.text: r for r in store.rules(scope="shop")}
        assert ours[wide.text].parents == (ours[rule.text].id,)


def test_a_text_that_its_scope_has_already_comes_in_under_no_second_id() -> None:
    rule = sample_rule()
    own = replace(rule, id=scoped_id(rule.text, rule.scope))
    with SQLiteStore(":memory:") as store:
        store.add_rules([rule])
        done = jsonl.read(store, [line(own)], derive)
        assert (done.rules, done.duplicates) == (0, 1)
        assert [one.id for one in store.rules()] == [rule.id]


def test_rules_that_stand_for_themselves_or_in_a_ring_are_not_imported() -> None:
    a, b = sample_rule(TEXTS[0]), sample_rule(TEXTS[1])
    with pytest.raises(RecordError, match=r"1: .*stands for itself"):
        copied([line(replace(a, parents=(a.id,)))])
    with pytest.raises(RecordError, match=rf"2: .*ring: {b.id} → {a.id} → {b.id}"):
        copied([line(replace(a, parents=(b.id,))), line(replace(b, parents=(a.id,)))])
