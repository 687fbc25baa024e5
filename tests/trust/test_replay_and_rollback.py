"""Quarantine with replay, snapshots, rollback and canaries: exact, and without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jitrl
from jitrl.analysis.canary import canaries
from jitrl.core.sentences import cleaned, rule_id
from jitrl.errors import ConfigError, InputError, StoreError
from jitrl.memory.replay import compared, replay
from jitrl.stores.selection import Selection
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Basis, Contrast, Decision, Rule

PAGE = "the page"
LOGITS = {"open": 0.9, "delete_all": 0.1}


def learn(
    memory: jitrl.JitRL,
    action: str,
    outcome: float,
    key: str,
    basis: Basis = "test",
    principal: str = "",
    scope: str = "",
) -> None:
    with memory.episode("t", key=key, scope=scope) as episode:
        episode.decide(PAGE, {action: 0.0})
        episode.finish(outcome, basis=basis, principal=principal)


def asked(memory: jitrl.JitRL, key: str, scope: str = "") -> Decision:
    with memory.episode("t", key=key, scope=scope) as episode:
        return episode.decide(PAGE, LOGITS)


def numbers(decision: Decision) -> Decision:
    """All of a decision but the version it read, and where its random numbers began."""
    return replace(decision, version=0, draws=(), seed=None, action="")


def chance(decision: Decision, action: str = "open") -> float:
    return next(c.probability for c in decision.candidates if c.action == action)


@pytest.mark.parametrize("preset", ["default", "paper-web"])
def test_a_poisoned_row_is_replayed_quarantined_and_restored_exactly(preset: str) -> None:
    rule = {"explore": 0.0} if preset == "paper-web" else {}
    with jitrl.open(":memory:", preset=preset, rule=rule) as memory:
        before = asked(memory, "before")
        learn(memory, "delete_all", 3.0, "planted", "import", "mallory")
        during = [asked(memory, f"q{n}") for n in range(12)]
        fall = chance(before) - chance(during[0])
        if preset == "paper-web":
            assert (chance(before), chance(during[0])) == pytest.approx((0.69, 0.45), abs=0.005)
        else:
            assert fall < 0.05
        journal = list(memory.store.decisions())
        head = memory.store.head()
        (row,) = [r.id for c in memory.store.changes(0) for r in c.rows if r.episode == "planted"]
        turned = memory.replay(without=[row])
        with jitrl.open(":memory:", preset=preset, rule=rule) as clean:
            asked(clean, "before")
            would = [asked(clean, f"q{n}") for n in range(12)]
        changed = [f"q{n}#0" for n in range(12) if would[n].action != during[n].action]
        assert turned == changed
        assert bool(turned) == (preset == "paper-web")
        assert list(memory.store.decisions()) == journal
        assert memory.store.head() == head
        assert memory.quarantine(rows=[row], reason="planted") == 1
        after = asked(memory, "after")
        assert numbers(after) == numbers(before)
        assert memory.restore(rows=[row]) == 1
        assert numbers(asked(memory, "again")) == numbers(during[0])


def planted(memory: jitrl.JitRL) -> None:
    """Two episodes each of a test, of feedback by two people, and of another scope."""
    for n in range(2):
        learn(memory, "open", 1.0, f"test{n}")
        learn(memory, "open", 1.0, f"ann{n}", "user_feedback", "ann")
        learn(memory, "delete_all", 1.0, f"bob{n}", "user_feedback", "bob")
        learn(memory, "open", 1.0, f"far{n}", "test", "ci", scope="elsewhere")


def quarantined(memory: jitrl.JitRL) -> set[str]:
    last = {row.id: row for change in memory.store.changes(0) for row in change.rows}
    return {row.episode for row in last.values() if row.status == "quarantined"}


@pytest.mark.parametrize(
    ("where", "episodes"),
    [
        (Selection(sources=["principal:bob"]), {"bob0", "bob1"}),
        (Selection(principals=["ann", "bob"]), {"ann0", "ann1", "bob0", "bob1"}),
        (Selection(sources=["test1", "principal:ann"]), {"test1", "ann0", "ann1"}),
        (Selection(bases=["user_feedback"], principals=["bob", "ci"]), {"bob0", "bob1"}),
        (Selection(scopes=["elsewhere"]), {"far0", "far1"}),
        (Selection(evaluators=["environment"], episodes=["far1"]), {"far1"}),
        (Selection(evaluators=["nobody"]), set()),
    ],
)
def test_rows_are_taken_out_by_whoever_they_come_from_and_brought_back(
    where: Selection, episodes: set[str]
) -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        assert memory.quarantine(where=where, reason="odd") == len(episodes)
        assert quarantined(memory) == episodes
        assert memory.restore(where=where) == len(episodes)
        assert quarantined(memory) == set()


def test_rows_are_taken_out_by_when_they_were_learned() -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        times = [change.at for change in memory.store.changes(0)]
        among = Selection(since=times[2], until=times[4])
        expected = {c.episode for c in memory.store.changes(0) if times[2] <= c.at < times[4]}
        assert memory.quarantine(where=among) == len(expected)
        assert quarantined(memory) == expected


def test_naming_nothing_names_no_row() -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        with pytest.raises(InputError, match="nothing is named"):
            memory.quarantine(where=Selection())


def test_a_replay_asks_only_decisions_that_could_have_seen_the_rows() -> None:
    with jitrl.open(":memory:", preset="paper-web") as memory:
        for n in range(3):
            asked(memory, f"early{n}")
        learn(memory, "delete_all", 3.0, "planted")
        for n in range(2):
            asked(memory, f"far{n}", scope="elsewhere")
        for n in range(4):
            asked(memory, f"late{n}")
        (row,) = [r.id for c in memory.store.changes(0) for r in c.rows]
        found = replay(memory.agent, memory.store, [row])
        assert (found.looked, found.others) == (4, 0)
        assert {one.id[:4] for one in found.turned} <= {"late"}
        assert all(one.chance_now > 0.0 for one in found.turned)


def test_decisions_of_another_rule_are_counted_and_refused_only_where_it_is_strict(
    tmp_path: Path,
) -> None:
    file = tmp_path / "m.db"
    with jitrl.open(file, preset="paper-web") as memory:
        learn(memory, "delete_all", 3.0, "planted")
        asked(memory, "q")
    with jitrl.open(file) as memory:
        found = replay(memory.agent, memory.store, [1])
        assert (found.looked, found.others) == (0, 1)
        with pytest.raises(ConfigError, match="under rule"):
            memory.replay(without=[1])


def rule_of(text: str, evidence: Sequence[str]) -> Rule:
    return Rule(rule_id(text), cleaned(text), evidence=tuple(evidence), status="active")


def test_a_rule_distilled_from_an_episode_is_tainted_by_one_quarantined_row_of_it() -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        contrast = Contrast("c", "", "t", good=("bob0",), bad=("ann0",), scores=(1.0, 0.0))
        rule = rule_of("When the page is full, delete all", ["c"])
        assert isinstance(memory.store, SQLiteStore)
        memory.store.add_rules([rule], [contrast])
        (row,) = [r.id for c in memory.store.changes(0) for r in c.rows if r.episode == "bob0"]
        assert memory.store.versions.tainted_with(["bob0"]) == {rule.id: ("bob0",)}
        assert memory.store.tainted() == {}
        memory.quarantine(rows=[row])
        assert memory.store.tainted() == {rule.id: ("bob0",)}
        memory.restore(rows=[row])
        assert memory.store.tainted() == {}


def poisoned(memory: jitrl.JitRL) -> None:
    """After a snapshot: bad rows, a corrected outcome, a quarantine, a late outcome."""
    for n in range(5):
        learn(memory, "delete_all", 3.0, f"bad{n}")
    memory.outcome("test0", -3.0)
    memory.quarantine(episodes=["test1"])
    with memory.episode("t", key="open end") as episode:
        episode.decide(PAGE, {"open": 0.0})
    memory.outcome("open end", -2.0)


@pytest.mark.parametrize("preset", ["default", "paper-web", "released-web"])
def test_a_rollback_gives_back_bit_identical_decisions_and_can_be_taken_back(
    preset: str,
) -> None:
    with jitrl.open(":memory:", preset=preset) as memory:
        planted(memory)
        memory.snapshot("clean", reason="audited")
        before = [numbers(asked(memory, "b0")), numbers(asked(memory, "b1", "elsewhere"))]
        poisoned(memory)
        poison = numbers(asked(memory, "p0"))
        assert poison != before[0]
        moved = memory.rollback("clean", reason="poisoned")
        assert moved.set_aside > 0
        assert moved.brought_back == 2  # the corrected episode's row, and the quarantined one's
        after = [numbers(asked(memory, "a0")), numbers(asked(memory, "a1", "elsewhere"))]
        assert after == before
        assert isinstance(memory.store, SQLiteStore)
        assert memory.store.check() == []
        back = memory.undo(moved.first, moved.last)
        assert (back.set_aside, back.brought_back) == (moved.brought_back, moved.set_aside)
        assert numbers(asked(memory, "p1")) == poison
        assert memory.store.check() == []


def test_rolling_back_twice_changes_nothing_more_and_what_is_learned_since_counts() -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        version = memory.store.head()
        poisoned(memory)
        memory.rollback(version)
        again = memory.rollback(version)
        assert (again.set_aside, again.brought_back, again.first > again.last) == (0, 0, True)
        calm = numbers(asked(memory, "calm"))
        learn(memory, "delete_all", 1.0, "new")
        assert numbers(asked(memory, "moved")) != calm


def test_a_rollback_takes_rules_back_to_what_they_were() -> None:
    with jitrl.open(":memory:") as memory:
        store = memory.store
        assert isinstance(store, SQLiteStore)
        old, new = (rule_of(f"When the page is {w}, open it", ()) for w in ("old", "new"))
        store.add_rules([old])
        memory.snapshot("clean")
        store.add_rules([new])
        store.set_rule_status("retired", [old.id])
        moved = memory.rollback("clean")
        assert moved.rules == 2
        assert {r.text: r.status for r in store.rules()} == {
            old.text: "active",
            new.text: "quarantined",
        }
        memory.undo(moved.first, moved.last)
        assert {r.text: r.status for r in store.rules()} == {
            old.text: "retired",
            new.text: "active",
        }


def test_what_changed_again_since_is_left_alone_by_taking_back() -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        memory.quarantine(where=Selection(principals=["ann", "bob"]))
        entry = memory.store.head()
        memory.restore(episodes=["ann0"])
        memory.quarantine(episodes=["ann0"])
        moved = memory.undo(entry)
        assert (moved.set_aside, moved.brought_back) == (0, 3)
        assert quarantined(memory) == {"ann0"}


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m: m.rollback(10**6), "has the versions 0 to"),
        (lambda m: m.rollback(-1), "has the versions 0 to"),
        (lambda m: m.undo(3, 2), "the first must not be above"),
        (lambda m: m.undo(1), "entry 1 brought rows"),
        (lambda m: m.snapshot(" x"), "a name is a text without blanks"),
        (lambda m: m.snapshot("12"), "no number"),
        (lambda m: m.snapshot("taken"), "there is a snapshot 'taken' already"),
    ],
)
def test_what_cannot_be_gone_back_to_is_refused(
    ask: Callable[[jitrl.JitRL], Any], said: str
) -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        memory.snapshot("taken")
        head = memory.store.head()
        with pytest.raises(InputError, match=said):
            ask(memory)
        assert memory.store.head() == head
        with pytest.raises(StoreError, match="no snapshot 'lost'; there are taken"):
            memory.rollback("lost")


def test_two_snapshots_differ_by_the_decisions_that_fall_otherwise() -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        memory.snapshot("a")
        for n in range(3):
            asked(memory, f"q{n}")
        for n in range(6):
            learn(memory, "delete_all", 1.0, f"bad{n}")
            learn(memory, "open", 0.0, f"sad{n}")
        memory.snapshot("b")
        found = memory.diff("a", "b")
        assert {one.id for one in found} >= {"q0#0", "q1#0", "q2#0"}
        assert {(one.was, one.now) for one in found} == {("open", "delete_all")}
        assert memory.diff("a", "a") == ()
        back = memory.diff("b", "a")
        assert {(one.was, one.now) for one in back} == {("delete_all", "open")}
        newest = compared(memory.agent, memory.store, 1, 2, newest=4)
        assert newest.looked == 4


def test_an_agent_that_reads_a_snapshot_sees_nothing_newer_but_what_is_quarantined(
    tmp_path: Path,
) -> None:
    file = tmp_path / "m.db"
    with jitrl.open(file) as memory:
        planted(memory)
        memory.snapshot("v1")
        before = numbers(asked(memory, "b"))
    with jitrl.open(file) as writer, jitrl.open(file, snapshot="v1") as reader:
        for n in range(4):
            learn(writer, "delete_all", 3.0, f"bad{n}")
        assert numbers(asked(writer, "w")) != before
        assert numbers(asked(reader, "r1")) == before
        writer.outcome("test0", -3.0)  # its row of then stays in the snapshot
        assert numbers(asked(reader, "r2")) == before
        writer.quarantine(episodes=["test0"])  # and is in quarantine with the episode
        assert numbers(asked(reader, "r3")) != before
        assert reader.explain("r3#0").exact
        assert reader.replay(without=()) == []
        writer.restore(episodes=["test0"])
        assert numbers(asked(reader, "r4")) == before


def test_a_snapshot_that_does_not_exist_stops_before_the_first_episode() -> None:
    with pytest.raises(StoreError, match="no snapshot 'v1'; there are none"):
        jitrl.open(":memory:", snapshot="v1")


def test_a_canary_is_read_by_its_share_of_episodes_and_the_draws_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    with jitrl.open(file) as memory:
        learn(memory, "open", 1.0, "first")
        memory.snapshot("old")
        for n in range(6):
            learn(memory, "delete_all", 1.0, f"d{n}")
            learn(memory, "open", 0.0, f"o{n}")
        memory.snapshot("new")
    settings = {"snapshot": "old", "canary": "new", "canary_share": 0.5}
    with jitrl.open(file, **settings) as memory:  # type: ignore[arg-type]
        for n in range(60):
            with memory.episode("t", key=f"e{n}") as episode:
                made = episode.decide(PAGE, LOGITS)
                episode.finish(made.action == "delete_all", basis="test")
        kept = {e.key: e.info["canary"] for e in memory.store.episodes() if "canary" in e.info}
        assert len(kept) == 60
        assert all((d["arm"] == "canary") == (d["draw"] < 0.5) for d in kept.values())
        assert 15 <= sum(d["arm"] == "canary" for d in kept.values()) <= 45
        assert isinstance(memory.store, SQLiteStore)
        (found,) = canaries(memory.store.records())
        assert (found.name, found.canary, found.main, found.unscored) == ("new", 1.0, 0.0, 0)
        assert found.effect.low > 0.0
        assert memory.replay(without=()) == []


def test_a_step_never_counts_twice_whatever_is_restored_after_a_rollback() -> None:
    with jitrl.open(":memory:") as memory:
        planted(memory)
        version = memory.store.head()
        memory.outcome("test0", -3.0)
        memory.rollback(version)
        assert memory.restore(episodes=["test0"]) == 0  # its earlier row counts again
        memory.quarantine(episodes=["test0"])
        assert memory.restore(episodes=["test0"]) == 1
        assert isinstance(memory.store, SQLiteStore)
        assert memory.store.check() == []


def test_an_agent_without_snapshots_draws_nothing_more_than_before() -> None:
    with jitrl.open(":memory:", preset="paper-web") as memory:
        asked(memory, "q")
        episode = memory.store.episode("q")
        assert "snapshot" not in episode.info
        assert "canary" not in episode.info
