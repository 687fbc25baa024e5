"""Which rules a command line names: by their ids, or by how an id begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jitrl.errors import InputError
from jitrl.stores.sqlite import SQLiteStore

_FEW = 4
_MOST = 20  # names in a line


def named(store: SQLiteStore, ids: Iterable[str]) -> list[str]:
    """The ids of the rules that are named, each once; an id may be cut where no other goes on so.

    One that no rule has is left as it is, for the store to refuse.

    Raises:
        InputError: If several rules have ids that begin so, or nothing is named.
    """
    known = {rule.id: rule.text for rule in store.rules()}
    return list(dict.fromkeys(_id(id.strip(), known) for id in ids))


def some(names: Sequence[str], joint: str = ", ") -> str:
    """Names as a line shows them: some, and how many more."""
    more = f" … +{len(names) - _MOST}" if len(names) > _MOST else ""
    return joint.join(names[:_MOST]) + more


def _id(given: str, known: dict[str, str]) -> str:
    if not given:
        raise InputError("the id of a rule is empty; jitrl rules ls lists them")
    if given in known:
        return given
    meant = [id for id in known if id.startswith(given)]
    if len(meant) > 1:
        more = f" and {len(meant) - _FEW} more" if len(meant) > _FEW else ""
        raise InputError(
            f"{given!r} begins the ids of {len(meant)} rules: {', '.join(meant[:_FEW])}{more}; "
            "give more of it"
        )
    return meant[0] if meant else given
