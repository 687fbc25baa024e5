"""What keeps a sentence from being a rule.

A rule is one imperative sentence with a condition that can be checked: *When the input contains a
date, first write it as YYYY-MM-DD*. What only explains what happened, or tells nobody what to do
otherwise (*think more*), is none, and neither is one that orders its own copying. English and
Chinese are read. What is mostly in another script (Japanese, Korean, Russian …) is not: of it only
the length is checked, and whether it orders its copying in English or Chinese words. What is in
Latin letters is taken for English, so a sentence in French has no condition that is known.

What happened is a condition like any other (*if the payment failed*), so only the order is read for
it, and the whole text where there is no condition.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from jitrl.core.clauses import MASK, is_chinese, split, unquoted
from jitrl.core.sentences import cleaned, without_courtesies
from jitrl.core.spreading import spreads

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

_LOOKED_AT = 4 * LONGEST  # characters of a text, with unseen ones, bullets and quotes
_SHOWN = 80  # characters of a text in a message
_READ = re.compile(r"[a-z\u4e00-\u9fff]", re.I)
_KANA = re.compile(r"[\u3041-\u30fa\u30fc-\u30ff]")
_MOST_KANA = 0.2  # of the letters of a text that is Chinese and names something in Japanese


class Finding(NamedTuple):
    """Why a text is no rule.

    Attributes:
        fault: What is wrong.
        said: The part of the text that shows it.
    """

    fault: Fault
    said: str


_PAST = """
added answered asked called canceled cancelled changed checked chose clicked closed completed
confirmed copied deleted did edited entered failed filled finished forgot found gave got had ignored
left made missed navigated opened passed picked pressed refunded repeated returned ran said saved
scored searched selected sent skipped solved started stopped submitted succeeded took tried typed
used visited waited went worked wrote
"""
_ENGLISH_NO_ORDER = re.compile(
    r"^(?:the|a|an|this|that|these|those|it|its|they|there|he|she|some|many|most|our|their"
    r"|because|since|so|due|attempts|episodes?|runs|candidates?|is|are|was|were|why|how|what|who|i"
    rf"|{'|'.join(_PAST.split())})\b",
    re.I,
)
_ENGLISH_ATTEMPT = re.compile(
    r"\bin (?:this|that|the \w+) (?:attempt|episode|trajectory)\b"
    r"|\bthe (?:\w+ )?(?:best|worst|bad|good|failing|failed|successful|other|earlier|previous) "
    r"(?:attempt|candidate|run|episode|trajectory)s?\b"
    r"|\bbecause the (?:agent|assistant|model|attempt|run|episode)\b",
    re.I,
)
_ENGLISH_HAPPENED = re.compile(
    r"^(?:(?!(?:that|which|who|what|you|it|they|if|any|all|every|each)\b)[\w']+ ){1,2}"
    r"(?:was|were|(?:failed|succeeded|scored)(?= (?:because|at|to|in|on|when|since|as)\b|\W*$))\b"
    r"|^(?:(?!(?:bring|ping|ring)\b)\w{2,}ing|as|since|so|in|each|the|a|an|it|they|he|she|i|this"
    r"|that)\b(?:(?!\b(?:that|which|who|what|you)\b).)*?\b(?:was|were|failed|succeeded|scored)\b",
    re.I,
)
_ENGLISH_VAGUE = re.compile(
    r"^(?!try again\W*$)(?:always |never |please |make sure (?:to|you) |be sure to |try to "
    r"|remember to )*"
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
    r"|^in (?:any|every|each|this|that) case$|^(?:in|for|at|with|on|to) (?:all cases|general"
    r"|particular|principle|doubt|safety|care|time|all times|best results|good measure|the end"
    r"|this way|the whole|addition|short|order|be safe|be sure|succeed|do (?:well|better)"
    r"|avoid (?:mistakes|errors)|your best ability)$",
    re.I,
)

_CHINESE_NO_ORDER = re.compile(
    r"^(?:这|那|因为|由于|原因|失败|成功|本次|上次|第[一二三四五六七八九十\d]+次|候选|尝试(?!登录|重新|再次|用|打开|点击)"
    r"|智能体|模型|它|他|她|该|可能)"
)
_CHINESE_ATTEMPT = re.compile(
    r"(?:本|这|上|该|那)次(?:尝试|回合)|(?:最好|最差|较好|较差|好|差|成功|失败)的(?:那次)?(?:尝试|回合|轨迹|候选)"
)
_CHINESE_HAPPENED = re.compile(
    r"^(?:[^的，,如果]{0,8})(?:失败了|成功了|得分|没能|未能|导致了)|之所以|原因是|是因为|导致了失败"
)
_CHINESE_VAGUE = re.compile(
    r"^(?:请|要|应该?|必须|务必|一定要|先|再)*(?:多|更|再|好好|仔细|认真|谨慎|小心|全面|深入|努力|用心|专心)?地?"
    r"(?:思考|想想?|想清楚|考虑|检查一下|努力|注意|留意|小心|谨慎|认真|仔细|专注|反思|分析|尝试|做好)"
    r"(?:一下|清楚|问题|任务|情况|细节|全面|一点|一些|再行动|后再行动)*$"
)
_CHINESE_OPEN = re.compile(
    r"^(?:当|如果?|若|在)?(?:有)?(?:必要|需要|合适|适当|可能|不确定)(?:的?时候?|时|的话|的情况下)?$"
    r"|^(?:为了?|要)(?:安全|保险|稳妥|做好|成功|准确)(?:起见)?$|^(?:在|无论|不管)?(?:任何|所有|什么)?情况下?$"
)


def faults(text: str) -> list[Finding]:
    """What keeps a text from being a rule; nothing if it is one."""
    if len(text) > _LOOKED_AT:
        return [Finding("too long", f"{len(text)} characters, at most {LONGEST} outside quotes")]
    text = cleaned(text)
    if not text:
        return [Finding("empty", "")]
    found = list[Finding]()
    plain = unquoted(text)
    quoted = plain.count(MASK)
    for number, where in ((len(plain) - quoted, "outside quotes"), (quoted, "in quotes")):
        if number > LONGEST:
            said = f"{number} characters {where}, at most {LONGEST}"
            found.append(Finding("too long", said))
    if about := spreads(plain):
        found.append(Finding("about itself", about))
    if _is_unread(plain):
        return found
    more = re.search(r"[。！？]\s*\S|[.!?]\s+[A-Z]", plain)
    if more:
        found.append(Finding("several", text[more.start() + 1 :].strip()))
    made = split(text)
    order = without_courtesies(made.order if made else text.rstrip(" .。!！"))
    chinese = is_chinese(text)
    told = _told(unquoted(order), chinese)
    no_order = (_CHINESE_NO_ORDER if chinese else _ENGLISH_NO_ORDER).match(order)
    if told or (no_order and not made):
        found.append(Finding("analysis", told or no_order[0]))  # type: ignore[index]
    elif no_order:
        found.append(Finding("no order", order))
    if (_CHINESE_VAGUE if chinese else _ENGLISH_VAGUE).match(order):
        found.append(Finding("platitude", order))
    elif made is None or (_CHINESE_OPEN if chinese else _ENGLISH_OPEN).match(made.condition):
        found.append(Finding("no condition", made.condition if made else text))
    return found


def _is_unread(plain: str) -> bool:
    """Whether a text is in a script that is neither Latin nor Chinese, so that nobody reads it."""
    letters = [c for c in plain if c.isalpha()]
    read = sum(bool(_READ.match(unicodedata.normalize("NFD", c)[0])) for c in letters)
    kana = sum(bool(_KANA.match(c)) for c in letters)
    return kana > _MOST_KANA * len(letters) or 2 * read < len(letters)


def described(text: str, found: Iterable[Finding]) -> str:
    """What is wrong with a text that is no rule, in words."""
    shown, whole, said = _short(text), _short(cleaned(text[:_LOOKED_AT])), list[str]()
    for one in found:
        is_all = _short(one.said) == whole  # and stands there already
        said.append(
            _MEANT[one.fault] + (f" ({_short(one.said)})" if one.said and not is_all else "")
        )
    return f"{shown!r} is no rule: {'; '.join(said)}"


def _short(text: str) -> str:
    """As much of a text as a message shows."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


_MEANT: Mapping[Fault, str] = {
    "empty": "it is empty",
    "too long": "it is too long",
    "several": "it is more than one sentence",
    "analysis": "it tells what happened, not what to do",
    "platitude": "it asks for care or thought, and names nothing to do otherwise",
    "no condition": "it has no condition that can be checked; English and Chinese are read",
    "no order": "it does not say what to do",
    "about itself": "it asks to be copied, or to stand above other rules",
}
"""What each fault means, in words."""


def _told(order: str, chinese: bool) -> str:
    """What an order tells of attempts, or of what happened, in place of what to do; "" if not."""
    forms = (
        (_CHINESE_ATTEMPT, _CHINESE_HAPPENED) if chinese else (_ENGLISH_ATTEMPT, _ENGLISH_HAPPENED)
    )
    found = next(filter(None, (form.search(order) for form in forms)), None)
    return found[0] if found else ""
