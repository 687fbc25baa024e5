"""A store's version stream as far as somebody may see it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from jitrl.ports import Change, Store


def newest(store: Store, until: int | None) -> int:
    """The last version that may be seen: ``until``, or the newest there is."""
    head = store.head()
    return head if until is None else min(until, head)


def changes(
    store: Store, after: int, last: int, scope: str | None, inactive: set[int] | None = None
) -> Iterator[Change]:
    """Entries of ``scope`` (``None``: of all) later than ``after``, up to ``last``.

    Args:
        inactive: Ids of the rows that are quarantined or retired, kept as each entry leaves them.
    """
    for change in takewhile(lambda c: c.version <= last, store.changes(after, scope=scope)):
        if inactive is not None:
            for row in change.rows:
                (inactive.discard if row.status == "active" else inactive.add)(row.id)
        yield change
