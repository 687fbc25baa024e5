"""Decisions are kept with every number, found by id, and listed for replay."""

import dataclasses
import math
import random
import sqlite3
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitrl.errors import InputError, RecordError, StoreError
from jitrl.stores import packing
from jitrl.stores.records import parse_decision_id
from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import put, sample_decision, sample_episode
from jitrl.types import (
    RISKS,
    Capped,
    Decision,
    Lesson,
    Neighbor,
    Spoken,
    State,
    Transition,
    Weighed,
)


def values(kind: type) -> st.SearchStrategy:
    """Instances of a dataclass of plain fields with any value of the right type."""
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    kinds = {
        "str": texts,
        "float": st.floats(),
        "str | None": st.none() | texts,
        "tuple[str, ...] | Literal['any'] | None": st.none()
        | st.just("any")
        | st.lists(texts, max_size=3).map(tuple),
        "float | None": st.none() | st.floats(),
        "int": st.integers(-(2**62), 2**62),
        "bool": st.booleans(),
        "tuple[int, ...]": st.lists(st.integers(0, 2**40), max_size=3).map(tuple),
        "tuple[float, ...]": st.lists(st.floats(), max_size=3).map(tuple),
        "CandidateSource": st.sampled_from(["model", "memory", "caller"]),
        "Mode": st.sampled_from(["off", "shadow", "act"]),
        "tuple[Weighed, ...]": st.deferred(lambda: lists(Weighed)),
        "Sequence[Neighbor]": st.deferred(lambda: lists(Neighbor)),
        "Risk": st.sampled_from(RISKS),
        "tuple[Capped, ...]": st.deferred(lambda: lists(Capped)),
        "Literal['write', 'irreversible', 'support']": st.sampled_from(["write", "support"]),
        "tuple[tuple[str, Risk], ...]": st.lists(
            st.tuples(texts, st.sampled_from(RISKS)), max_size=3
        ).map(tuple),
        "bool | None": st.none() | st.booleans(),
        "tuple[Spoken, ...]": st.deferred(lambda: lists(Spoken)),
        "Lesson | None": st.none() | st.deferred(lambda: values(Lesson)),
    }
    return st.builds(kind, **{name: kinds[hint] for name, hint in hints(kind).items()})


def hints(kind: type) -> dict[str, str]:
    """Field to type, in order."""
    return {n: getattr(h, "__forward_arg__", h) for n, h in kind.__annotations__.items()}


def lists(kind: type) -> st.SearchStrategy:
    return st.lists(values(kind), max_size=4).map(tuple)


@given(st.lists(st.none() | values(Decision), max_size=3))
def test_any_decision_is_packed_and_built_without_loss(decisions: list[Decision | None]) -> None:
    back = [p and packing.build(p) for p in packing.unpack(packing.pack(decisions))]
    # repr tells nan from inf and 0.0 from -0.0, and is equal where == says nan != nan.
    assert repr(back) == repr(decisions)


def test_what_many_neighbors_repeat_takes_little_room() -> None:
    near = tuple(
        Neighbor(f"click(<link[Page {i % 9}]>)", 0.5 + i / 999, i / 7, rows=(i + 1,))
        for i in range(200)
    )
    decision = dataclasses.replace(sample_decision("go"), neighbors=near)
    small, large = packing.pack([sample_decision("go")]), packing.pack([decision] * 9)
    assert len(small) < 700
    assert len(large) < 9 * len(packing.pack([decision])) / 3
    assert [packing.build(p) for p in packing.unpack(large)] == [decision] * 9


def test_a_body_that_was_written_before_there_was_compression_is_read() -> None:
    decision = sample_decision("go")
    body = packing.pack([decision] * 9)
    plain = zlib.decompress(body)
    assert packing.unpack(plain) == packing.unpack(body)
    assert packing.build(packing.unpack(plain)[0]) == decision


ORDERS: dict[type, str] = {
    Weighed: "action logit source prior visits q advantage scaled bonus correction corrected "
    "probability propensity novelty transfer risk",
    Neighbor: "action similarity ret visits sources value reward terminal onward taken trusted "
    "rows state",
    Decision: "action candidates neighbors value scale kl draws rule version scorer mode holdout "
    "reason excluded seed allowed lesson share capped marked silenced notes",
}


def test_the_order_of_fields_is_part_of_the_file_format() -> None:
    orders = {kind: " ".join(hints(kind)) for kind in ORDERS}
    assert orders == ORDERS


def test_a_decision_of_an_older_file_says_nothing_of_what_was_added_since() -> None:
    ((head, *rest),) = packing.unpack(packing.pack([sample_decision("go")]))
    assert packing.build([head[:-4], *rest]) == sample_decision("go")
    assert (sample_decision("go").seed, sample_decision("go").allowed) == (None, None)


def test_numpy_numbers_in_a_decision_are_kept_as_plain_ones() -> None:
    decision = dataclasses.replace(
        sample_decision("go"), value=np.float64(0.5), version=np.int64(3)
    )
    (packed,) = packing.unpack(packing.pack([decision]))
    assert type(packing.build(packed).value) is float
    assert packing.build(packed) == decision


@pytest.mark.parametrize("bad", [object(), "\ud800", 2**80])
def test_what_cannot_be_packed_is_refused(bad: object) -> None:
    with pytest.raises(InputError, match="a decision"):
        packing.pack([dataclasses.replace(sample_decision("go"), reason=bad)])


def test_a_decision_is_found_by_its_id() -> None:
    with SQLiteStore(":memory:") as store:
        put(store, sample_episode("run#1/订单", steps=5))
        found = store.decision("run#1/订单#4")
        assert found.id == "run#1/订单#4"
        assert (found.episode, found.step, found.task, found.scope) == (
            "run#1/订单",
            4,
            "t1",
            "shop",
        )
        assert found.decision == sample_decision("click(4)", version=4)
        assert found.state == State("page 4 订单", "goal 4", "place/4")
        assert found.action == "click(4)"
        with pytest.raises(StoreError, match="no decision at step 1"):
            store.decision("run#1/订单#1")
        with pytest.raises(StoreError, match="no decision at step 99"):
            store.decision("run#1/订单#99")
        with pytest.raises(StoreError, match="no episode 'nobody'"):
            store.decision("nobody#0")


@pytest.mark.parametrize("text", ["", "key", "#", "key#", "key#-1", "key#x", "key#²", "key# 1"])
def test_what_is_not_a_decision_id_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="EPISODE_KEY#STEP"):
        parse_decision_id(text)


def test_decisions_are_listed_by_the_version_they_read_then_in_commit_order() -> None:
    rng = random.Random(3)
    expected = []
    with SQLiteStore(":memory:") as store:
        for e in range(40):
            scope = "xy"[e % 2]
            steps = []
            for t in range(rng.randrange(12)):
                version = rng.randrange(30)
                decision = (
                    sample_decision(f"{e}.{t}", version=version) if rng.random() < 0.8 else None
                )
                steps.append(Transition(State(f"{t}"), f"{e}.{t}", decision))
                if decision:
                    expected.append((version, e, t, scope))
            put(
                store, dataclasses.replace(sample_episode(f"e{e}", scope=scope), steps=tuple(steps))
            )
        expected.sort()
        assert len(expected) > 150
        found = list(store.decisions())
        assert [d.id for d in found] == [f"e{e}#{t}" for _, e, t, _ in expected]
        assert [d.decision.version for d in found] == [v for v, *_ in expected]
        assert [d.decision.action for d in found] == [f"{e}.{t}" for _, e, t, _ in expected]
        found = list(store.decisions(scope="y"))
        assert [d.id for d in found] == [f"e{e}#{t}" for _, e, t, s in expected if s == "y"]


def test_a_bit_that_fell_over_in_a_decision_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        put(store, sample_episode("e1"))
        db = sqlite3.connect(path)
        (body,) = db.execute("SELECT body FROM decision").fetchone()
        db.execute("UPDATE decision SET body = ?", (body[:-3] + bytes([body[-3] ^ 1]) + body[-2:],))
        db.commit()
        db.close()
        with pytest.raises(RecordError, match="'e1' are damaged"):
            store.episode("e1")
        assert [p.rule for p in store.check()] == [
            "decisions can be read back, one for each step that has one"
        ]


def test_numbers_of_a_decision_that_are_not_finite_are_kept() -> None:
    odd = dataclasses.replace(sample_decision("go"), kl=math.inf, value=-math.inf)
    step = Transition(State("s"), "go", odd)
    with SQLiteStore(":memory:") as store:
        put(store, dataclasses.replace(sample_episode("e1"), steps=(step,)))
        assert store.decision("e1#0").decision == odd
