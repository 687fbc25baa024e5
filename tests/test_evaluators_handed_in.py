"""Evaluators handed to the library, and what keeps different ones apart in a memory."""

import sys
from pathlib import Path

import pytest

import jitrl
from jitrl.errors import ConfigError, MixedMemory
from jitrl.evaluators.judge import Judge
from jitrl.types import Scored, Unscored

sys.path.append(str(Path(__file__).parent / "evaluators"))
from judged import Model, answer

TRUSTED = ["test", "state_check", "human", "llm_judge"]


def live(memory, key, outcome=None):
    with memory.episode("Cancel order 7", key=key) as episode:
        for state in ("dashboard", "orders"):
            episode.decide(state, {"open": 0.0, "back": 0.0})
        episode.finish(outcome)
    return memory.store.record(key).judgment


def test_a_function_of_the_episode_scores_it():
    with jitrl.open(":memory:", evaluator=lambda episode: len(episode.steps) / 4) as memory:
        judgment = live(memory, "e1")
        assert judgment.rewards == (0.0, 0.5)
        assert judgment.basis == "test"
        assert len(memory.store.rows("e1")) == 2


def test_an_object_that_judges_is_used_as_it_is():
    judge = Judge(writer=Model([answer([3, 0])]), weight=0.3)
    with jitrl.open(":memory:", evaluator=judge) as memory:
        judgment = live(memory, "e1")
        assert judgment.rewards == pytest.approx((0.3, 1.0))
        assert memory.settings.evaluator == "judge-blind/scripted"
        (row, _) = memory.store.rows("e1")
        assert (row.evaluator, row.told, row.basis) == (
            "judge-blind/scripted",
            False,
            "llm_judge",
        )


def test_a_name_still_names_one():
    with jitrl.open(":memory:", evaluator="outcome") as memory:
        assert isinstance(live(memory, "e1"), Unscored)
        assert isinstance(live(memory, "e2", True), Scored)


def test_what_cannot_judge_is_refused():
    with pytest.raises(ConfigError, match="a function of the episode"):
        jitrl.open(":memory:", evaluator=3)

    class Nameless:
        told = False

        def judge(self, episode):
            return Unscored("never")

    with pytest.raises(ConfigError, match="no name that is a str"):
        jitrl.open(":memory:", evaluator=Nameless())


def test_raw_answers_of_a_failed_judge_are_in_the_journal_and_nothing_is_learned():
    judge = Judge(writer=Model(["<think>8</think>"]))
    with jitrl.open(":memory:", evaluator=judge) as memory:
        judgment = live(memory, "e1")
        assert judgment.info["answers"] == ["<think>8</think>"] * 2
        assert memory.store.rows("e1") == ()
        assert memory.store.stats().unscored == {"the judge's answer could not be read": 1}


def test_told_and_blind_judgments_in_one_memory_are_warned_of(tmp_path):
    path = tmp_path / "m.db"
    for mode in ("blind", "told"):
        said = answer([1, 1], "success" if mode == "blind" else None)
        judge = Judge(writer=Model([said]), mode=mode)
        with jitrl.open(path, evaluator=judge, trusted=TRUSTED) as memory:
            live(memory, mode, True if mode == "told" else None)
    with jitrl.open(path, trusted=TRUSTED) as memory, memory.episode("Cancel it") as episode:
        with pytest.warns(MixedMemory) as caught:
            episode.decide("dashboard", {"open": 0.0, "back": 0.0})
        said = "\n".join(str(warning.message) for warning in caught)
        assert "mixes evaluators: judge-blind/scripted, judge-told/scripted" in said
        assert "mixes outcomes: blind, told" in said
