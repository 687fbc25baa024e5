"""The rules of one episode: at which steps each speaks, whether it is told, whether obeyed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from jitrl.agents.rulebook.cases import case_of_rule
from jitrl.agents.rulebook.conditions import content
from jitrl.agents.rulebook.obeying import is_obeyed
from jitrl.agents.rulebook.telling import Telling
from jitrl.agents.rulebook.words import words
from jitrl.core import similarity
from jitrl.core.rules import leading
from jitrl.core.sentences import folded, parts
from jitrl.types import Prompt, Rule, RuleUse, Spoken, State

_HOLDS = 0.5  # share of the words of a condition that must be seen


class Line:
    """A rule that could be told in an episode; whether it is, is drawn where it first speaks.

    Args:
        draw: In [0, 1); it is told if its chance is more.
        is_meant: Whether its condition was found to mean what the goal says, so that it may hold
            where few of its words are seen.

    Attributes:
        chance: That it is told; ``None`` as long as its condition held at no step.
        is_followed: Whether something was done at a step at which it spoke.
    """

    def __init__(self, rule: Rule, goal: str, draw: float, is_meant: bool = False) -> None:
        self.rule, self.goal, self._draw = rule, goal, draw
        self._least = _HOLDS if is_meant else 0.0
        self.chance: float | None = None
        self.is_followed = False
        self.case = case_of_rule(rule)
        split = parts(rule.text)
        self._condition = content(split.condition if split else "")
        self._order = split.order if split else rule.text
        self.occasions = self.obeyed = self.unknown = 0

    @property
    def told(self) -> bool:
        """Whether it is told from the step on at which it first speaks."""
        return self.chance is not None and self._draw < self.chance

    def here(self, state: State, actions: Sequence[str], seen: frozenset[str]) -> Here:
        """What it says at a step.

        Args:
            seen: Words of all that is seen.
        """
        if self.case is not None:
            at = self.case.at(self.goal, state, actions or self.case.named(self.goal))
            if at is None:
                return Here(0.0, "", "")
            return Here(1.0, at.sentence(words(self.goal)), at.action)
        share = len(self._condition & seen) / len(self._condition) if self._condition else 1.0
        return Here(max(share, self._least), self.rule.text.rstrip(" .。．"), "")

    def took(self, here: Here, action: str, actions: Sequence[str]) -> None:
        """Count an occasion, and whether it was obeyed, or nobody can tell."""
        is_as_told = self.obeys(here, action, actions)
        self.is_followed = True
        self.occasions += 1
        self.unknown += is_as_told is None
        self.obeyed += is_as_told is True

    def obeys(self, here: Here, action: str, actions: Sequence[str]) -> bool | None:
        """Whether ``action``, one of ``actions``, is as it says; ``None``: nobody can tell."""
        if here.action:
            return folded(action) == folded(here.action)
        return is_obeyed(self._order, action, actions)


@dataclass(frozen=True, slots=True)
class Here:
    """A rule at a step.

    Attributes:
        holds: How far its condition holds, in [0, 1]; exactly 0 or 1 for a rule by comparison.
        text: With the values of the goal.
        action: That it asks for, where it names one exactly; else "".
    """

    holds: float
    text: str
    action: str


@dataclass(frozen=True, slots=True)
class Said:
    """What the rules of an episode say at one step, those that are held out, too.

    Attributes:
        actions: What can be done there, as far as the prompt lists it.
    """

    lines: tuple[tuple[Line, Here], ...] = ()
    actions: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[str, ...]:
        """Ids of the rules that are told."""
        return tuple(line.rule.id for line, _ in self.lines if line.told)

    def spoken(self, action: str, actions: Sequence[str]) -> tuple[Spoken, ...]:
        """Each rule, and whether ``action`` is as it says.

        Args:
            actions: What could be done, if the prompt did not list it.
        """
        could = self.actions or actions
        return tuple(
            Spoken(line.rule.id, line.told, line.chance, line.obeys(here, action, could))
            for line, here in self.lines
            if line.chance is not None
        )

    def took(self, action: str, actions: Sequence[str]) -> None:
        """The step is over, and ``action`` was done; ``actions`` as in ``spoken``."""
        for line, here in self.lines:
            line.took(here, action, self.actions or actions)


class Told:
    """The rules of one episode.

    Args:
        lines: In the order in which they are told.
        chances: Chance of each of some rules, by its id; none of those that were purged since.
        present: Ids of the rules that may be told by now; what is not among them speaks no more.

    Attributes:
        said: At the step that notes were last asked for; nothing once that step is over.
    """

    def __init__(
        self,
        lines: tuple[Line, ...],
        how: Telling,
        chances: Callable[[Sequence[Rule]], Mapping[str, float]],
        present: Callable[[], Collection[str]],
        excluded: int = 0,
    ) -> None:
        self.lines, self.excluded = lines, excluded
        self._how, self._chances, self._present = how, chances, present
        self.said = Said()
        self._fresh: list[Line] = []  # those that the last notes drew

    def notes(self, state: State, prompt: Prompt) -> str:
        """The told rules that speak at this step, as far as there is room; "" if none does.

        A rule by comparison speaks where its condition holds exactly; of those in free words, the
        ones whose condition is nearest to what is seen. Those of other steps are left out: a small
        model takes any action that is named. Where the prompt lists no actions, a rule by
        comparison names its own. What is held out has its place in the room, too, so that it
        changes nothing for others.
        """
        text = f"{prompt.goal}\n{state.place}\n{state.text}"
        seen = frozenset(similarity.words(text))
        present = self._present() if self.lines else ()
        left = [line for line in self.lines if line.rule.id in present]
        near = [(line, line.here(state, prompt.actions, seen)) for line in left]
        free = [here.holds for line, here in near if line.case is None]
        least = max(_HOLDS, max(free, default=0.0))
        here = [one for one in near if one[1].holds >= (least if one[0].case is None else 1.0)]
        how = self._how
        chosen = leading((at.text for _, at in here), most=how.told, room=how.tokens)
        self.said = Said(tuple(here[place] for place in chosen), tuple(prompt.actions))
        self._fresh = [line for line, _ in self.said.lines if line.chance is None]
        self._draw(self._fresh)
        said = words(prompt.goal)
        told = [said.line.format(rule=at.text) for line, at in self.said.lines if line.told]
        return "\n".join([said.told, *dict.fromkeys(told)]) if told else ""

    def _draw(self, lines: Sequence[Line]) -> None:
        chances = self._chances([line.rule for line in lines]) if lines else {}
        for line in lines:
            line.chance = chances.get(line.rule.id)

    def take_back(self) -> None:
        """The notes that were asked for last never arrived: what they drew first is not drawn."""
        for line in self._fresh:
            line.chance, line.is_followed = None, False
        self._fresh = []

    def over(self, step: Said) -> None:
        """A step is over; what was asked for of the one to come stays."""
        if self.said is step:
            self.said = Said()

    def passed(self) -> None:
        """The present step is over, and these rules had no part in the choice."""
        for line, _ in self.said.lines:
            line.is_followed = True  # the agent had been told them
        self.said = Said()

    @property
    def has_spoken(self) -> bool:
        """Whether a rule was drawn so far, be it told or held out."""
        return any(line.chance is not None for line in self.lines)

    def uses(self, episode: str) -> tuple[RuleUse, ...]:
        """What is logged of it: of the rules that spoke at a step that was taken, told or held out.

        Where a rule spoke at none, its draw changed nothing, so that episode says nothing of it.
        Nor does it where notes were asked for and nothing was done after them: the model failed, or
        the run was over.
        """
        return tuple(
            RuleUse(
                line.rule.id,
                episode,
                line.told,
                line.chance,
                line.occasions,
                line.obeyed,
                line.unknown,
            )
            for line in self.lines
            if line.chance is not None and line.is_followed
        )
