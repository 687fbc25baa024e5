"""Distilling: a round of attempts becomes a contrast, and the contrast rules of the book."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from jitrl.agents.past import Past, PastEpisode
from jitrl.agents.rulebook import contrasts
from jitrl.agents.rulebook.cases import COMPARED, Case, case_of_rule
from jitrl.agents.rulebook.credit import Credit, by_contrast
from jitrl.agents.rulebook.partings import Parting
from jitrl.agents.rulebook.settling import enter
from jitrl.agents.rulebook.shared import Lesson, Way, contradicts, lesson, way_of
from jitrl.agents.rulebook.written import written
from jitrl.core.patterns import fits, key_words
from jitrl.core.rules import ALIKE, diversity
from jitrl.core.sentences import cleaned, rule_id
from jitrl.memory.scoped import scoped
from jitrl.ports import Writer
from jitrl.ports.rules import RuleStore
from jitrl.types import Contrast, Rule, RuleStatus, Task

_log = logging.getLogger(__name__)
DONE = "this round was distilled already"
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

    found: contrasts.Compared
    kept: Contrast
    texts: tuple[str, ...] | None = None
    steps: tuple[Parting, ...] = ()


@dataclass(frozen=True, slots=True)
class Distiller:
    """Makes rules of rounds of attempts.

    Attributes:
        writer: The model that writes them; ``None`` finds them where attempts parted.
        most: New rules of one contrast at most, those of several tasks and narrowed ones among
            them; one that settles a conflict stands for those that it settles.
        status: That new rules begin with; those that begin as active ones are not settled.
        named: Principals whose contrasts are looked at beside the agent's own, which have none;
            ``None`` for all.
        credit: Names the steps that rules are made of. A model that writes is told them, too, but
            for those of a comparison, as it compares the attempts itself.
    """

    store: RuleStore
    writer: Writer | None
    most: int
    status: RuleStatus = "candidate"
    named: Collection[str] | None = None
    credit: Credit = by_contrast

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
            if apart < ALIKE and max(a.score for a in attempts) < threshold:
                _log.warning(_SAME, task.id, apart)
            return found
        kept = self._kept(task, found, number)
        return DONE if self.is_done(kept) else self.again(found, kept)

    def is_done(self, kept: Contrast) -> bool:
        """Whether the memory has a contrast of that round of its own, whatever others brought."""
        known = self.store.contrasts(scope=kept.scope, task=kept.task)
        return any(one.round == kept.round and not one.principal for one in known)

    def again(self, found: contrasts.Compared, kept: Contrast) -> Round:
        """What attempts teach whose contrast may be stored already; it may take minutes.

        Raises:
            ConfigError: If an attempt that is played again comes to another score.
            BudgetExceeded, ModelError: If the model could not be asked.
        """
        is_asked = self.writer is None or self.credit is not by_contrast
        steps = tuple(one.parting for one in self.credit(found)) if is_asked else ()
        if self.writer is None:
            return Round(found, kept, steps=steps)
        told = [rule.text for rule in _told(self.store.rules(scope=kept.scope), kept)]
        texts = written(self.writer, found, self.most, told, steps[: self.most])
        return Round(found, kept, tuple(texts), steps)

    def _kept(self, task: Task, found: contrasts.Compared, number: int) -> Contrast:
        """A contrast of this memory's own, under an id that nobody else's has here."""
        kept = Contrast(
            id="",
            scope=task.scope,
            task=task.id,
            kind=task.family,
            round=number,
            goal=found.goal,
            good=tuple(attempt.key for attempt in found.good),
            bad=tuple(attempt.key for attempt in found.bad),
            scores=tuple(attempt.score for attempt in (*found.good, *found.bad)),
        )
        kept = replace(kept, id=_digest(kept, ""))
        while any(one.principal for one in self.store.contrasts(ids=[kept.id])):
            kept = replace(kept, id=_digest(kept, kept.id))
        return kept

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
            present = _told(self.store.rules(scope=of.kept.scope), of.kept)
            self.store.add_rules([], [of.kept], reason=_round(of.kept), principal=of.kept.principal)
            if of.texts is None:
                made = self._compared(of, present, past, narrows)
            else:
                made = self._written(of.texts, of.kept)
        return tuple(dict.fromkeys(made))

    def _written(self, texts: Sequence[str], kept: Contrast) -> list[str]:
        """Rules by the model."""
        made = (_rule(text, kept, self.author, self.status) for text in texts)
        rules = [scoped(self.store, rule) for rule in made]
        for rule in rules:
            self._put(rule, _round(kept), kept.principal)
        return [rule.id for rule in rules]

    def _put(self, rule: Rule, reason: str, principal: str = "") -> bool:
        """Put a rule into the book; where every rule is in at once, conflicts are let be, too."""
        if self.status == "candidate":
            return enter(self.store, rule, reason=reason, principal=principal)
        return bool(self.store.add_rules([rule], reason=reason, principal=principal))

    def _compared(self, of: Round, present: Sequence[Rule], past: Past, narrows: bool) -> list[str]:
        """Rules of the steps that made the difference: of this task, and of all that took them."""
        kept = of.kept
        way, by = way_of(kept, of.found.good[0]), kept.principal
        others = self._ways(kept, past)
        same = [other for other in others if other.task == way.task]
        book = _Room(self, {rule.id for rule in self.store.rules(scope=kept.scope)})
        for parting in of.steps:
            own = lesson(way, parting.state, parting.action, same)
            if own is None:
                _log.info("no sentence says %r of task=%s", parting.action, way.task)
                continue
            rule = scoped(self.store, _of(own, kept, self.status))
            if not book.takes(rule, _round(kept), by):
                continue
            shared = lesson(way, parting.state, parting.action, others)
            if shared is not None and shared.case != own.case:
                wide = scoped(self.store, _of(shared, kept, self.status))
                wide = _covering(wide, shared.case, [*present, rule])
                book.takes(wide, _round(kept), by)
        if narrows:
            self._narrow(way, [*others, way], present, kept, book)
        return book.made

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

    def _narrow(
        self, way: Way, ways: Sequence[Way], present: Sequence[Rule], kept: Contrast, book: _Room
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
                        made = _covering(made, taught.case, present)
                        book.takes(made, f"narrows {rule.id}")
            reason = f"contradicted by round {kept.round} of {kept.task}"
            self.store.set_rule_status("retired", [rule.id], reason=reason)


class _Room:
    """What one round may still bring into a book: so many new rules, and evidence of known ones.

    Attributes:
        made: Ids of the rules that it brought, known ones too.
    """

    def __init__(self, distiller: Distiller, known: set[str]) -> None:
        self._distiller, self._known, self._left = distiller, known, distiller.most
        self.made = list[str]()

    def takes(self, rule: Rule, reason: str, principal: str = "") -> bool:
        """Put a rule in, if it is known or there is room for a new one; whether it is in."""
        is_new = rule.id not in self._known
        if is_new and not self._left:
            return False
        self._left -= is_new
        self._known.add(rule.id)
        self._distiller._put(rule, reason, principal)
        self.made.append(rule.id)
        return True


def _told(rules: Sequence[Rule], kept: Contrast) -> list[Rule]:
    """Those that attempts like these of a contrast may be told."""
    return [
        rule
        for rule in rules
        if rule.status in ("candidate", "active") and rule.kind in ("", kept.kind)
    ]


def _digest(kept: Contrast, salt: str) -> str:
    """What tells a contrast from others, wherever they were made: all that it says."""
    said = (salt, kept.scope, kept.task, kept.round, kept.goal, kept.good, kept.bad, kept.scores)
    return hashlib.blake2b(repr(said).encode(), digest_size=8).hexdigest()


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


def _covering(rule: Rule, case: Case, present: Sequence[Rule]) -> Rule:
    """A rule of several tasks, which speaks for the candidates that say the same of fewer."""
    covered = (
        other.id
        for other in present
        if rule.id not in (other.id, *other.parents) and _covers(case, other)
    )
    return replace(rule, parents=tuple(dict.fromkeys((*rule.parents, *covered))))


def _covers(case: Case, other: Rule) -> bool:
    """Whether a rule says no more than a case does, of fewer goals."""
    known = case_of_rule(other)
    return (
        known is not None
        and (known.where, known.action) == (case.where, case.action)
        and (not case.goal or (bool(known.goal) and fits(case.goal, known.goal)))
    )
