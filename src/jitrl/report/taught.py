"""What other tasks taught a decision, in words: English and Chinese for each kind of feature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jitrl.core.features import Feature
from jitrl.report.words import Language

_SHORT = 40  # characters of a name that a line shows


@dataclass(frozen=True, slots=True)
class Words:
    """One language; braces are filled in.

    Attributes:
        features: First part of a feature's name → what it says, by its other parts.
    """

    column: str
    title: str
    followed: str
    feature: str
    nats: str
    taken: str
    episodes: str
    more: str
    start: str
    more_episodes: str
    note: str
    features: Mapping[str, str]


WORDS: dict[Language, Words] = {
    "en": Words(
        column="by other tasks",
        title="What other tasks taught: {0:+.2f} nats for {1} against {2}",
        followed="Learned from {tasks} solved tasks; the nearest goal is {likeness:.0%} alike. "
        "Followed with strength {strength:g} (how well held-out tasks were predicted) × trust "
        "{trust:.2f} (falls with failed attempts).",
        feature="because of",
        nats="nats",
        taken="did so",
        episodes="learned from",
        more="… {0} more",
        start="the start",
        more_episodes="{0} and {1} more",
        note="by other tasks: nats by what those taught. did so: solved tasks that took an action "
        "with this, of those that came by one.",
        features={
            "verb": "any {2}, where there is {1}",
            "named": "how much of the label the goal names",
            "named+": "how much of the label the goal names, for {1}",
            "goal": "the goal says “{1}”: {2}",
            "again": "already done in this episode",
            "page": "on {1}: {2}",
            "form": "{2}, where there is {1}",
            "last": "after {1}: {2}",
            "ahead": "how much the goal names of what is behind it",
            "two ahead": "how much the goal names of what is two pages behind it",
            "action": "{1}",
            "last verb": "{2} after {1}",
            "same object": "{2} after {1}, the same thing",
            "other object": "{2} after {1}, another thing",
            "object": "{1} … {3}",
            "pair": "{1} {2} → {3}",
            "fits": "{1} goes with {2}",
            "read": "{1} what was read names",
            "asked": "“{1}” was read of the thing: {2}",
            "listed": "the thing stands in a list that was read: {1}",
            "as read": "just what was read",
        },
    ),
    "zh": Words(
        column="由其他任务",
        title="其他任务所教：{1} 比 {2} 多 {0:+.2f} 奈特",
        followed="学自 {tasks} 个已完成的任务；目标最相近者的相似度为 {likeness:.0%}。"
        "采纳强度 {strength:g}（对留出任务预测得有多准）× 信任 {trust:.2f}（随失败次数下降）。",
        feature="原因",
        nats="奈特",
        taken="这样做的",
        episodes="学自",
        more="…… 另有 {0} 个",
        start="开头",
        more_episodes="{0} 及另外 {1} 次",
        note="由其他任务：它们所教的加减分（奈特）。这样做的：遇到这类动作的已完成任务中，有多少选了它。",
        features={
            "verb": "有 {1} 的地方：任何 {2}",
            "named": "目标提到标签的多少",
            "named+": "目标提到标签的多少（{1}）",
            "goal": "目标含“{1}”：{2}",
            "again": "本次已做过",
            "page": "在 {1}：{2}",
            "form": "有 {1} 的地方：{2}",
            "last": "在 {1} 之后：{2}",
            "ahead": "目标提到其后一页内容的多少",
            "two ahead": "目标提到其后两页内容的多少",
            "action": "{1}",
            "last verb": "{1} 之后 {2}",
            "same object": "{1} 之后 {2}，同一物体",
            "other object": "{1} 之后 {2}，另一物体",
            "object": "{1} … {3}",
            "pair": "{1} {2} → {3}",
            "fits": "{1} 与 {2} 相配",
            "read": "{1} 读到过的东西",
            "asked": "读到要对它“{1}”：{2}",
            "listed": "它在读到的清单上：{1}",
            "as read": "正是读到的做法",
        },
    ),
}


def said(feature: Feature, words: Words, foreign: Callable[[str], str] = str) -> str:
    """A feature in words; ``foreign``: how a text of others is shown."""
    kind, *parts = feature
    pattern = words.features["named+" if kind == "named" and parts else kind]
    shown = [foreign(_short(part)) or words.start for part in parts]
    return pattern.format(kind, *shown)


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"
