"""Deriving every row again from the journal, and what differs from the rows in use."""

from __future__ import annotations

from dataclasses import dataclass

from jitrl.stores.records import Derive, content
from jitrl.stores.sqlite import SQLiteStore


@dataclass(frozen=True, slots=True)
class Difference:
    """An episode whose rows are not what the journal gives.

    Attributes:
        steps: Steps whose row is missing, too many or different.
        was, now: Number of rows in use, and of rows derived.
    """

    episode: str
    steps: tuple[int, ...]
    was: int
    now: int


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild found.

    Attributes:
        episodes: Episodes looked at.
        rows: Rows derived.
        is_applied: Whether the differing rows were replaced.
    """

    episodes: int
    rows: int
    differences: tuple[Difference, ...]
    is_applied: bool


def rebuild(store: SQLiteStore, derive: Derive, *, apply: bool, principal: str = "") -> Rebuilt:
    """Derive all rows again; with ``apply`` replace those that differ, all in one transaction.

    The journal stays as it is, and steps that are in quarantine stay there.

    Args:
        principal: Who has it done; kept in the version stream.
    """
    if apply:
        with store.batch():
            return _rebuild(store, derive, apply=True, principal=principal)
    return _rebuild(store, derive, apply=False, principal=principal)


def _rebuild(store: SQLiteStore, derive: Derive, *, apply: bool, principal: str) -> Rebuilt:
    episodes = rows = 0
    differences = []
    for record in store.records():
        key = record.episode.key
        derived = derive(record.episode, record.judgment)
        old = {row.step: content(row) for row in store.rows(key) if row.status != "retired"}
        new = {row.step: content(row) for row in derived}
        episodes += 1
        rows += len(new)
        steps = tuple(sorted(t for t in old.keys() | new.keys() if old.get(t) != new.get(t)))
        if steps:
            differences.append(Difference(key, steps, len(old), len(new)))
            if apply:
                store.replace(key, record.judgment, derived, "rebuild", principal)
    return Rebuilt(episodes, rows, tuple(differences), apply)
