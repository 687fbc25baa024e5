"""A model as the judge: what it is asked, what it may answer, and what follows from that."""

import json
from dataclasses import replace

import numpy as np
import pytest
from judged import LOST, PAGES, WON, Model, answer, episode, text_of

from jitrl.errors import ConfigError, ModelError
from jitrl.evaluators.judge import Judge, read
from jitrl.evaluators.judge_record import record
from jitrl.evaluators.judge_words import CHINESE, ENGLISH, words_for
from jitrl.models.channel import Channel, Retry
from jitrl.models.scripted import ScriptedEndpoint
from jitrl.models.writer import ChannelWriter
from jitrl.types import Scored, Unscored

NONSENSE = ['{"score":', "", "I cannot evaluate this", "<think>8</think>"]


def judge(script, **options):
    model = Model(script)
    return model, Judge(writer=model, **options)


def test_step_scores_become_rewards_and_the_verdict_the_outcome():
    model, blind = judge([answer([-3, 2])], weight=0.3)
    judged = blind.judge(episode())
    assert judged.rewards == pytest.approx((-0.3, 0.2 + 1.0))
    assert (judged.basis, judged.told, judged.evaluator) == (
        "llm_judge",
        False,
        "judge-blind/scripted",
    )
    assert judged.info == {"samples": [[-3, 2]], "verdict": "success"}
    assert model.calls == 1


def test_instructions_are_chinese_for_a_chinese_goal_and_english_for_a_japanese_one():
    assert words_for("部署前必须运行测试") is CHINESE
    assert words_for("データベースの設定を確認する") is ENGLISH


def test_a_failure_adds_nothing_and_what_cannot_be_told_is_not_scored():
    answers = [answer([1, 1], "failure"), answer([1, 1], "cannot tell")]
    _, blind = judge(answers, weight=0.3, temperature=1.0)
    assert blind.judge(episode()).rewards == pytest.approx((0.1, 0.1))
    unscored = blind.judge(episode())
    assert unscored.reason == "the judge cannot tell how it ended"
    assert unscored.info["samples"] == [[1, 1]]


def test_steps_count_alone_where_no_outcome_is_wanted():
    _, blind = judge([answer([3, 0], "cannot tell")], weight=1.0, outcome=0.0)
    assert blind.judge(episode()).rewards == (1.0, 0.0)


def test_one_that_is_told_sees_the_outcome_and_rests_on_it():
    model, told = judge(lambda request: answer([0, 3], None), mode="told", weight=0.3)
    judged = told.judge(episode(outcome=WON))
    assert judged.rewards == pytest.approx((0.0, 1.3))
    assert (judged.basis, judged.told, judged.evaluator) == (
        "state_check",
        True,
        "judge-told/scripted",
    )
    assert "How it ended: success (score 1)" in text_of(model.asked[0])
    told.judge(episode(rewards=[0.0, 0.0]))
    assert "How it ended: failure (score 0)" in text_of(model.asked[1])
    assert told.judge(episode()) == Unscored("no outcome yet", "judge-told/scripted")


def test_one_that_is_blind_is_shown_nothing_of_the_outcome():
    model, blind = judge(lambda request: answer([0, 3]), temperature=1.0)
    for ended in (None, WON, LOST):
        blind.judge(episode(outcome=ended, rewards=[0.5, 0.5], score=1.0, checks={"x": 1.0}))
    first, *others = [text_of(request) for request in model.asked]
    assert others == [first, first]


def test_it_sees_the_goal_every_page_and_the_one_after_the_last_action():
    model, blind = judge(lambda request: answer([0, 0]))
    blind.judge(episode())
    text = text_of(model.asked[0])
    lines = text.split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("BEGIN"))
    shown = [json.loads(line) for line in lines[begin + 1 : begin + 5]]
    assert shown == [
        {"goal": "Cancel order 7"},
        {"step": 1, "page": PAGES[0], "action": "click(0)"},
        {"step": 2, "page": PAGES[1], "action": "click(1)"},
        {"page after the last step": PAGES[2]},
    ]
    schema = json.loads(model.asked[0].schema)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["scores"]["maxItems"] == 2


def test_an_episode_of_the_library_shows_its_states_and_says_what_was_not_recorded():
    lived = replace(episode(), info={}, task="Cancel it")
    lived = replace(lived, steps=(lived.steps[0], replace(lived.steps[1], next_state=None)))
    shown = record(lived, ENGLISH)
    assert PAGES[0] in shown
    assert "Cancel it" in shown
    assert '"page after the last step":"(not recorded)"' in shown


@pytest.mark.parametrize("nonsense", NONSENSE)
@pytest.mark.parametrize("options", [{}, {"grade": "whole"}, {"mode": "told"}])
def test_what_cannot_be_read_twice_is_no_score_and_is_kept(nonsense, options):
    model, asked = judge([nonsense], **options)
    unscored = asked.judge(episode(outcome=WON))
    assert isinstance(unscored, Unscored)
    assert unscored.reason == "the judge's answer could not be read"
    assert unscored.info["answers"] == [nonsense, nonsense]
    assert model.calls == 2


def test_the_second_answer_counts_if_the_first_cannot_be_read():
    model, blind = judge(["hm", answer([1, 1])])
    assert isinstance(blind.judge(episode()), Scored)
    assert model.calls == 2


@pytest.mark.parametrize(
    "text",
    [
        answer([0]),
        answer([0, 0, 0]),
        answer([0, 4]),
        answer([-4, 0]),
        answer([True, 0]),
        answer([1.0, 0]),
        answer([None, 0]),
        answer(["1", 0]),
        answer([0, 0], "perhaps"),
        '{"scores": [0, 0]}',
        '{"scores": [0, 0], "verdict": "success", "note": ""}',
        '{"scores": [0, 0], "scores": [3, 3], "verdict": "success"}',
        '{"scores": 3, "verdict": "success"}',
        "[0, 0]",
        answer([0, 0]) + " as I said",
        "<think>" + answer([0, 0]),
        answer([0, 0]) + "</think>",
    ],
)
def test_an_answer_of_another_form_cannot_be_read(text):
    with pytest.raises(ValueError):
        read(text, "steps", 2, verdict=True)


@pytest.mark.parametrize(
    "text",
    [
        answer([-3, 3]),
        "<think>8, no: [1]</think>\n" + answer([-3, 3]),
        "thought without a beginning </think>" + answer([-3, 3]),
        "```json\n" + answer([-3, 3]) + "\n```",
    ],
)
def test_thinking_and_a_fence_before_a_valid_answer_are_fine(text):
    assert read(text, "steps", 2, verdict=True).scores == (-3, 3)


def test_a_whole_episode_is_graded_with_one_number():
    _, whole = judge(['{"score": 9}'], grade="whole")
    assert whole.judge(episode()).rewards == (0.0, 0.9)
    assert whole.name == "judge-whole/scripted"


def test_the_mean_of_samples_counts_and_the_majority_of_verdicts(tmp_path):
    answers = [answer([3, 0], "success"), answer([0, 0], "success"), answer([0, 3], "failure")]
    model = Model(answers, cache=tmp_path / "answers.db")
    options = {"samples": 3, "temperature": 0.8, "weight": 0.3}
    first = Judge(writer=model, **options).judge(episode())
    assert first.rewards == pytest.approx((0.1, 0.1 + 1.0))
    assert first.info["samples"] == [[3, 0], [0, 0], [0, 3]]
    assert Judge(writer=model, **options).judge(episode()) == first
    assert model.calls == 3  # the same question again is found in the file
    options["samples"] = 4
    Judge(writer=model, **options).judge(episode())
    assert model.calls == 4


def test_one_sample_that_cannot_be_read_leaves_no_mean():
    _, blind = judge([answer([1, 1]), "hm", "hm"], samples=2, temperature=1.0)
    assert blind.judge(episode()).info == {"answers": ["hm", "hm"], "sample": 1}


def test_a_tie_of_verdicts_is_none():
    both = [answer([1, 1], "success"), answer([1, 1], "failure")]
    _, blind = judge(both, samples=2, temperature=1.0)
    assert isinstance(blind.judge(episode()), Unscored)


def test_samples_at_temperature_0_are_warned_of():
    with pytest.warns(UserWarning, match="8 samples at temperature 0 will be identical"):
        Judge(writer=Model(["x"]), samples=8)


def test_a_provider_that_fails_is_no_judgment():
    channel = Channel(ScriptedEndpoint([ModelError("gone")]), retry=Retry(tries=1))
    with pytest.raises(ModelError, match="gone"):
        Judge(writer=lambda: ChannelWriter(channel)).judge(episode())


@pytest.mark.parametrize(
    "options",
    [{"mode": "deaf"}, {"grade": "pages"}, {"mode": "told", "grade": "whole"}, {"samples": 0}],
)
def test_impossible_options_are_refused(options):
    with pytest.raises(ConfigError):
        Judge(writer=Model(["x"]), **options)


def test_a_chinese_goal_is_judged_in_chinese_and_no_letter_is_escaped():
    model, blind = judge(lambda request: answer([0, 0]))
    blind.judge(episode(("仪表盘", "订单", "订单 7\n状态：已取消"), goal="取消订单 7"))
    text = text_of(model.asked[0])
    assert "你负责评判" in text
    assert "共 2 步" in text
    assert "订单 7" in text
    assert "\\u" not in text


def test_a_long_episode_is_cut_in_its_middle_and_says_so():
    pages = [f"page {t} " + "x" * 3_000 for t in range(41)]
    lived = episode(pages)
    shown = record(lived, ENGLISH, budget=30_000)
    assert len(shown) < 40_000
    lines = [json.loads(line) for line in shown.split("\n")[2:-2]]
    left_out = [line["step"] for line in lines if line["page"] == ENGLISH.page_left_out]
    assert left_out == list(range(min(left_out), max(left_out) + 1))
    assert 1 not in left_out
    assert 40 not in left_out
    assert [line["action"] for line in lines] == [f"click({t})" for t in range(40)]
    assert "page 40" in shown


def test_a_long_page_is_cut_in_its_middle_and_says_how_much():
    shown = record(episode(["a" * 3_000 + "b" * 3_000, "end"]), ENGLISH)
    assert "a[… 2000 characters left out …]b" in shown


def test_the_number_of_the_record_depends_on_all_of_it_and_on_the_seed():
    def number(lived, seed=0):
        return record(lived, ENGLISH, seed=seed).partition("\n")[0]

    numbers = [number(episode()), number(episode(), 1), number(episode((*PAGES[:2], "else")))]
    assert len(set(numbers)) == 3
    assert number(episode(key="e2")) == numbers[0]  # the same question, asked of another run


def test_rewards_are_in_the_units_of_the_outcome():
    _, blind = judge([answer([3] * 10)])
    rewards = np.array(blind.judge(episode([f"p{t}" for t in range(11)])).rewards)
    assert rewards[:-1].tolist() == pytest.approx([0.1] * 9)
    assert rewards[-1] == pytest.approx(1.1)
