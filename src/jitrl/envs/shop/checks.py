"""Compares what has changed in the shop's database with what a task asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

Row = Mapping[str, Any]

_NOISE: Mapping[str, tuple[str, ...]] = {
    "analytics_*": ("*",),
    "sqlite_sequence": ("*",),
    "communication_*": ("*",),
    "auth_user": ("last_login",),
    "*": ("date_updated", "date_created"),
}
"""Columns, by table, in which the site notes that somebody has been there."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row that is to change.

    Attributes:
        key: Primary key; ``None`` for a new row.
        cells: The values it shall have by column, as the database prints them; ``None`` if it is
            to go. All other columns stay as they are; those of a new row stay empty.
        free: Columns whose values play no part.
    """

    table: str
    key: int | None = None
    cells: Mapping[str, Any] | None = None
    free: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to change, and which columns, by table, the site itself then changes with it."""

    changes: tuple[Change, ...] = ()
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def edited(table: str, key: int, **cells: Any) -> Wanted:
    """One row is to change."""
    return Wanted((Change(table, key, cells),))


def added(table: str, *free: str, **cells: Any) -> Wanted:
    """One row is to be added; its id and the columns of ``free`` play no part."""
    return Wanted((Change(table, None, cells, ("id", *free)),))


def removed(table: str, key: int, **also: tuple[str, ...]) -> Wanted:
    """One row is to go; ``also`` as in ``Wanted``."""
    return Wanted((Change(table, key),), also)


@dataclass(frozen=True, slots=True)
class Check:
    """How near a database is to what was asked for, in cells; a row that is to go counts as one.

    Attributes:
        wanted: Cells that were to change.
        missing: Those of them that have not.
        wrong: Cells that have changed without being asked for, or to something else.
    """

    wanted: int
    missing: int
    wrong: int

    @property
    def is_done(self) -> bool:
        """Exactly what was asked for has been done."""
        return self.missing == self.wrong == 0


def check(changed: Sequence[Sequence[Any]], wanted: Wanted) -> Check:
    """Compare rows as the site's process lists them with what was asked for.

    Args:
        changed: ``[table, key, row as made, row as it is]`` of each row that differs.
    """
    open_changes = list(wanted.changes)
    total = sum(len(change.cells) if change.cells else 1 for change in open_changes)
    done = wrong = 0
    for table, key, old, new in changed:
        cells = _differing(table, old, new, wanted.also)
        if not cells:
            continue
        found = _meant(open_changes, table, key, cells, is_new=old is None, is_gone=new is None)
        if found is None:
            wrong += 1 if new is None else len(cells)
            continue
        open_changes.remove(found)
        if found.cells is None:
            done += 1
            continue
        right = _right(found, cells)
        done += right
        wrong += len(cells.keys() - set(found.free)) - right
    return Check(total, total - done, wrong)


def _differing(table: str, old: Row | None, new: Row | None, also: Mapping[str, Any]) -> Row:
    """What differs in a row, without noise; of a new row what is not empty, of one gone all."""
    quiet = [
        column
        for pattern, columns in (*_NOISE.items(), *also.items())
        if fnmatchcase(table, pattern)
        for column in columns
    ]
    row = new or old or {}
    return {
        column: value
        for column, value in row.items()
        if not any(fnmatchcase(column, pattern) for pattern in quiet)
        and (new is None or not _alike(value, None if old is None else old[column]))
    }


_EMPTY = (None, "", 0)


def _alike(one: Any, other: Any) -> bool:
    """Whether two cells say the same; empty cells of all kinds do, and ``17.50`` and ``17.5``."""
    if one in _EMPTY or other in _EMPTY:
        return one in _EMPTY and other in _EMPTY
    try:
        return float(one) == float(other)
    except (TypeError, ValueError):
        return str(one) == str(other)


def _meant(
    changes: Sequence[Change], table: str, key: Any, cells: Row, *, is_new: bool, is_gone: bool
) -> Change | None:
    """The change that a differing row most likely stands for."""
    fitting = [
        change
        for change in changes
        if change.table == table
        and (change.key is None if is_new else change.key == key)
        and (change.cells is None) == is_gone
    ]
    return max(fitting, key=lambda change: _right(change, cells), default=None)


def _right(change: Change, cells: Row) -> int:
    """How many cells are as asked for."""
    asked = change.cells or {}
    return sum(c in cells and _alike(cells[c], value) for c, value in asked.items())
