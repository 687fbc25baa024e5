"""The library's door: what a caller may hand in, and what becomes of it."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jitrl
from jitrl.errors import ConfigError, InputError, RepeatedKey, StoreError
from jitrl.types import Candidate, State

YES_NO = {"yes": 0.0, "no": 0.0}


@pytest.fixture
def memory():
    with jitrl.open(":memory:") as opened:
        yield opened


def live(memory: jitrl.JitRL, key: str, outcome: Any = 1.0, **said: Any) -> jitrl.Episode:
    with memory.episode("t", key=key) as episode:
        episode.decide("a plain page", YES_NO)
        episode.finish(outcome, **said)
    return episode


def rewards(memory: jitrl.JitRL, key: str) -> list[float]:
    return [row.reward for row in memory.store.rows(key) if row.status == "active"]


# --- episodes ------------------------------------------------------------------------------------


def test_what_was_learned_is_seen_by_the_next_decision(memory: jitrl.JitRL) -> None:
    for _ in range(6):
        with memory.episode("t") as episode:
            chosen = episode.decide("a plain page", YES_NO).action
            episode.finish(chosen == "no")
    with memory.episode("t") as episode:
        assert episode.decide("a plain page", YES_NO).action == "no"


def test_an_outcome_adds_to_the_last_steps_reward_and_step_rewards_are_kept(
    memory: jitrl.JitRL,
) -> None:
    with memory.episode("t", key="k") as episode:
        for reward in (0.5, 0.25):
            episode.decide("a plain page", YES_NO)
            episode.reward(reward)
            episode.reward(1.0)
        episode.finish(True)
    assert rewards(memory, "k") == [1.5, 2.25]


@pytest.mark.parametrize(("outcome", "counted"), [(True, 1.0), (False, 0.0), (-2.5, -2.5)])
def test_true_counts_one_false_nothing_and_a_number_itself(
    memory: jitrl.JitRL, outcome: Any, counted: float
) -> None:
    live(memory, "k", outcome)
    assert rewards(memory, "k") == [counted]


def test_nothing_is_learned_until_the_outcome_is_known_and_again_when_it_changes(
    memory: jitrl.JitRL,
) -> None:
    live(memory, "k", None)
    assert rewards(memory, "k") == []
    memory.outcome("k", 1.0)
    assert rewards(memory, "k") == [1.0]
    memory.outcome("k", -1.0, basis="human")
    assert rewards(memory, "k") == [-1.0]
    assert memory.outcome("k", -1.0, basis="human").duplicate
    memory.outcome("k", None)
    assert rewards(memory, "k") == []


def test_an_episode_is_learned_once_per_key(memory: jitrl.JitRL) -> None:
    assert live(memory, "k").receipt.duplicate is False  # type: ignore[union-attr]
    with pytest.warns(RepeatedKey, match="key 'k' is stored already, .* names one run, not a task"):
        assert live(memory, "k", 0.0).receipt.duplicate is True  # type: ignore[union-attr]
    assert live(memory, "k", 0.0).receipt.duplicate is True  # type: ignore[union-attr]
    assert rewards(memory, "k") == [1.0]
    assert live(memory, "other").receipt.rows == 1  # type: ignore[union-attr]


def test_an_exception_in_the_block_is_raised_and_the_episode_kept_as_aborted(
    memory: jitrl.JitRL,
) -> None:
    def broken() -> None:
        with memory.episode("t", key="k") as episode:
            episode.decide("a plain page", YES_NO)
            episode.reward(1.0)
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        broken()
    record = memory.store.record("k")
    assert record.episode.status == "aborted"
    assert len(record.episode.steps) == 1
    assert rewards(memory, "k") == []


def test_an_aborted_episode_keeps_its_key_so_a_retry_takes_another(memory: jitrl.JitRL) -> None:
    with suppress(RuntimeError), memory.episode("t", key="k") as episode:
        episode.decide("a plain page", YES_NO)
        raise RuntimeError("boom")
    assert memory.store.episode("k").status == "aborted"
    decided = memory.store.decision("k#0")
    with pytest.warns(RepeatedKey):
        assert live(memory, "k").receipt.duplicate is True  # type: ignore[union-attr]
    assert memory.store.decision("k#0") == decided  # what the id named, it still names
    assert rewards(memory, "k") == []
    assert live(memory, "k/2").receipt.rows == 1  # type: ignore[union-attr]


def test_leaving_the_block_without_finish_keeps_the_episode_as_truncated(
    memory: jitrl.JitRL,
) -> None:
    with memory.episode("t", key="k") as episode:
        episode.decide("a plain page", YES_NO)
    assert memory.store.record("k").episode.status == "truncated"
    memory.outcome("k", True)
    assert rewards(memory, "k") == [1.0]


def test_an_episode_without_a_decision_is_journaled_too(memory: jitrl.JitRL) -> None:
    with memory.episode("t", key="k"):
        pass
    assert memory.store.record("k").episode.steps == ()


def test_an_episode_that_is_over_takes_nothing_more(memory: jitrl.JitRL) -> None:
    episode = live(memory, "k")
    for late in (
        lambda: episode.decide("a plain page", YES_NO),
        lambda: episode.reward(1.0),
        lambda: episode.finish(1.0),
    ):
        with pytest.raises(InputError, match="episode 'k' is over; start another one"):
            late()


def test_episodes_of_another_scope_learn_nothing_from_this_one(memory: jitrl.JitRL) -> None:
    live(memory, "k")
    with memory.episode("t", scope="elsewhere") as episode:
        assert episode.decide("a plain page", YES_NO).reason == "empty"
    with memory.episode("t") as episode:
        assert episode.decide("a plain page", YES_NO).reason == ""


def test_equal_seeds_and_keys_give_equal_decisions() -> None:
    def choices(seed: int) -> list[str]:
        opened = jitrl.open(":memory:", seed=seed, rule={"choose": "sample"})
        with opened as memory, memory.episode("t", key="k") as episode:
            return [episode.decide(f"page {i}", YES_NO).action for i in range(20)]

    assert choices(1) == choices(1) != choices(2)


# --- switches ------------------------------------------------------------------------------------


def test_off_decides_as_the_model_alone_and_still_learns() -> None:
    with jitrl.open(":memory:", mode="off") as memory:
        live(memory, "k")
        with memory.episode("t") as episode:
            decision = episode.decide("a plain page", {"yes": 2.0, "no": 0.0})
        assert (decision.mode, decision.reason, decision.neighbors) == ("off", "off", ())
        assert all(c.correction == 0.0 for c in decision.candidates)
        assert rewards(memory, "k") == [1.0]


def test_shadow_computes_what_the_memory_would_do_and_follows_the_model(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with jitrl.open(path) as memory:
        for i in range(4):
            with memory.episode("t", key=str(i)) as episode:
                chosen = episode.decide("a plain page", YES_NO).action
                episode.finish(chosen == "no")
    with jitrl.open(path, mode="shadow") as memory, memory.episode("t") as episode:
        decision = episode.decide("a plain page", {"yes": 0.5, "no": 0.0})
    assert decision.action == "yes"
    chances = {c.action: (c.probability, c.propensity) for c in decision.candidates}
    assert chances["no"][0] > 0.9
    assert chances["no"][1] == 0.0
    assert chances["yes"][1] == 1.0


def test_the_holdout_share_acts_without_memory_and_is_learned_from() -> None:
    with jitrl.open(":memory:", holdout=0.3, seed=1) as memory:
        held = 0
        for i in range(200):
            with memory.episode("t", key=str(i)) as episode:
                decision = episode.decide("a plain page", YES_NO)
                assert decision.holdout == episode.holdout
                if episode.holdout:
                    assert decision.reason == "holdout"
                held += episode.holdout
                episode.finish(1.0)
            assert memory.store.record(str(i)).episode.holdout == episode.holdout
        assert 0.2 <= held / 200 <= 0.4
        assert memory.store.stats().rows["active"] == 200


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidates", "says"),
    [
        ({}, "no candidates; a decision needs at least one"),
        ([], "no candidates"),
        ("yes", "candidates is 'yes'; it must be a mapping"),
        (7, "candidates is 7; it must be a mapping"),
        ({"yes": math.nan}, "logit of 'yes' is nan; it must be a finite number"),
        ({"yes": math.inf}, "logit of 'yes' is inf"),
        ({"yes": "much"}, "logit of 'yes' is 'much'"),
        ({"yes": None}, "logit of 'yes' is None"),
        ({"": 0.0}, "an action must be a text that is not empty"),
        ({7: 0.0}, "an action must be a text that is not empty"),
        (["yes", "no"], "'yes' is no candidate"),
        ([Candidate("a", 0.0), Candidate("a", 0.0)], "candidate 'a' occurs twice"),
        ([Candidate("a", math.nan)], "logit of 'a' is nan"),
        ({str(i): 0.0 for i in range(10_001)}, "10001 candidates; at most 10000"),
    ],
)
def test_candidates_that_cannot_be_used_are_refused_and_the_episode_goes_on(
    memory: jitrl.JitRL, candidates: Any, says: str
) -> None:
    with memory.episode("t", key="k") as episode:
        with pytest.raises(InputError, match=says):
            episode.decide("a plain page", candidates)
        assert episode.decide("a plain page", YES_NO).action in YES_NO
        episode.finish(1.0)
    assert rewards(memory, "k") == [1.0]


def test_ten_thousand_candidates_are_weighed_and_journaled(memory: jitrl.JitRL) -> None:
    with memory.episode("t", key="k") as episode:
        decision = episode.decide("a plain page", {str(i): float(i) for i in range(10_000)})
        episode.finish(1.0)
    assert decision.action == "9999"
    assert len(memory.store.decision("k#0").decision.candidates) == 10_000


def test_only_allowed_actions_are_weighed_and_those_of_the_memory_may_join(
    memory: jitrl.JitRL,
) -> None:
    live(memory, "k")
    with memory.episode("t") as episode:
        decision = episode.decide("a plain page", {"yes": 1.0, "stop": 0.0}, allowed=["stop", "no"])
        assert "yes" not in {c.action for c in decision.candidates}
        said = r"no candidate of 2 is .* proposed are \['yes', 'no'\], allowed \['stop'\]"
        with pytest.raises(InputError, match=said):
            episode.decide("a plain page", YES_NO, allowed=["stop"])
        with pytest.raises(InputError, match=r"'e', and 2 more\]; an action must be the same"):
            episode.decide("a plain page", YES_NO, allowed=list("abcdefg"))


@pytest.mark.parametrize("state", ["\x00\x1b[31m\n\t", "日期 ä ß 🎲", "x" * 1_000_000])
def test_any_text_is_a_state_that_is_found_again(memory: jitrl.JitRL, state: str) -> None:
    for _ in range(2):
        with memory.episode("t") as episode:
            decision = episode.decide(state, YES_NO)
            episode.finish(1.0)
    assert decision.neighbors[0].similarity == 1.0


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (None, "state is None, a NoneType; it must be a text or a State"),
        (7, "state is 7, a int"),
        ("x" * 1_000_001, "the state has 1000001 characters; at most 1000000"),
        (State("x" * 600_000, "y" * 600_000), "the state has 1200000 characters"),
    ],
)
def test_a_state_that_cannot_be_compared_is_refused(
    memory: jitrl.JitRL, state: Any, says: str
) -> None:
    with memory.episode("t") as episode, pytest.raises(InputError, match=says):
        episode.decide(state, YES_NO)


HALF = "half \ud800"


@pytest.mark.parametrize(
    ("state", "candidates", "says"),
    [
        (HALF, YES_NO, "text of the state has half of a surrogate pair"),
        (State("x", HALF), YES_NO, "context of the state has half"),
        ("x", {HALF: 0.0}, "an action has half of a surrogate pair"),
    ],
)
def test_half_of_a_surrogate_pair_is_refused_before_it_is_decided_on(
    memory: jitrl.JitRL, state: Any, candidates: Any, says: str
) -> None:
    with memory.episode("t", key="k") as episode:
        with pytest.raises(InputError, match=says):
            episode.decide(state, candidates)
        episode.decide("a plain page", YES_NO)
        episode.finish(1.0)
    assert rewards(memory, "k") == [1.0]
    for wrong in ({"task": HALF}, {"task": "t", "scope": HALF}, {"task": "t", "key": HALF}):
        with pytest.raises(InputError, match="half of a surrogate pair"):
            memory.episode(**wrong)


def test_an_episode_that_could_not_be_stored_can_be_finished_again(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with jitrl.open(path) as memory, closing(sqlite3.connect(path)) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON step BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
        episode = memory.episode("t", key="k")
        with episode:
            episode.decide("a plain page", YES_NO)
            with pytest.raises(StoreError, match="no room"):
                episode.finish(None)
            with pytest.raises(InputError, match=r"ended but is not stored; call finish\(\) again"):
                episode.decide("a plain page", YES_NO)
        assert episode.receipt is None  # leaving the block does not store it as something else
        other.execute("DROP TRIGGER full")
        assert episode.finish(1.0).rows == 1
        assert rewards(memory, "k") == [1.0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "1", None, [1.0]])
def test_a_reward_or_outcome_that_is_no_finite_number_is_refused(
    memory: jitrl.JitRL, bad: Any
) -> None:
    with memory.episode("t", key="k") as episode:
        episode.decide("a plain page", YES_NO)
        with pytest.raises(InputError, match=r"reward is .*; it must be a finite number"):
            episode.reward(bad)
        if bad is not None:
            with pytest.raises(InputError, match=r"outcome is .*; it must be a finite number"):
                episode.finish(bad)
        episode.finish(1.0)
    if bad is not None:
        with pytest.raises(InputError, match="outcome is"):
            memory.outcome("k", bad)
    assert rewards(memory, "k") == [1.0]


def test_a_reward_before_the_first_decision_belongs_to_nothing(memory: jitrl.JitRL) -> None:
    with memory.episode("t") as episode, pytest.raises(InputError, match="before the first"):
        episode.reward(1.0)


def test_a_basis_that_does_not_exist_is_refused_with_those_that_do(memory: jitrl.JitRL) -> None:
    with memory.episode("t") as episode:
        episode.decide("a plain page", YES_NO)
        with pytest.raises(InputError, match="basis is 'guess'; it must be one of test, state_che"):
            episode.finish(1.0, basis="guess")  # type: ignore[arg-type]


@pytest.mark.parametrize("task", ["", None, 7])
def test_a_task_must_be_named(memory: jitrl.JitRL, task: Any) -> None:
    with pytest.raises(InputError, match=f"task is {task!r}; it must be a text that is not empty"):
        memory.episode(task)


def test_an_outcome_of_an_unknown_episode_is_an_error(memory: jitrl.JitRL) -> None:
    with pytest.raises(StoreError, match="no episode 'nobody'"):
        memory.outcome("nobody", 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "on"},
        {"holdout": 2.0},
        {"preset": "papers"},
        {"rule": {"betta": 1}},
        {"rule": {"beta": -1.0}},
        {"retrieval": {"threshold": 7}},
        {"gamma": 1.5},
        {"colour": "red"},
        {"evaluator": "nobody"},
    ],
)
def test_a_wrong_setting_is_refused_before_anything_is_made(
    tmp_path: Path, wrong: dict[str, Any]
) -> None:
    with pytest.raises(ConfigError):
        jitrl.open(tmp_path / "m.db", **wrong)


@settings(max_examples=30)
@given(
    st.text(max_size=40).filter(str.strip),
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10),
        st.floats(-1e6, 1e6),
        min_size=1,
        max_size=5,
    ),
)
def test_whatever_text_comes_a_decision_is_made_and_stored(
    state: str, candidates: dict[str, float]
) -> None:
    with jitrl.open(":memory:") as memory:
        with memory.episode("t", key="k") as episode:
            decision = episode.decide(state, candidates)
            episode.finish(1.0)
        assert memory.store.decision("k#0").decision == decision


@pytest.mark.parametrize(
    "bad",
    [
        {"scorer": "\ud800"},
        {"scorer": 5},
        {"allowed": "ab"},
        {"allowed": 5},
    ],
)
def test_a_decision_with_an_argument_of_the_wrong_kind_is_refused_at_once(bad: dict) -> None:
    with jitrl.open(":memory:") as agent, agent.episode("t") as episode:
        with pytest.raises(InputError):
            episode.decide("s", {"a": 0.0, "b": 0.0}, **bad)
        assert episode.decide("s", {"a": 0.0}).action == "a"


@pytest.mark.parametrize("size", [1e308, 10**400, float("inf")])
def test_a_number_whose_sums_would_overflow_is_refused_where_it_is_given(size: float) -> None:
    with jitrl.open(":memory:") as agent, agent.episode("t") as episode:
        with pytest.raises(InputError):
            episode.decide("s", {"a": size})
        with pytest.raises(InputError):
            episode.decide("s", [jitrl.Candidate("a", size)])
        episode.decide("s", {"a": 0.0})
        with pytest.raises(InputError):
            episode.reward(size)
        with pytest.raises(InputError):
            episode.finish(size)


def test_an_outcome_of_numpy_counts_like_one_of_python() -> None:
    import numpy as np

    with jitrl.open(":memory:") as agent, agent.episode("t", key="k") as episode:
        episode.decide("s", {"a": 0.0})
        episode.finish(np.True_)
        assert agent.store.episode("k").outcome.value == 1.0


@pytest.mark.parametrize("bad", [{"told": "yes"}, {"evaluator": None}, {"principal": b"x"}])
def test_an_outcome_with_provenance_of_the_wrong_kind_is_refused(bad: dict) -> None:
    with jitrl.open(":memory:") as agent, agent.episode("t") as episode:
        episode.decide("s", {"a": 0.0})
        with pytest.raises(InputError):
            episode.finish(True, **bad)


@pytest.mark.parametrize("name", ["choose", "unit", "untried", "normalize", "memory_only"])
def test_a_misspelt_word_in_the_rule_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="sampel"):
        jitrl.open(":memory:", rule={name: "sampel"})
