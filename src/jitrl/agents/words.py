"""What notes say, in English and Chinese; the goal's language is the language of its notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jitrl.language import is_chinese
from jitrl.types import Row, State


@dataclass(frozen=True, slots=True)
class Words:
    """All fixed words of the notes of one language.

    Attributes:
        step: A numbered step: ``{n}``, where (``{place}``) and what (``{action}``).
        value: What stands for a value of the goal in a workflow.
    """

    episodes: str
    task: str
    step: str
    succeeded: str
    failed: str
    cut_off: str
    reflections: str
    won: str
    lost: str
    ran_out: str
    again: str
    repeated: str
    workflows: str
    value: str
    guidance: str
    explore: str
    worked_here: str
    repeat_success: str
    avoid: str
    stuck: str
    hurry: str
    known: str
    known_action: str
    taken: str
    untried: str
    oracle: str


ENGLISH = Words(
    episodes="Earlier episodes, the newest last:",
    task="Task: {goal}",
    step="{n}. At {place}: {action}",
    succeeded="Result: succeeded, score {score:g}.",
    failed="Result: failed, score {score:g}.",
    cut_off="Result: ran out of steps, score {score:g}.",
    reflections="What I noted after earlier attempts at this task, the newest last:",
    won="I succeeded. What led there was: {actions}. I do exactly that again.",
    lost="I failed (score {score:g}). I tried: {actions}. It ended at {place} with {action}; "
    "there I choose another action.",
    ran_out="I ran out of steps (score {score:g}). I tried: {actions}.",
    again="Up to {action} it was worth something, so I begin in the same way.",
    repeated="I took {action} {times} times at {place} and got nowhere; I stop repeating it.",
    workflows="Workflows that led to success before:",
    value="{{value {n}}}",
    guidance="Guidance for this task:",
    explore="- Try actions that were not tried before.",
    worked_here="Here this worked before: {action}.",
    repeat_success="This led to success: {actions}.",
    avoid="Do not take {action} at {place}: the attempt failed there.",
    stuck="Do not repeat {action} at {place}: it led nowhere.",
    hurry="There are few steps; go straight to the goal.",
    known="What came of the actions in situations like this one (an action with a higher "
    "advantage is the better choice):",
    known_action="- {action}: tried {visits:g} times, return about {q:.3g}, "
    "advantage {gain:+.3g}{also}",
    taken="; taken here {times} times in this attempt",
    untried="Not tried here yet: {actions}.",
    oracle="The right next action is: {action}",
)

CHINESE = Words(
    episodes="以往的尝试，最新的在最后：",
    task="任务：{goal}",
    step="{n}. 在{place}：{action}",
    succeeded="结果：成功，得分 {score:g}。",
    failed="结果：失败，得分 {score:g}。",
    cut_off="结果：步数用尽，得分 {score:g}。",
    reflections="我在以往尝试此任务后的总结，最新的在最后：",
    won="我成功了。通向成功的步骤是：{actions}。我会完全照做。",
    lost="我失败了（得分 {score:g}）。我尝试了：{actions}。最后在{place}执行 {action} 后结束；"
    "在那里我会换一个动作。",
    ran_out="我用尽了步数（得分 {score:g}）。我尝试了：{actions}。",
    again="到 {action} 为止是有收获的，所以我会以同样的方式开始。",
    repeated="我在{place}执行了 {times} 次 {action}，没有进展；我不再重复它。",
    workflows="以往通向成功的流程：",
    value="{{值{n}}}",
    guidance="此任务的指引：",
    explore="- 尝试以前没有试过的动作。",
    worked_here="以前在这里有效的动作：{action}。",
    repeat_success="这些步骤通向了成功：{actions}。",
    avoid="不要在{place}执行 {action}：那次尝试在那里失败了。",
    stuck="不要在{place}重复 {action}：它没有带来进展。",
    hurry="步数有限，请直接朝目标前进。",
    known="在类似情形下各动作的结果（优势越高的动作越好）：",
    known_action="- {action}：试过 {visits:g} 次，回报约 {q:.3g}，优势 {gain:+.3g}{also}",
    taken="；本次尝试中已在此执行 {times} 次",
    untried="在这里还没有试过：{actions}。",
    oracle="正确的下一个动作是：{action}",
)


def words(goal: str) -> Words:
    """The words for a goal."""
    return CHINESE if is_chinese(goal) else ENGLISH


def look(state: State, most: int = 60) -> str:
    """A state in one line of at most ``most`` characters."""
    text = " ".join((state.text or state.place).split())
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}…"


def listed(actions: Iterable[str], most: int = 20) -> str:
    """Actions in one line: the first ones, and how many more there were."""
    known = list(actions)
    shown = known[:most]
    more = [f"… (+{len(known) - most})"] if len(known) > most else []
    return "; ".join([*shown, *more])


def steps(rows: Sequence[Row], known: Words, most: int = 60) -> str:
    """Steps, one a line, with what was seen cut to ``most`` characters."""
    return "\n".join(
        known.step.format(n=n, place=look(row.state, most), action=row.action)
        for n, row in enumerate(rows, 1)
    )
