"""A rule in two: its condition and its order, in English and Chinese.

Chinese writes no blanks, so a condition ends where a comma or a word of time says so (时, 前, 后),
never at a verb that may be part of it (用户, 应用, 打开失败). A sentence without any of these is
cut before what begins an order.
"""

from __future__ import annotations

import re
from typing import NamedTuple

QUOTED = re.compile(r"“[^“”]*(?:”|$)|「[^「」]*(?:」|$)|\"[^\"]*\"|\[[^\[\]]*\]")
"""What is quoted, or in brackets. A mark that is left open holds to the end."""
MASK = "\ue000"
"""Stands for a quoted character."""

_JOINED = re.compile(r"(?<=\d)[,，:：](?=\d)|:(?=//)")  # 1,000 and 10:30 and https://
_HELD = "\ue001"
_APART = " .!。！．｡;；,，、:："
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3041-\u30fa\u30fc-\u30ff]")
_WORD = re.compile(r"[A-Za-z]+")


class Parts(NamedTuple):
    """A rule in two: when, and what to do."""

    condition: str
    order: str


def unquoted(text: str) -> str:
    """The text with each quoted character replaced, so that all others stay where they are."""
    return QUOTED.sub(lambda match: MASK * len(match[0]), text)


def is_chinese(text: str) -> bool:
    """Whether a text is Chinese apart from what it quotes; one that is all quotes, with them.

    It has as many Chinese characters as Latin words, and no kana.
    """
    plain = unquoted(text)
    own = plain if any(form.search(plain) for form in (_HAN, _KANA, _WORD)) else text
    han = len(_HAN.findall(own))
    return bool(han) and han >= len(_WORD.findall(own)) and not _KANA.search(own)


def split(text: str) -> Parts | None:
    """Condition and order of a sentence that has no courtesies; ``None`` if it has no condition.

    What stands in quotes or brackets belongs to one of them whole.
    """
    plain = _JOINED.sub(_HELD, unquoted(text))
    forms = _CHINESE if is_chinese(text) else _ENGLISH
    for form in forms:
        found = form.match(plain)
        if found is None:
            continue
        condition, order = (text[slice(*found.span(name))] for name in ("condition", "order"))
        made = Parts(condition.strip(_APART), order.strip(_APART))
        if all(made):
            return made
    return None


# --- English --------------------------------------------------------------------------------------

_WHEN = (
    r"(?:when|whenever|if|before|after|once|while|until|unless|as soon as|each time|every time"
    r"|for (?:each|every|any|all)|(?<!click )(?<!tap )(?<!press )on (?:a|an|any|the|each|every)"
    r"|in (?:a|an|any|each|every)|where|given)\b"
)
_AHEAD = rf"(?:{_WHEN}|(?:in|on|at|for|with|without|during|from|among|to)\b(?! be\b))"
"""What begins a condition that stands first, up to a comma."""
_DO = (
    r"(?<!\b(?:you|not|can|and|may) )(?<!\b(?:to|it) )(?<!\b(?:they|must|will) )(?:click|open|fill"
    r"|select|press|type|write|check|use|go|choose|enter|submit|save|close|search|ask|retry|wait"
    r"|never|always|do not|don't|first|you (?:must|should))\b"
)
_ENGLISH = tuple(
    re.compile(form, re.I)
    for form in (
        rf"^(?P<condition>{_AHEAD}[^,:]*)[,:]\s*(?:then\s+)?(?P<order>.+)$",
        rf"^(?P<condition>{_WHEN}.+?)\s+then\s+(?P<order>.+)$",
        rf"^(?P<order>.+?)\s*,?\s*\b(?P<condition>{_WHEN}.+)$",
        rf"^(?P<condition>{_WHEN}.+?)\s+(?P<order>{_DO}.+)$",
    )
)

# --- Chinese --------------------------------------------------------------------------------------

_MET = (
    r"(?:看到|看见|见到|遇到|遇见|遇上|碰到|碰见|碰上|发现|收到|接到|得知|检测到|识别到|出现|听到)"
)
_IF = (
    r"(?:如果|如若|如(?![何下此上同前实意期图今])|若是?|假如|假使|倘若|要是|一旦|只要|只有|除非|凡是?"
    rf"|每当|每次|每逢|[每一]?{_MET}|无论|不管|对于?|为了?|要(?!求|点)|想要?)"
)
_AT = r"(?:当(?![前天日然])|在(?![线此])|等到?(?!待)|直到|从(?!前))"
_COMMA = r"[，,：:；;]\s*(?!且|并且|而且|或|但|又|以及)"
_STILL = r"(?:[^，,：:；;]|[，,：:；;]\s*(?:且|并且|而且|或|但|又|以及))"  # within one clause
_NUMBER = "一二三四五六七八九十两几0-9"
_END = (
    r"(?:时候|情况下|的话|期间"
    r"|(?<![及随同暂临小按准实限届平计用耗超定])时(?![间刻候常段区长效期而的])"
    rf"|(?<![最然今背先落售幕])后(?![台面续缀果来者退端的天年{_NUMBER}])"
    rf"|(?<![目提当眼空从面跟向靠])前(?![台端后缀面往进言提的天年{_NUMBER}]))"
)
"""Ends a condition; not in words such as 当前, 然后, 小时."""
_JUST = (
    "(?:(?<![否规原准法细])则(?!表)|(?<![成造迁])就(?![绪近业诊读餐地])"
    "|(?<![方以随顺即简轻不近])便(?![利宜捷于条签携民]))"
)
_ONCE = r"一(?![个条次种些下样起直般定旦份张封位])"  # 一登录就做丙
_BEGIN = (
    r"(?:先(?![生后前进])|再(?!度)|必须|务必|不要|不得|不能|不可|切勿|请(?![求假款示])|应[该当]|需要?"
    rf"|{_JUST}|立即|立刻|马上|把|将|用(?!户)|别(?![名的处人])|只(?![有要])|都|才|也"
    r"|(?:点击|单击|双击|点开|点选|检查|核对|核实|确认|运行|执行|打开|关闭|填写|填入|填上|输入|选择|勾选"
    r"|选中|保存|提交|读取?|记录|记下|搜索|查找|查看|查询|返回|回到|转到|进入|刷新|重试|重新|重跑|使用"
    r"|统一|询问|通知|删除|取消|修改|更新|添加|复制|粘贴|写|改|去掉|跳过|停止|等待|登录|滚动|下载|上传"
    r"|发送|回复|调用|安装|联系|切换|展开|清空|清除|汇总|计算|比较|对比|退款|备份|导出|测试|验证)"
    r"(?!失败|成功|出错|[了过完的时后前中框栏]|按钮))"
)
"""Begins an order."""
_FREE = r"(?<![要想能未已没被可来去需求法在次不并及和或户])"  # not before a verb of the condition
_THEN = rf"(?:那么|否则|{_JUST}|才)?"
_LATER = r"(?:除非|直到|直至|如果|要是|假如|一旦|只要|(?<![应适相恰不正妥])当(?![前天日然]))"

_CHINESE = tuple(
    re.compile(form)
    for form in (
        # 当甲，乙时，做丙
        rf"^(?P<condition>{_AT}[^，,：:；;]*(?<!时)[，,].*?(?:时候?|情况下|的话))[，,：:]\s*"
        rf"{_THEN}(?P<order>.+)$",
        # 在提交前核对金额，…
        rf"^(?P<condition>{_AT}{_STILL}+?{_END})(?={_BEGIN}){_THEN}(?P<order>.+)$",
        # 当甲，做丙
        rf"^(?P<condition>(?:{_AT}|{_IF}){_STILL}+){_COMMA}{_THEN}(?P<order>.+)$",
        # 提交前，做丙
        rf"^(?P<condition>{_STILL}+{_END}){_COMMA}{_THEN}(?P<order>.+)$",
        # 如果甲就做丙
        rf"^(?P<condition>(?:{_IF}|{_ONCE}).+?)[，,]?(?:那么|{_JUST})(?P<order>.+)$",
        # 如果甲后做丙
        rf"^(?P<condition>.{{2,}}?{_END})(?={_BEGIN}){_THEN}(?P<order>.+)$",
        rf"^(?P<condition>(?:{_AT}|{_IF}).{{2,}}?){_FREE}(?={_BEGIN})(?P<order>.{{2,}})$",
        # 不要做丙，除非甲
        rf"^(?P<order>.{{2,}}?)[，,]?\s*(?P<condition>{_LATER}.+)$",
        # 提交后页面出错，做丙; but 部署前跑测试，再做丙
        rf"^(?P<condition>{_STILL}{{2,}}?{_END}{_STILL}+){_COMMA}(?!再|然后|并|接着|最后|同时)"
        r"(?P<order>.+)$",
        rf"^(?P<condition>.{{2,}}?{_END})(?P<order>.{{2,}})$",
    )
)
