"""A memory whose episodes are judged by a model, and what that may cost."""

import pytest
from judged import Model, answer

import jitrl
from jitrl import JitRL
from jitrl.config import Budget, Memory, Settings, Writer
from jitrl.errors import BudgetExceeded, ModelError
from jitrl.evaluators.judge import Judge

CANDIDATES = {"left": 0.0, "right": 0.0}


def asking(path, calls):
    """A memory with a judge at an address where nobody answers, and that may make ``calls``."""
    writer = Writer(name="openai", options={"model": "m", "base_url": "http://127.0.0.1:9/v1"})
    whole = Settings(writer=writer, budget=Budget(max_calls=calls))
    return JitRL(path, Memory(evaluator="judge"), model=whole)


def test_the_budget_holds_for_a_judge_and_the_episode_is_not_lost(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with asking(tmp_path / "m.db", calls=0) as memory:
        with (
            pytest.raises(BudgetExceeded, match="budget of 0 calls") as stopped,
            memory.episode("t", key="e") as episode,
        ):
            episode.decide("a page", CANDIDATES)
        assert stopped.value.__notes__ == [
            "episode 'e' is stored unscored; outcome('e', None) has it judged again"
        ]
        assert len(memory.store.episode("e").steps) == 1
    assert (tmp_path / "ledger.db").exists()


def test_an_episode_whose_judge_failed_is_learned_once_it_is_judged_again(tmp_path):
    judge = Judge(writer=Model([ModelError("down"), answer([3])]), mode="blind")
    with jitrl.open(tmp_path / "m.db", evaluator=judge) as memory:
        with pytest.raises(ModelError, match="down"), memory.episode("t", key="e") as episode:
            episode.decide("a page", CANDIDATES)
        assert memory.store.episode("e").steps
        assert not memory.store.rows("e")
        assert memory.outcome("e", None).rows == 1


def test_a_memory_without_a_judge_keeps_no_ledger(tmp_path):
    with JitRL(tmp_path / "m.db"):
        pass
    assert not (tmp_path / "ledger.db").exists()
