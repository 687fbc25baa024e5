"""What is handed to the library is refused by name where it is given, in a typed error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jitrl
from jitrl.config import Memory
from jitrl.errors import ConfigError, InputError, StoreError
from jitrl.types import Candidate, State

HALF = "half \ud800"
YES_NO = {"yes": 0.0, "no": 0.0}


@pytest.fixture
def memory():
    """A memory with one episode ``k`` of one step, whose row is 1."""
    with jitrl.open(":memory:") as opened:
        with opened.episode("t", key="k") as episode:
            episode.decide("a plain page", YES_NO)
            episode.finish(1.0)
        yield opened


# --- opening -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [None, {}, 7, b"m.db", "", "a\0b.db", HALF, ["m.db"]])
def test_what_is_no_path_is_refused_with_what_was_given(path: Any) -> None:
    with pytest.raises(InputError, match="path is ") as caught:
        jitrl.open(path)
    assert repr(path) in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="names are limited in another way there")
def test_a_name_that_is_too_long_for_the_system_is_an_error_of_the_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"xxx\.db cannot be used: File name too long"):
        jitrl.open(tmp_path / f"{'x' * 300}.db")
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="cannot be used: Not a directory"):
        jitrl.open(tmp_path / "file" / "m.db")


@pytest.mark.parametrize("name", [None, 7, b"x", "", HALF])
def test_a_memory_has_a_name(tmp_path: Path, name: Any) -> None:
    with pytest.raises(InputError, match="memory "):
        jitrl.open(tmp_path / "m.db", memory=name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("principal", [HALF, 7, None, b"ann"])
def test_a_principal_that_cannot_be_stored_is_refused_before_a_file_is_made(
    tmp_path: Path, principal: Any
) -> None:
    with pytest.raises(ConfigError, match=r"memory\.principal is"):
        jitrl.open(tmp_path / "m.db", principal=principal)
    with pytest.raises(ConfigError, match=r"memory\.principal is"):
        jitrl.JitRL(tmp_path / "m.db", Memory(principal=principal))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("settings", [{"mode": "off"}, {}, "default", Memory(gamma=7.0)])
def test_settings_made_by_hand_are_checked_as_well(settings: Any) -> None:
    with pytest.raises(ConfigError, match="settings"):
        jitrl.JitRL(":memory:", settings)


@pytest.mark.parametrize(
    "retrieval",
    [
        {"k": 1.5},
        {"k": True},
        {"k": "10"},
        {"k": 0},
        {"ngram": None},
        {"ngram": 2.0},
        {"context_ngram": False},
        {"threshold": True},
        {"threshold": None},
        {"threshold": "0.5"},
        {"context_weight": [0.3]},
        {"context_weight": float("nan")},
        {"cap": 1},
        {"cap": None},
        {"match_place": 1},
        {"match_place": "yes"},
        {"kind": None},
    ],
)
def test_a_setting_of_retrieval_of_the_wrong_kind_is_refused_by_name(
    retrieval: dict[str, Any],
) -> None:
    with pytest.raises(ConfigError, match=next(iter(retrieval))):
        jitrl.open(":memory:", retrieval=retrieval)


@pytest.mark.parametrize("rule", [{"beta": True}, {"beta": "1"}, {"temperature": 1e-308}])
def test_a_setting_of_the_rule_of_the_wrong_kind_is_refused_by_name(rule: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(rule))):
        jitrl.open(":memory:", rule=rule)


# --- episodes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"task": None}, "task is None"),
        ({"task": b"t"}, "task is b't'"),
        ({"task": "t", "scope": None}, "scope is None; it must be a text"),
        ({"task": "t", "scope": 7}, "scope is 7"),
        ({"task": "t", "key": 0}, "key is 0; it must be a text that is not empty"),
        ({"task": "t", "key": ""}, "key is ''; it must be a text that is not empty"),
        ({"task": "t", "key": b""}, "key is b''"),
    ],
)
def test_an_episode_is_named_by_texts(
    memory: jitrl.JitRL, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        memory.episode(**arguments)


@pytest.mark.parametrize("part", ["text", "context", "place"])
@pytest.mark.parametrize("value", [None, 7, b"x"])
def test_a_part_of_a_state_that_is_no_text_is_named(
    memory: jitrl.JitRL, part: str, value: Any
) -> None:
    state = State(**{"text": "x", part: value})
    with memory.episode("t") as episode, pytest.raises(InputError, match=f"{part} of the state is"):
        episode.decide(state, YES_NO)


@pytest.mark.parametrize("state", ["", " \n", State(""), State(" ", "\t", "\n")])
def test_an_empty_state_is_refused_with_what_to_give(memory: jitrl.JitRL, state: Any) -> None:
    with memory.episode("t") as episode:
        with pytest.raises(InputError, match=r"which is empty.*State\(text, place="):
            episode.decide(state, YES_NO)
        episode.decide("a page", YES_NO)  # the call may be made again


@pytest.mark.parametrize("state", [State("", context="goal"), State("", place="home")])
def test_a_state_without_text_is_taken_where_something_else_tells_it_apart(
    memory: jitrl.JitRL, state: State
) -> None:
    with memory.episode("t") as episode:
        episode.decide(state, YES_NO)
        episode.finish(1.0)


@pytest.mark.parametrize(
    ("candidates", "says"),
    [
        ([Candidate(7, 0.0)], "an action is 7"),  # type: ignore[arg-type]
        ([Candidate("a", "0")], "logit of 'a' is '0'"),  # type: ignore[arg-type]
        ([Candidate("a", 0.0, "memory")], "source of 'a' is 'memory'"),
        ([Candidate("a", 0.0, ["x"])], r"source of 'a' is \['x'\]"),  # type: ignore[arg-type]
        ([("a", 0.0)], r"\('a', 0.0\) is no candidate"),
        ({b"a": 0.0}, "an action is b'a'"),
        ({None: 0.0}, "an action is None"),
        ({"a": 10**5000}, "logit of 'a' is a int that is too long to print"),
    ],
)
def test_a_candidate_of_the_wrong_kind_is_named(
    memory: jitrl.JitRL, candidates: Any, says: str
) -> None:
    with memory.episode("t") as episode, pytest.raises(InputError, match=says):
        episode.decide("x", candidates)


@pytest.mark.parametrize("allowed", [[["yes"]], [7], [None], b"yes", 5, "yes"])
def test_allowed_actions_are_texts(memory: jitrl.JitRL, allowed: Any) -> None:
    with memory.episode("t") as episode, pytest.raises(InputError, match=r"allowed (is|holds) "):
        episode.decide("x", YES_NO, allowed=allowed)


def test_a_logit_of_numpy_is_journaled_as_a_number(memory: jitrl.JitRL) -> None:
    with memory.episode("t", key="n") as episode:
        episode.decide("x", [Candidate("a", np.float32(0.5)), Candidate("b", 1)])
        episode.finish(1.0)
    assert [c.logit for c in memory.store.decision("n#0").decision.candidates] == [0.5, 1.0]
    assert memory.explain("n#0").exact


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"principal": HALF}, "principal has half of a surrogate pair"),
        ({"principal": 0}, "principal is 0"),
        ({"principal": None}, "principal is None"),
        ({"evaluator": HALF}, "evaluator has half"),
        ({"evaluator": 7}, "evaluator is 7"),
        ({"basis": "guess"}, "basis is 'guess'"),
        ({"basis": ["test"]}, r"basis is \['test'\]"),
        ({"told": 1}, "told is 1"),
    ],
)
def test_who_says_how_it_ended_is_checked_even_if_nothing_is_known_yet(
    memory: jitrl.JitRL, said: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        memory.outcome("k", None, **said)
    with memory.episode("t", key="open") as episode:
        episode.decide("x", YES_NO)
        with pytest.raises(InputError, match=says):
            episode.finish(None, **said)
        episode.decide("x", YES_NO)  # it goes on


@pytest.mark.parametrize("status", ["lost", None, 7, ["aborted"]])
def test_a_status_that_no_episode_has_is_refused_and_the_episode_goes_on(
    memory: jitrl.JitRL, status: Any
) -> None:
    with memory.episode("t") as episode:
        with pytest.raises(InputError, match=r"status is .*; it must be one of terminated, trunc"):
            episode.finish(1.0, status=status)
        episode.decide("x", YES_NO)


# --- what is kept --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.outcome(7, 1.0),
        lambda m: m.outcome(None, 1.0),
        lambda m: m.outcome(HALF, 1.0),
        lambda m: m.explain(7),
        lambda m: m.explain(None),
        lambda m: m.explain("no step"),
        lambda m: m.replay(without="1"),
        lambda m: m.replay(without=1),
        lambda m: m.replay(without=["a"]),
        lambda m: m.replay(without=[True]),
        lambda m: m.replay(without=[1.0]),
        lambda m: m.replay(without=[None]),
        lambda m: m.replay(without=[[1]]),
        lambda m: m.quarantine(rows=1),
        lambda m: m.quarantine(rows=["1"]),
        lambda m: m.quarantine(rows=[1.5]),
        lambda m: m.quarantine(episodes="k"),
        lambda m: m.quarantine(episodes=[7]),
        lambda m: m.quarantine(episodes=["k"], reason=None),
        lambda m: m.quarantine(episodes=["k"], principal=HALF),
        lambda m: m.restore(rows=[True]),
        lambda m: m.restore(episodes=5),
    ],
)
def test_what_names_no_row_episode_or_decision_is_refused(
    memory: jitrl.JitRL, call: Callable[[jitrl.JitRL], Any]
) -> None:
    head = memory.store.head()
    with pytest.raises(InputError):
        call(memory)
    assert memory.store.head() == head


@pytest.mark.parametrize("rows", [[2], [1, 999], [-1], [0]])
def test_a_replay_without_a_row_that_does_not_exist_is_an_error(
    memory: jitrl.JitRL, rows: list[int]
) -> None:
    with pytest.raises(StoreError, match=f"memory 'default' has no row {rows[-1]}"):
        memory.replay(without=rows)


def test_a_replay_takes_the_rows_there_are_and_none(memory: jitrl.JitRL) -> None:
    assert memory.replay(without=[]) == []
    assert memory.replay(without={np.int64(1)}) == []


# --- texts and numbers of other kinds ------------------------------------------------------------


class Act(str):
    """A text of the caller's own, which prints as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "ACT"


class Page(StrEnum):
    """Texts with names."""

    HOME = "home"


@pytest.mark.parametrize("kind", [np.str_, Act, lambda _: Page.HOME])
def test_a_text_of_any_kind_is_stored_as_what_it_holds(kind: Callable[[str], str]) -> None:
    x = kind("home")
    with jitrl.open(":memory:") as memory:
        with memory.episode(x, scope=x, key=x) as episode:
            episode.decide(x, {x: 0.0}, scorer=x, allowed=[x])
            episode.decide(State(x, x, x), [Candidate(x, 0.0)], scorer=x)
            episode.finish(1.0, evaluator=x, principal=x)
        stored = memory.store.episode("home")
        assert (stored.task, stored.scope, stored.principal) == ("home",) * 3
        assert [step.action for step in stored.steps] == ["home", "home"]
        assert stored.steps[1].state == State("home", "home", "home")
        assert memory.outcome(x, 0.0, evaluator=x, principal=x).rows == 2
        assert memory.explain(np.str_("home#0")).exact
        assert memory.quarantine(episodes=[x], reason=x, principal=x) == 2


def test_a_word_of_ours_may_be_a_text_of_another_kind(memory: jitrl.JitRL) -> None:
    with memory.episode("t", key="w") as episode:
        episode.decide("x", [Candidate("a", 0.0, np.str_("model"))])  # type: ignore[arg-type]
        episode.finish(1.0, basis=np.str_("human"), status=np.str_("truncated"))  # type: ignore[arg-type]
    stored = memory.store.episode("w")
    assert (stored.status, stored.outcome and stored.outcome.basis) == ("truncated", "human")


LONG = "x" * 10_001


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: m.episode(LONG), "task has 10001 characters; at most 10000"),
        (lambda m: m.episode("t", scope=LONG), "scope has 10001"),
        (lambda m: m.episode("t", key=LONG), "key has 10001"),
        (lambda m: m.episode("t").decide("x", {LONG: 0.0}), "an action has 10001"),
        (lambda m: m.episode("t").decide("x", [Candidate(LONG, 0.0)]), "an action has 10001"),
        (lambda m: m.episode("t").decide("x", YES_NO, scorer=LONG), "scorer has 10001"),
        (lambda m: m.episode("t").decide(State("x", place=LONG), YES_NO), "place of the state has"),
        (lambda m: m.outcome("k", 1.0, evaluator=LONG), "evaluator has 10001"),
        (lambda m: m.outcome("k", 1.0, principal=LONG), "principal has 10001"),
        (lambda m: m.quarantine(episodes=["k"], reason=LONG), "reason has 10001"),
    ],
)
def test_a_text_that_is_too_long_is_refused_with_its_beginning(
    memory: jitrl.JitRL, call: Callable[[jitrl.JitRL], Any], says: str
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        call(memory)
    assert len(str(caught.value)) < 400


def test_the_longest_texts_are_stored_and_their_decision_is_found(memory: jitrl.JitRL) -> None:
    longest = LONG[1:]
    with memory.episode(longest, key=longest) as episode:
        episode.decide(State("x", place=longest), {longest: 0.0})
        episode.finish(1.0)
    assert memory.explain(f"{longest}#0").exact


@pytest.mark.parametrize("step", ["9" * 5000, "9" * 30, "0" * 5000])
def test_a_decision_with_a_step_of_too_many_digits_is_no_decision(
    memory: jitrl.JitRL, step: str
) -> None:
    with pytest.raises(InputError, match=r"is not a decision id; it must be EPISODE_KEY#STEP"):
        memory.explain(f"k#{step}")


@pytest.mark.parametrize(
    "row", [2**63, 2**70, -(2**70), pytest.param(10**5000, id="huge"), np.uint64(2**63)]
)
@pytest.mark.parametrize("what", ["quarantine", "restore", "replay"])
def test_a_row_that_no_memory_can_hold_does_not_exist(
    memory: jitrl.JitRL, row: int, what: str
) -> None:
    call = {
        "quarantine": lambda: memory.quarantine(rows=[row]),
        "restore": lambda: memory.restore(rows=[row]),
        "replay": lambda: memory.replay(without=[row]),
    }[what]
    with pytest.raises(StoreError, match="no row"):
        call()
