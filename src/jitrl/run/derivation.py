"""What the rows of a memory are derived with: remembered with the first ones, then kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from jitrl.ports import Store


class Remembering(Store, Protocol):
    """A store that keeps what its rows are derived with.

    Attributes:
        memory: Its name.
    """

    memory: str

    def batch(self) -> AbstractContextManager[None]:
        """Make all writes of the block one transaction."""
        ...

    def settings(self) -> dict[str, Any]:
        """What is remembered; empty if nothing."""
        ...

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Remember these in place of what was remembered."""
        ...


def remember(given: Store, mine: Mapping[str, Any]) -> str:
    """Have a store remember ``mine`` for a later rebuild or import, unless it holds rows.

    Args:
        given: One that keeps no settings (it has no ``configure``) is left alone.
        mine: ``gamma``, ``returns`` and ``trusted`` of the rows that come now.

    Returns:
        What is wrong if rows are there that were derived otherwise, and what to do; else "".
    """
    if not hasattr(given, "configure"):
        return ""
    store = cast(Remembering, given)
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
