"""What a task template is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jitrl.envs.backoffice.drafts import Drafts
from jitrl.envs.backoffice.site import Question


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of task.

    Attributes:
        name: ``family:what``.
        question: What kind of answer is asked for; "" if something is to be changed.
        en: Wordings of the goal, taken in turn.
        zh: The same in Chinese.
    """

    name: str
    question: Question
    en: Sequence[str]
    zh: Sequence[str]
    drafts: Drafts

    @property
    def family(self) -> str:
        """The part of the name before the colon."""
        return self.name.partition(":")[0]


def template(name: str, question: Question, drafts: Drafts, en: str, zh: str) -> Template:
    """A template whose wordings are divided by semicolons."""
    return Template(name, question, en.split("; "), zh.split("；"), drafts)
