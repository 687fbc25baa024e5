"""Runs that a model judges: it gets the pages, and what it could not judge is counted."""

import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from jitrl import config
from jitrl.analysis import results
from jitrl.errors import ConfigError
from jitrl.evaluators.judge import Judge
from jitrl.run import experiment, folder
from jitrl.run.compose import compose
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Scored, Unscored

sys.path.append(str(Path(__file__).parents[1] / "evaluators"))
from judged import Model, answer


def scripted(request):
    """Scores for as many steps as were asked for; no sense for those of two steps."""
    steps = int(request.schema.partition('"minItems": ')[2].partition(",")[0])
    return "<think>8</think>" if steps == 2 else answer([1] * steps, "failure")


def drawing(model):
    """A judge that asks each time, as its answers are drawn."""
    return Judge(writer=model, temperature=1.0)


@pytest.fixture
def judged(settings, parts, tmp_path):
    def run(**changed):
        model = Model(scripted)
        mine = replace(parts("jitrl", tasks=4), evaluator=lambda meter: drawing(model))
        wanted = settings(attempts=2, **changed)
        experiment.run(wanted, tmp_path / "r", mine)
        return model, tmp_path / "r"

    return run


def test_a_judge_reads_the_pages_and_what_it_cannot_judge_is_counted(judged):
    model, where = judged()
    with SQLiteStore(folder.store_path(where, 0), readonly=True) as store:
        records = list(store.records())
    assert {len(r.episode.info["pages"]) - len(r.episode.steps) for r in records} == {1}
    unscored = [r for r in records if isinstance(r.judgment, Unscored)]
    scored = [r for r in records if isinstance(r.judgment, Scored)]
    assert {len(r.episode.steps) for r in unscored} == {2}
    assert {r.judgment.evaluator for r in scored} == {"judge-blind/scripted"}
    assert all(r.judgment.info["answers"] == ["<think>8</think>"] * 2 for r in unscored)
    assert model.calls == len(scored) + 2 * len(unscored)
    read = results.read(where)
    assert read.unscored == {"the judge's answer could not be read": len(unscored)}
    assert unscored
    assert read.record.told is False


def test_workers_change_no_number_of_a_judged_run(judged, settings, parts, tmp_path):
    _, where = judged()
    first = results.read(where)
    model = Model(scripted)
    mine = replace(parts("jitrl", tasks=4), evaluator=lambda meter: drawing(model))
    experiment.run(settings(attempts=2, workers=4), tmp_path / "again", mine)
    again = results.read(tmp_path / "again")
    assert (again.scores == first.scores).all()
    assert again.unscored == first.unscored


def test_a_run_that_nothing_could_be_learned_from_is_refused(settings):
    def asked(rewards):
        memory = config.Memory(evaluator="outcome")
        return msgspec.structs.replace(settings(rewards=rewards), memory=memory)

    compose(asked("outcome"))
    for rewards in ("after", "during"):
        with pytest.raises(ConfigError, match=r"needs an outcome.*give --rewards outcome"):
            compose(asked(rewards))
