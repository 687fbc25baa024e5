"""Which stored decisions rows changed: all of them made again as if they had never been."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from jitrl.memory.replay import Turned, replay
from jitrl.memory.rerun import Sight
from jitrl.ports import DecisionRecord
from jitrl.stores.paging import Paging
from jitrl.stores.sqlite import SQLiteStore

Tell = Callable[[int, int], None]
"""Called with how many decisions of how many were looked at."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A stored decision that falls otherwise without some rows.

    Attributes:
        taken: What was chosen.
        instead: What would be chosen without the rows.
        unaided: The frozen model's own choice.
        before, after: Probability of what was taken, with the rows and without them.
    """

    id: str
    episode: str
    task: str
    taken: str
    instead: str
    unaided: str
    before: float
    after: float


def influence(
    sight: Sight,
    store: SQLiteStore,
    rows: Collection[int],
    *,
    tell: Tell = lambda done, total: None,
) -> tuple[Changed, ...]:
    """The stored decisions that fall otherwise without ``rows``, in the order they were made.

    No model is asked, and nothing is written. Decisions of other scopes, and those made before the
    first of the rows was there, are not looked at: they cannot depend on it.

    Raises:
        ConfigError: If a decision was made under another rule than ``sight``'s.
        StoreError: If there is no such row.
    """
    total = Paging(store).size().decisions
    found = replay(sight, store, rows, strict=True, progress=lambda done: tell(done, total))
    return tuple(_changed(store.decision(one.id), one) for one in found.turned)


def _changed(record: DecisionRecord, one: Turned) -> Changed:
    return Changed(
        one.id,
        record.episode,
        record.task,
        one.was,
        one.now,
        record.decision.unaided,
        one.chance_was,
        one.chance_now,
    )
