"""What the rows of a memory are derived with: remembered with the first ones, then kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jitrl.stores.sqlite import SQLiteStore


def remember(store: SQLiteStore, mine: Mapping[str, Any]) -> str:
    """Have ``store`` remember ``mine`` for a later rebuild or import, unless it holds rows.

    Args:
        mine: ``gamma``, ``returns`` and ``trusted`` of the rows that come now.

    Returns:
        What is wrong if rows are there that were derived otherwise, and what to do; else "".
    """
    with store.batch():
        known = store.settings()
        differ = [name for name, value in mine.items() if known.get(name, value) != value]
        if known and not differ:
            return ""
        if not known or not any(change.rows for change in store.changes(0)):
            store.configure(mine)
            return ""
    was, now = (", ".join(f"{name} {of[name]!r}" for name in differ) for of in (known, mine))
    return (
        f"rows of memory {store.memory!r} were derived with {was}, new ones are with {now}; their "
        "numbers do not compare, so open it with what it remembers, derive all rows again "
        "(`jitrl memory rebuild`), or use another memory name"
    )
