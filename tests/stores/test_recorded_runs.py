"""What another program did is learned as if it had been lived through, and lands in quarantine."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import jitrl
from jitrl.core.credit import derive_rows
from jitrl.errors import RecordError
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.stores import jsonl, line_run
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode, Judgment, State

STEPS = [
    {"state": "home", "candidates": {"open A": 0.4, "open B": 0.0}, "action": "open B"},
    {"state": {"text": "B", "context": "find it", "place": "b"}, "action": "read", "reward": 0.5},
]


def run(**other: Any) -> dict[str, Any]:
    said = {"schema": "jitrl.run", "key": "r1", "task": "find it", "steps": STEPS}
    return said | {"outcome": True, "basis": "test"} | other


def text(**other: Any) -> bytes:
    return json.dumps(run(**other), ensure_ascii=False).encode() + b"\n"


def read(store: SQLiteStore, *lines: bytes, **options: Any) -> jsonl.Imported:
    derive = partial(derive_rows, gamma=0.5)
    options = {"judge": EnvironmentRewards().judge, "name": "runs.jsonl"} | options
    return jsonl.read(store, lines, derive, **options)


def test_a_recorded_run_gives_the_rows_of_the_same_run_lived_through(tmp_path: Path) -> None:
    with jitrl.open(tmp_path / "lived.db", gamma=0.5, rule={"beta": 0.0}, mode="off") as agent:
        with agent.episode("find it", key="r1") as episode:
            episode.decide("home", {"open B": 1.0})
            episode.decide(State("B", "find it", "b"), {"read": 0.0})
            episode.reward(0.5)
            episode.finish(True)
        lived = agent.store.rows("r1")  # type: ignore[attr-defined]
    with SQLiteStore(tmp_path / "recorded.db") as store:
        read(store, text(), trust=True)
        recorded = store.rows("r1")

    def said(row: Any) -> Any:
        names = ("step", "state", "action", "reward", "ret", "next_state", "terminal", "basis")
        return [getattr(row, name) for name in (*names, "evaluator", "source", "digest", "status")]

    assert [said(row) for row in recorded] == [said(row) for row in lived]
    assert [row.ret for row in recorded] == [0.75, 1.5]


def test_it_lands_in_quarantine_under_a_principal_and_is_restored_like_any_other() -> None:
    with SQLiteStore(":memory:") as store:
        done = read(store, text(), principal="ann")
        assert (done.episodes, done.rows, done.quarantined, done.unscored) == (1, 2, 2, 0)
        rows = store.rows("r1")
        assert {(r.status, r.basis, r.source) for r in rows} == {
            ("quarantined", "import", "principal:ann")
        }
        assert store.episode("r1").info["import"] == {"principal": "", "basis": "test"}
        assert store.set_status("active", episodes=["r1"]) == 2


def test_a_key_is_learned_once_and_nobody_judges_it_twice() -> None:
    asked = list[str]()

    def judge(episode: Episode) -> Judgment:
        asked.append(episode.key)
        return EnvironmentRewards().judge(episode)

    with SQLiteStore(":memory:") as store:
        assert read(store, text(), text(task="other"), judge=judge).duplicates == 1
        assert read(store, text(), text(key="r2"), judge=judge).episodes == 1
        assert asked == ["r1", "r2"]


def test_a_run_without_reward_and_outcome_is_kept_and_counted_but_teaches_nothing() -> None:
    plain = [{"state": "home", "action": "open A"}]
    with SQLiteStore(":memory:") as store:
        done = read(store, text(steps=plain, outcome=None))
        assert (done.episodes, done.rows, done.unscored) == (1, 0, 1)


def test_what_could_have_been_done_is_kept_without_a_chance_that_nobody_knows() -> None:
    listed = [{"state": "home", "candidates": ["open A", "open B"], "action": "open A"}]
    with SQLiteStore(":memory:") as store:
        read(store, text(scorer="single"), text(key="r2", steps=listed))
        decision = store.decision("r1#0").decision
        assert [(c.action, c.logit) for c in decision.candidates] == [
            ("open A", 0.4),
            ("open B", 0.0),
        ]
        assert (decision.action, decision.scorer, decision.mode) == ("open B", "single", "off")
        assert all(c.propensity != c.propensity for c in decision.candidates)
        assert {c.logit for c in store.decision("r2#0").decision.candidates} == {0.0}
        assert store.episode("r1").steps[1].decision is None
        assert store.check() == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"steps": []}, "steps is empty"),
        ({"key": ""}, "needs a key"),
        ({"task": ""}, "needs a task"),
        ({"tasks": "x"}, "unknown field `tasks`"),
        ({"version": 2}, "this jitrl reads version 1"),
        ({"outcome": "yes"}, r"Expected `bool | float | null`"),
        ({"outcome": 1e300}, "at most 1e\\+100"),
        ({"basis": "hearsay"}, "Invalid enum value 'hearsay'"),
        ({"status": "done"}, "Invalid enum value 'done'"),
        ({"steps": [{"state": " ", "action": "a"}]}, r"steps\[0\].state is empty"),
        ({"steps": [{"state": "s", "action": ""}]}, "action of step 0 is empty"),
        (
            {"steps": [{"state": "s", "action": "a", "candidates": {"b": 0}}]},
            r"steps\[0\].action is 'a'; it must be one of its candidates, \['b'\]",
        ),
        (
            {"steps": [{"state": "s", "action": "a", "candidates": ["a", "a"]}]},
            "names an action twice",
        ),
    ],
)
def test_a_bad_run_is_named_by_its_line_and_nothing_is_imported(
    change: dict[str, Any], said: str
) -> None:
    with SQLiteStore(":memory:") as store:
        with pytest.raises(RecordError, match=f"^runs.jsonl:2: .*{said}"):
            read(store, text(key="good"), text(**change))
        assert list(store.episodes()) == []
        done = read(store, text(key="good"), text(**change), skip_bad=True)
        assert [e.key for e in store.episodes()] == ["good"]
        assert [skipped.line for skipped in done.skipped] == [2]


def test_lines_are_read_one_by_one() -> None:
    store, ahead = SQLiteStore(":memory:"), list[int]()

    def lines() -> Iterator[bytes]:
        for number in range(50):
            ahead.append(number - sum(1 for _ in store.episodes()))
            yield text(key=f"r{number}")

    with store:
        read_all = partial(derive_rows, gamma=0.5)
        jsonl.read(store, lines(), read_all, judge=EnvironmentRewards().judge)
        assert set(ahead) == {0}


def test_a_written_run_reads_back() -> None:
    line = line_run.RunLine("jitrl.run", "k", "t", (line_run.RunStep("s", "a", ("a", "b")),))
    back = line_run.parse(line_run.dump(line))
    assert (back.key, back.task, back.steps[0].state) == ("k", "t", State("s"))
