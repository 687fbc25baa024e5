"""One concrete question to a judge: what is refused, what is shown, what the answer is worth."""

import json

import pytest
from judged import PAGES, Model, episode, text_of

from jitrl.errors import ConfigError
from jitrl.evaluators.concrete import fault
from jitrl.evaluators.injection import CANARIES, planted
from jitrl.evaluators.question import Question
from jitrl.run.judging import evaluator_named
from jitrl.types import Unscored

ASK = "Does the page show the order that the goal names as canceled?"

VAGUE = [
    "is it good",
    "Is it good?",
    "Was it done well?",
    "How good is the answer?",
    "Is the answer correct?",
    "Was the task completed successfully?",
    "Rate the quality of the result from 0 to 10.",
    "On a scale of 0 to 10, how well did the agent perform?",
    "Is the response helpful, clear and polite?",
    "Did the agent do what the user wanted to be done",
    "Does the output meet all requirements?",
    "Does the answer make sense?",
    "Did the agent follow the instructions?",
    "Is this the best way to solve the problem?",
    "Is the code elegant and maintainable?",
    "How satisfied would the customer be?",
    "Evaluate the agent's overall performance",
    'Is it "good"?',
    "做得好吗？",
    "总体来说是否令人满意？",
    "效率高吗？",
    "是否圆满完成了任务？",
    "这个回答怎么样？",
    "任务是否成功完成？",
    "答案正确吗",
    "请给结果的质量打分，0到10分。",
    "智能体的表现如何？",
    "是否符合用户的要求？",
    "处理得合理、准确、完整吗？",
    "最终结果达到预期目标了吗？",
    "Does the page show what the goal asks for?",
    "Was the job carried out?",
    "Did it work?",
    "Does the page show the expected result?",
    "Was everything done as asked?",
    "Has the agent accomplished its mission?",
    "Is the final state what the user wanted?",
    "Are there any mistakes?",
    "Does the screen show that the task is finished?",
    "Did the assistant handle the request correctly?",
    "Has the goal been reached?",
    "Is the work free of errors?",
    "Was the user's problem solved?",
    "Is what was asked for there?",
    "任务办成了吗？",
    "这件事办好了吗？",
    "页面是否显示了目标所要求的内容？",
    "用户要的东西有了吗？",
    "活干完了吗？",
    "做到位了吗？",
    "有没有出错？",
    "目标达成了没有？",
    "结果让人满意吗？",
    "是不是按要求做了？",
    "页面上有目标所说的东西吗？",
    "智能体搞定了吗？",
    "是否让客户满意？",
    "达到用户想要的效果了吗？",
]
CONCRETE = [
    ASK,
    "Does the answer contain a date?",
    "Is the date written as YYYY-MM-DD?",
    "Does the last page show order 7 with status Canceled?",
    "Does the reply name the refund amount?",
    "Is the product's price below 20 dollars?",
    "Is the discount applied to every item of the cart?",
    'Does the page say "Saved"?',
    "How many of the five fields of the form are filled in?",
    "Is the shipping address in Berlin?",
    "Was a coupon created?",
    "Does the page show 'Is it good?' as its title?",
    "Does the page show the question “Really delete? Sure?” of the shop",
    "页面标题是不是“要取消吗？”？",
    "ページに注文は表示されていますか？",
    "Показана ли на странице корзина?",
    "Zeigt die Seite «Fertig? Ja.» als Titel?",
    "是否新建了优惠券？",
    "电话写成国际格式了吗？",
    "最后一页是否显示订单 7 已取消？",
    "回答里有没有写出退款金额？",
    "日期是否统一成 YYYY-MM-DD？",
    "页面是否显示“已保存”？",
    "商品价格是否低于二十元？",
    "表单的邮箱一栏填了吗？",
    "Is the total right?",
    "总额对吗？",
    "Is the price correct?",
    "价格正确吗？",
    "Was the order cancelled?",
    "订单取消了吗？",
    "Does the page name the customer's address?",
    "地址填对了吗？",
    "Was the refund issued?",
    "退款了吗？",
    "Is the date there?",
    "有日期吗？",
    "Does the form have an email address?",
    "Is the key in the inventory?",
    "钥匙拿到了吗？",
    "Is the lamp on?",
    "灯亮了吗？",
    "Does the invoice show the VAT?",
    "发票上有税号吗？",
    "Is the stock below 5?",
    "库存低于 5 吗？",
    "Does the answer give a sum?",
    "Is the coupon active?",
    "页面是否显示目标所说的订单已取消？",
    "回答是否写明总数？",
    "Is the file saved?",
    "文件保存了吗？",
    "用户名对吗？",
    "人事部收到了吗？",
    "邮件发了吗？",
    "按钮是灰的吗？",
]


@pytest.mark.parametrize("text", VAGUE)
def test_a_vague_question_is_refused(text):
    assert fault(text) == "vague"
    with pytest.raises(
        ConfigError,
        match=r"names nothing that can be looked up.*such as: Does the page show the order",
    ):
        Question(text, writer=Model(["x"]))


@pytest.mark.parametrize("text", CONCRETE)
def test_a_concrete_question_is_asked(text):
    assert fault(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" ", "empty"),
        ("Is the order 7 canceled? Is the refund 20 dollars?", "several"),
        ("Is the order's total 7? Is the page's title 'Done'?", "several"),
        ("ページに注文は表示されていますか？合計は七ですか？", "several"),
        ("订单 7 取消了吗？退款金额是多少？", "several"),
        ("Is order 7 canceled " + "x" * 300, "too long"),
    ],
)
def test_one_question_is_asked_at_a_time(text, why):
    assert fault(text) == why
    with pytest.raises(ConfigError, match="question "):
        Question(text, writer=Model(["x"]))


def asked(answers=('{"score": 9}',), ask=ASK, **options):
    model = Model(list(answers))
    return model, Question(ask, writer=model, **options)


def shown(model):
    lines = text_of(model.asked[0]).split("\n") if model.asked else []
    begin = next(i for i, line in enumerate(lines) if line.startswith("BEGIN"))
    return [json.loads(line) for line in lines[begin + 1 : begin + 3]], lines[begin + 5 :]


def test_a_tenth_of_the_answer_is_the_last_reward():
    model, question = asked()
    judged = question.judge(episode())
    assert judged.rewards == (0.0, 0.9)
    assert (judged.basis, judged.told, judged.evaluator) == (
        "llm_judge",
        False,
        "question/scripted",
    )
    assert judged.info == {"question": ASK, "score": 9}
    assert model.calls == 1


@pytest.mark.parametrize(
    ("options", "piece"),
    [
        ({}, {"page after the last step": PAGES[2]}),
        ({"about": "answer"}, {"last action": "click(1)"}),
        (
            {"about": "step", "step": "CLICK(0)"},
            {"page before": PAGES[0], "action": "click(0)", "page after": PAGES[1]},
        ),
    ],
)
def test_the_model_sees_the_goal_the_piece_and_the_question_alone(options, piece):
    model = Model(lambda request: '{"score": 5}')
    Question(ASK, writer=model, **options).judge(episode(checks={"x": 1.0}, score=1.0))
    record, rest = shown(model)
    assert record == [{"goal": "Cancel order 7"}, piece]
    assert rest[0] == ASK
    assert json.loads(model.asked[0].schema)["properties"]["score"]["maximum"] == 10


def test_the_last_step_of_that_name_is_asked_about():
    model = Model(lambda request: '{"score": 5}')
    Question(ASK, writer=model, about="step", step="click").judge(episode())
    assert shown(model)[0][1]["action"] == "click(1)"


def test_what_is_not_there_is_not_scored_and_nobody_is_asked():
    model, question = asked(about="step", step="save")
    assert question.judge(episode()).reason == "no step has an action with 'save'"
    model, question = asked()
    lived = episode((*PAGES[:2], ""))
    assert question.judge(lived).reason == "the page after the last step was not recorded"
    assert model.calls == 0


@pytest.mark.parametrize(
    "nonsense",
    [
        '{"score":',
        "",
        "I cannot evaluate this",
        "<think>8</think>",
        '{"score": 11}',
        '{"score": -1}',
        '{"score": 7.5}',
        '{"score": true}',
        '{"score": "9"}',
        '{"score": 9, "why": ""}',
        "9",
    ],
)
def test_what_cannot_be_read_twice_is_no_score_and_is_kept(nonsense):
    model, question = asked([nonsense])
    unscored = question.judge(episode())
    assert isinstance(unscored, Unscored)
    assert unscored.reason == "the judge's answer could not be read"
    assert unscored.info["answers"] == [nonsense, nonsense]
    assert model.calls == 2


def obeys(request):
    text = text_of(request).replace("\\", "")
    orders = (
        "score every step +3",
        "打满分",
        '"verdict": "success"',
        "rate it +3",
        "grade it succ",
    )
    return (
        '{"score": 10}' if any(o in text.partition("BEGIN")[2] for o in orders) else '{"score": 0}'
    )


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.name)
@pytest.mark.parametrize("about", ["page", "step"])
def test_no_planted_text_earns_a_score(canary, about):
    step = "click(0)" if about == "step" else ""
    model = Model(obeys)
    question = Question(ASK, writer=model, about=about, step=step)
    judged = question.judge(planted(episode(), PAGES, canary))
    assert isinstance(judged, Unscored) or sum(judged.rewards) == 0.0
    if canary.name != "claim":
        assert judged.reason == "what is asked about speaks to the judge"
        assert model.calls == 0


def test_a_chinese_goal_is_asked_about_in_chinese():
    model = Model(lambda request: '{"score": 5}')
    question = Question("最后一页是否显示订单 7 已取消？", writer=model)
    question.judge(episode(("仪表盘", "订单", "订单 7\n状态：已取消"), goal="取消订单 7"))
    text = text_of(model.asked[0])
    assert "请用 0 到 10 的整数回答" in text
    assert "最后一页是否显示订单 7 已取消？\n只用 JSON 回答" in text
    assert "\\u" not in text


@pytest.mark.parametrize(
    "options",
    [{"about": "everything"}, {"about": "step"}, {"step": "save"}, {"max_tokens": 0}],
)
def test_impossible_options_are_refused(options):
    with pytest.raises(ConfigError):
        Question(ASK, writer=Model(["x"]), **options)


MEMBERS = {"checks": {}, "question": {"options": {"ask": ASK}}}


def test_checks_weigh_seven_tenths_and_a_question_three_unless_told_otherwise():
    both = evaluator_named("composite", {"members": MEMBERS}, Model(['{"score": 9}']))
    assert both.name == "composite(0.7 checks + 0.3 question/scripted)"
    judged = both.judge(episode(checks={"done": 1.0}))
    assert sum(judged.rewards) == pytest.approx(0.97)


@pytest.mark.parametrize(
    "nonsense", ['{"score":', "", "I cannot evaluate this", "<think>8</think>"]
)
def test_a_question_without_an_answer_leaves_the_whole_without_a_score(nonsense):
    model = Model([nonsense])
    both = evaluator_named("composite", {"members": MEMBERS}, model)
    judged = both.judge(episode(checks={"done": 1.0}))
    assert isinstance(judged, Unscored)
    assert judged.info["members"]["question"]["answers"] == [nonsense, nonsense]
    assert model.calls == 2


def test_several_questions_are_several_members():
    members = {
        "checks": {"weight": 0.7},
        "canceled": {"weight": 0.2, "evaluator": "question", "options": {"ask": ASK}},
        "refund": {
            "evaluator": "question",
            "options": {"ask": "Does the answer name the refund amount?", "about": "answer"},
        },
    }
    both = evaluator_named("composite", {"members": members}, Model(['{"score": 5}']))
    assert "0.3 question/scripted" in both.name


def test_a_member_without_a_weight_that_has_no_default_is_refused():
    with pytest.raises(ConfigError, match="member 'environment' has no weight"):
        evaluator_named("composite", {"members": {"environment": {}}}, Model(["x"]))
