"""What becomes of an episode in the middle of which something was refused, failed or stopped."""

from __future__ import annotations

import linecache
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import jitrl
from jitrl.errors import InputError, MixedMemory, StoreError
from jitrl.evaluators.outcome import TerminalOutcome
from jitrl.types import Candidate, Episode, Judgment

YES_NO = {"yes": 0.0, "no": 0.0}
TWICE = [Candidate("a", 0.0), Candidate("a", 1.0)]
WATCHED = ("api.py", "corrected.py", "session.py", "view.py")


@pytest.fixture
def memory():
    with jitrl.open(":memory:") as opened:
        yield opened


def steps(memory: jitrl.JitRL, key: str) -> list[tuple[str, float | None, str | None]]:
    """State, reward and next state of each step."""
    return [
        (s.state.text, s.reward, s.next_state and s.next_state.text)
        for s in memory.store.episode(key).steps
    ]


REFUSED = [
    ("s1", {}, {}),
    ("s1", TWICE, {}),
    ("s1", {"a": float("nan")}, {}),
    ("s1", YES_NO, {"allowed": ["stop"]}),
    ("s1", YES_NO, {"scorer": 5}),
    (7, YES_NO, {}),
]


@pytest.mark.parametrize(("state", "candidates", "more"), REFUSED)
def test_a_decision_that_is_refused_after_the_first_changes_nothing(
    memory: jitrl.JitRL, state: Any, candidates: Any, more: Any
) -> None:
    def lived(key: str, refused: bool) -> list[Any]:
        with memory.episode("t", key=key) as episode:
            made = [episode.decide("s0", {"go": 0.0})]
            episode.reward(1.0)
            if refused:
                for _ in range(3):
                    with pytest.raises(InputError):
                        episode.decide(state, candidates, **more)
            made += [episode.decide("another", YES_NO), episode.decide("s0", {"go": 0.0})]
        return made

    one = lived("k", refused=True)
    assert steps(memory, "k") == [
        ("s0", 1.0, "another"),
        ("another", None, "s0"),
        ("s0", None, None),
    ]
    with jitrl.open(":memory:") as memory:
        assert lived("k", refused=False) == one


@pytest.mark.parametrize(("state", "candidates", "more"), REFUSED)
def test_a_refusal_that_ends_the_block_leaves_the_episode_as_aborted(
    memory: jitrl.JitRL, state: Any, candidates: Any, more: Any
) -> None:
    def live() -> None:
        with memory.episode("t", key="k") as episode:
            episode.decide("s0", {"go": 0.0})
            episode.reward(1.0)
            episode.decide(state, candidates, **more)

    with pytest.raises(InputError):
        live()
    assert memory.store.episode("k").status == "aborted"
    assert steps(memory, "k") == [("s0", 1.0, None)]


def test_a_warning_that_is_made_an_error_changes_nothing(memory: jitrl.JitRL) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with memory.episode("t", key="k") as episode:
            episode.decide("s0", YES_NO, scorer="letters")
            with pytest.raises(MixedMemory, match="mixes scorers"):
                episode.decide("s1", YES_NO, scorer="words")
            episode.decide("s2", YES_NO, scorer="letters")
            episode.finish(1.0)
    assert steps(memory, "k") == [("s0", None, "s2"), ("s2", None, None)]


def test_a_memory_that_cannot_be_read_for_a_while_can_be_asked_again_anywhere(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.db"
    with jitrl.open(path) as memory, closing(sqlite3.connect(path)) as other:
        with memory.episode("t", key="k") as episode:
            episode.decide("s0", YES_NO)
            with memory.episode("t", key="else") as second:  # there is something new to read
                second.decide("s0", YES_NO)
                second.finish(1.0)
            other.execute("ALTER TABLE change RENAME TO gone")
            with pytest.raises(StoreError):
                episode.decide("s1", YES_NO)
            other.execute("ALTER TABLE gone RENAME TO change")
            assert episode.decide("s2", YES_NO).version == 1
            episode.finish(1.0)
        assert steps(memory, "k") == [("s0", None, "s2"), ("s2", None, None)]
        assert memory.explain("k#1").exact


# --- interrupts ----------------------------------------------------------------------------------


@contextmanager
def interrupted(at: int) -> Iterator[Callable[[], bool]]:
    """Raise KeyboardInterrupt at the ``at``-th line of ours from here on; gives whether it did."""
    left = at

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
        # A line of `with` comes again before its lock is released; no signal comes in there.
        if event == "line" and not source.startswith("with "):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.endswith(WATCHED) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield lambda: left <= 0
    finally:
        sys.settrace(before)


def points(live: Callable[[jitrl.JitRL, int], bool]) -> Iterator[jitrl.JitRL]:
    """A memory after ``live`` was interrupted at each of its lines in turn."""
    for at in range(1, 2000):
        with jitrl.open(":memory:") as memory:
            for key in ("before", "too"):
                with memory.episode("t", key=key) as episode:
                    episode.decide("s1", YES_NO)
                    episode.finish(1.0)
            if not live(memory, at):
                assert at > 30
                return
            yield memory
    raise AssertionError("it never ended")


def test_an_interrupt_anywhere_in_a_decision_leaves_an_episode_that_is_stored_as_aborted() -> None:
    def live(memory: jitrl.JitRL, at: int) -> bool:
        with suppress(KeyboardInterrupt), memory.episode("t", key="k") as episode:
            episode.decide("s0", YES_NO)
            episode.reward(1.0)
            with interrupted(at) as was:
                episode.decide("s1", YES_NO)
        return was()

    for memory in points(live):
        assert memory.store.episode("k").status == "aborted"
        assert steps(memory, "k")[0][:2] == ("s0", 1.0)


def test_a_decision_that_was_interrupted_is_made_again_or_the_episode_can_be_finished() -> None:
    again = []

    def live(memory: jitrl.JitRL, at: int) -> bool:
        with memory.episode("t", key="k") as episode:
            episode.decide("s0", YES_NO)
            with interrupted(at) as was, suppress(KeyboardInterrupt):
                episode.decide("s1", YES_NO)
            with suppress(InputError):
                episode.decide("s1", YES_NO)
                again.append(memory)
            episode.finish(1.0)
        return was()

    for memory in points(live):
        assert memory.store.episode("k").status == "terminated"
        assert memory.store.check() == []
        if again and again[-1] is memory:
            assert memory.explain("k#1").exact
    assert len(again) > 30


def test_an_interrupt_anywhere_in_finish_loses_no_episode() -> None:
    def live(memory: jitrl.JitRL, at: int) -> bool:
        with suppress(KeyboardInterrupt), memory.episode("t", key="k") as episode:
            episode.decide("s0", YES_NO)
            with interrupted(at) as was:
                episode.finish(1.0)
        return was()

    for memory in points(live):
        assert memory.store.episode("k").status in ("terminated", "aborted")
        assert len(steps(memory, "k")) == 1


# --- the end -------------------------------------------------------------------------------------


class Strict(TerminalOutcome):
    """Judges outcomes up to 1."""

    def judge(self, episode: Episode) -> Judgment:
        if episode.outcome and episode.outcome.value > 1:
            raise InputError(f"outcome {episode.outcome.value} is above 1")
        return super().judge(episode)


def test_an_outcome_that_the_evaluator_refuses_can_be_told_again(memory: jitrl.JitRL) -> None:
    memory.agent.evaluator = Strict()
    with memory.episode("t", key="k") as episode:
        episode.decide("s0", YES_NO)
        with pytest.raises(InputError, match="above 1"):
            episode.finish(2.0)
        assert episode.finish(1.0).rows == 1
    with suppress(InputError), memory.episode("t", key="kk") as episode:
        episode.decide("s0", YES_NO)
        episode.finish(2.0)
    assert memory.store.episode("kk").status == "aborted"


def test_rewards_and_outcome_whose_sum_is_too_large_are_refused_where_the_last_one_is_told(
    memory: jitrl.JitRL,
) -> None:
    with memory.episode("t", key="k") as episode:
        episode.decide("s0", YES_NO)
        episode.reward(1e100)
        with pytest.raises(InputError, match="sum of rewards of this step is 2e\\+100"):
            episode.reward(1e100)
        with pytest.raises(InputError, match="sum of the last reward and the outcome is 2e"):
            episode.finish(1e100)
        episode.finish(None)
    with pytest.raises(InputError, match="sum of the last reward and the outcome"):
        memory.outcome("k", 1e100)
    assert memory.outcome("k", -1e100).rows == 1
    assert memory.store.episode("k").steps[0].reward == 1e100
    assert memory.store.rows("k")[-1].reward == 0.0
