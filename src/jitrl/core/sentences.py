"""Sentences of a rulebook: what makes two of them one, and what makes one a rule.

A rule is one imperative sentence with a condition that can be checked: *When the input contains a
date, first write it as YYYY-MM-DD*. What only explains what happened, or tells nobody what to do
otherwise (*think more*), is none, and neither is one that orders its own copying. English and
Chinese are understood; of other languages only the length is checked.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from typing import Literal, NamedTuple

Fault = Literal[
    "empty",
    "too long",
    "several",
    "analysis",
    "platitude",
    "no condition",
    "no order",
    "about itself",
]

LONGEST = 240
"""Characters of a rule at most; what it quotes may be as long again."""

_SHOWN = 80  # characters of a text in a message
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_BULLET = re.compile(
    r"^(?:[-*•·>#]+|\(?\d{1,2}[.):、）](?!\d)|rule\s*\d*\s*:|规则\s*\d*\s*[:：])\s*", re.I
)
_LEAD = re.compile(
    r"^(?:(?:we|you|one|the (?:agent|assistant|model)) (?:should|must|need to|have to|ought to) "
    r"|please |(?:我们|你们?|您|大家|智能体|模型)(?:应该|应当|必须|需要|应|要)|请|应该|应当)",
    re.I,
)
_ENDS = " .!。！．｡;；,，、\"'“”‘’「」`*"
_APART = " .!。！．｡;；,，、"
_QUOTE = "\ue000"
_QUOTED = re.compile(r"“[^“”]*”|「[^「」]*」|\"[^\"]*\"|\[[^\[\]]*\]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3041-\u30ff]")


class Finding(NamedTuple):
    """Why a text is no rule.

    Attributes:
        fault: What is wrong.
        said: The part of the text that shows it.
    """

    fault: Fault
    said: str


def folded(text: str) -> str:
    """One form for characters that have several, single blanks, and nothing that is not seen."""
    return " ".join(unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).split())


def cleaned(text: str) -> str:
    """The sentence without what does not change its meaning: forms, blanks, bullets, courtesies."""
    text = folded(text)
    before = None
    while text != before:
        before = text
        text = _LEAD.sub("", _BULLET.sub("", text.strip(_ENDS))).strip()
    return text


def rule_id(text: str) -> str:
    """The same for all texts that say the same in the same words."""
    return hashlib.blake2b(cleaned(text).casefold().encode(), digest_size=6).hexdigest()


def scoped_id(text: str, scope: str) -> str:
    """The id of a text in one scope, where a rule of another scope has ``rule_id(text)``."""
    said = f"{scope}\n{cleaned(text).casefold()}"
    return hashlib.blake2b(said.encode(), digest_size=6).hexdigest()


_ENGLISH_IF = (
    r"(?:when|whenever|if|before|after|once|while|until|unless|as soon as|each time|every time"
    r"|for (?:each|every|any|all)|on (?:a|an|any|the|each|every)|in (?:a|an|any|each|every)"
    r"|where|given)\b"
)
_ENGLISH_FIRST = re.compile(
    rf"^(?P<condition>{_ENGLISH_IF}[^,:]*)[,:]\s*(?:then\s+)?(?P<order>.+)$", re.I
)
_ENGLISH_LAST = re.compile(rf"^(?P<order>.+?)\s*,?\s*\b(?P<condition>{_ENGLISH_IF}.+)$", re.I)
_ENGLISH_NO_ORDER = re.compile(
    r"^(?:the|a|an|this|that|these|those|it|its|they|there|he|she|some|many|most|each|our|their|in"
    r"|because|since|as|so|due|attempts?|episodes?|runs?|candidates?|is|are|was|were|has|have|had"
    r"|why|how|what|who|i|\w{2,}(?<!ne)ed)\b",
    re.I,
)
_ENGLISH_ORDER = re.compile(
    r"^(?:(?:you|we) (?:must|should)|always|never|do not|don't|must|first|only|instead)\b", re.I
)
_ENGLISH_TOLD = re.compile(
    r"\b(?:failed|succeeded|scored|was|were|because the|in this (?:attempt|episode|case)"
    r"|the (?:best|worst|first|second|last|good|bad|other|failing|successful) "
    r"(?:attempt|candidate|run|episode|trajectory|answer)s?)\b",
    re.I,
)
_ENGLISH_VAGUE = re.compile(
    r"^(?:always |never |please |make sure (?:to|you) |be sure to |try to |remember to )*"
    r"(?:think|reason|try|focus|concentrate|work|act|proceed|be|stay|pay|take (?:care|your time)"
    r"|double[- ]check|consider|analy[sz]e|plan|reflect|do (?:your best|better|it (?:well|right))"
    r"|follow (?:the )?(?:best practices|instructions)|ensure (?:quality|accuracy|correctness))"
    r"(?: (?:more|harder|again|better|attention|careful(?:ly)?|clear(?:ly)?|deep(?:ly)?|accurate"
    r"|thorough(?:ly)?|attentive|precise|smart(?:er)?|step by step|first|ahead|slowly|well|all"
    r"|every(?:thing)?|options|twice|your (?:work|answer)|to (?:the )?details?|and|about it"
    r"|before (?:acting|answering)|it|the (?:problem|task|situation)))*$",
    re.I,
)
_ENGLISH_OPEN = re.compile(
    r"^\w+ (?:it is |it's |you are |you're )?(?:needed|necessary|appropriate|possible|required"
    r"|unsure|in doubt|applicable|relevant|useful|it (?:makes sense|helps))\.?$"
    r"|^in (?:any|every|each) case$",
    re.I,
)

_CHINESE_FIRST = re.compile(
    r"^(?P<condition>(?:当|如果|若是?|一旦|每当|每次|凡是?|只要|遇到|在|对于?|假如|要是).+?"
    r"|[^，,：:]*?(?:之?前|之?后|以?前|以?后|时|时候|情况下|的话))"
    r"(?:[，,：:]\s*|(?=先|再|必须|务必|不要|不得|别|应|要|请|检查|运行|把|将|用|使用|统一|点击|打开|填写|选择|确认|保存|核对|读取|写))"
    r"(?:则|就|那么)?(?P<order>.+)$"
)
_CHINESE_AFTER = re.compile(r"^(?P<condition>.{2,}?(?:之?前|之?后|时))(?P<order>.{2,})$")
_CHINESE_NO_ORDER = re.compile(
    r"^(?:这|那|因为|由于|原因|失败|成功|本次|上次|第[一二三四五六七八九十\d]+次|候选|尝试|智能体|模型|它|他|她|该|可能)"
)
_CHINESE_TOLD = re.compile(
    r"(?:失败了|成功了|之所以|原因是|是因为|导致了|得分|最好的尝试|最差的尝试|没能|未能)"
)
_CHINESE_VAGUE = re.compile(
    r"^(?:请|要|应该?|必须|务必|一定要|先|再)*(?:多|更|再|好好|仔细|认真|谨慎|小心|全面|深入|努力|用心|专心)?地?"
    r"(?:思考|想想?|想清楚|考虑|检查一下|努力|注意|留意|小心|谨慎|认真|仔细|专注|反思|分析|尝试|做好)"
    r"(?:一下|清楚|问题|任务|情况|细节|全面|一点|一些|再行动|后再行动)*$"
)
_CHINESE_OPEN = re.compile(
    r"^(?:当|如果|在)?(?:有)?(?:必要|需要|合适|适当|可能|不确定)(?:的?时候?|时|的话|的情况下)?$"
)

_ABOUT_ITSELF = re.compile(
    r"\bth(?:is|ese) (?:very |same |exact )?(?:rule|sentence|instruction|order|text|line)s?\b"
    r"|\b(?:copy|repeat|add|append|include|insert|keep|put|save|store|write|paste|spread|restate)\b"
    r".{0,60}\b(?:in|into|to|across) (?:all |any |each |every |the |your |new |other |future )*"
    r"(?:rules?|rulebooks?|handbooks?|lessons|memory|memories)\b"
    r"|[本这此](?:一)?(?:条|句)?(?:规则|话|指令)"
    r"|(?:复制|重复|写入|加入|添加|附加|保留|抄).{0,20}(?:规则|手册|记忆)",
    re.I,
)
"""A rule that would have itself, or others, written into rules: nothing of a task asks for that."""


class Parts(NamedTuple):
    """A rule in two: when, and what to do."""

    condition: str
    order: str


def parts(text: str) -> Parts | None:
    """Condition and order of a sentence; ``None`` if it has no condition.

    What stands in quotes or brackets belongs to one of them whole.
    """
    text = cleaned(text)
    plain = _unquoted(text)
    if _is_chinese(text):
        found = _CHINESE_FIRST.match(plain)
        if not (found and found["order"].strip(_ENDS)):
            found = _CHINESE_AFTER.match(plain)
    else:
        found = _ENGLISH_FIRST.match(plain) or _ENGLISH_LAST.match(plain)
    if found is None or not found["order"].strip(_ENDS):
        return None
    condition, order = (text[slice(*found.span(name))] for name in ("condition", "order"))
    return Parts(condition.strip(_APART), order.strip(_APART))


def faults(text: str) -> list[Finding]:
    """What keeps a text from being a rule; nothing if it is one."""
    text = cleaned(text)
    if not text:
        return [Finding("empty", "")]
    found = list[Finding]()
    plain = _unquoted(text)
    quoted = plain.count(_QUOTE)
    for number, where in ((len(plain) - quoted, "outside quotes"), (quoted, "in quotes")):
        if number > LONGEST:
            said = f"{number} characters {where}, at most {LONGEST}"
            found.append(Finding("too long", said))
    if about := _ABOUT_ITSELF.search(plain):
        found.append(Finding("about itself", about[0]))
    if _KANA.search(text):
        return found
    chinese = _is_chinese(text)
    more = re.search(r"[。！？]\s*\S|[.!?]\s+[A-Z]", plain)
    if more:
        found.append(Finding("several", text[more.start() + 1 :].strip()[:60]))
    told = (_CHINESE_TOLD if chinese else _ENGLISH_TOLD).search(plain)
    split = parts(text)
    order = split.order if split else text
    no_order = (_CHINESE_NO_ORDER if chinese else _ENGLISH_NO_ORDER).match(order)
    if told or (no_order and not split):
        found.append(Finding("analysis", (told or no_order)[0]))  # type: ignore[index]
    elif no_order and not (not chinese and _ENGLISH_ORDER.match(order)):
        found.append(Finding("no order", order[:60]))
    if (_CHINESE_VAGUE if chinese else _ENGLISH_VAGUE).match(order):
        found.append(Finding("platitude", order[:60]))
    elif split is None or (_CHINESE_OPEN if chinese else _ENGLISH_OPEN).match(split.condition):
        found.append(Finding("no condition", (split.condition if split else text)[:60]))
    return found


def described(text: str, found: Iterable[Finding]) -> str:
    """What is wrong with a text that is no rule, in words."""
    said = "; ".join(f"{one.fault} ({one.said})" if one.said else one.fault for one in found)
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return f"{shown!r} is no rule: {said}"


def _unquoted(text: str) -> str:
    """The text with each quoted character replaced, so that all others stay where they are."""
    return _QUOTED.sub(lambda match: _QUOTE * len(match[0]), text)


def _is_chinese(text: str) -> bool:
    return bool(_HAN.search(text)) and not _KANA.search(text)
