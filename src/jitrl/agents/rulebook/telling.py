"""Telling rules: which are fetched for a task, which of them by a draw, and at which steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jitrl.agents.rulebook.cases import case_of_rule
from jitrl.agents.rulebook.conditions import content
from jitrl.agents.rulebook.meaning import Meaning
from jitrl.agents.rulebook.obeying import is_obeyed
from jitrl.agents.rulebook.words import words
from jitrl.core import similarity
from jitrl.core.effect import Use, promise
from jitrl.core.gates import drawn, is_win
from jitrl.core.rules import Signature, Standing, fits, leading, ranked, signature
from jitrl.core.sentences import folded, parts
from jitrl.ports.rules import RuleStore
from jitrl.types import (
    Prompt,
    Rule,
    RuleCounts,
    RuleStatus,
    RuleUse,
    ScoredUse,
    Spoken,
    State,
    Task,
)

MOST_TOLD = 3
"""Rules that a prompt holds at most, unless the agent's option says otherwise."""
ROOM = 200
"""Tokens of all rules in a prompt, unless the agent's option says otherwise."""

_LEAST = 0.2  # chance that a candidate is told at least
_KNOWN = 50  # uses after which half as much is held out
_HOLDS = 0.5  # share of the words of a condition that must be seen


@dataclass(frozen=True, slots=True)
class Telling:
    """How rules are chosen; as the options of the agent.

    Attributes:
        meaning: What finds rules that name no word of a goal; ``None``: words alone do.
    """

    told: int
    tokens: int
    overlap: float
    explore: float
    holdout: float
    success: float
    meaning: Meaning | None = None


class Line:
    """A rule that could be told in an episode; whether it is, is drawn where it first speaks.

    Args:
        draw: In [0, 1); it is told if its chance is more.
        is_meant: Whether its condition was found to mean what the goal says, so that it may hold
            where few of its words are seen.

    Attributes:
        chance: That it is told; ``None`` as long as its condition held at no step.
    """

    def __init__(self, rule: Rule, goal: str, draw: float, is_meant: bool = False) -> None:
        self.rule, self.goal, self._draw = rule, goal, draw
        self._least = _HOLDS if is_meant else 0.0
        self.chance: float | None = None
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


class Told:
    """The rules of one episode.

    Args:
        lines: In the order in which they are told.
        chances: Chance of each of some rules, by its id.
    """

    def __init__(
        self,
        lines: tuple[Line, ...],
        how: Telling,
        chances: Callable[[Sequence[Rule]], Mapping[str, float]],
        excluded: int = 0,
    ) -> None:
        self.lines, self.excluded = lines, excluded
        self._how, self._chances = how, chances
        self._now: list[tuple[Line, Here]] = []
        self._actions: Sequence[str] = ()

    def notes(self, state: State, prompt: Prompt) -> str:
        """The told rules that speak at this step, as far as there is room; "" if none does.

        A rule by comparison speaks where its condition holds exactly; of those in free words, the
        ones whose condition is nearest to what is seen. Those of other steps are left out: a small
        model takes any action that is named. Where the prompt lists no actions, a rule by
        comparison names its own. What is held out has its place in the room, too, so that it
        changes nothing for others.
        """
        self._actions = prompt.actions
        text = f"{prompt.goal}\n{state.place}\n{state.text}"
        seen = frozenset(similarity.words(text))
        near = [(line, line.here(state, prompt.actions, seen)) for line in self.lines]
        free = [here.holds for line, here in near if line.case is None]
        least = max(_HOLDS, max(free, default=0.0))
        here = [one for one in near if one[1].holds >= (least if one[0].case is None else 1.0)]
        how = self._how
        chosen = leading((at.text for _, at in here), most=how.told, room=how.tokens)
        self._now = [here[place] for place in chosen]
        self._draw([line for line, _ in self._now if line.chance is None])
        said = words(prompt.goal)
        told = [said.line.format(rule=at.text) for line, at in self._now if line.told]
        return "\n".join([said.told, *dict.fromkeys(told)]) if told else ""

    def _draw(self, lines: Sequence[Line]) -> None:
        chances = self._chances([line.rule for line in lines]) if lines else {}
        for line in lines:
            line.chance = chances[line.rule.id]

    @property
    def here(self) -> tuple[str, ...]:
        """Ids of the rules in the notes that were asked for last."""
        return tuple(line.rule.id for line, _ in self._now if line.told)

    def spoken(self, action: str, actions: Sequence[str] = ()) -> tuple[Spoken, ...]:
        """The rules that speak at the step that notes were last asked for, and its choice.

        Args:
            actions: What could be done, if the prompt did not list it.
        """
        could = self._actions or actions
        return tuple(
            Spoken(line.rule.id, line.told, line.chance, line.obeys(here, action, could))
            for line, here in self._now
            if line.chance is not None
        )

    def took(self, action: str, actions: Sequence[str] = ()) -> None:
        """What was done at the step that notes were last asked for; that step is over.

        Args:
            actions: What could have been done, if the prompt did not list it.
        """
        for line, here in self._now:
            line.took(here, action, self._actions or actions)
        self._now = []

    def passed(self) -> None:
        """A step is over that these rules had no part in."""
        self._now = []

    def uses(self, episode: str) -> tuple[RuleUse, ...]:
        """What is logged of it: of the rules that spoke at a step, told or held out.

        Where a rule spoke at none, its draw changed nothing, so that episode says nothing of it.
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
            if line.chance is not None
        )


def fetched(
    store: RuleStore,
    task: Task,
    how: Telling,
    rng: np.random.Generator,
    *,
    exclude: frozenset[str],
    until: int | None,
) -> Told:
    """The rules that an episode may be told, each by a draw of its own: so their effects part.

    Args:
        exclude: Tasks; what was distilled from attempts at them alone is left out, and so are the
            uses of a rule there.
        until: Newest version of the memory to look at.

    Raises:
        ModelError: If the embedder failed.
    """
    known = store.rules(scope=task.scope, until=until)
    usable = _usable(known, task.goal)
    about = signature(task.family, task.goal)
    fitting = {rule.id: rule for rule in usable if fits(_of(rule), about) >= how.overlap}
    meant = _meant(usable, task, how.meaning)
    fitting |= {rule.id: rule for rule in usable if rule.id in meant}
    allowed = _allowed(store, fitting, exclude)
    speaking = _speaking(allowed)
    counts = _counted(store, how.success, speaking, exclude, until)
    order = ranked(((id, _standing(rule, counts)) for id, rule in speaking.items()), c=how.explore)
    draws = rng.random(len(order)).tolist()

    def chances(rules: Sequence[Rule]) -> dict[str, float]:
        tried = [rule.id for rule in rules if rule.status == "candidate"]
        uses = _used(store, tried, exclude, until)
        return {
            rule.id: chance_of(
                rule.status, drawn(uses.get(rule.id, ())), counts[rule.id].uses, how.holdout
            )
            for rule in rules
        }

    lines = [
        Line(speaking[id], task.goal, draw, id in meant)
        for id, draw in zip(order, draws, strict=True)
    ]
    return Told(tuple(lines), how, chances, len(fitting) - len(allowed))


def chance_of(status: RuleStatus, uses: Sequence[Use], told: int, holdout: float) -> float:
    """Chance that a rule is told: all but a share, or, of a candidate, by what it promises.

    Args:
        uses: Of a candidate, those that were drawn, oldest first.
        told: In how many scored episodes it was.
        holdout: Share that is held out at first.
    """
    chance = 1.0 - holdout / (1.0 + told / _KNOWN)
    return min(chance, max(_LEAST, promise(uses))) if status == "candidate" else chance


def _meant(rules: Sequence[Rule], task: Task, meaning: Meaning | None) -> frozenset[str]:
    """Those of the type of task that mean what its goal says; a rule by comparison has its goal."""
    if meaning is None:
        return frozenset()
    free = [r for r in rules if r.kind in ("", task.family) and case_of_rule(r) is None]
    return meaning.near(task.goal, free)


def _usable(rules: Sequence[Rule], goal: str) -> list[Rule]:
    """Those whose status and condition let them be told under a goal."""
    present = (rule for rule in rules if rule.status in ("candidate", "active"))
    return [r for r in present if (case := case_of_rule(r)) is None or case.speaks_of(goal)]


def _speaking(rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Those left where one covers others: an active one speaks for itself, else the wider one."""
    active = {id for id, rule in rules.items() if rule.status == "active"}
    left = {id: r for id, r in rules.items() if id in active or active.isdisjoint(r.parents)}
    covered = {parent for rule in left.values() for parent in rule.parents}
    return {id: rule for id, rule in left.items() if id in active or id not in covered}


def _of(rule: Rule) -> Signature:
    return Signature(rule.kind, frozenset(rule.entities))


def _standing(rule: Rule, counts: Mapping[str, RuleCounts]) -> Standing:
    known = counts.get(rule.id, RuleCounts())
    return Standing(rule.entry, known.uses, known.wins)


def _used(
    store: RuleStore, ids: Collection[str], exclude: frozenset[str], until: int | None
) -> dict[str, list[ScoredUse]]:
    """The uses of rules at other than these tasks, oldest first."""
    found = store.rule_uses(ids, until=until) if ids else {}
    return {id: [one for one in uses if one.task not in exclude] for id, uses in found.items()}


def _counted(
    store: RuleStore,
    success: float,
    ids: Collection[str],
    exclude: frozenset[str],
    until: int | None,
) -> Mapping[str, RuleCounts]:
    """How rules have fared at other than these tasks, as far as it says which are told first."""
    if not exclude:
        return store.rule_counts(success, ids, until=until)
    found = dict[str, RuleCounts]()
    for id, uses in _used(store, ids, exclude, until).items():
        scores = [one.score for one in uses if one.use.told]
        found[id] = RuleCounts(len(scores), sum(is_win(score, success) for score in scores))
    return found


def _allowed(
    store: RuleStore, rules: Mapping[str, Rule], exclude: frozenset[str]
) -> dict[str, Rule]:
    """Those that would be there without the excluded tasks, and without what is in quarantine.

    One contrast of another task, without a quarantined attempt, is enough: it gave the same
    sentence. Not so for a rule that was made of others: it needs two such of different tasks, and
    none of an excluded one, which would have a part in its wording. A rule that was added by hand
    rests on none.
    """
    tainted = store.tainted()
    if not exclude and tainted.keys().isdisjoint(rules):
        return dict(rules)
    known = {
        c.id: c for c in store.contrasts(ids={id for r in rules.values() for id in r.evidence})
    }
    allowed = {}
    for id, rule in rules.items():
        contrasts = [known[one] for one in rule.evidence if one in known]
        bad = set(tainted.get(id, ()))
        clean = {c.task for c in contrasts if bad.isdisjoint((*c.good, *c.bad))}
        apart = exclude.isdisjoint(c.task for c in contrasts) or not rule.parents
        enough = len(clean - exclude) >= (2 if rule.parents else 1) or not contrasts
        if enough and apart:
            allowed[id] = rule
    return allowed
