"""The words of labelling in the terminal, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.report.words import Language


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in."""

    rubric: str
    keys: str
    goal: str
    place: str
    before: str
    action: str
    after: str
    not_recorded: str
    same: str
    ask: str
    refused: str
    first: str
    finished: str
    left: str


ENGLISH = Words(
    rubric=(
        "Did the step bring the task nearer to its goal (1 to 3) or away from it (-1 to -3)? The "
        "size is how certain you are. 0: no effect, or undone at once."
    ),
    keys="-3 … 3 score · u cannot tell · b back · q quit (goes on here next time)",
    goal="Goal",
    place="episode {i} of {n}, step {t} of {of}",
    before="page before",
    action="action",
    after="page after",
    not_recorded="(not recorded)",
    same="(the same page)",
    ask="score> ",
    refused="{text!r} is none of: {keys}",
    first="this is the first step",
    finished="nothing is left to do; {n} labels in {path}",
    left="{n} labels in {path}; still to do: {left} steps",
)

CHINESE = Words(
    rubric=(
        "这一步使任务更接近目标（1 到 3）还是更远离目标（-1 到 -3）？大小表示把握。"
        "没有效果或随即被撤销：0。"
    ),
    keys="-3 … 3 打分 · u 无法判断 · b 返回上一步 · q 退出（下次从这里继续）",
    goal="目标",
    place="第 {i}/{n} 个回合，第 {t}/{of} 步",
    before="之前的页面",
    action="动作",
    after="之后的页面",
    not_recorded="（没有记录）",
    same="（页面没有变化）",
    ask="打分> ",
    refused="{text!r} 不在可选范围内：{keys}",
    first="已经是第一步",
    finished="全部 {n} 步都已标注，保存在 {path}",
    left="{path} 中有 {n} 个标注，还剩 {left} 步",
)

LANGUAGES: dict[Language, Words] = {"en": ENGLISH, "zh": CHINESE}
