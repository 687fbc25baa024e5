"""Lessons that a model writes, in a run: counted, kept, and not asked for again."""

from dataclasses import replace

import pytest

from jitrl.agents.reflexion import reflexion
from jitrl.analysis.results import read
from jitrl.errors import BudgetExceeded, ModelError
from jitrl.models.channel import Channel, Retry
from jitrl.models.scripted import ScriptedEndpoint
from jitrl.models.writer import ChannelWriter
from jitrl.run import experiment, folder
from jitrl.stores.sqlite import SQLiteStore


@pytest.fixture
def writing(parts):
    """Parts of a run of ``reflexion-model``, whose writer answers from a script."""

    def made(endpoint):
        def opened(store, evaluator, memory, meter):
            def writer():
                return ChannelWriter(Channel(endpoint, retry=Retry(tries=1), meter=meter))

            return reflexion(store, evaluator, memory, writer, author="model")

        return replace(parts(tasks=2), agent=opened)

    return made


def reflections(place):
    with SQLiteStore(folder.store_path(place, 0), readonly=True) as store:
        return {e.key: e.info.get("reflection") for e in store.episodes()}


def test_a_lesson_that_failed_is_counted_and_costs_no_episode(tmp_path, settings, writing):
    endpoint = ScriptedEndpoint(["First.", ModelError("gone"), "Third.", "Fourth."])
    tally = experiment.run(settings(attempts=2), tmp_path / "r", writing(endpoint))
    assert (tally.played, tally.failed) == (4, 0)
    result = read(tmp_path / "r")
    assert (result.failures, result.unwritten) == (0, 1)
    assert list(reflections(tmp_path / "r").values()) == ["First.", None, "Third.", "Fourth."]
    (learned,) = (total for total in result.cost if total.phase == "learn")
    assert (learned.calls, learned.failed) == (4, 1)


def test_a_run_that_is_taken_up_again_asks_for_no_lesson_twice(tmp_path, settings, writing):
    whole = writing(ScriptedEndpoint([f"Lesson {i}." for i in range(6)]))
    experiment.run(settings(attempts=3), tmp_path / "whole", whole)
    stopped = [f"Lesson {i}." for i in range(3)] + [BudgetExceeded("the budget is used up")]
    with pytest.raises(BudgetExceeded):
        experiment.run(settings(attempts=3), tmp_path / "r", writing(ScriptedEndpoint(stopped)))
    assert len(reflections(tmp_path / "r")) == 3
    rest = ScriptedEndpoint([f"Lesson {i}." for i in range(3, 6)])
    experiment.run(settings(attempts=3), tmp_path / "r", writing(rest))
    assert rest.calls == 3
    assert reflections(tmp_path / "r") == reflections(tmp_path / "whole")
    assert read(tmp_path / "r").scores.tolist() == read(tmp_path / "whole").scores.tolist()
