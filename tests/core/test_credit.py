"""Credit: which rows an episode and its judgment give."""

from __future__ import annotations

from typing import Any

import pytest

from jitrl.core.credit import derive_rows, row_digest
from jitrl.types import Episode, Outcome, Scored, State, Transition, Unscored

HERE, THERE = State("here"), State("there")
STEPS = (
    Transition(HERE, "go", None, 1.0, THERE, novelty=0.25),
    Transition(THERE, "stop", None, 3.0, None),
)


def lived(**changes: Any) -> Episode:
    return Episode("key", "task", "scope", STEPS, principal="owner", **changes)


def test_each_step_gives_a_row_with_its_reward_return_and_origin() -> None:
    first, last = derive_rows(lived(), Scored((1.0, 3.0), "judge"), gamma=0.5)
    assert (first.reward, first.ret, last.reward, last.ret) == (1.0, 2.5, 3.0, 3.0)
    assert (first.state, first.next_state, last.next_state) == (HERE, THERE, None)
    assert (first.action, first.step, first.novelty) == ("go", 0, 0.25)
    assert (first.evaluator, first.basis, first.told) == ("judge", "test", False)
    assert (first.episode, first.task, first.scope) == ("key", "task", "scope")


def test_only_the_last_step_of_an_episode_that_ended_by_itself_is_terminal() -> None:
    scored = Scored((1.0, 3.0), "judge")
    for status, ended in (("terminated", True), ("truncated", False), ("aborted", False)):
        rows = derive_rows(lived(status=status), scored, gamma=0.5)
        assert [row.terminal for row in rows] == [False, ended]


def test_an_unscored_episode_gives_nothing() -> None:
    assert derive_rows(lived(), Unscored("no outcome yet"), gamma=0.5) == ()


def test_the_source_is_the_episode_if_the_basis_is_trusted_and_else_the_principal() -> None:
    def source(basis: Any, **more: Any) -> str:
        scored = Scored((1.0, 3.0), "judge", basis)
        return derive_rows(lived(**more), scored, gamma=0.5)[0].source

    assert source("test") == source("state_check") == source("human") == "key"
    assert source("user_feedback") == source("import") == "principal:owner"
    said = Outcome(1.0, "user_feedback", principal="visitor")
    assert source("user_feedback", outcome=said) == "principal:visitor"


def test_released_returns_are_a_setting() -> None:
    scored = Scored((3.0, 0.0), "judge")
    rows = derive_rows(lived(), scored, gamma=0.5, returns="substituted")
    assert rows[0].ret == 4.5


def test_one_reward_a_step_is_demanded() -> None:
    with pytest.raises(ValueError, match=r"needs a reward of each step \(2\), and judge gave 1"):
        derive_rows(lived(), Scored((1.0,), "judge"), gamma=0.5)


def test_the_digest_tells_what_made_a_row() -> None:
    made = {
        row_digest("a", False, 0.5),
        row_digest("b", False, 0.5),
        row_digest("a", True, 0.5),
        row_digest("a", False, 0.6),
        row_digest("a", False, 0.5, "substituted"),
    }
    assert len(made) == 5
    assert {len(digest) for digest in made} == {12}
