"""A rule comes apart into when and what, as a reader of its language would part it."""

import pytest

from jitrl.core.clauses import Parts
from jitrl.core.faults import faults
from jitrl.core.sentences import parts

CHINESE = """
当用户要求退款时，|点击退款
当用户要求取消时，|点击取消
如果应用打开失败，|点击重试
如果应用打开失败|点击重试
当特别注明时，|先核对价格
如果目标提到订单号，|先点击“订单”
在商品页面，|不要点击“删除”
部署前|必须运行测试
重跑gen-itgc后|检查悬空引用
当输入包含日期时，|先统一成 YYYY-MM-DD 再处理
遇到表格时，|先读表头
遇到表格时|先读表头
如果支付失败了，|点击重试
如果金额超过1,000，|点击审批
当时间是10:30时，|点击保存
当用户登录，且订单为空时，|点击退款
当用户登录，订单为空时，|点击退款
在提交前|核对金额，确认无误
提交后页面显示错误，|点击重试
部署前|跑一遍测试，再通知用户
如果请求超时，|点击重试
当前页面是订单列表时，|点击退款
如果用户需要发票|就点击“开票”
如果金额为空|则填写0
每次保存后，|核对列表
每次保存后|核对列表
对于每个缺失的字段，|询问表单
当搜索结果为空时|换一个关键词
打开设置前，|先登录
选择前三条记录时，|按住 Shift
当用户别名重复时，|选择最近登录的用户
如果写入失败，|改用备用地址
当把手商品缺货时，|选择同类商品
当应用提示更新时，|点击稍后
如果确认按钮是灰色的，|先勾选条款
当邮件要求回复时，|点击回复
当必须填写邮编时，|先查地址
要取消订单，|先打开订单列表
如果智能体先生成报告，|打开报告
如果请求中写明日期，|用该日期
当使用优惠券的订单被取消时，|退回优惠券
退款完成后，|通知用户
如果金额为零，且状态为待付款，|点击取消
24小时后，|重试
如果字段标为必填的时候，|不要留空
若页面提示“先保存，再离开”，|点击保存
一旦库存低于十件，|那么通知采购
如果对方不回复|就在三天后再发一次提醒
如果折扣规则变了，|更新报价
若订单先付款后发货，|先查付款记录
只要订单状态不是“待处理”，|就不能修改地址
看到红色提示|就停止提交
看到弹窗，|点击关闭
看见红色按钮，|不要点击
见到验证码|就刷新页面
遇到缺失字段|便询问用户
遇到就绪状态，|点击开始
碰到重复订单|则合并
发现金额不符|就退回
发现重复条目，|删除这条记录
收到退款请求|就点击退款
收到投诉，|马上通知客服
看到错误提示|立即停止
出现错误|就点击重试
每收到一封邮件|就回复
一旦库存低于十件|便通知采购
一旦库存低于十件|则通知采购
一看到弹窗|就关闭
一登录|就核对余额
如遇弹窗，|点击关闭
如有折扣，|填写折扣码
如果页面方便打印，|点击打印
当页面出现「データ」时，|点击“确认”
当页面写着 Paid in full 时，|点击“退款”
""".strip().splitlines()
LATER = """
不要提交表单，|除非所有必填项都已填写
不要提交|直到所有字段填写完毕
先读表头，再填写，|如果表格有表头
务必先备份数据，|一旦要改动价格
""".strip().splitlines()
ENGLISH = """
When A holds, |then do B
When the user asks for a refund, |click Refund
If the application fails to open, |click Retry
When the total is above 1,000, |click Approve
When the time is 10:30, |click Save
If the payment failed |click Retry
If the payment failed, |click Retry
If the user asks to click Save, |open the form first
In the order list, |click Refund
On the product page, |do not click Delete
At checkout, |choose the cheapest shipping
If the order is paid |then click Ship
When asked for a sum: |add the rows of the table, not the total line
To cancel an order, |open the orders page first
When you see https://a.example/b, |go back
If you check the box |click Save
Before you save, |check that the price is filled in
After deploying, |run the tests
For each field that is missing, |ask the form for it
Whenever the list is empty, |use another key word
As soon as the export is done, |download it
Unless the user confirmed it, |do not delete anything
While the page is loading, |wait
Given a table with a header, |read the header first
If the status says “Paid, shipped”, |open the invoice
When the goal names “When, if, unless”, |search for it
When the field [Date, time] is empty, |fill it in
If the agent has no address, |ask for one
When the order was cancelled, |click Refund
Each time a row is added, |save the table
With more than one match, |choose the newest
Once the form is complete, |submit it
When the button is gray |first tick the terms
Without a coupon code, |leave the field empty
If the price is missing, |look it up in the catalog
During the import, |do not close the page
When you see “订单”, |click “退款”
When the page shows 订单, |click it
""".strip("\n").splitlines()
ENGLISH_LATER = """
Do B |before A holds
Check the currency |before converting an amount
Never submit the form |until every required field is filled
Click Refund |if the order was cancelled
Ask for the address, |unless it is on the page
Open the archive |when the order is older than a year
Save the draft |after each change
Choose express shipping only |if the goal names a deadline
""".strip().splitlines()


def halves(line):
    first, second = line.split("|")
    return first, second


@pytest.mark.parametrize("line", [*CHINESE, *ENGLISH])
def test_a_rule_comes_apart_where_its_condition_ends(line):
    condition, order = halves(line)
    order_alone = order.removeprefix("then ").removeprefix("那么").lstrip("则就便")
    assert parts(condition + order) == Parts(condition.strip("，,: "), order_alone)
    assert faults(condition + order) == []


@pytest.mark.parametrize("line", [*LATER, *ENGLISH_LATER])
def test_a_condition_may_come_after_the_order(line):
    order, condition = halves(line)
    assert parts(order + condition) == Parts(condition, order.strip("，, "))
    assert faults(order + condition) == []


@pytest.mark.parametrize(
    "text",
    [
        *("Do B", "Click on the button", "点击订单", "点击当前页面的订单", "应当点击保存", ""),
        *("找到订单，点击退款", "看到订单", "如图所示点击保存", "一次点击一个按钮"),
    ],
)
def test_an_order_alone_has_no_condition(text):
    assert parts(text) is None


def test_there_are_forty_ordinary_sentences_of_each_language():
    assert len(CHINESE) + len(LATER) >= 40
    assert len(ENGLISH) + len(ENGLISH_LATER) >= 40


def test_a_quote_that_is_not_closed_holds_to_the_end():
    assert parts("如果页面有多个按钮，先点击“订单，再点击退款") == Parts(
        "如果页面有多个按钮", "先点击“订单，再点击退款"
    )
