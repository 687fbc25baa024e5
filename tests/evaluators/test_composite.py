"""Several evaluators as one: what is missing stays missing, what is hard dominates."""

import pytest
from judged import LOST, WON, Model, episode

from jitrl.errors import ConfigError
from jitrl.evaluators.checks import Checks
from jitrl.evaluators.composite import Composite, Part
from jitrl.evaluators.environment import EnvironmentRewards
from jitrl.evaluators.judge import Judge
from jitrl.run.judging import evaluator_named
from jitrl.types import Scored, Unscored

PARTS = {"checks": Part(0.7), "judge": Part(0.3, options={"grade": "whole"})}


def composite(answers, parts=PARTS):
    model = Model(answers)

    def member(name, options):
        makers = {"checks": Checks, "environment": EnvironmentRewards}
        return Judge(writer=model, **options) if name == "judge" else makers[name](**options)

    return model, Composite(parts, member=member)


@pytest.mark.parametrize(
    "nonsense", ['{"score":', "", "I cannot evaluate this", "<think>8</think>"]
)
def test_a_failed_judge_is_not_a_score(nonsense):
    model, both = composite([nonsense])
    judgment = both.judge(episode(checks={"done": 1.0}))
    assert isinstance(judgment, Unscored)
    assert judgment.reason == "judge: the judge's answer could not be read"
    assert judgment.info["members"]["judge"]["answers"] == [nonsense, nonsense]
    assert judgment.info["members"]["checks"]["rewards"] == [0.0, 1.0]
    assert model.calls == 2


def test_members_are_weighed():
    _, both = composite(['{"score": 9}'])
    judgment = both.judge(episode(checks={"done": 1.0}))
    assert sum(judgment.rewards) == pytest.approx(0.97)
    assert (judgment.basis, judgment.told) == ("llm_judge", False)
    assert both.name == "composite(0.7 checks + 0.3 judge-whole/scripted)"
    assert both.reads_pages


def test_a_hard_member_that_is_not_met_dominates():
    parts = {"checks": Part(0.01, hard=True), "judge": PARTS["judge"]}
    _, both = composite(['{"score": 10}'], parts)
    assert sum(both.judge(episode(checks={"done": 0.5})).rewards) == 0.5
    assert sum(both.judge(episode(checks={"done": 1.0})).rewards) == pytest.approx(1.0)


def test_a_hard_check_inside_a_member_dominates_the_whole():
    parts = {"checks": Part(0.01, options={"hard": ("safe",)}), "judge": PARTS["judge"]}
    _, both = composite(['{"score": 10}'], parts)
    judgment = both.judge(episode(checks={"done": 1.0, "safe": False}))
    assert judgment.rewards == (0.0, 0.0)
    assert judgment.info["failed"] == ["checks"]


@pytest.mark.parametrize("first", ["checks", "judge"])
def test_a_model_is_not_asked_where_a_failed_hard_member_counts_alone(first):
    parts = {"checks": Part(0.5, hard=True), "judge": Part(0.3, options={"mode": "told"})}
    order = sorted(parts, key=lambda name: name != first)
    model, both = composite(["hm"], {name: parts[name] for name in order})
    judgment = both.judge(episode(checks={"done": 0.0}))
    assert (judgment.rewards, judgment.basis, judgment.told) == ((0.0, 0.0), "state_check", True)
    assert judgment.info["members"]["judge"]["unasked"] == "the others settle it"
    assert model.calls == 0
    assert isinstance(both.judge(episode(checks={"done": 1.0}, outcome=WON)), Unscored)
    assert model.calls == 2


def test_a_model_is_not_asked_beside_a_member_that_could_not_judge():
    model, both = composite(['{"score": 9}'])
    judgment = both.judge(episode())
    assert (judgment.reason.partition(":")[0], model.calls) == ("checks", 0)


def test_a_composite_within_another_asks_its_model_last_too():
    model, inner = composite(['{"score": 9}'])
    makers = {"inner": inner, "checks": Checks()}
    both = Composite(
        {"inner": Part(0.3), "checks": Part(0.7, hard=True)}, member=lambda name, _: makers[name]
    )
    assert sum(both.judge(episode(checks={"done": 0.5})).rewards) == 0.5
    assert model.calls == 0


def test_trusted_members_make_a_trusted_whole():
    parts = {"one": Part(1.0, "environment"), "checks": Part(1.0)}
    _, both = composite(["-"], parts)
    judgment = both.judge(episode(outcome=WON, checks={"done": 0.0}))
    assert judgment == Scored((0.0, 0.5), both.name, "state_check", False, judgment.info)
    assert both.judge(episode(outcome=LOST, checks={"done": 0.0})).rewards == (0.0, 0.0)


def test_one_member_that_is_told_makes_the_whole_told():
    parts = {"judge": Part(1.0, options={"mode": "told"}), "checks": Part(1.0)}
    assert composite(["-"], parts)[1].told


@pytest.mark.parametrize("parts", [{}, {"checks": Part(0.0)}, {"checks": Part(-1.0)}])
def test_weights_are_explicit_and_above_0(parts):
    with pytest.raises(ConfigError):
        composite(["-"], parts)


def test_it_is_made_from_settings_and_a_misspelt_one_is_refused():
    members = {
        "checks": {"weight": 0.7, "options": {"hard": ["clean"]}},
        "reader": {"weight": 0.3, "evaluator": "judge", "options": {"mode": "told"}},
    }
    model = Model(["-"])
    made = evaluator_named("composite", {"members": members}, model)
    assert made.name == "composite(0.7 checks + 0.3 judge-told/scripted)"
    assert made.told
    members["checks"]["wieght"] = 1.0
    with pytest.raises(ConfigError, match="wieght"):
        evaluator_named("composite", {"members": members}, model)


@pytest.mark.parametrize(
    "options", [{}, {"members": {}}, {"members": {"composite": {"weight": 1}}}]
)
def test_one_without_members_says_how_to_name_some(options):
    with pytest.raises(ConfigError, match="composite has no members; name some, as"):
        evaluator_named("composite", options, Model(["-"]))


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf"), 1e308])
def test_a_weight_is_above_0_and_sums_of_weights_stay_finite(weight):
    with pytest.raises(ConfigError, match="'checks'"):
        composite(['{"score": 9}'], {"checks": Part(weight)})
