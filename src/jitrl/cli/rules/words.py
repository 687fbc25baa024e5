"""What `jitrl rules ls`, `show` and `why` say, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jitrl.report.words import Language
from jitrl.types import RuleStatus


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in. What a memory keeps is told as it was written."""

    statuses: Mapping[RuleStatus, str]
    tainted: str
    heads: tuple[str, ...]
    unknown: str
    none: str
    effect: str
    anew: str
    beyond: str
    disputed: str
    placeholder: str
    about: str
    by: Mapping[str, str]
    any_kind: str
    any_goal: str
    since: str
    born: str
    shown: str
    nothing: str
    figures: tuple[str, ...]
    told: str
    held: str
    steps: str
    last: str
    never: str
    against: str
    rests: str
    origin: str
    stands: str
    round: str
    no_bad: str
    no_reason: str
    evidence: str
    change: str
    answers: str
    attempt: str
    joint: str


ENGLISH = Words(
    statuses={
        "candidate": "candidate",
        "active": "active",
        "retired": "retired",
        "quarantined": "quarantined",
    },
    tainted=" (tainted)",
    heads=(
        *("rule", "id", "status", "effect", "told", "held out", "wins", "obeyed"),
        "disagrees with",
    ),
    unknown="{known}, {unknown} unknown",
    none="no rules",
    effect="Effect: mean score told minus held out, with {level:.0%} bounds that hold at every "
    "look. Wins: of the episodes that were told. Obeyed: of the steps at which its condition "
    "held; unknown where it names none of the actions there.",
    anew="Where an effect changed, it is of the uses since then; --json has how many.",
    beyond="Where an estimate is beyond its bounds, the nearer bound is shown; --json has the "
    "estimate.",
    disputed="Rules that disagree speak of one case and cannot both be followed: retire one of "
    "them, or leave it to their effects.",
    placeholder="{0}: whatever the goal of the task has in its place.",
    about="{id}: {status}, by {by}, for {kind}, scope {scope}; key words: {words}",
    by={"": "comparison of attempts", "human": "hand"},
    any_kind="any kind of task",
    any_goal="any goal",
    since="{status} since: {reason}",
    born="in the book since {day}, entry score {entry:.2f}",
    shown="effect {bounds}: mean score told minus held out, by draws",
    nothing="effect not known: no scored episode could be told it yet",
    figures=("episodes", "wins", "mean score", "condition held", "obeyed", "unknown"),
    told="told",
    held="held out",
    steps="Condition held, obeyed, unknown: steps of these episodes; unknown where the rule names "
    "none of the actions there. The effect allows for the chance of each draw and for how hard "
    "each task is, so it may differ from the means.",
    last="last told {day}",
    never="never told",
    against="disagrees with {ids}",
    rests="rests on episodes in quarantine: {keys}",
    origin="jitrl rules why {file} {id} says where it comes from",
    stands="stands for {ids}",
    round="round {round} of {task}, episodes (scores): {good} against {bad}",
    no_bad="none",
    no_reason="no reason given",
    evidence="more evidence",
    change="version {version}, {day}: {what}; {reason}{by}",
    answers=" (by {principal})",
    attempt="jitrl memory show {file} EPISODE shows an attempt",
    joint=", ",
)

CHINESE = Words(
    statuses={
        "candidate": "候选",
        "active": "在用",
        "retired": "已停用",
        "quarantined": "已隔离",
    },
    tainted="（依据已隔离）",
    heads=("规则", "id", "状态", "效果", "告知", "留出", "获胜", "照做", "与此矛盾"),
    unknown="{known}，{unknown} 未知",
    none="没有规则",
    effect="效果：告知时的平均得分减去留出时的平均得分，{level:.0%} 的上下界每次查看都成立。"
    "获胜：在被告知的回合中。照做：在条件成立的步骤中；规则没有点出那里任何动作的，算未知。",
    anew="效果变化过的，只按此后的使用计算；--json 给出其数目。",
    beyond="估计超出上下界时，显示较近的界；--json 给出估计本身。",
    disputed="相矛盾的规则说的是同一种情况，不能都照做：停用其中一条，或交给效果来决定。",
    placeholder="{0}：任务目标在这个位置上写的内容。",
    about="{id}：{status}，来自{by}，适用于{kind}，作用域 {scope}；关键词：{words}",
    by={"": "尝试之间的比较", "human": "手工"},
    any_kind="任何类型的任务",
    any_goal="任何目标",
    since="变为{status}的原因：{reason}",
    born="{day} 进入手册，入册得分 {entry:.2f}",
    shown="效果 {bounds}：按抽签，告知时的平均得分减去留出时的平均得分",
    nothing="效果未知：还没有一个有分数的回合可能被告知它",
    figures=("回合", "获胜", "平均得分", "条件成立", "照做", "未知"),
    told="告知",
    held="留出",
    steps="条件成立、照做、未知：这些回合中的步骤；规则没有点出那里任何动作的，算未知。效果考虑了每次抽签的概率"
    "和每个任务的难度，所以可能与平均得分不同。",
    last="最近一次告知 {day}",
    never="从未告知",
    against="与 {ids} 相矛盾",
    rests="依据的回合已隔离：{keys}",
    origin="jitrl rules why {file} {id} 说明它从何而来",
    stands="代表 {ids}",
    round="{task} 的第 {round} 轮，回合（得分）：{good} 对比 {bad}",
    no_bad="无",
    no_reason="没有给出理由",
    evidence="新增证据",
    change="版本 {version}，{day}：{what}；{reason}{by}",
    answers="（{principal}）",
    attempt="jitrl memory show {file} 回合 可以查看一次尝试",
    joint="、",
)

LANGUAGES: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}
