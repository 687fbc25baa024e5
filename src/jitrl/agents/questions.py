"""What agents ask the model that writes, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.language import is_chinese


@dataclass(frozen=True, slots=True)
class Questions:
    """The fixed words of what is asked in one language.

    Attributes:
        reflect, induce, evolve: What is wanted; the episode comes before it.
    """

    critic: str
    episode: str
    earlier: str
    reflect: str
    librarian: str
    induce: str
    coach: str
    present: str
    evolve: str


ENGLISH = Questions(
    critic="You work in an environment, one action at a time, and look back at what you did. "
    "Answer in a few plain sentences.",
    episode="Goal: {goal}\n\nWhat you did:\n{steps}\n\n{result}",
    earlier="What you noted before:\n{notes}",
    reflect="Say what went wrong or right, at which step, and what you will do at the next "
    "attempt at the same task. Name actions as they are written above. At most {most} characters.",
    librarian="You find procedures that can be used again in records of successful work.",
    induce="Write down the procedures in this record that would help with similar tasks. Each has "
    "at least two steps, in their order, each step being an action as it is written above. Replace "
    "values that belong to this goal alone (names, numbers) by placeholders such as {value}. "
    'Answer with JSON such as {{"workflows": [{{"description": "…", "steps": ["…", "…"]}}]}}.',
    coach="You improve the instructions of a worker who has just made an attempt at a task and "
    "will make another.",
    present="The worker's present instructions:\n{configuration}",
    evolve="Write better ones for the next attempt: `guidance`, a list of short sentences; "
    "`remember`, actions that were right and where (`place` as it is written above); "
    "`temperature` from {least:g} (does the most likely) to {most:g} (tries much); `explore`, "
    "whether to ask for actions not tried before; `notes`, what is shown: all, guidance or memory. "
    'Answer with JSON such as {{"guidance": ["…"], "remember": [{{"place": "…", "action": "…"}}], '
    '"temperature": 1.0, "explore": false, "notes": "all"}}.',
)

CHINESE = Questions(
    critic="你在一个环境中工作，每次执行一个动作，现在回顾你所做的事。请用几句平实的话回答。",
    episode="目标：{goal}\n\n你所做的：\n{steps}\n\n{result}",
    earlier="你以前的总结：\n{notes}",
    reflect="请说明哪里做错或做对了、在哪一步，以及下次尝试同一任务时你会怎么做。"
    "动作请照上文原样写出。最多 {most} 个字符。",
    librarian="你从成功的工作记录中找出可以再次使用的流程。",
    induce="请写出这份记录中对类似任务有帮助的流程。每个流程至少两步，按先后顺序，"
    "每一步都是上文原样写出的动作。把只属于这个目标的值（名称、数字）替换为占位符，例如 {value}。"
    '用 JSON 回答，例如 {{"workflows": [{{"description": "…", "steps": ["…", "…"]}}]}}。',
    coach="你负责改进一名工作者的指示，他刚刚尝试了一项任务，还会再试一次。",
    present="工作者目前的指示：\n{configuration}",
    evolve="请为下一次尝试写出更好的指示：`guidance` 是简短句子的列表；`remember` 是正确的动作及其"
    "所在位置（`place` 照上文原样）；`temperature` 从 {least:g}（做最可能的）到 {most:g}"
    "（多尝试）；`explore` 表示是否要求尝试以前没有试过的动作；`notes` 表示"
    "显示什么：all、guidance 或 memory。用 JSON 回答，例如 "
    '{{"guidance": ["…"], "remember": [{{"place": "…", "action": "…"}}], '
    '"temperature": 1.0, "explore": false, "notes": "all"}}。',
)


def questions(goal: str) -> Questions:
    """The words for a goal."""
    return CHINESE if is_chinese(goal) else ENGLISH
