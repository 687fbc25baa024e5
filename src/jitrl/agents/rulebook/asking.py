"""What the model that distils rules is asked, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jitrl.core.faults import Fault
from jitrl.language import is_chinese


@dataclass(frozen=True, slots=True)
class Questions:
    """The fixed words of what is asked in one language.

    Attributes:
        decisive: Where steps are known that made the difference.
        score: What a single attempt's steps are scored by.
        form: What a rule must be, and the form of the answer.
        faults: What is wrong with a sentence that is no rule.
    """

    coach: str
    good: str
    bad: str
    distil: str
    none: str
    decisive: str
    score: str
    form: str
    fault: str
    mend: str
    faults: Mapping[Fault, str]


ENGLISH = Questions(
    coach="You compare good and bad attempts at one task, and write rules for whoever does such a "
    "task next.",
    good="A good attempt, score {score:.2f}:",
    bad="A bad attempt, score {score:.2f}:",
    distil="{attempts}\n\nRules that they were told:\n{told}\n\nWrite at most {most} new rules "
    "that would have turned the bad attempts into good ones. Name actions as they are written "
    "above, and say nothing of the attempts. Values that belong to this task alone (names, "
    "numbers) must not occur. If nothing follows, write none. {form}",
    none="- none",
    decisive="What made the difference was what the good attempt did at these steps:\n{steps}",
    score="The goal: {goal}\n\nAn attempt, score {score:.2f}:\n{steps}\n\nScore each step with a "
    "whole number from -3 to 3: above 0 if it brought the goal nearer, below 0 if it spoiled "
    "something that no later step mended, 0 if it had no effect or was a detour; the size says how "
    'certain that is. Answer with JSON alone: {{"scores": [{n} whole numbers, in the order of the '
    "steps]}}",
    fault="- {rule} ({why})",
    form="Each rule is one imperative sentence with a condition that can be checked, such as: "
    "When the input contains a date, first write it as YYYY-MM-DD. Answer with JSON such as "
    '{"rules": ["When …, …"]}.',
    mend="You wrote these for tasks such as: {goal}\nThey are no rules:\n{faults}\n"
    "Write them again as rules, at most {most}, or leave them out. {form}",
    faults={
        "empty": "it is empty",
        "too long": "it is too long",
        "several": "it is more than one sentence",
        "analysis": "it says what happened, not what to do",
        "platitude": "it says nothing that could be done otherwise",
        "no condition": "it does not say when",
        "no order": "it does not say what to do",
        "about itself": "it speaks of rules, not of the task",
    },
)
CHINESE = Questions(
    coach="你对比同一任务的好坏尝试，为下一个做这类任务的人写出规则。",
    good="一次好的尝试，得分 {score:.2f}：",
    bad="一次差的尝试，得分 {score:.2f}：",
    distil="{attempts}\n\n当时给出的规则：\n{told}\n\n请最多写 {most} 条新规则，"
    "使差的尝试变成好的尝试。"
    "动作请照上文原样写出，不要评论这些尝试，也不要写只属于这个任务的值（名称、数字）。"
    "如果得不出规则，就不写。{form}",
    none="- 无",
    decisive="起决定作用的是好的尝试在以下步骤的做法：\n{steps}",
    score="目标：{goal}\n\n一次尝试，得分 {score:.2f}：\n{steps}\n\n"
    "请给每一步打一个 -3 到 3 的整数：使目标更近为正；弄坏了某处且后来没有补救为负；"
    "没有效果或只是绕路为 0；大小表示把握。"
    '只用 JSON 回答：{{"scores": [按步骤顺序的 {n} 个整数]}}',
    fault="- {rule}（{why}）",
    form="每条规则是一个祈使句，带有可以检查的条件，例如：当输入包含日期时，"
    '先统一成 YYYY-MM-DD。用 JSON 回答，例如 {"rules": ["当……时，……"]}。',
    mend="以下是你为这样的任务写的：{goal}\n它们不是规则：\n{faults}\n"
    "请改写成规则（最多 {most} 条），或者去掉。{form}",
    faults={
        "empty": "为空",
        "too long": "太长",
        "several": "不止一句",
        "analysis": "说的是发生了什么，而不是该做什么",
        "platitude": "没有说出可以改变的做法",
        "no condition": "没有说明在什么条件下",
        "no order": "没有说明该做什么",
        "about itself": "它讲的是规则本身，而不是任务",
    },
)


def questions(goal: str) -> Questions:
    """The words for a goal."""
    return CHINESE if is_chinese(goal) else ENGLISH
