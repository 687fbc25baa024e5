"""Whether a question to a judge is concrete: it names something that can be looked up.

A question must name something of the task beside the task itself. What is left of *is the answer
good?* or *does the page show what the goal asks for?* without the words that any question could
have is nothing, and nothing is what a judge would be asked to look for; of *is the total right?*
the total is left. English and Chinese are understood; of other writing, such as kana, only the
length and the number of questions are checked.
"""

from __future__ import annotations

import re
from typing import Literal

from jitrl.language import is_chinese

Fault = Literal["empty", "too long", "several", "vague"]

LONGEST = 300
"""Characters of a question at most."""

_QUOTED = re.compile(
    r"\"[^\"]+\"|[“„][^“”]+[“”]|«[^»]+»|(?<![a-z0-9])'[^']{2,}'(?![a-z0-9])|‘[^’]+’(?![a-z0-9])"
    r"|「[^」]+」|『[^』]+』|《[^》]+》|`[^`]+`",
    re.I,
)
_OTHER = re.compile(r"(?![a-z\u3007\u4e00-\u9fff])[^\W\d_]", re.I)
_SCALE = re.compile(
    r"(?:on a scale (?:of|from)|from|between)?\s*\d+\s*(?:to|and|[-–~到至])\s*\d+\s*(?:points?|分)?"
    r"|out of \d+|\d+\s*(?:points?\b|分)",
    re.I,
)
_WORD = re.compile(r"[a-z0-9][a-z0-9_'-]*", re.I)
_LOOKED_UP = """
contain contains give gives hold holds include includes link links list lists mention mentions
name names open opens point points read reads say says show shows state states
"""
_ANY = """
a an the this that these those it its they their them he she his her i we you your our us of in on
at to for from by with about as into and or but not no if then than so is are was were be been being
do does did done doing has have had having can could will would shall should may might must what
which who whom whose when where why how much many more most very really quite all any some every
each both other there here now just also only please well-done overall generally whole general
actually truly fully entirely totally ever still yet out off up over down through again before after
during between within without under against per instead already always never maybe perhaps somehow
something somewhat else such same different own let me my mine first second next previous new old
it's isn't wasn't didn't doesn't don't hasn't haven't aren't weren't couldn't can't won't i'd you'd
"""
_PRAISE = """
written maintainable readable robust solid natural recommend trustworthy reliable plausible good
better best bad worse worst well great nice fine ok okay perfect perfectly excellent correct
correctly right rightly wrong wrongly incorrect true false appropriate appropriately proper properly
suitable helpful useful clear clearly complete completely completed completing accurate accurately
accuracy reasonable reasonably sensible satisfactory satisfied satisfying satisfactorily quality
high low success successful successfully succeed succeeded fail failed failure effective effectively
efficient efficiently professional polite friendly impressive acceptable adequate adequately decent
relevant meaningful smart elegant convincing coherent consistent valid desired expected expectation
expectations intended tone style nicely badly poor poorly happy impressed perform performed
performance fair sound smooth smoothly safe safely careful carefully thorough thoroughly sufficient
sufficiently enough optimal optimally ideal ideally sure certain confident confidence useless
pointless problematic fault faults mistake mistakes error errors flaw flaws free issue issues bug
bugs worth worthy pass passed passes
"""
_JUDGED = """
answer answers result results response responses output outcome task tasks job work attempt attempts
agent assistant ai bot model goal goals problem solution user thing things anything something
everything step steps action actions page pages final last end way one trajectory requirement
requirements instruction instructions request criteria think thinks feel believe like make makes
made sense go goes went get gets got solve solved achieve achieved reach reached meet meets met
fulfil fulfilled fulfill follow follows followed handle handled finish finished rate rating score
grade judge evaluate assess look looks seem seems appear yes degree extent scale point points ask
asks asked asking want wants wanted need needs needed require requires required carry carries
carried carrying accomplish accomplished accomplishment attain attained satisfy satisfies deal dealt
manage manages managed works worked working run runs ran turn turned happen happens happened ends
ended stop stopped start started try tried deliver delivered deliverable execute executed execution
implement implemented purpose objective objectives aim aims intent intention intentions target
targets mission assignment question questions prompt query episode conversation behavior behaviour
conduct process procedure approach ways method strategy state situation case matter content contents
information data detail details screen view site website customer customers client person people
human everyone anybody somebody code part parts kind sort type level amount lot bit say tell tells
told mean means meant call called use uses used using know knows known see sees seen give given take
takes took taken put puts find finds found help helps helped
"""
_CHINESE = """
用户体验 总体来说 令人 圆满 体验 效率 靠谱 可靠 客户 流畅 自然 优雅 巧妙 写 好不好 对不对 行不行
怎么样 是不是 有没有 有帮助 智能体 做得 怎样 如何 质量 正确 错误 是否 完成 成功 失败 合理 合适
恰当 适当 清楚 清晰 准确 精确 有用 帮助 满意 专业 礼貌 友好 优秀 良好 完美 出色 糟糕 回答 回复
答案 结果 任务 目标 目的 工作 表现 过程 尝试 助手 模型 系统 用户 页面 步骤 操作 动作 整体 总体
整个 全部 所有 评价 评分 打分 评判 判断 分数 请问 这个 这次 这里 那个 它们 他们 我们 你们 要求
指令 符合 满足 达到 达成 实现 预期 期望 期待 问题 解决 效果 水平 程度 多少 觉得 认为 完整 全面
顺利 最终 最后 一页 一步 处理 真的 确实 可以 能够 应该 已经 非常 比较 足够 一切 事情 东西 方案
遵循 按照 执行 进行 显示 包含 写明 列出 提到 给出 说明 请 吗 呢 吧 了 的 地 得 着 过 是 否 不 很
做 好 坏 差 对 错 有 没 能 会 要 给 它 他 她 你 我 这 那 都 也 还 在 把 被 和 与 或 其 上 中 里 几
多 高 低 优 棒 行 就 到 个 办成 办好 办妥 办完 搞定 做到 做成 做完 做好 干完 干得 弄好 结束 任何
哪些 哪里 什么 为什么 内容 信息 数据 情况 状态 事 活 干 办 行动 行为 策略 方法 方式 方向 流程 想要
需要 想 所要 所说 提出 交代 交给 布置 吩咐 结论 成果 成效 办事 意图 意思 本意 题目 问 答 说 看
看起来 看上去 似乎 好像 算 算是 算不算 能不能 会不会 有无 没有 有人 让人 使人 谁 哪 再 又 才 呀 啊
嘛 当 作 为 以 所 之 于 从 对于 关于 根据 这样 那样 怎么 多么 更 最 太 挺 蛮 完了 之后 之前 良 佳
差劲 一般 及格 合格 过关 通过 到位 妥当 妥善 稳妥 周到 细致 认真 仔细 用心 聪明 愚蠢 漏洞 毛病
缺陷 出错 失误 屏幕 界面 网页 网站 本次 该 此 次 回合 轨迹 对话 客人 顾客 大家 程序 代码 部分 种类
类型 令 使 让 得到 获得 取得 给予 顺 妥 完 成 功 件 位 按 项
"""
_SHOWS = frozenset(_LOOKED_UP.split())
"""Verbs of what can be looked up; they name nothing themselves."""
_EMPTY = frozenset(f"{_ANY} {_PRAISE} {_JUDGED}".split())
"""What any sentence has, praise and blame, and what is judged, whatever it is."""
_CHINESE_EMPTY = sorted(_CHINESE.split(), key=len, reverse=True)
_HAN = re.compile(r"[\u4e00-\u9fff]")


def fault(question: str) -> Fault | None:
    """What keeps a text from being a concrete question; ``None`` if nothing does."""
    text = " ".join(question.split())
    if not text:
        return "empty"
    if len(text) > LONGEST:
        return "too long"
    if re.search(r"[?？]", _QUOTED.sub("", text).rstrip("?？ ")):
        return "several"
    return None if _names_something(text) else "vague"


def _names_something(text: str) -> bool:
    if any(_names_something(found[1:-1]) for found in _QUOTED.findall(text)):
        return True
    if _OTHER.search(text):
        return True
    text = _SCALE.sub(" ", text)
    words = [word.casefold().removesuffix("'s") for word in _WORD.findall(text)]
    if any(word not in _EMPTY and word not in _SHOWS for word in words):
        return True
    if not is_chinese(text):
        return False
    for word in _CHINESE_EMPTY:
        text = text.replace(word, " ")
    return bool(_HAN.search(text))
