"""Rules of one form: when the goal is this and that is seen, take such an action.

Rules by comparison are made in this form. They are read back from their sentences, so that whether
one speaks of a step is known exactly, and not by words in common as for what somebody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jitrl.agents.induction import abstracted
from jitrl.agents.rulebook.words import CHINESE, ENGLISH, Words
from jitrl.core.patterns import PLACEHOLDER, filled, fits, values
from jitrl.core.sentences import LONGEST_TEXT, cleaned, folded
from jitrl.types import Rule, State

COMPARED = "rules"
"""Author of the rules that are made by comparison."""
_SEEN = 60  # characters of what a state shows that a rule names
_KEPT = re.compile(r"\[(.*[ .!。;,、\"'“”‘’「」`*]|\[.*\])\]")


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule of this form says.

    Attributes:
        goal: A pattern of goals (``core.patterns``); "" for any.
        where: What tells where one is, as ``seen`` or ``seen_closely`` says it.
        action: With placeholders for values that the goal names.
    """

    goal: str
    where: str
    action: str

    def sentence(self, said: Words) -> str:
        """The rule in words.

        What not to do is left unsaid: a small model takes what is named, whether or not a *not*
        stands before it.
        """
        if not self.goal:
            return said.anywhere.format(where=self.where, action=self.action)
        return said.rule.format(goal=self.goal, where=self.where, action=self.action)

    def written(self, said: Words) -> str | None:
        """The same as a book keeps it, from which it can be read back; ``None`` if it cannot."""
        text = cleaned(self.sentence(said))
        return text if len(text) <= LONGEST_TEXT and read(text) == self else None

    def speaks_of(self, goal: str) -> bool:
        """Whether a goal is one of those it names."""
        return fits(self.goal, folded(goal))

    def at(self, goal: str, state: State, actions: Sequence[str]) -> Case | None:
        """The case of this step, with its values; ``None`` if it speaks of another, or of two."""
        goal, places = folded(goal), (seen(state), seen_closely(state))
        if self.where not in places and not PLACEHOLDER.search(self.where):
            return None
        found = dict[Case, None]()
        for action in actions:
            known = values(self.action, folded(action))
            if known is None:
                continue
            rest = values(filled(self.goal, known), goal) if self.goal else {}
            if rest is None:
                continue
            where = filled(self.where, {**known, **rest})
            if where in places and (self.goal or not known):
                found[Case(filled(self.goal, {**known, **rest}), where, action)] = None
        return next(iter(found)) if len(found) == 1 else None

    def named(self, goal: str) -> tuple[str, ...]:
        """The action that it asks for under a goal; none if the goal leaves a value of it open."""
        known = values(self.goal, folded(goal)) if self.goal else {}
        action = filled(self.action, known or {})
        return () if known is None or PLACEHOLDER.search(action) else (action,)


def case_of(goal: str, where: str, action: str) -> Case:
    """A step as a case of its goal alone, without the values that the goal gives to it."""
    flow = abstracted(folded(goal), [folded(action), where])
    action, where = flow.steps
    return Case(flow.title, where, action)


def read(rule: str) -> Case | None:
    """The case that a sentence of this form speaks of; ``None`` if it has another form."""
    rule = folded(rule)
    for goal_form, any_form in _FORMS:
        found = goal_form.fullmatch(rule)
        if found:
            return Case(found["goal"], found["where"], _action(found["action"]))
        found = any_form.fullmatch(rule)
        if found and not PLACEHOLDER.search(rule):
            return Case("", found["where"], _action(found["action"]))
    return None


def _action(said: str) -> str:
    """The action of a sentence; in books made before, brackets keep an end that sentences lost."""
    kept = _KEPT.fullmatch(said)
    return kept[1] if kept else said


def case_of_rule(rule: Rule) -> Case | None:
    """The case that a rule by comparison speaks of; ``None`` for the rules of all other authors.

    What somebody else wrote has no case, even if it has the form of one.
    """
    return read(rule.text) if rule.author == COMPARED else None


def seen(state: State) -> str:
    """What tells where one is: the place, or the beginning of what is shown."""
    if state.place:
        return folded(state.place)
    text = folded(state.text)
    return _cut(re.split(r"(?<=[.!?。！？])\s|\s\|\|\s", text, maxsplit=1)[0].rstrip(".!?。！？"))


def seen_closely(state: State) -> str:
    """The same with the last thing that is shown there, where one place shows several."""
    last = re.split(r"\n|\s\|\|\s", state.text.strip())[-1]
    return f"{seen(state)} ({_cut(folded(last))})"


def _cut(text: str) -> str:
    return text if len(text) <= _SEEN else text[:_SEEN].rsplit(" ", 1)[0]


def _form(template: str) -> re.Pattern[str]:
    """What reads a sentence back that a template made."""
    source = re.escape(folded(template.format(goal="\ue011", where="\ue012", action="\ue013")))
    for mark, group in (("\ue011", "(?P<goal>.+)"), ("\ue012", "(?P<where>.+?)")):
        source = source.replace(re.escape(mark), group)
    return re.compile(source.replace(re.escape("\ue013"), "(?P<action>.+)"), re.I)


_FORMS = [(_form(said.rule), _form(said.anywhere)) for said in (ENGLISH, CHINESE)]
