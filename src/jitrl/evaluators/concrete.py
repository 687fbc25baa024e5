"""Whether a question to a judge is concrete: it names something that can be looked up.

What is left of *is the answer good?* without the words that any question could have is nothing, and
nothing is what a judge would be asked to look for. English and Chinese are understood; of other
writing, such as kana, only the length and the number of questions are checked.
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
at to for from by with about as into and or but not no if then than so is are was were be been
being do does did done doing has have had having can could will would shall should may might must
what which who whom whose when where why how much many more most very really quite all any some
every each both other there here now just also only please well-done overall generally whole
general actually truly fully entirely totally ever still yet
"""
_PRAISE = """
written maintainable readable robust solid natural recommend trustworthy reliable plausible
good better best bad worse worst well great nice fine ok okay perfect perfectly excellent correct
correctly right rightly wrong wrongly incorrect true false appropriate appropriately proper
properly suitable helpful useful clear clearly complete completely completed completing accurate
accurately accuracy reasonable reasonably sensible satisfactory satisfied satisfying
satisfactorily quality high low success successful successfully succeed succeeded fail failed
failure effective effectively efficient efficiently professional polite friendly impressive
acceptable adequate adequately decent relevant meaningful smart elegant convincing coherent
consistent valid desired expected expectation expectations intended tone style nicely badly poor
poorly happy impressed perform performed performance
"""
_JUDGED = """
answer answers result results response responses output outcome task tasks job work attempt
attempts agent assistant ai bot model goal goals problem solution user thing things anything
something everything step steps action actions page pages final last end way one trajectory
requirement requirements instruction instructions request criteria think thinks feel believe like
make makes made sense go goes went get gets got solve solved achieve achieved reach reached meet
meets met fulfil fulfilled fulfill follow follows followed handle handled finish finished rate
rating score grade judge evaluate assess look looks seem seems appear yes degree extent scale
point points
"""
_CHINESE = """
用户体验 总体来说 令人 圆满 体验 效率 靠谱 可靠 客户 流畅 自然 优雅 巧妙 写
好不好 对不对 行不行 怎么样 是不是 有没有 有帮助 智能体 做得 怎样 如何 质量 正确
错误 是否 完成 成功 失败 合理 合适 恰当 适当 清楚 清晰 准确 精确 有用 帮助 满意
专业 礼貌 友好 优秀 良好 完美 出色 糟糕 回答 回复 答案 结果 任务 目标 目的 工作
表现 过程 尝试 助手 模型 系统 用户 页面 步骤 操作 动作 整体 总体 整个 全部 所有
评价 评分 打分 评判 判断 分数 请问 这个 这次 这里 那个 它们 他们 我们 你们 要求
指令 符合 满足 达到 达成 实现 预期 期望 期待 问题 解决 效果 水平 程度 多少 觉得
认为 完整 全面 顺利 最终 最后 一页 一步 处理 真的 确实 可以 能够 应该 已经 非常
比较 足够 一切 事情 东西 方案 遵循 按照 执行 进行 显示 包含 写明 列出 提到 给出
说明 请 吗 呢 吧 了 的 地 得 着 过 是 否 不 很 做 好 坏 差 对 错 有 没 能
会 要 给 它 他 她 你 我 这 那 都 也 还 在 把 被 和 与 或 其 上 中 里 几
多 高 低 优 棒 行 就 到 个
"""
_SHOWS = frozenset(_LOOKED_UP.split())
"""Verbs of what can be looked up; one word more makes a question."""
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
    words = [word.casefold() for word in _WORD.findall(text)]
    if not is_chinese(text):
        named = [word for word in words if word not in _EMPTY and word not in _SHOWS]
        return bool(named) and len(named) + any(word in _SHOWS for word in words) > 1
    if any(word not in _EMPTY for word in words):
        return True
    for word in _CHINESE_EMPTY:
        text = text.replace(word, " ")
    return len(_HAN.findall(text)) > 1
