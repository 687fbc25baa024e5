"""A run ends early where the interval of its curve says that no more is to come, and says so."""

import json

import numpy as np
import pytest

from jitrl import config
from jitrl.analysis import compare, results
from jitrl.errors import ConfigError, InputError
from jitrl.report import terms
from jitrl.report.data import data
from jitrl.report.words import LANGUAGES
from jitrl.run import experiment, folder, plateau


def run(**values):
    return config.Run(**{"attempts": 20, "plateau": 4, **values})


def level(mean, noise=0.05, tasks=12, seeds=2):
    """Scores [T, S, K] around a mean for each attempt."""
    chance = np.random.default_rng(0)
    return np.asarray(mean, float) + chance.normal(0, noise, (tasks, seeds, len(mean)))


# --- the decision -----------------------------------------------------------------------------


def test_a_level_curve_ends_and_a_rising_one_goes_on():
    found = plateau.found(level([0.2] * 4 + [0.8] * 8), run())
    assert (found.attempts, found.window, found.margin) == (12, 4, 0.05)
    assert abs(found.gain) < 0.05
    assert found.high < 0.05
    assert plateau.found(level(np.linspace(0, 1, 12)), run()) is None


def test_a_falling_curve_ends_too():
    assert plateau.found(level(np.linspace(1, 0, 12)), run()).high < 0


def test_what_is_not_sure_goes_on():
    assert plateau.found(level([0.5] * 8, noise=0.6), run()) is None
    assert plateau.found(level([0.5] * 8, noise=0.6), run(margin=2.0)) is not None


def test_where_all_tasks_gain_the_same_that_decides():
    assert plateau.found(np.zeros((8, 1, 8)), run()).low is None
    rising = np.concatenate([np.zeros((8, 1, 4)), np.ones((8, 1, 4))], axis=2)
    assert plateau.found(rising, run()) is None


def test_few_tasks_are_compared_over_seeds():
    assert plateau.found(level([0.5] * 8, tasks=2, seeds=8), run()) is not None
    assert plateau.found(level([0.5] * 8, tasks=2, seeds=5), run()) is None


def test_it_never_ends_before_two_windows_nor_where_a_score_is_missing():
    assert plateau.found(level([0.5] * 7), run()) is None
    scores = level([0.5] * 8)
    scores[3, 1, 5] = np.nan
    assert plateau.found(scores, run()) is None
    assert plateau.found(level([0.5] * 8), run(plateau=None)) is None
    assert plateau.found(level([0.5] * 20), run()) is None  # it is over anyway


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ({"plateau": None}, [20]),
        ({}, [8, 12, 16, 20]),
        ({"attempts": 18}, [8, 12, 16, 18]),
        ({"attempts": 5}, [5]),
    ],
)
def test_stages_cover_every_attempt_once(values, ends):
    made = run(**values)
    stages = plateau.stages(made)
    assert [stage.stop for stage in stages] == ends
    assert [k for stage in stages for k in stage] == list(range(made.attempts))


# --- runs -------------------------------------------------------------------------------------


def played(tmp_path, settings, parts, name="r", agent="static", **values):
    made = settings(**{"attempts": 12, "plateau": 2, "margin": 0.5, **values})
    tally = experiment.run(made, tmp_path / name, parts(agent))
    return tally, results.read(tmp_path / name, name)


def test_a_run_ends_and_its_record_says_where_and_why(tmp_path, settings, parts):
    tally, result = played(tmp_path, settings, parts, seeds=2)
    assert (tally.played, tally.done, tally.total) == (80, 80, 80)
    assert result.scores.shape == (10, 2, 4)
    stop = folder.read(tmp_path / "r").stopped
    assert (stop.attempts, stop.window, stop.margin) == (4, 2, 0.5)
    comparison = compare.compare([result])
    for words in LANGUAGES.values():
        said = terms.every(comparison.first, words)
        assert stop.said in said
        assert words.sized(10, 4, 2) in said
    row = data(comparison, "x")["rows"][0]
    assert (row["attempts"], row["stopped"]["window"]) == (4, 2)
    json.dumps(row)


def test_the_same_command_again_plays_nothing_more(tmp_path, settings, parts):
    played(tmp_path, settings, parts)
    before = folder.read(tmp_path / "r").stopped
    tally, _ = played(tmp_path, settings, parts)
    assert (tally.played, tally.done, tally.total) == (0, 40, 40)
    assert folder.read(tmp_path / "r").stopped == before


@pytest.mark.parametrize("schedule", ["sequential", "rounds"])
def test_what_is_played_is_the_beginning_of_the_whole_run(tmp_path, settings, parts, schedule):
    how = {"agent": "jitrl", "schedule": schedule, "seeds": 2}
    _, ended = played(tmp_path, settings, parts, **how)
    _, whole = played(tmp_path, settings, parts, "w", plateau=None, **how)
    _, never = played(tmp_path, settings, parts, "n", margin=0.0, **how)
    k = ended.scores.shape[2]
    assert k < 12
    assert ended.scores.tolist() == whole.scores[:, :, :k].tolist()
    if never.record.stopped is None:
        assert never.scores.tolist() == whole.scores.tolist()


def test_runs_of_different_lengths_are_compared_only_if_that_is_asked(tmp_path, settings, parts):
    _, ended = played(tmp_path, settings, parts)
    _, whole = played(tmp_path, settings, parts, "w", plateau=None, agent="jitrl")
    with pytest.raises(ConfigError, match=r"differ in attempts \(12 and 4\)"):
        compare.compare([ended, whole], base="r")
    comparison = compare.compare([ended, whole], base="r", allow=["attempts"])
    assert comparison.shape == (10, 1, 4)


def test_a_run_that_could_never_tell_is_refused_before_it_begins(tmp_path, settings, parts):
    for values, said in (
        ({"tasks": 5}, "needs 6 tasks or seeds for an interval, this run has 5 and 1"),
        ({"plateau": 100, "attempts": 3}, "this one has 3. Give --attempts 201 or more"),
        ({"attempts": 4}, "ends a run of more than 4; this one has 4"),  # it would be over anyway
        ({"order": "task"}, "give --order attempt"),
    ):
        with pytest.raises(ConfigError, match=said):
            played(tmp_path, settings, parts, **values)
    assert not list(tmp_path.iterdir())


def test_the_digest_of_runs_without_it_is_what_it_was(tmp_path, settings, parts):
    """Written down before there was such a setting; results name their runs by it."""
    experiment.run(settings(attempts=1, tasks=1), tmp_path / "r", parts("static"))
    assert folder.read(tmp_path / "r").digest == "d66586571451"
    with pytest.raises(ConfigError, match=r"run\.plateau: None → 2"):
        experiment.run(settings(attempts=5, tasks=6, plateau=2), tmp_path / "r", parts("static"))
    played(tmp_path, settings, parts, "p")
    with pytest.raises(ConfigError, match=r"run\.plateau: 2 → None"):
        played(tmp_path, settings, parts, "p", plateau=None)


def test_a_stopped_run_lacks_nothing_but_an_interrupted_one_does(tmp_path, settings, parts):
    made = settings(attempts=12, plateau=2, margin=0.5)
    limited = config.Settings(run=made.run, budget=config.Budget(max_calls=9))
    with pytest.raises(Exception, match="budget"):
        experiment.run(limited, tmp_path / "r", parts("static"))
    assert folder.read(tmp_path / "r").stopped is None
    with pytest.raises(InputError, match="is not finished"):
        results.read(tmp_path / "r")
    assert experiment.run(made, tmp_path / "r", parts("static")).total == 40
