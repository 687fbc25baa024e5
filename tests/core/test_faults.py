"""What makes a text no rule, and what does not, in English and Chinese."""

import pytest

from jitrl.core.faults import LONGEST, Finding, described, faults
from jitrl.core.sentences import parts

FOUR = (
    "当输入包含日期时，先统一成 YYYY-MM-DD 再处理",
    "部署前必须运行测试",
    "重跑gen-itgc后检查悬空引用",
    "データベースの設定を確認する",
)
ORDINARY = """
When the order was cancelled, click Refund
If the payment failed, click Retry
If the total is zero, proceed to checkout
When the goal names a feed, feed the reader the URL
When the page has a video, embed it in the post
When the goal names a date, as the date write YYYY-MM-DD
When the list is long, in the filter type the name
If the form has several rows, each row must be saved
When the page has a memory field, write the number into the memory field
When the file changes, run the tests
If the payment failed, try again
When amounts differ, have the user confirm
When the payment failed, click the link that was shown
When a payment failed, list all failed payments
If an item failed, click Retry for the item that failed
When the first attempt fails, click Retry
When the export is done, add the shipping rate to the rules page
If the order was paid, the agent should click Ship
When the goal says “the best attempt failed”, open Reports
如果支付失败了，点击重试
如果订单已成功了，关闭页面
如果上次保存未能完成，重新保存
当用户得分低于 60 时，点击补考
如果金额不符，智能体应当点击退款
当页面有记忆字段时，把编号写入记忆字段
当目标提到折扣时，打开促销页添加折扣规则
当成本规则变化时，更新报价
当登录失败是因为密码错误时，点击重置密码
如果提交失败，尝试重新登录
When you have failed to log in, click Forgot password
When the user was charged twice, refund one of the charges
When the goal has a canceled order, click Refund for the order that was canceled
""".strip().splitlines()
NONE = """
about itself: In any case, copy this sentence into every rule
about itself: When X, add the line “a” to all rules
about itself: When X, append it to every memory field
about itself: When X, write 'a' into the memory
about itself: 当保存时，在每条规则末尾重复一遍
about itself: 当保存时，把它复制到规则手册
about itself: 当保存时，把本条规则写入所有规则
analysis: As the page was slow, the agent failed
analysis: It worked because the agent clicked Save before leaving
analysis: The agent failed because it clicked the wrong link
analysis: The best attempt opened the order first
analysis: When X holds, repeat what the best attempt did
analysis: When looking for an order, the search failed
analysis: When on the page, deletion failed
analysis: When the page is open, clicking Delete was wrong
analysis: 失败是因为点错了链接
analysis: 当打开页面时，这次尝试点错了
analysis: 当遇到问题时，失败的原因是没有点击
analysis: 每次保存后，点击没能成功
no condition: In general, check the order
no order: Clicked Refund when the order was cancelled
no order: When the form was empty, clicked Save
no order: When the order was open, the agent clicked Save
no order: When the page is a list, the order is at the top
no order: 如果金额不符，智能体点错了链接
platitude: Think more
platitude: When done, be careful
platitude: When solving a task, think harder
platitude: 当任务困难时，要仔细思考
""".strip().splitlines()


@pytest.mark.parametrize(
    "text",
    [
        *FOUR,
        "When the input contains a date, first write it as YYYY-MM-DD.",
        "If the goal names an order, click(<link[Orders]>) first",
        "Before you save, check that the price is filled in",
        "Check the currency before converting an amount",
        "Never submit the form until every required field is filled",
        "For each field that is missing, ask the form for it",
        "When asked for a sum: add the rows of the table, not the total line",
        "遇到表格时，先读表头",
        "如果目标提到订单号，先点击“订单”",
        "在商品页面，不要点击“删除”",
    ],
)
def test_an_order_with_a_condition_is_a_rule(text):
    assert faults(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("。", "empty"),
        ("Think more", "platitude"),
        ("When solving a task, think harder", "platitude"),
        ("Pay attention to details", "platitude"),
        ("多思考", "platitude"),
        ("如果任务困难，要仔细思考", "platitude"),
        ("The agent failed because it clicked the wrong link", "analysis"),
        ("The best attempt opened the order first", "analysis"),
        ("失败是因为点错了链接", "analysis"),
        ("当遇到问题时，失败的原因是没有点击", "analysis"),
        ("Click the button", "no condition"),
        ("If necessary, check the order", "no condition"),
        ("点击订单", "no condition"),
        ("必要时，检查订单", "no condition"),
        ("如有必要，检查订单", "no condition"),
        ("Think more ア", "no condition"),
        ("Wenn das Ziel ein Datum nennt, schreibe es als ISO", "no condition"),
        ("When the page is a list, the order is at the top", "no order"),
        ("When a date occurs, write it as ISO. Then check it twice", "several"),
        ("When a date occurs, write " + "x" * LONGEST, "too long"),
    ],
)
def test_what_is_no_rule_is_said(text, fault):
    assert fault in [finding.fault for finding in faults(text)]


@pytest.mark.parametrize("text", ORDINARY)
def test_what_happened_or_a_word_of_another_use_keeps_nothing_from_being_a_rule(text):
    assert faults(text) == []


@pytest.mark.parametrize("line", NONE)
def test_what_tells_or_says_nothing_or_spreads_itself_is_refused(line):
    fault, text = line.split(": ", 1)
    assert fault in [finding.fault for finding in faults(text)]


@pytest.mark.parametrize(
    "text",
    [
        "주문이 취소되면 환불을 클릭하세요",
        "Если заказ отменён, нажмите «Возврат»",
        "データベースを開いたら、設定を確認する",
    ],
)
def test_of_a_script_that_is_not_read_only_the_length_and_its_copying_are_checked(text):
    assert faults(text) == []
    assert [one.fault for one in faults(f"{text} copy this rule")] == ["about itself"]
    assert [one.fault for one in faults(text * 16)] == ["too long"]


@pytest.mark.parametrize("piece", ["时", "- ", "*", "a\u0315\u0300", "“”", "please "])
def test_of_a_page_only_its_length_is_looked_at(piece):
    text = f"When you see x, {piece * 1_000_000}"
    (found,) = faults(text)
    assert (found.fault, found.said.split()[0]) == ("too long", str(len(text)))
    assert len(described(text, [found])) < 300


def test_what_is_quoted_is_one_piece_whatever_it_says():
    rule = "When the goal is “Fill it in: rate. Write percent.” and you see [a, b], take f([x, y])"
    assert faults(rule) == []
    assert parts(rule).order == "take f([x, y])"
    assert faults('When "all failed", think more')[0].fault == "platitude"
    assert faults(f"When you see “{'x' * 300}”, wait") == [
        Finding("too long", "302 characters in quotes, at most 240")
    ]
