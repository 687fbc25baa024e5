"""How often settings of a rulebook had something to decide, and decided it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise

from jitrl.agents.past import Journal
from jitrl.agents.rulebook.book import Rulebook
from jitrl.agents.rulebook.contrasts import contrast
from jitrl.bench.pool import parts
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Episode, RuleChange, Task

_ADMISSION = "candidate", "active"
_LOWEST = "among the lowest "
"""How the agent begins to say of a rule that it went by ``bottom``."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a book's settings decided.

    Attributes:
        apart: Full rounds at a task in which not all attempts scored alike.
        gap: Those of them that taught nothing as their scores were too near.
        threshold: Those that taught nothing as the best was not good enough.
        steps: Steps that were taken.
        full: Those at which as many rules spoke as a prompt may hold.
        admitted: Rules that the gates let in.
        lowest: Rules that went as others had shown more.
    """

    apart: int
    gap: int
    threshold: int
    steps: int
    full: int
    admitted: int
    lowest: int


def full(episode: Episode, told: int) -> int:
    """Steps of an episode at which as many rules spoke as a prompt may hold."""
    made = [step.decision for step in episode.steps if step.decision is not None]
    return sum(len(decision.notes) >= told for decision in made)


def asked(
    book: Rulebook, store: SQLiteStore, tasks: Iterable[Task], steps: int, full: int
) -> Asked:
    """What was decided at these tasks, of which so many steps were taken."""
    how, journal = book.learning, Journal(store)
    scored = [journal.past(task.scope, task=task.id).episodes for task in tasks]
    rounds = [
        lived
        for episodes in scored
        for lived in parts(episodes, how.attempts)
        if len(lived) == how.attempts and len({one.score for one in lived}) > 1
    ]
    why = [contrast(lived, gap=how.gap, threshold=how.threshold) for lived in rounds]
    said = [one for one in why if isinstance(one, str)]
    histories = [store.rule_history(rule.id) for rule in store.rules()]
    return Asked(
        apart=len(rounds),
        gap=sum(one.startswith("gap") for one in said),
        threshold=sum(one.startswith("best") for one in said),
        steps=steps,
        full=full,
        admitted=sum(is_let_in(history) for history in histories),
        lowest=sum(one.reason.startswith(_LOWEST) for history in histories for one in history),
    )


def is_let_in(history: Sequence[RuleChange]) -> bool:
    """Whether a rule ever came from trial into the book; new evidence alone is no such entry."""
    return any((was.status, now.status) == _ADMISSION for was, now in pairwise(history))


def together(found: Sequence[Asked]) -> Asked:
    """The sum of several."""
    return Asked(*map(sum, zip(*map(astuple, found), strict=True)))
