"""Whose rows decisions were given: those of the same task, and those of other tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jitrl.run.loop import attempt_of
from jitrl.stores.sqlite import SQLiteStore
from jitrl.types import Neighbors


@dataclass(frozen=True, slots=True)
class Shares:
    """Retrieved rows by whose they are.

    A neighbor names at most its eight newest rows, and only those are counted.

    Attributes:
        decisions: Decisions that were given rows.
        rows: Rows they were given, a row once for each decision.
        other: How many of these rows are of other tasks.
        by_attempt: Share of other tasks' rows at each attempt, [K]; ``None`` without any row.
    """

    decisions: int
    rows: int
    other: int
    by_attempt: tuple[float | None, ...]

    @property
    def share(self) -> float | None:
        """Share of the rows that are of other tasks; ``None`` if there were no rows."""
        return self.other / self.rows if self.rows else None


def shares(journals: Sequence[Path], attempts: int) -> Shares:
    """What the decisions in ``journals``, the memory files of a run, were given."""
    decisions = 0
    rows, other = np.zeros(attempts, np.int64), np.zeros(attempts, np.int64)
    for path in journals:
        with SQLiteStore(path, readonly=True) as store:
            number: dict[str, int] = {}
            task_of = np.full(1, -1, np.int64)
            for change in store.changes(0):
                if change.kind != "append":
                    continue
                for row in change.rows:
                    if row.id >= len(task_of):
                        more = np.full(max(row.id + 1, 2 * len(task_of)), -1, np.int64)
                        more[: len(task_of)] = task_of
                        task_of = more
                    task_of[row.id] = number.setdefault(row.task, len(number))
            for record in store.decisions():
                ids = Neighbors.of(record.decision.neighbors).rows
                ids = ids[ids > 0]
                if not len(ids):
                    continue
                decisions += 1
                attempt = attempt_of(record.episode)
                rows[attempt] += len(ids)
                own = number.get(record.task, -2)
                other[attempt] += int((task_of[ids] != own).sum())
    by_attempt = (int(o) / int(n) if n else None for o, n in zip(other, rows, strict=True))
    return Shares(decisions, int(rows.sum()), int(other.sum()), tuple(by_attempt))
