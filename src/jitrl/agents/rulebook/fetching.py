"""Fetching rules for an episode: those that fit its task, in the order of what they have shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jitrl.agents.rulebook.cases import case_of_rule
from jitrl.agents.rulebook.figures import Figures
from jitrl.agents.rulebook.meaning import Meaning
from jitrl.agents.rulebook.telling import Telling, chance_of
from jitrl.agents.rulebook.told import Line, Told
from jitrl.core.rules import Signature, Standing, fits, ranked, signature
from jitrl.ports.rules import RuleStore
from jitrl.types import Rule, Task

_SILENT = ("retired", "quarantined")  # statuses whose rules are told nobody


def fetched(
    store: RuleStore,
    task: Task,
    how: Telling,
    rng: np.random.Generator,
    *,
    exclude: frozenset[str],
    until: int | None,
    figures: Figures,
) -> Told:
    """The rules that an episode may be told, each by a draw of its own: so their effects part.

    Args:
        exclude: Tasks; what was distilled from attempts at them alone is left out, and so are the
            uses of a rule there.
        until: Newest version of the memory to look at.
        figures: Of the rules, as earlier episodes left them.

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
    counts = figures.told(speaking, exclude=exclude, until=until)
    standing = ((id, Standing(rule.entry, *counts[id])) for id, rule in speaking.items())
    order = ranked(standing, c=how.explore)
    draws = rng.random(len(order)).tolist()

    def chances(rules: Sequence[Rule]) -> dict[str, float]:
        ids = [rule.id for rule in rules]
        promises = figures.promises(ids, exclude=exclude, until=until)
        return {
            rule.id: chance_of(rule.status, promises[rule.id], counts[rule.id][0], how.holdout)
            for rule in rules
            if rule.id in promises
        }

    lines = [
        Line(speaking[id], task.goal, draw, id in meant)
        for id, draw in zip(order, draws, strict=True)
    ]
    present = Present(store, task.scope, speaking, until, exclude)
    return Told(tuple(lines), how, chances, present, len(fitting) - len(allowed))


class Present:
    """Ids of the rules of an episode that may be told by now; looked up anew once there is news.

    Args:
        rules: Those of the scope that could be told when it began.
        until: As of ``fetched``. With one, what was retired since is told on, as an attempt acts on
            the book as it stood before it; what was purged or put in quarantine, or rests on what
            was, is not.
        exclude: As of ``fetched``.
    """

    def __init__(
        self,
        store: RuleStore,
        scope: str,
        rules: Mapping[str, Rule],
        until: int | None,
        exclude: frozenset[str],
    ) -> None:
        self._store, self._scope, self._rules, self._exclude = store, scope, rules, exclude
        self._silent = _SILENT if until is None else ("quarantined",)
        self._head = -1
        self._ids = frozenset[str]()

    def __call__(self) -> frozenset[str]:
        """The ids at this moment."""
        head = self._store.head()
        if head != self._head:
            known = self._store.rules(scope=self._scope)
            spoken = {rule.id for rule in known if rule.status not in self._silent}
            left = {id: rule for id, rule in self._rules.items() if id in spoken}
            self._ids = frozenset(_allowed(self._store, left, self._exclude))
            self._head = head
        return self._ids


def _meant(rules: Sequence[Rule], task: Task, meaning: Meaning | None) -> frozenset[str]:
    """Those of the type of task that mean what its goal says; a rule by comparison has its goal."""
    if meaning is None:
        return frozenset()
    free = [r for r in rules if r.kind in ("", task.family) and case_of_rule(r) is None]
    return meaning.near(task.goal, free)


def _usable(rules: Sequence[Rule], goal: str) -> list[Rule]:
    """Those whose status and condition let them be told under a goal."""
    present = (rule for rule in rules if rule.status not in _SILENT)
    return [r for r in present if (case := case_of_rule(r)) is None or case.speaks_of(goal)]


def _speaking(rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Those left where one covers others: an active one speaks for itself, else the wider one."""
    active = {id for id, rule in rules.items() if rule.status == "active"}
    left = {id: r for id, r in rules.items() if id in active or active.isdisjoint(r.parents)}
    covered = {parent for rule in left.values() for parent in rule.parents}
    return {id: rule for id, rule in left.items() if id in active or id not in covered}


def _of(rule: Rule) -> Signature:
    return Signature(rule.kind, frozenset(rule.entities))


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
