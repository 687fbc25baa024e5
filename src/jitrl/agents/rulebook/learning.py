"""Learning rules: rounds of attempts become contrasts, contrasts rules, and gates keep the book."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from jitrl.agents.past import PastEpisode
from jitrl.agents.rulebook import contrasts
from jitrl.agents.rulebook.conflicts import disagree, settled
from jitrl.agents.rulebook.partings import PLACEHOLDER, distilled, title
from jitrl.agents.rulebook.written import written
from jitrl.core.effect import Effect
from jitrl.core.gates import Gates, admitted, drawn, given_up, measure, outdone
from jitrl.core.rules import diversity, signature
from jitrl.core.sentences import cleaned, rule_id
from jitrl.core.similarity import words
from jitrl.ports import Writer
from jitrl.ports.rules import RuleStore
from jitrl.types import Contrast, Rule, Task

_log = logging.getLogger(__name__)
_ALIKE = 0.1  # diversity below which attempts are nearly the same


@dataclass(frozen=True, slots=True)
class Distiller:
    """Who makes rules of a contrast.

    Attributes:
        writer: The model that writes them; ``None`` finds them where attempts parted.
        most: Rules of one contrast at most.
        gap: Least difference between best and worst.
        threshold: Least score of the best.
    """

    writer: Writer | None
    most: int
    gap: float
    threshold: float

    @property
    def author(self) -> str:
        """What the rules say of where they come from."""
        return "rules" if self.writer is None else self.writer.name

    def rules(self, contrast: contrasts.Contrast, told: Sequence[str]) -> list[str]:
        """The sentences.

        Raises:
            BudgetExceeded, ModelError: If the model could not be asked.
        """
        if self.writer is None:
            return distilled(contrast, self.most)
        return written(self.writer, contrast, self.most, told)


@dataclass(frozen=True, slots=True)
class Learning:
    """What happens to the book once an episode is stored.

    Attributes:
        attempts: Scored attempts at a task that make a round.
    """

    store: RuleStore
    distiller: Distiller
    gates: Gates
    attempts: int

    def after(self, task: Task, attempts: Sequence[PastEpisode], used: Collection[str]) -> None:
        """The newest of ``attempts`` at a task was stored.

        Args:
            used: Rules that could be told in it.
        """
        self.judge(used)
        if attempts and self.attempts and len(attempts) % self.attempts == 0:
            number = len(attempts) // self.attempts
            reason = self.distil(task, attempts[-self.attempts :], number)
            if reason:
                _log.info("no rule of round=%d at task=%s: %s", number, task.id, reason)
            self.thin(task.scope)

    def judge(self, ids: Collection[str]) -> None:
        """Admit the candidates that have shown their effect, and drop what does harm."""
        for id, uses in self.store.rule_uses(ids).items() if ids else ():
            rule, seen = self.store.rule(id), drawn(uses)
            found = measure(seen, self.gates)
            verdict = given_up(seen, self.gates, found)
            if rule.status in ("candidate", "active") and not verdict.keeps:
                self.store.set_rule_status("retired", [id], reason=verdict.reason)
            elif rule.status == "candidate":
                verdict = admitted(seen, self.gates, found)
                if verdict.keeps:
                    self.store.set_rule_status("active", [id], reason=verdict.reason)
                elif len(seen) >= self.gates.trial:
                    reason = f"not admitted in {len(seen)} uses: {verdict.reason}"
                    self.store.set_rule_status("retired", [id], reason=reason)

    def thin(self, scope: str) -> None:
        """Retire the active rules that showed least, past their grace."""
        active = [rule.id for rule in self.store.rules(scope=scope, status="active")]
        if not active:
            return
        found = self.effects(active)
        for id in outdone(found, self.gates):
            reason = f"among the lowest {self.gates.bottom:.0%}: low bound {found[id].low:+.2f}"
            self.store.set_rule_status("retired", [id], reason=reason)

    def effects(self, ids: Collection[str]) -> dict[str, Effect]:
        """The effect of each rule, by the bounds of the gates."""
        return {
            id: measure(drawn(uses), self.gates) for id, uses in self.store.rule_uses(ids).items()
        }

    def distil(self, task: Task, attempts: Sequence[PastEpisode], number: int) -> str:
        """Make rules of a round, once; returns why there are none, or "".

        Args:
            number: Of the round, from 1 on.
        """
        apart = diversity([[row.action for row in attempt.rows] for attempt in attempts])
        if apart < _ALIKE and len(attempts) > 1:
            _log.warning(
                "attempts at task=%s are nearly the same (diversity %.2f): more of them teach "
                "nothing; raise the temperature",
                task.id,
                apart,
            )
        found = contrasts.contrast(
            attempts, gap=self.distiller.gap, threshold=self.distiller.threshold
        )
        if isinstance(found, str):
            return found
        raw = f"{task.scope}\n{task.id}\n{number}".encode()
        kept = Contrast(
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
        if self.store.contrasts(ids=[kept.id]):
            return "this round was distilled already"
        present = [
            rule
            for rule in self.store.rules(scope=task.scope)
            if rule.status in ("candidate", "active") and rule.kind == task.family
        ]
        texts = self.distiller.rules(found, [rule.text for rule in present])
        entry = min(1.0, max(0.0, sum(kept.scores[: len(kept.good)]) / len(kept.good)))
        for text in texts or [""]:
            self._add(text, kept, entry, present)
        return "" if texts else "no rule was found"

    def _add(self, text: str, kept: Contrast, entry: float, present: Sequence[Rule]) -> None:
        """Add a rule with its evidence; where it disagrees with another, settle that."""
        if not text:
            self.store.add_rules([], [kept], reason="no rule was found")
            return
        about = PLACEHOLDER.sub(" ", title(text) or kept.goal)
        rule = Rule(
            id=rule_id(text),
            text=cleaned(text),
            scope=kept.scope,
            kind=kept.kind,
            entities=tuple(sorted(signature(kept.kind, about).words)),
            entry=entry,
            author=self.distiller.author,
            evidence=(kept.id,),
        )
        self.store.add_rules([rule], [kept], reason=f"round {kept.round} of {kept.task}")
        for other in present:
            if other.id != rule.id and disagree(other.text, rule.text):
                self._settle(other, rule, kept)

    def _settle(self, old: Rule, new: Rule, kept: Contrast) -> None:
        """One conditional rule in place of two, if a word tells their evidence apart."""
        goals = [c.goal for c in self.store.contrasts(ids=old.evidence)]
        found = settled(old.text, new.text, [words(goal) for goal in goals], [words(kept.goal)])
        if found is None:
            reason = f"disagrees with {new.id}, and no word tells their tasks apart"
            self.store.set_rule_status("candidate", [old.id], reason=reason)
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
        why = f"settles {old.id} and {new.id} by “{found.by}”"
        with self.store.batch():
            self.store.add_rules([merged], reason=why)
            reason = f"settled in {merged.id}"
            self.store.set_rule_status("retired", [old.id, new.id], reason=reason)
