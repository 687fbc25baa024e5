"""Prompts: a step as text for a model, in English or Chinese.

The observation comes first and the goal last: prompts about one page then share their beginning,
which the embedded model remembers, whatever the goal is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from jitrl.language import is_chinese
from jitrl.models.calls import Message
from jitrl.types import Prompt

Language = Literal["auto", "en", "zh"]

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Template:
    """All fixed words of one language.

    Attributes:
        no_goal: The content-free goal of calibration.
        action_lead, letter_lead: How the model's turn begins.
        any_actions: Asks for several proposals with confidences; ``{count}`` is how many.
    """

    system: str
    observation: str
    history: str
    nothing: str
    goal: str
    no_goal: str
    options: str
    action_lead: str
    letter_lead: str
    letter: str
    number: str
    confidences: str
    any_action: str
    any_actions: str


ENGLISH = Template(
    system="You work in an environment, one action at a time. Choose the action that leads to "
    "the goal.",
    observation="Observation:",
    history="Actions so far:",
    nothing="none",
    goal="Goal:",
    no_goal="N/A",
    options="Possible actions:",
    action_lead="Next action:",
    letter_lead="Answer:",
    letter="Answer with the letter of the best next action and nothing else.",
    number='Answer with the number of the best next action as JSON, such as {"number": 2}.',
    confidences="For each possible action say how sure you are that it is the best next one, "
    "from 0 to 100. The numbers need not add up to 100. Answer with JSON that maps the number of "
    'each action to how sure you are, such as {"1": 20, "2": 85}.',
    any_action='Answer with the best next action as JSON, such as {"action": "…"}.',
    any_actions="Propose at most {count} different next actions and say for each how sure you are "
    "that it is the best one, from 0 to 100. Answer with JSON such as "
    '{{"actions": [{{"action": "…", "confidence": 85}}]}}.',
)

CHINESE = Template(
    system="你在一个环境中工作，每次执行一个动作。请选择能够达成目标的动作。",
    observation="当前页面：",
    history="已执行的动作：",
    nothing="无",
    goal="目标：",
    no_goal="无",
    options="可选动作：",
    action_lead="下一个动作：",
    letter_lead="答案：",
    letter="只回答最佳下一个动作的字母，不要输出其他内容。",
    number='用 JSON 回答最佳下一个动作的编号，例如 {"number": 2}。',
    confidences="请对每个可选动作给出它是最佳下一步的把握，0 到 100，总和不必为 100。"
    '用 JSON 回答，把动作编号映射到把握，例如 {"1": 20, "2": 85}。',
    any_action='用 JSON 回答最佳的下一个动作，例如 {"action": "…"}。',
    any_actions="最多提出 {count} 个不同的下一个动作，并给出每个动作是最佳下一步的把握，0 到 100。"
    '用 JSON 回答，例如 {{"actions": [{{"action": "…", "confidence": 85}}]}}。',
)


@dataclass(frozen=True, slots=True)
class Style:
    """How steps are put into words.

    Attributes:
        language: ``auto`` takes Chinese for a goal with Chinese characters and no kana.
        history: How many of the latest actions are shown.
    """

    language: Language = "auto"
    history: int = 8

    def template(self, prompt: Prompt) -> Template:
        """The words for this step."""
        if self.language == "auto":
            return CHINESE if is_chinese(prompt.goal) else ENGLISH
        return CHINESE if self.language == "zh" else ENGLISH

    def messages(
        self,
        prompt: Prompt,
        *,
        question: str = "",
        options: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> tuple[Message, ...]:
        """The step as a chat; ``options`` are listed under ``labels``, the question comes last."""
        words = self.template(prompt)
        shown = prompt.history[-self.history :] if self.history else ()
        parts = [
            prompt.notes,
            f"{words.observation}\n{prompt.observation}",
            f"{words.history} {'; '.join(shown) or words.nothing}" if self.history else "",
            f"{words.goal} {prompt.goal}",
        ]
        if options:
            listed = (f"{label}. {text}" for label, text in zip(labels, options, strict=True))
            parts.append("\n".join([words.options, *listed]))
        parts.append(question)
        text = "\n\n".join(part for part in parts if part)
        return (Message("system", words.system), Message("user", text))

    def content_free(self, prompt: Prompt) -> Prompt:
        """The same step under a goal that says nothing, in the same language, without notes.

        Notes are there to change the scores; subtracting them again would undo what they say.
        """
        return replace(prompt, goal=self.template(prompt).no_goal, notes="")
