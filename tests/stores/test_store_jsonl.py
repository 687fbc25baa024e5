"""A memory goes out as JSON lines and comes back whole, checked, and in quarantine."""

import codecs
import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitrl.errors import RecordError
from jitrl.stores import jsonl, jsonl_rules, line
from jitrl.stores.records import EpisodeRecord, OutcomeEntry
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import (
    derive,
    put,
    sample_decision,
    sample_episode,
    scored,
    statuses,
)
from jitrl.types import BASES, Episode, Outcome, Scored, State, Transition, Unscored


def filled() -> SQLiteStore:
    """Four episodes: plain, corrected and half in quarantine, unscored, quarantined."""
    store = SQLiteStore(":memory:")
    put(store, sample_episode("plain 订单"))
    put(store, sample_episode("corrected"))
    corrected = dataclasses.replace(
        sample_episode("corrected"), outcome=Outcome(0.25, "user_feedback", "desk", True, "bob")
    )
    store.rederive(
        "corrected", corrected.outcome, scored(corrected), derive(corrected, scored(corrected))
    )
    live = [r.id for r in store.rows("corrected") if r.status == "active" and r.step == 1]
    store.set_status("quarantined", rows=live, reason="looks odd")
    unscored = dataclasses.replace(sample_episode("unscored"), outcome=None)
    store.commit(unscored, Unscored("judge gave no number", "judge"), ())
    put(store, sample_episode("bad"))
    store.set_status("quarantined", episodes=["bad"])
    return store


def copied(lines: Iterator[bytes] | list[bytes], **options: Any) -> tuple[SQLiteStore, Any]:
    store = SQLiteStore(":memory:")
    try:
        return store, jsonl.read(store, lines, derive, **options)
    except RecordError:
        store.close()
        raise


def bare(record: EpisodeRecord) -> EpisodeRecord:
    return dataclasses.replace(record, version=0)


def lines_of(*changes: dict[str, Any]) -> list[bytes]:
    """Lines of one good episode each, with some keys replaced."""
    with SQLiteStore(":memory:") as store:
        put(store, sample_episode("e"))
        (good,) = jsonl.export(store)
    return [
        json.dumps(json.loads(good) | {"key": f"e{i}"} | change, ensure_ascii=False).encode()
        for i, change in enumerate(changes)
    ]


def test_a_trusted_import_gives_the_same_memory() -> None:
    with filled() as source:
        exported = list(jsonl.export(source))
        copy, done = copied(exported, trust=True)
        with copy:
            assert [bare(r) for r in copy.records()] == [bare(r) for r in source.records()]
            live = {k: s for k, s in statuses(source).items() if s != "retired"}
            assert statuses(copy) == live
            assert done == jsonl.Imported(episodes=4, duplicates=0, rows=9, quarantined=4)
            assert list(jsonl.export(copy)) == exported
            assert copy.check() == []


def test_an_import_starts_in_quarantine_on_its_own_basis_and_principal() -> None:
    with filled() as source:
        copy, done = copied(jsonl.export(source), principal="vendor")
        with copy:
            assert done.quarantined == done.rows == 9
            assert set(statuses(copy).values()) == {"quarantined"}
            for change in copy.changes(0):
                for row in change.rows:
                    assert (row.basis, row.principal, row.trusted) == ("import", "vendor", False)
            record = copy.record("corrected")
            assert record.judgment.basis == "import"
            assert {(e.outcome.basis, e.outcome.principal) for e in record.outcomes} == {
                ("import", "vendor")
            }
            assert record.episode.info["import"] == {"principal": "", "basis": "user_feedback"}
            # What is said about it later starts in quarantine too, until it is restored.
            late = dataclasses.replace(copy.episode("unscored"), outcome=Outcome(1.0, "human"))
            copy.rederive("unscored", late.outcome, scored(late), derive(late, scored(late)))
            assert set(statuses(copy).values()) == {"quarantined"}
            assert copy.set_status("active", episodes=["unscored"]) == 3


def test_importing_twice_changes_nothing() -> None:
    with filled() as source:
        exported = list(jsonl.export(source))
        copy, _ = copied(exported)
        with copy:
            head = copy.head()
            again = jsonl.read(copy, exported, derive)
            assert again == jsonl.Imported(episodes=0, duplicates=4, rows=0, quarantined=0)
            assert copy.head() == head


def test_an_export_can_be_limited_to_a_scope() -> None:
    with SQLiteStore(":memory:") as store:
        put(store, sample_episode("a", scope="x"))
        put(store, sample_episode("b", scope="y"))
        assert [json.loads(text)["key"] for text in jsonl.export(store, scope="y")] == ["b"]


def test_text_is_written_as_it_is_read_by_people() -> None:
    with filled() as store:
        text = b"".join(jsonl.export(store)).decode()
        assert "plain 订单" in text
        assert "当输入包含日期时" in text
        assert "\\u" not in text
        assert text.count("\n") == 4


def test_one_bad_line_keeps_everything_out_and_is_named() -> None:
    good = lines_of({}, {})
    with SQLiteStore(":memory:") as store:
        with pytest.raises(RecordError, match=r"^memory\.jsonl:2: "):
            jsonl.read(store, [good[0], b'{"key":', good[1]], derive, name="memory.jsonl")
        assert store.head() == 0
        assert list(store.episodes()) == []


def test_bad_lines_are_skipped_and_counted_on_request() -> None:
    good = lines_of({}, {})
    copy, done = copied([good[0], b"[]", b"", good[1], b'{"key": 1}'], skip_bad=True)
    with copy:
        assert [e.key for e in copy.episodes()] == ["e0", "e1"]
        assert [s.line for s in done.skipped] == [2, 5]
        assert all(s.reason for s in done.skipped)
        assert done.episodes == 2


def test_a_byte_order_mark_and_blank_lines_are_no_fault() -> None:
    (good,) = lines_of({})
    copy, done = copied([codecs.BOM_UTF8 + good + b"\r\n", b"\n"])
    with copy:
        assert done.episodes == 1


STEP = {"state": 0, "action": "go"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "jitrl.row"}, "schema is 'jitrl.row', expected 'jitrl.episode'"),
        ({"version": 2}, "version is 2, this jitrl reads version 1"),
        ({"extra": 1}, "unknown field `extra`"),
        ({"key": ""}, "key is empty; an episode needs a key"),
        ({"task": ""}, "task is empty; an episode needs a task"),
        ({"info": {"exclude": "t1"}}, "info.exclude is 't1'; it must be a list of tasks"),
        ({"info": {"exclude": [["t1"]]}}, r"info.exclude is \[\['t1'\]\]"),
        ({"info": {"readings": 5}}, r"info.readings is 5; it must be \[\[step, text\], …\]"),
        ({"info": {"readings": [[3, "x"]]}}, r"info.readings\[0\] is \[3, 'x'\]; .* from 0 to 2"),
        ({"steps": [STEP | {"action": ""}]}, r"steps\[0\]\.action is empty"),
        ({"steps": [STEP | {"novelty": -5}]}, r"steps\[0\]\.novelty is -5.0; it must be in \[0"),
        ({"steps": [STEP | {"novelty": 1.5}]}, r"steps\[0\]\.novelty is 1.5"),
        ({"steps": [STEP | {"reward": 1e200}, STEP, STEP]}, "reward of step 0 is 1e.200"),
        ({"key": None}, r"Expected `str`, got `null` - at `\$\.key`"),
        ({"status": "lost"}, r"Invalid enum value 'lost' - at `\$\.status`"),
        ({"started": -1.0}, "started is -1.0; it must be seconds since 1970, up to the year 9999"),
        ({"finished": 1e200}, "finished is 1e.200; it must be seconds since 1970"),
        (
            {"outcomes": [{"value": 1, "basis": "test", "evaluator": "x", "at": 1e13}]},
            r"outcomes\[0\].at is 10000000000000.0; it must be seconds since 1970",
        ),
        ({"finished": "today"}, r"Expected `float`, got `str` - at `\$\.finished`"),
        ({"steps": [STEP | {"state": 9}]}, r"steps\[0\]\.state is 9, but the line has 3 states"),
        ({"steps": [STEP | {"next": -1}]}, r"steps\[0\]\.next is -1"),
        ({"steps": [STEP | {"rewrd": 1.0}]}, r"unknown field `rewrd` - at `\$\.steps\[0\]`"),
        ({"steps": [STEP]}, r"needs a reward of each step \(1\), and outcome gave 3"),
        ({"quarantined": [3]}, "quarantined names step 3, but the line has 3 steps"),
        ({"judgment": {"evaluator": "x", "rewards": [0, 0, 1]}}, "needs a basis"),
        ({"judgment": {"evaluator": "x"}}, "unscored without a reason"),
        ({"judgment": {"evaluator": "x", "unscored": "r", "told": True}}, "has no rewards"),
        (
            {"judgment": {"evaluator": "x", "rewards": [0, 0, 1], "basis": "rumour"}},
            "Invalid enum value 'rumour'",
        ),
        ({"outcomes": [{"value": True, "basis": "test", "evaluator": "x", "at": 0}]}, "got `bool`"),
        ({"outcomes": [{"basis": "test", "evaluator": "x", "at": 0}]}, "missing required field"),
    ],
)
def test_a_line_that_does_not_fit_the_schema_says_where(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(RecordError, match=message):
        copied(lines_of(change))


@pytest.mark.parametrize(
    ("text", "got"), [(b"[]", "array"), (b'"x"', "str"), (b"3", "int"), (b"null", "null")]
)
def test_a_line_that_is_no_object_is_told_as_such(text: bytes, got: str) -> None:
    said = rf"^line:1: Expected `object`, got `{got}`; a line is an object that names its schema"
    with pytest.raises(RecordError, match=said):
        copied([text])
    with SQLiteStore(":memory:") as store, pytest.raises(RecordError, match=said):
        jsonl_rules.read(store, [text])


def test_a_schema_that_is_no_text_is_told_as_such() -> None:
    with pytest.raises(RecordError, match=r"Expected `str`, got `int` - at `\$.schema`"):
        copied([b'{"schema": 3}'])


@pytest.mark.parametrize(
    ("text", "place"),
    [(b"{\n", 1), (b'{"schema": "jitrl.episode", "key": NaN}', 35), (b'{"a" 1}', 5)],
)
def test_a_line_that_is_no_json_is_told_as_such_with_the_place(text: bytes, place: int) -> None:
    with pytest.raises(RecordError, match=rf"^line:1: it is not JSON: .* \(byte {place}\)$"):
        copied([text])


def test_a_count_that_the_file_cannot_hold_is_a_bad_line() -> None:
    use = {"rule": "0" * 12, "told": True, "chance": 0.5, "obeyed": 0}
    for occasions in (2**63, 2**64, 10**30):
        (text,) = lines_of({"uses": [use | {"occasions": occasions}]})
        with pytest.raises(RecordError, match=r"^line:1: .*occasions"):
            copied([text])


def decided(**changes: Any) -> bytes:
    """A line whose first decision has some keys replaced, or those of its first candidate …"""
    (good,) = lines_of({})
    episode = json.loads(good)
    decision = episode["steps"][0]["decision"]
    for name, value in changes.items():
        part, _, field = name.partition("__")
        place = decision[part][0] if field else decision
        place[field or part] = value
    return json.dumps(episode).encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": []}, "candidates is empty; a decision needs at least one"),
        ({"action": "fly"}, r"action is 'fly'; it must be one of \['click\(0\)', "),
        ({"action": ""}, "action is ''"),
        ({"candidates__action": ""}, r"action is 'click\(0\)'; it must be one of"),
        (
            {"candidates__action": "部署前(必须运行测试)", "action": "部署前(必须运行测试)"},
            "each action once",
        ),
        ({"candidates__logit": None}, r"candidates\[0\]\.logit is None; it must be a finite"),
        ({"candidates__visits": -1}, r"candidates\[0\]\.visits is -1.0; it must be at least 0"),
        ({"candidates__prior": 1.5}, r"candidates\[0\]\.prior is 1.5; it must be in \[0, 1\]"),
        ({"candidates__probability": -0.5}, r"candidates\[0\]\.probability is -0.5"),
        ({"candidates__propensity": 2}, r"candidates\[0\]\.propensity is 2.0"),
        ({"candidates__novelty": -5}, r"candidates\[0\]\.novelty is -5.0"),
        ({"neighbors__action": ""}, r"neighbors\[0\]\.action is empty"),
        ({"neighbors__similarity": 1.5}, r"neighbors\[0\]\.similarity is 1.5; it must be in"),
        ({"neighbors__similarity": -0.1}, r"neighbors\[0\]\.similarity is -0.1"),
        ({"neighbors__similarity": None}, r"neighbors\[0\]\.similarity is None"),
        ({"neighbors__ret": None}, r"neighbors\[0\]\.ret is None; it must be a finite number"),
        ({"neighbors__visits": -3}, r"neighbors\[0\]\.visits is -3.0; it must be at least 0"),
        ({"neighbors__sources": -1}, r"neighbors\[0\]\.sources is -1.0"),
        ({"neighbors__taken": -1}, r"neighbors\[0\]\.taken is -1"),
        ({"neighbors__terminal": 2}, r"neighbors\[0\]\.terminal is 2.0"),
        ({"neighbors__onward": -1}, r"neighbors\[0\]\.onward is -1.0"),
        ({"draws": [2]}, r"draws\[0\] is 2.0; it must be in \[0, 1\]"),
        ({"draws": [None]}, r"Expected `float`, got `null`"),
        ({"version": -1}, "version is -1; it must be at least 0"),
        ({"version": 2**70}, "cannot be stored"),
        ({"excluded": -1}, "excluded is -1"),
        ({"kl": -1}, "kl is -1.0"),
        ({"scale": -1}, "scale is -1.0"),
        ({"seed": "7"}, "regex"),
        ({"allowed": "some"}, "allowed"),
    ],
)
def test_a_decision_that_contradicts_itself_is_refused_by_its_field(
    change: dict[str, Any], message: str
) -> None:
    copied([decided()])[0].close()
    with pytest.raises(RecordError, match=message) as caught:
        copied([decided(**change)], trust=True)
    assert "decision" in str(caught.value)


@pytest.mark.parametrize("allowed", ["any", (), ("a", "b"), None])
def test_what_a_decision_could_have_drawn_and_chosen_is_carried_over(allowed: Any) -> None:
    seed = None if allowed is None else "0123456789abcdef" * 4
    decision = dataclasses.replace(sample_decision("go"), seed=seed, allowed=allowed)
    step = Transition(State("s"), "go", decision)
    with SQLiteStore(":memory:") as store:
        put(store, dataclasses.replace(sample_episode("e"), steps=(step,)))
        copy, _ = copied(jsonl.export(store))
    with copy:
        assert copy.decision("e#0").decision == decision


def test_a_line_written_before_decisions_said_what_they_could_have_drawn_is_read() -> None:
    episode = json.loads(decided())
    for step in episode["steps"]:
        if step.get("decision"):
            del step["decision"]["seed"], step["decision"]["allowed"]
    copy, _ = copied([json.dumps(episode).encode()])
    with copy:
        found = copy.decision("e0#0").decision
    assert (found.seed, found.allowed) == (None, None)


def test_a_decision_in_which_the_model_proposed_nothing_is_refused() -> None:
    (good,) = lines_of({})
    bad = good.replace(b'"source": "model"', b'"source": "memory"')
    with pytest.raises(RecordError, match="are all from memory; at least one must be proposed"):
        copied([bad])


@pytest.mark.parametrize("mode", ["act", "shadow", "off"])
def test_what_was_done_may_differ_from_what_was_decided(mode: str) -> None:
    episode = json.loads(decided(mode=mode))
    episode["steps"][0]["action"] = "something else"
    copy, _ = copied([json.dumps(episode).encode()])
    with copy:
        found = copy.decision("e0#0")
    assert (found.action, found.decision.action) == ("something else", "click(0)")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(number: str) -> None:
    (good,) = lines_of({})
    bad = good.replace(b'"rewards": [0.0', b'"rewards": [' + number.encode())
    assert bad != good
    with pytest.raises(RecordError, match="line:1"):
        copied([bad])


def test_an_unknown_key_inside_a_decision_is_refused() -> None:
    (good,) = lines_of({})
    for wrong in (b'"logit": -0.1', b'"similarity": 0.9', b'"scale": 1.1'):
        assert wrong in good
        with pytest.raises(RecordError, match="unknown field `typo`"):
            copied([good.replace(wrong, wrong + b', "typo": 1', 1)])


def test_a_number_of_a_decision_that_json_cannot_carry_comes_back_as_nan() -> None:
    decision = dataclasses.replace(sample_decision("go"), kl=math.inf)
    episode = dataclasses.replace(
        sample_episode("e"), steps=(Transition(State("s"), "go", decision),)
    )
    with SQLiteStore(":memory:") as store:
        put(store, episode)
        copy, _ = copied(jsonl.export(store))
    with copy:
        found = copy.decision("e#0").decision
        assert math.isnan(found.kl)
        assert found.neighbors[1].value is None
        assert dataclasses.replace(found, kl=math.inf) == decision


# --- any input --------------------------------------------------------------------------------

SLOW = settings(max_examples=40)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = texts.filter(bool)
numbers = st.floats(-1e100, 1e100)
outcomes = st.builds(Outcome, numbers, st.sampled_from(BASES), texts, st.booleans(), texts)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)

times = st.floats(0, 4e9)
free = texts.filter(lambda key: key not in ("exclude", "readings"))  # those have a form


@st.composite
def records(draw: st.DrawFn) -> EpisodeRecord:
    states = draw(st.lists(st.builds(State, texts, texts, texts), min_size=1, max_size=4))
    state = st.sampled_from(states)
    steps = draw(
        st.lists(
            st.builds(
                Transition,
                state,
                names,
                st.none() | names.map(sample_decision),
                st.none() | numbers,
                st.none() | state,
                st.floats(0, 1),
            ),
            max_size=4,
        )
    )
    said = tuple(draw(st.lists(st.builds(OutcomeEntry, st.none() | outcomes, times), max_size=3)))
    rewards = tuple(draw(st.lists(numbers, min_size=len(steps), max_size=len(steps))))
    judgment = draw(
        st.builds(Scored, st.just(rewards), texts, st.sampled_from(BASES), st.booleans())
        | st.builds(Unscored, names, texts)
    )
    episode = Episode(
        draw(names),
        draw(names),
        draw(texts),
        tuple(steps),
        draw(st.sampled_from(["terminated", "truncated", "aborted"])),
        said[-1].outcome if said else None,
        *(draw(texts) for _ in range(3)),
        holdout=draw(st.booleans()),
        started=draw(times),
        finished=draw(times),
        info=draw(st.dictionaries(free, json_values, max_size=3)),
    )
    held = tuple(sorted(draw(st.sets(st.integers(0, 3)))) if len(steps) == 4 else ())
    return EpisodeRecord(episode, judgment, said, draw(st.booleans()), held)


@SLOW
@given(records())
def test_any_episode_comes_back_from_its_line_as_it_was(record: EpisodeRecord) -> None:
    text = line.dump(record)
    assert text.count(b"\n") == 1
    assert line.parse(text) == record


@SLOW
@given(st.lists(records(), max_size=3, unique_by=lambda r: r.episode.key))
def test_any_episodes_come_back_from_the_store_as_they_were(found: list[EpisodeRecord]) -> None:
    with SQLiteStore(":memory:") as store:
        for record in found:
            store.commit_record(record, ())
        back = [dataclasses.replace(r, version=0) for r in store.records()]
        # Which steps are in quarantine is told by rows, and there are none here.
        assert back == [dataclasses.replace(r, quarantined=()) for r in found]
        assert store.check() == []


@given(st.binary(max_size=200))
def test_any_bytes_are_an_episode_or_a_record_error(text: bytes) -> None:
    with pytest.raises(RecordError):
        line.parse(text)


@SLOW
@given(records(), st.data())
def test_a_line_that_was_changed_anywhere_is_an_episode_or_a_record_error(
    record: EpisodeRecord, data: st.DataObject
) -> None:
    text = bytearray(line.dump(record))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with SQLiteStore(":memory:") as store:
        done = jsonl.read(store, [bytes(text)], lambda e, j: (), skip_bad=True)
        assert done.episodes + len(done.skipped) <= 1
        assert store.check() == []


def test_a_line_nested_too_deep_is_a_record_error() -> None:
    (good,) = lines_of({})
    deep = b"[" * 100_000 + b"]" * 100_000
    with pytest.raises(RecordError):
        copied([good.replace(b'"note"', b'"deep": ' + deep + b', "note"')])


def test_a_large_import_is_streamed(tmp_path: Path) -> None:
    drawn = []

    def lines() -> Iterator[bytes]:
        for text in lines_of(*({} for _ in range(50))):
            drawn.append(len(drawn))
            yield text

    with SQLiteStore(tmp_path / "memory.db") as store:
        seen = []

        def watched(episode: Episode, judgment: Any) -> Any:
            seen.append(len(drawn))
            return derive(episode, judgment)

        assert jsonl.read(store, lines(), watched).episodes == 50
        assert seen == list(range(1, 51))
