"""Distilling: a round of attempts becomes a contrast, and the contrast rules of the book."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from jitrl.agents.past import Past, PastEpisode
from jitrl.agents.rulebook import contrasts
from jitrl.agents.rulebook.cases import COMPARED, Case, case_of_rule
from jitrl.agents.rulebook.conflicts import disagree, settled
from jitrl.agents.rulebook.credit import Credit, by_contrast
from jitrl.agents.rulebook.partings import Parting
from jitrl.agents.rulebook.shared import Lesson, Way, contradicts, lesson, way_of
from jitrl.agents.rulebook.written import written
from jitrl.core.patterns import fits, key_words
from jitrl.core.rules import diversity
from jitrl.core.sentences import cleaned, rule_id
from jitrl.core.similarity import words as words_of
from jitrl.memory.scoped import scoped
from jitrl.ports import Writer
from jitrl.ports.rules import RuleStore
from jitrl.types import Contrast, Rule, RuleStatus, Task

_log = logging.getLogger(__name__)
_ALIKE = 0.1  # diversity below which attempts are nearly the same
_SAME = (
    "attempts at task=%s are nearly the same (diversity %.2f), and none is good: more of them "
    "teach nothing; raise the temperature"
)


@dataclass(frozen=True, slots=True)
class Round:
    """Attempts that teach something.

    Attributes:
        found: Good ones against bad ones.
        kept: What is stored of them.
        texts: Rules that a model wrote of them; ``None`` where attempts are compared.
        steps: Those of the best attempt that made the difference, the heaviest first.
    """

    found: contrasts.Contrast
    kept: Contrast
    texts: tuple[str, ...] | None = None
    steps: tuple[Parting, ...] = ()


@dataclass(frozen=True, slots=True)
class Distiller:
    """Makes rules of rounds of attempts.

    Attributes:
        writer: The model that writes them; ``None`` finds them where attempts parted.
        most: New rules of one contrast at most.
        status: That new rules begin with.
        named: Principals whose contrasts are looked at beside the agent's own, which have none;
            ``None`` for all.
        credit: Names the steps that rules are made of.
        tells_steps: Whether a model that writes is told them, too; those of a comparison it need
            not be, as it compares the attempts itself.
    """

    store: RuleStore
    writer: Writer | None
    most: int
    status: RuleStatus = "candidate"
    named: Collection[str] | None = None
    credit: Credit = by_contrast
    tells_steps: bool = False

    @property
    def author(self) -> str:
        """What the rules say of where they come from."""
        return COMPARED if self.writer is None else self.writer.name

    def round(
        self,
        task: Task,
        attempts: Sequence[PastEpisode],
        number: int,
        *,
        gap: float,
        threshold: float,
    ) -> Round | str:
        """What a round teaches, once, or why it teaches nothing; it may take minutes.

        Args:
            number: Of the round, from 1 on.
            gap: Least difference between the best and the worst that teaches.
            threshold: Least score of the best.

        Raises:
            ConfigError: If an attempt that is played again comes to another score.
            BudgetExceeded, ModelError: If the model could not be asked.
        """
        found = contrasts.contrast(attempts, gap=gap, threshold=threshold)
        if isinstance(found, str):
            apart = diversity([[row.action for row in attempt.rows] for attempt in attempts])
            if apart < _ALIKE and max(a.score for a in attempts) < threshold:
                _log.warning(_SAME, task.id, apart)
            return found
        kept = _kept(task, found, number)
        if self.store.contrasts(ids=[kept.id]):
            return "this round was distilled already"
        return self.again(found, kept)

    def again(self, found: contrasts.Contrast, kept: Contrast) -> Round:
        """What attempts teach whose contrast may be stored already; it may take minutes.

        Raises:
            ConfigError: If an attempt that is played again comes to another score.
            BudgetExceeded, ModelError: If the model could not be asked.
        """
        is_asked = self.writer is None or self.tells_steps
        steps = tuple(one.parting for one in self.credit(found)) if is_asked else ()
        if self.writer is None:
            return Round(found, kept, steps=steps)
        told = [rule.text for rule in _told(self.store.rules(scope=kept.scope), kept)]
        texts = written(self.writer, found, self.most, told, steps[: self.most])
        return Round(found, kept, tuple(texts), steps)

    def is_looked_at(self, contrast: Contrast) -> bool:
        """Whether a contrast is the agent's own, or of somebody who is named."""
        return self.named is None or contrast.principal in ("", *self.named)

    def enter(self, of: Round, past: Past, *, narrows: bool = True) -> tuple[str, ...]:
        """Put the rules of a round into the book as it is now; returns their ids, known ones too.

        What others wrote since the round was looked at stays: a rule that is there gains the
        evidence and keeps all else.

        Args:
            past: Episodes of the scope, among them the best ones of earlier contrasts.
            narrows: Whether candidates go that the round speaks against.
        """
        with self.store.batch():
            rules = self.store.rules(scope=of.kept.scope)
            present = _told(rules, of.kept)
            if of.texts is None:
                known = {rule.id for rule in rules}
                made = self._compared(of, present, known, past, narrows)
            else:
                made = self._written(of.texts, of.kept, present)
            if not made:
                self.store.add_rules([], [of.kept], reason="no rule was found")
        return tuple(dict.fromkeys(made))

    def _written(self, texts: Sequence[str], kept: Contrast, present: Sequence[Rule]) -> list[str]:
        """Rules by the model; a new one that disagrees with another is settled with it."""
        by = kept.principal
        made = (_rule(text, kept, self.author, self.status) for text in texts)
        rules = [scoped(self.store, rule) for rule in made]
        for rule in rules:
            new = self.store.add_rules([rule], [kept], reason=_round(kept), principal=by)
            for other in present if new else ():
                if disagree(other.text, rule.text):
                    self._settle(other, rule, kept)
        return [rule.id for rule in rules]

    def _settle(self, old: Rule, new: Rule, kept: Contrast) -> None:
        """One conditional rule in place of two, if a word tells their evidence apart."""
        goals = [c.goal for c in self.store.contrasts(ids=old.evidence)]
        found = settled(
            old.text, new.text, [words_of(goal) for goal in goals], [words_of(kept.goal)]
        )
        if found is None:
            self._leave(old, f"disagrees with {new.id}, and no word tells their tasks apart")
            return
        merged = replace(
            new,
            id=rule_id(found.text),
            text=cleaned(found.text),
            entities=tuple(sorted({*old.entities} & {*new.entities})),
            entry=min(old.entry, new.entry),
            parents=(old.id, new.id),
            evidence=(*old.evidence, kept.id),
        )
        merged = scoped(self.store, merged)
        there = {rule.id: rule.status for rule in self.store.rules(scope=kept.scope)}
        if there.get(merged.id) in ("retired", "quarantined"):
            self._leave(old, f"disagrees with {new.id}; {merged.id} says both, but is told nobody")
            return
        why = f"settles {old.id} and {new.id} by “{found.by}”"
        self.store.add_rules([merged], reason=why)
        reason = f"settled in {merged.id}"
        self.store.set_rule_status("retired", [old.id, new.id], reason=reason)

    def _leave(self, old: Rule, reason: str) -> None:
        """A rule has to prove itself anew, beside one that it disagrees with."""
        self.store.set_rule_status("candidate", [old.id], reason=reason)

    def _compared(
        self,
        of: Round,
        present: Sequence[Rule],
        known: Collection[str],
        past: Past,
        narrows: bool,
    ) -> list[str]:
        """Rules of the steps that made the difference: of this task, and of all that took them."""
        kept = of.kept
        way, by = way_of(kept, of.found.good[0]), kept.principal
        others = self._ways(kept, past)
        same = [other for other in others if other.task == way.task]
        made, new = list[str](), 0
        self.store.add_rules([], [kept], reason=_round(kept), principal=by)
        for parting in of.steps:
            own = lesson(way, parting.state, parting.action, same)
            if own is None:
                _log.info("no sentence says %r of task=%s", parting.action, way.task)
                continue
            rule = scoped(self.store, _of(own, kept, self.status))
            if rule.id not in known and new == self.most:
                continue
            new += rule.id not in known
            made.append(rule.id)
            self.store.add_rules([rule], reason=_round(kept), principal=by)
            shared = lesson(way, parting.state, parting.action, others)
            if shared is not None and shared.case != own.case:
                wide = scoped(self.store, _of(shared, kept, self.status))
                made.append(wide.id)
                self._widen(wide, shared.case, [*present, rule], _round(kept), by)
        if narrows:
            self._narrow(way, [*others, way], present, kept)
        return made

    def _ways(self, kept: Contrast, past: Past) -> list[Way]:
        """What the best attempts of other contrasts did."""
        episodes = {episode.key: episode for episode in past.episodes}
        return [
            way_of(other, episodes[other.good[0]])
            for other in self.store.contrasts(scope=kept.scope)
            if other.id != kept.id
            and self.is_looked_at(other)
            and other.good
            and other.good[0] in episodes
        ]

    def _widen(
        self, rule: Rule, case: Case, present: Sequence[Rule], reason: str, by: str = ""
    ) -> None:
        """Add a rule of several tasks; it speaks for the candidates that say the same of fewer."""
        covered = (
            other.id
            for other in present
            if rule.id not in (other.id, *other.parents) and _covers(case, other)
        )
        parents = tuple(dict.fromkeys((*rule.parents, *covered)))
        self.store.add_rules([replace(rule, parents=parents)], reason=reason, principal=by)

    def _narrow(
        self, way: Way, ways: Sequence[Way], present: Sequence[Rule], kept: Contrast
    ) -> None:
        """Narrow the candidates of several tasks that a new contrast speaks against.

        Active ones have proved better than nothing; they stay as long as their effect does.
        """
        for rule in present:
            case = case_of_rule(rule)
            if rule.status != "candidate" or case is None:
                continue
            mine = [one for one in ways if one.contrast in rule.evidence]
            if len({one.task for one in mine}) < 2 or not contradicts(way, case):
                continue
            for own in mine:
                others = [one for one in ways if one is not own]
                for state, action in own.steps:
                    if case.at(own.goal, state, [action]) is None:
                        continue
                    taught = lesson(own, state, action, others)
                    if taught is None:
                        continue
                    made = scoped(self.store, _of(taught, kept, self.status))
                    made = replace(made, entry=rule.entry, parents=(rule.id,))
                    if made.id != rule.id and len(taught.contrasts) > 1:
                        self._widen(made, taught.case, present, f"narrows {rule.id}")
            reason = f"contradicted by round {kept.round} of {kept.task}"
            self.store.set_rule_status("retired", [rule.id], reason=reason)


def _told(rules: Sequence[Rule], kept: Contrast) -> list[Rule]:
    """Those that attempts like these of a contrast may be told."""
    return [
        rule
        for rule in rules
        if rule.status in ("candidate", "active") and rule.kind in ("", kept.kind)
    ]


def _kept(task: Task, found: contrasts.Contrast, number: int) -> Contrast:
    raw = f"{task.scope}\n{task.id}\n{number}".encode()
    return Contrast(
        id=hashlib.blake2b(raw, digest_size=8).hexdigest(),
        scope=task.scope,
        task=task.id,
        kind=task.family,
        round=number,
        goal=found.goal,
        good=tuple(attempt.key for attempt in found.good),
        bad=tuple(attempt.key for attempt in found.bad),
        scores=tuple(attempt.score for attempt in (*found.good, *found.bad)),
    )


def _round(kept: Contrast) -> str:
    return f"round {kept.round} of {kept.task}"


def _rule(text: str, kept: Contrast, author: str, status: RuleStatus) -> Rule:
    """A rule that rests on one contrast."""
    mean = sum(kept.scores[: len(kept.good)]) / len(kept.good)
    return Rule(
        id=rule_id(text),
        text=cleaned(text),
        scope=kept.scope,
        kind=kept.kind,
        entities=key_words(kept.goal),
        entry=min(1.0, max(0.0, mean)),
        author=author,
        status=status,
        evidence=(kept.id,),
    )


def _of(taught: Lesson, kept: Contrast, status: RuleStatus) -> Rule:
    """A rule by comparison."""
    rule = _rule(taught.text, kept, COMPARED, status)
    entities = key_words(taught.case.goal)
    return replace(rule, kind=taught.kind, entities=entities, evidence=taught.contrasts)


def _covers(case: Case, other: Rule) -> bool:
    """Whether a rule says no more than a case does, of fewer goals."""
    known = case_of_rule(other)
    return (
        known is not None
        and (known.where, known.action) == (case.where, case.action)
        and (not case.goal or (bool(known.goal) and fits(case.goal, known.goal)))
    )
