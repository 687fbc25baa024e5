"""The curve of judges: arms, what they are told, and the picture."""

from xml.etree import ElementTree

import numpy as np
import pytest

from jitrl.bench.judge import curve
from jitrl.bench.judge.arms import LEVELS, SETS
from jitrl.bench.judge.chart import svg
from jitrl.bench.priors import Inclined
from jitrl.types import Prompt


@pytest.fixture(scope="module")
def report():
    ends = [arm for arm in SETS["outcome"] if arm.reliability in (0.7, 1.0)]
    return curve.measure(tasks=3, seeds=1, attempts=5, arms=[*LEVELS, *ends])


def test_a_perfect_unbiased_judge_is_the_environment(report):
    scores = {result.arm.name: result.scores for result in report.results}
    assert scores["unbiased, 1"] == scores["environment"]
    assert scores["unbiased, 0.7"] != scores["environment"]


def test_the_verdicts_are_as_reliable_as_they_say(report):
    by_name = {result.arm.name: result for result in report.results}
    assert by_name["unbiased, 1"].right == 1.0
    assert by_name["unbiased, 1"].false in (None, 0.0)
    assert by_name["unbiased, 0.7"].right == pytest.approx(0.7, abs=0.3)
    assert by_name["environment"].right is None


def test_differences_are_from_the_agent_that_learns_nothing(report):
    nothing, *others = report.results
    assert nothing.arm.name == "nothing learned"
    assert nothing.gain is None
    for other in others:
        assert other.gain.mean == pytest.approx(other.final.mean - nothing.final.mean)


def test_the_picture_has_a_line_and_a_band_for_each_kind_of_judge(report):
    root = ElementTree.fromstring(svg(report))
    tags = [element.tag.rpartition("}")[2] for element in root]
    assert tags.count("polyline") == tags.count("polygon") == 2
    assert tags.count("circle") == 2 * 2
    texts = {element.text for element in root if element.tag.endswith("text")}
    assert {"unbiased", "positively biased", "environment", "nothing learned", "static"} <= texts


def test_other_workers_give_the_same_numbers():
    jobs = [curve.Job(LEVELS[2], [3], [0], 5)] * 2
    first, again = map(curve.run, jobs)
    assert first == again


def test_a_told_judge_errs_on_steps_and_never_on_the_outcome():
    arm = next(arm for arm in SETS["steps"] if arm.name == "told, steps, 0.7")
    played = curve.run(curve.Job(arm, [0, 8], [0], 5))
    assert played.right == played.judged == 10
    assert played.false == 0


def test_the_prior_leans_to_the_next_action_with_noise_that_never_changes():
    prompt = Prompt("Do it", "a page", ("a",), ("a", "b", "c"))
    leads = []
    for seed in range(200):
        model = Inclined(("a", "b"), 4.0, 1.5, seed)
        first = model.propose(prompt, np.random.default_rng(0))
        assert model.propose(prompt, np.random.default_rng(1)) == first
        z = {candidate.action: candidate.logit for candidate in first.candidates}
        leads.append(z["b"] - (z["a"] + z["c"]) / 2)
    assert np.mean(leads) == pytest.approx(4.0, abs=0.5)
