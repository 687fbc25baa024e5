"""Sentences that would have themselves, or others, written into rules, memories or prompts.

Nothing of a task asks for that, so such a sentence is no rule. A field or a page that is called
memory, and a rule of the shop, are of a task.
"""

from __future__ import annotations

import re

from jitrl.core.sentences import folded

_COPY = (
    r"(?:copy|repeat|add|append|include|insert|keep|put|save|store|write|paste|spread|restate"
    r"|duplicate|record|note|log|place|commit|embed|propagate|carry|enter|file|memori[sz]e|post"
    r"|move|distribute|broadcast)"
)
_BOOK = (
    r"(?:rules?|rulebooks?|rule books?|handbooks?|lessons|memory|memories|knowledge bases?"
    r"|lists? of (?:rules|lessons))"
)
_PROMPT = (
    r"(?:(?:system|your|my|its|every|each|all|future|later|next) (?:future |later |new |next )?"
    r"(?:prompts?|instructions|guidelines|playbooks?)|your (?:own )?notes)"
)
_OF = r"(?:the |your |my |its |own |other |new |future |long[- ]term )*"
_INTO = r"\b(?:in|into|to|across|on|at (?:the )?(?:top|end|start|beginning) of)"
_PLACE = (
    r"(?:field|box|column|cell|page|tab|form|input|menu|dialog|section|card|slot|size|dropdown"
    r"|settings?|option|label)"
)
_ENGLISH = (
    r"\bth(?:is|ese) (?:very |same |exact )?(?:rule|sentence|instruction|order|text|line)s?\b"
    rf"(?! {_PLACE})(?! (?:number|total|status|id)\b)",
    rf"\b{_COPY}\b.{{0,60}}{_INTO} {_OF}(?:all |any |each |every ){_OF}{_BOOK}\b",
    rf"\b{_COPY}\b.{{0,60}}{_INTO} {_OF}{_BOOK}\b(?! {_PLACE}s?\b)",
    rf"\b{_COPY}\b.{{0,60}}{_INTO} (?:the )?{_PROMPT}\b(?! {_PLACE}s?\b)",
    rf"\b(?:all|any|each|every) (?:new |other |future )*{_BOOK}\b.{{0,20}}\b{_COPY}\b",
    rf"\b(?:update|extend|edit|rewrite|change|amend) {_OF}"
    r"(?:(?:all |each |every )(?:the |your |other )*rules?|rulebook|handbook) (?:with|by)\b",
    r"\b(?:make|turn) (?:this|it|that) (?:in)?(?:to )?(?:a|an|one|another) (?:new |lasting )?"
    rf"(?:rule|lesson)\b(?! {_PLACE})",
)

_BOOKS = r"(?:规则|手册|记忆|守则|经验库|知识库|提示词)"
_NO_PLACE = r"(?!字段|栏|框|列|页|表|选项|标签|卡片|卡|棒|力)"
_WRITE = (
    r"(?:复制|重复|写入?|写下|抄写?|照抄|加入?|添加?|追加|附加?|保存|存储?|储存|保留|记录?|记下|录入?|放入?"
    r"|粘贴|贴|插入?|收录?|纳入?|归入?|补充?|塞|同步|传播?|推广|移|导入?|登记|载入)"
)
_TO = r"(?:到|进|入|至|在|于)"
_ALL = r"(?:所有|每一?[条个本次]|全部|其他|其它|新的?|今后|以后|将来)(?:的)?"
_SELF = r"(?:[本这此该](?:一)?[条句段]|(?:上述|以上|自己这)(?:规则|句话?|指令))"
_CHINESE = (
    r"(?<![基成])[本这此](?:一)?(?:条|句)?(?:规则|话|指令)(?!字段|栏|框|列|页)",
    rf"{_SELF}(?:也|都|再|原样|完整|逐字|一并|一字不差|地)*"
    r"(?:写|抄|复制|复述|重复|粘贴|贴|传播|传给|背|念|加(?!急|入购物)|添|附(?!件)|保存到|存[到进入]|记(?!录)|放[到进入])",
    rf"{_WRITE}{_TO}.{{0,20}}{_BOOKS}{_NO_PLACE}",
    rf"(?:写入|加入|存入|放入|录入|纳入|插入|归入|载入|导入|保留|抄).{{0,20}}{_BOOKS}{_NO_PLACE}",
    rf"(?:复制|重复|写|加|添加|附加|保留|抄|粘贴).{{0,10}}{_ALL}{_BOOKS}{_NO_PLACE}",
    rf"{_ALL}{_BOOKS}.{{0,10}}(?:复制|重复|写|加|附加|保留|抄)",
    rf"(?:在|往|给|让|向|为)(?:你的|我的|自己的|系统|长期)?(?:{_ALL})?{_BOOKS}"
    r"(?:里面?|中|内|上|末尾|开头|最前面|后面?)?(?:也|都|再|来)*"
    r"(?:写|加|添|附|抄|重复|复制|记住|记下|保存|存入|放)",
    rf"(?:每次|所有|每个|全部)的?{_BOOKS}.{{0,6}}(?:重复|复制|抄|写|加)",
    r"(?:更新|修改|扩充|改写)(?:你的|自己的|所有|每一?[条个本])?(?:规则|手册|记忆)(?:，|,|并|来|，并)"
    r"{1,2}(?:写|加|添|记)",
)
_FORMS = re.compile("|".join((*_ENGLISH, *_CHINESE)), re.I)
_BLANK = re.compile(r"(?<=[\u4e00-\u9fff]) +(?=[\u4e00-\u9fff])")


def spreads(text: str) -> str:
    """The part of a text that would have it copied, in English or Chinese; "" if there is none.

    Args:
        text: Without what it quotes.
    """
    found = _FORMS.search(_BLANK.sub("", folded(text)))
    return found[0] if found else ""
