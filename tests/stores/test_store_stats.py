"""Counts of a memory, its list of episodes, its own check, and rebuilding rows."""

import dataclasses
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jitrl.errors import RecordError
from jitrl.stores.rebuild import Difference, rebuild
from jitrl.stores.sqlite import SQLiteStore
from jitrl.stores.stats import Mixture
from jitrl.testing.rule_samples import TEXTS, played, sample_contrast, sample_rule
from jitrl.testing.store_samples import (
    derive,
    put,
    sample_decision,
    sample_episode,
    scored,
    statuses,
)
from jitrl.types import Episode, Judgment, Outcome, Row, State, Transition, Unscored


def judged(key: str, outcome: Outcome, scope: str = "shop", scorer: str = "letters") -> Episode:
    decision = dataclasses.replace(sample_decision("go"), scorer=scorer)
    return dataclasses.replace(
        sample_episode(key, scope=scope),
        steps=(Transition(State("s"), "go", decision),),
        outcome=outcome,
    )


# --- counts -----------------------------------------------------------------------------------


def test_everything_is_counted(tmp_path: Path) -> None:
    with SQLiteStore(tmp_path / "memory.db") as store:
        put(store, sample_episode("a"))
        put(store, sample_episode("b", scope="other"))
        put(store, judged("c", Outcome(1.0, "human", "desk", True, "ann")))
        cut_off = dataclasses.replace(sample_episode("d"), status="truncated", outcome=None)
        store.commit(cut_off, Unscored("no outcome"), ())
        store.commit(dataclasses.replace(cut_off, key="e"), Unscored("judge failed"), ())
        store.commit(dataclasses.replace(cut_off, key="f"), Unscored("no outcome"), ())
        store.rederive("b", None, Unscored("withdrawn"), ())
        store.set_status("quarantined", episodes=["a"])
        found = store.stats()
        assert found.memory == "default"
        assert found.version == store.head() == 9
        assert found.episodes == {"terminated": 3, "truncated": 3}
        assert found.scored == 2
        assert found.unscored == {"judge failed": 1, "no outcome": 2, "withdrawn": 1}
        assert found.quarantined_episodes == 1
        assert found.rows == {"active": 1, "quarantined": 3, "retired": 3}
        assert found.basis == {"human": 1}
        assert found.told == {"told": 1}
        assert found.evaluators == {"desk": 1}
        assert found.scorers == {"letters": 6}
        assert found.scopes == {"other": 1, "shop": 5}
        assert found.states == 3 + 3 + 1
        assert found.decisions == 2 * 5 + 1
        assert found.outcomes == 4
        assert found.bytes > 50_000
        assert found.mixed == ()


def test_an_empty_memory_counts_nothing() -> None:
    with SQLiteStore(":memory:") as store:
        found = store.stats()
        assert (found.episodes, found.scored, found.bytes, found.mixed) == ({}, 0, 0, ())
        assert found.rows == {"active": 0, "quarantined": 0, "retired": 0}


def test_told_and_blind_evaluators_and_scorers_in_one_scope_are_flagged() -> None:
    with SQLiteStore(":memory:") as store:
        put(store, judged("a", Outcome(1.0, evaluator="gold", told=True)))
        put(store, judged("b", Outcome(1.0, evaluator="judge"), scorer="sequence"))
        put(store, judged("c", Outcome(1.0, evaluator="judge"), scope="other"))
        assert store.stats().mixed == (
            Mixture("shop", "told", {"blind": 1, "told": 1}),
            Mixture("shop", "evaluator", {"gold": 1, "judge": 1}),
            Mixture("shop", "scorer", {"letters": 1, "sequence": 1}),
        )
        store.set_status("quarantined", episodes=["a"])
        assert store.stats().mixed == ()


# --- the list of episodes ---------------------------------------------------------------------


def test_episodes_are_summed_up_newest_first() -> None:
    with SQLiteStore(":memory:") as store:
        put(store, sample_episode("a"))
        put(store, sample_episode("b", scope="other", task="t2"))
        better = dataclasses.replace(sample_episode("a"), outcome=Outcome(2.0, "human", "desk"))
        store.rederive("a", better.outcome, scored(better), derive(better, scored(better)))
        store.set_status("quarantined", rows=[store.rows("a")[-1].id])
        store.commit(
            dataclasses.replace(sample_episode("c"), outcome=None), Unscored("no outcome"), ()
        )
        c, b, a = store.summaries()
        assert (a.key, a.steps, a.outcome, a.basis, a.evaluator) == ("a", 3, 2.0, "human", "desk")
        assert (a.active, a.quarantined, a.retired, a.version) == (2, 1, 3, 4)
        assert (b.key, b.scope, b.task, b.active) == ("b", "other", "t2", 3)
        assert (c.key, c.outcome, c.unscored, c.active) == ("c", None, "no outcome", 0)
        assert [s.key for s in store.summaries(limit=2)] == ["c", "b"]
        assert [s.key for s in store.summaries(scope="other")] == ["b"]
        assert [s.key for s in store.summaries(task="t1")] == ["c", "a"]


def test_the_history_of_outcomes_is_kept() -> None:
    with SQLiteStore(":memory:") as store:
        put(store, sample_episode("a"))
        store.rederive("a", None, Unscored("withdrawn"), ())
        last = dataclasses.replace(sample_episode("a"), outcome=Outcome(0.0, "human"))
        store.rederive("a", last.outcome, scored(last), derive(last, scored(last)))
        history = store.record("a").outcomes
        assert [e.outcome for e in history] == [sample_episode("a").outcome, None, last.outcome]
        assert [e.at for e in history] == sorted(e.at for e in history)
        assert [c.reason for c in store.changes(1)] == ["outcome withdrawn"] * 2 + [
            "outcome changed"
        ]


# --- the check --------------------------------------------------------------------------------


def busy(path: Path) -> SQLiteStore:
    """A memory in which all has happened that may happen."""
    store = SQLiteStore(path)
    for key in "abcd":
        put(store, sample_episode(key, scope=key))
    store.commit(Episode("e", "t", "", ()), Unscored("no outcome"), ())
    store.set_status("quarantined", episodes=["a", "b"])
    store.set_status("active", rows=[store.rows("a")[0].id])
    for key in "ac":
        better = dataclasses.replace(sample_episode(key, scope=key), outcome=Outcome(2.0, "human"))
        store.rederive(key, better.outcome, scored(better), derive(better, scored(better)))
    store.rederive("d", None, Unscored("withdrawn"), ())
    return store


BROKEN = {
    "SQLite's integrity check": "DELETE FROM state WHERE id = 1",
    "versions run from 1 to the head without a gap": "UPDATE memory SET head = head + 1",
    "every row was brought by exactly one judgment": "UPDATE row SET judgment_id = 2 WHERE id = 1",
    "a judgment has as many rows as it says": "DELETE FROM row WHERE id = 2",
    "every row points to a step of its episode": "UPDATE row SET step = 77 WHERE id = 3",
    "no row of an unscored episode is in use": "UPDATE row SET status = 0 WHERE judgment_id = 4",
    "a judgment has one reward per step, or a reason": "UPDATE judgment SET rewards = '[1]'",
    "rows carry their evaluator and the digest of what derived them": (
        "UPDATE judgment SET digest = '' WHERE id = 1"
    ),
    "steps are numbered from 0": "DELETE FROM step WHERE episode_id = 2 AND step = 1",
    "every episode has a judgment and an append entry for it": (
        "DELETE FROM change WHERE version = 5"
    ),
    "each outcome supersedes the one before it": "UPDATE outcome SET supersedes = NULL",
    "the status of a row is what the version stream says": "UPDATE row SET status = 1 WHERE id = 9",
    "the digest of a state fits its text": "UPDATE state SET text = 'other' WHERE id = 2",
    "decisions can be read back, one for each step that has one": (
        "DELETE FROM decision WHERE episode_id = 3"
    ),
}
BROKEN_RULES = {
    "every rule was brought by an entry of the version stream, with a known status": [
        "DELETE FROM change_rule WHERE rule_id = 2",
        "UPDATE change_rule SET status = 'lost' WHERE version = 1",
        "UPDATE change SET kind = 'append' WHERE version = 1",
    ],
    "the contrasts that a rule rests on are there, and an entry brought them": [
        "DELETE FROM contrast",
        "UPDATE contrast SET version = 2",
        "UPDATE contrast SET version = 9",
    ],
    "a use is of a rule and an episode of one memory, drawn by a chance": [
        "UPDATE rule SET memory_id = 2 WHERE id = 1",
        "UPDATE rule_use SET chance = 0.0",
        "UPDATE rule_use SET chance = 'often'",
        "UPDATE rule_use SET chance = 1.0, told = 0",
        "UPDATE rule_use SET obeyed = occasions + 1",
        "UPDATE rule_use SET unknown = occasions - obeyed + 1",
    ],
    "rules and contrasts can be read back, with ids that fit": [
        "UPDATE rule SET text = 'other' WHERE id = 2",
        "UPDATE rule SET text = x'00ff' WHERE id = 2",
        "UPDATE rule SET entities = '[1,' WHERE id = 1",
        "UPDATE rule SET entry = 9e999 WHERE id = 1",
        "UPDATE rule SET entry = 'high' WHERE id = 1",
        "UPDATE change_rule SET evidence = 'c1'",
        "UPDATE rule SET parents = json_array(key) WHERE id = 1",
        "UPDATE rule SET parents = (SELECT json_array(o.key) FROM rule o WHERE o.id <> rule.id)",
        "UPDATE contrast SET scores = '[.5'",
    ],
    "SQLite's integrity check": ["UPDATE rule_use SET rule_id = 9"],
}


@pytest.mark.parametrize(
    ("rule", "statement"), [(rule, one) for rule, some in BROKEN_RULES.items() for one in some]
)
def test_what_does_not_hold_of_rules_is_found(tmp_path: Path, rule: str, statement: str) -> None:
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store, SQLiteStore(path, memory="other"):
        one, two = sample_rule(evidence=("c1",)), sample_rule(TEXTS[1])
        store.add_rules([one, two], [sample_contrast()])
        played(store, "e1", [(one.id, True)])
        assert store.check() == []
    db = sqlite3.connect(path)
    assert db.execute(statement).rowcount > 0
    db.commit()
    db.close()
    with SQLiteStore(path) as store:
        assert rule in {p.rule for p in store.check()}


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE rule_use SET chance = 'often'", lambda store: store.rule_uses()),
        ("UPDATE rule SET entry = 'high'", lambda store: store.rules()),
        ("UPDATE change_rule SET evidence = 'c1'", lambda store: list(store.changes(0))),
    ],
)
def test_what_cannot_be_read_of_rules_is_named_with_what_to_do(
    tmp_path: Path, statement: str, read: Callable[[SQLiteStore], object]
) -> None:
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        store.add_rules([sample_rule()])
        played(store, "e1", [(sample_rule().id, True)])
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    with (
        SQLiteStore(path) as store,
        pytest.raises(RecordError, match=r"^rule '[0-9a-f]{12}'.*see: jitrl memory check$"),
    ):
        read(store)


def test_rules_are_counted_by_status_with_what_they_rest_on() -> None:
    with SQLiteStore(":memory:") as store:
        one, two = sample_rule(evidence=("c1",)), sample_rule(TEXTS[1])
        store.add_rules([one, two], [sample_contrast()])
        store.set_rule_status("active", [two.id])
        played(store, "good", [(one.id, True), (two.id, False)])
        store.set_status("quarantined", episodes=["good"])
        found = store.stats()
        assert found.rules == {"candidate": 1, "active": 1, "retired": 0, "quarantined": 0}
        assert (found.contrasts, found.rule_uses, found.tainted_rules) == (1, 2, 1)


def test_a_memory_where_all_has_happened_is_whole(tmp_path: Path) -> None:
    with busy(tmp_path / "memory.db") as store:
        assert store.check() == []
        assert set(statuses(store).values()) == {"active", "quarantined", "retired"}


@pytest.mark.parametrize("rule", BROKEN)
def test_what_does_not_hold_is_found(tmp_path: Path, rule: str) -> None:
    path = tmp_path / "memory.db"
    busy(path).close()
    db = sqlite3.connect(path)
    assert db.execute(BROKEN[rule]).rowcount > 0
    db.commit()
    db.close()
    with SQLiteStore(path) as store:
        assert rule in {p.rule for p in store.check()}


def test_a_long_list_of_findings_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SQLiteStore(path) as store:
        put(store, sample_episode("a", steps=50))
        db = sqlite3.connect(path)
        db.execute("UPDATE row SET status = 1")
        db.commit()
        db.close()
        found = [p.found for p in store.check()]
        assert len(found) == 21
        assert found[-1] == "… and 30 more"


# --- rebuilding -------------------------------------------------------------------------------


def doubled(episode: Episode, judgment: Judgment) -> tuple[Row, ...]:
    rows = derive(episode, judgment)
    return tuple(dataclasses.replace(r, ret=2 * r.ret, digest="doubled") for r in rows)


def test_a_rebuild_with_the_same_derivation_finds_no_difference(tmp_path: Path) -> None:
    with busy(tmp_path / "memory.db") as store:
        head = store.head()
        done = rebuild(store, derive, apply=True)
        assert (done.episodes, done.rows, done.differences) == (5, 9, ())
        assert store.head() == head


def test_a_rebuild_shows_what_differs_and_writes_only_when_told() -> None:
    with SQLiteStore(":memory:") as store:
        put(store, sample_episode("a"))
        put(store, sample_episode("b"))
        store.set_status("quarantined", rows=[store.rows("b")[1].id])
        head, before = store.head(), list(store.episodes())
        found = rebuild(store, doubled, apply=False)
        assert found.differences == (
            Difference("a", (0, 1, 2), 3, 3),
            Difference("b", (0, 1, 2), 3, 3),
        )
        assert not found.is_applied
        assert store.head() == head
        assert rebuild(store, doubled, apply=True).differences == found.differences
        live = [r for key in "ab" for r in store.rows(key) if r.status != "retired"]
        assert [r.ret for r in live] == [0.5, 1.0, 2.0] * 2
        assert [r.status for r in live] == ["active"] * 4 + ["quarantined", "active"]
        assert [c.reason for c in store.changes(head)] == ["rebuild"] * 4
        assert list(store.episodes()) == before
        assert rebuild(store, doubled, apply=False).differences == ()
        assert store.check() == []


def test_a_rebuild_that_fails_half_way_changes_nothing() -> None:
    def fails(episode: Episode, judgment: Judgment) -> tuple[Row, ...]:
        if episode.key == "b":
            raise ValueError("no")
        return doubled(episode, judgment)

    with SQLiteStore(":memory:") as store:
        put(store, sample_episode("a"))
        put(store, sample_episode("b"))
        with pytest.raises(ValueError, match="no"):
            rebuild(store, fails, apply=True)
        assert store.head() == 2
        assert {r.status for r in store.rows("a")} == {"active"}
