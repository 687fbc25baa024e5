"""What a rulebook says, in English and Chinese; the goal's language is that of its rules."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.language import is_chinese


@dataclass(frozen=True, slots=True)
class Words:
    """Fixed words of one language.

    Attributes:
        rule: A rule made by comparison.
        anywhere: One that holds whatever the goal.
        told: The line above the rules in a prompt.
        line: One of them.
        settled: Two rules of one case in one: the first where a word is named, else the second.
    """

    rule: str
    anywhere: str
    told: str
    line: str
    settled: str


ENGLISH = Words(
    rule="When the goal is “{goal}” and you see {where}, take {action}",
    anywhere="When you see {where}, take {action}",
    told="Rules from earlier attempts; follow those whose condition holds:",
    line="- {rule}.",
    settled="{condition}: if “{word}” is named, {first}; otherwise {second}",
)
CHINESE = Words(
    rule="当目标是“{goal}”且看到{where}时，执行{action}",
    anywhere="当看到{where}时，执行{action}",
    told="此前尝试得出的规则；条件成立时请照做：",
    line="- {rule}。",
    settled="{condition}，若提到“{word}”则{first}，否则{second}",
)


def words(goal: str) -> Words:
    """Those of the goal's language."""
    return CHINESE if is_chinese(goal) else ENGLISH
