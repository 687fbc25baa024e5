"""What a task template is: instances drawn from the shop, each with a way to solve it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from jitrl.envs.codecs.calls import Call, Element
from jitrl.envs.shop.checks import Wanted
from jitrl.envs.shop.data import Shop

Side = Literal["staff", "shopper"]
Word = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a way, by the English label of its element.

    Attributes:
        value: What is typed, chosen or answered; an option of the site's own stands in braces.
        said: The label is one of the site's words, which are translated; what the shop holds is
            not.
    """

    verb: str
    role: str
    label: str
    value: str = ""
    ordinal: int = 1
    said: bool = True

    def canonical(self, word: Word) -> str:
        """The canonical action, its label and option translated by ``word``."""
        if not self.role:
            return Call(self.verb, (self.value,)).canonical()
        element = Element(self.role, word(self.label) if self.said else self.label, self.ordinal)
        value = word(self.value) if self.value.startswith("{") else self.value
        return Call(self.verb, (element, value) if value else (element,)).canonical()


@dataclass(frozen=True, slots=True)
class Draft:
    """One instance.

    Attributes:
        values: What its goal names, by name.
        way: Actions that win it.
        wanted: What is to change; nothing where a page or an answer is asked for.
        page: Path of the page that is to be shown, or "".
        answer: The right answer, or "".
        typed: Values offered for text fields; ``None``: all of the goal.
        zh: Values that are other words in Chinese.
    """

    values: Mapping[str, str]
    way: tuple[Step, ...]
    wanted: Wanted = field(default_factory=Wanted)
    page: str = ""
    answer: str = ""
    typed: tuple[str, ...] | None = None
    zh: Mapping[str, str] = field(default_factory=dict)


Drafts = Callable[[Shop, Random], Iterator[Draft]]
"""All instances in a shop, in an order drawn by the generator."""


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of task.

    Attributes:
        name: ``family:what``.
        side: Who is logged in: the staff start in the back office, the shopper in the shop.
        asks: Kind of answer (a key of ``answers.KINDS``), or "".
        en: Wordings of the goal, taken in turn.
        zh: The same in Chinese.
    """

    name: str
    side: Side
    asks: str
    drafts: Drafts
    en: Sequence[str]
    zh: Sequence[str]

    @property
    def family(self) -> str:
        """The part of the name before the colon."""
        return self.name.partition(":")[0]


def template(name: str, side: Side, asks: str, drafts: Drafts, en: str, zh: str) -> Template:
    """A template whose wordings are divided by semicolons."""
    return Template(name, side, asks, drafts, en.split("; "), zh.split("；"))


def link(label: str, ordinal: int = 1, *, said: bool = True) -> Step:
    """Click on a link."""
    return Step("click", "link", label, ordinal=ordinal, said=said)


def button(label: str, ordinal: int = 1) -> Step:
    """Press a button."""
    return Step("click", "button", label, ordinal=ordinal)


def fill(label: str, value: str, role: str = "textbox") -> Step:
    """Type into a field."""
    return Step("fill", role, label, value)


def choose(label: str, value: str) -> Step:
    """Choose from a list."""
    return Step("select_option", "combobox", label, value)


def tick(label: str) -> Step:
    """Click on a box."""
    return Step("click", "checkbox", label)


def answer(text: str) -> Step:
    """Give an answer."""
    return Step("answer", "", "", text)
